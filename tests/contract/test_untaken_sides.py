"""What was not taken, of every function that chooses, with a factor that is infinite or NaN: values and tangents are
those of what was taken; a gradient is that or NaN, never another number (docs/control-flow.md)."""

import math

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define

BAD = {"infinite": math.inf, "minus infinite": -math.inf, "NaN": math.nan}
CHOICES = {
    "min": "min(3.0 * x, other)",
    "max": "max(3.0 * x, other)",
    "of three": "min(3.0 * x, 9.0 * x, other)",
    "of a list": "min([3.0 * x, other])",
    "where": "np.where(other == 3.0 * x, other, 3.0 * x)",
    "minimum": "np.minimum(3.0 * x, other)",
    "fmax": "np.fmax(3.0 * x, other)",
    "clip": "np.clip(3.0 * x, -99.0, other)",
    "select": "np.select([x > 99.0], [other], 3.0 * x)",
    "of arrays": "np.where(np.array([x, x]) > 99.0, other, 3.0 * x)[0]",
    "one side": "3.0 * x if x < 99.0 else other",
}
OTHERS = ("x * r", "x * r * 2.0", "(x + 1.0) * r", "x * x * r", "math.exp(x) * r", "x / (0.0 * r)")


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("choice", CHOICES)
def test_what_was_not_taken(choice: str, bad: str) -> None:
    for other in OTHERS:
        f = rose.jit(_program(f"other = {other}\n    return {CHOICES[choice]} + 0.0 * y"))
        value, tangent = rose.jvp(f, (2.0, BAD[bad], 1.0), (1.0, 0.0, 0.0))
        if value != 6.0:
            assert math.isnan(value) or not math.isfinite(value)  # it was taken
            continue
        assert tangent == 3.0 or (math.isnan(tangent) and "/" in other)  # 0.0 * inf is a slope of NaN by itself
        slope = rose.grad(f)(2.0, BAD[bad], 1.0)
        assert slope == 3.0 or math.isnan(slope), f"{choice} of {other} with {bad}: {slope}"


@pytest.mark.parametrize("other", OTHERS)
def test_a_branch_computes_one_side(other: str) -> None:
    f = rose.jit(_program(f"if x < 99.0: return 3.0 * x\n    return {other}"))
    for bad in BAD.values():
        assert rose.value_and_grad(f)(2.0, bad, 1.0) == (6.0, 3.0)
        assert rose.jvp(f, (2.0, bad, 1.0), (1.0, 0.0, 0.0)) == (6.0, 3.0)


def _program(body: str):
    return define(f"def f(x: float, r: float, y: float) -> float:\n    {body}\n", np=np, math=math)
