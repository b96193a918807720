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


FRONT = {
    "a root": "r = math.sqrt(x)",
    "a power": "r = x ** 0.25",
    "a logarithm": "r = math.log(x)",
    "a quotient": "r = 1.0 / x",
    "an arcsine": "r = math.asin(1.0 + x)",
    "two steps": "q = math.sqrt(x)\n    r = 1.0 / q + math.log(q) * y",
    "a length": "v = np.array([x, 0.0 * y])\n    r = np.sqrt(v @ v)",
    "a norm": "v = np.array([x, 0.0 * y])\n    r = np.linalg.norm(v)",
    "a helper": "r = helper(x)",
    "a decorated function": "r = decorated(x)",
}
PLACES = {
    "if": "if x == 0.0:\n        return 3.0 * x + y * y\n    return r * y",
    "else": "s = 3.0 * x + y * y\n    if x > 0.0:\n        s = r * y\n    return s",
    "elif": "if x == 0.0:\n        s = 3.0 * x + y * y\n    elif x > 9.0:\n        s = 2.0 * r\n"
    "    else:\n        s = r * y\n    return s",
    "ternary": "return r * y if x > 0.0 else 3.0 * x + y * y",
    "constant": "k = 0.0\n    if x > 0.0:\n        k = r\n    return k * y + 3.0 * x + y * y",
    "and": "if x > 0.0 and r < 9.0:\n        return r\n    return 3.0 * x + y * y",
    "inside": "if y > 0.0:\n        if x > 0.0:\n            return r * y\n"
    "        return 3.0 * x + y * y\n    return x",
}
BOTH = (0, 1)
WAYS = {
    "jvp": lambda f: [rose.jvp(f, (0.0, 2.0), d)[1] for d in ((1.0, 0.0), (0.0, 1.0))],
    "grad": lambda f: rose.grad(f, argnums=BOTH)(0.0, 2.0),
    "vjp": lambda f: rose.vjp(f, 0.0, 2.0)[1](1.0),
    "jacobian": lambda f: rose.jacobian(f, argnums=BOTH)(0.0, 2.0),
    "in a loop": lambda f: rose.grad(rose.jit(_repeated(f)), argnums=BOTH)(0.0, 2.0, 2),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("front", FRONT)
def test_what_one_side_reads_may_stand_in_front_of_the_branch(front: str, place: str) -> None:
    text = f"def f(x: float, y: float) -> float:\n    {FRONT[front]}\n    {PLACES[place]}\n"
    f = rose.jit(define(text, np=np, math=math, helper=_helper, decorated=rose.jit(_helper)))
    for way, slopes in WAYS.items():
        assert [float(d) for d in slopes(f)] == [3.0, 4.0], way
    (xx, xy), (yx, yy) = rose.hessian(f, argnums=BOTH)(0.0, 2.0)
    assert (xx, xy, yx, yy) == (0.0, 0.0, 0.0, 2.0)
    assert rose.grad(rose.grad(rose.grad(f, argnums=1), argnums=1), argnums=1)(0.0, 2.0) == 0.0


def _helper(x: float) -> float:
    return math.sqrt(x) * 2.0


def _repeated(f):
    text = "    s = 0.0\n    for i in rose.range(n):\n        s += f(x, y) / n\n    return s\n"
    return define(f"def g(x: float, y: float, n: int):\n{text}", f=f, rose=rose)


def _program(body: str):
    return define(f"def f(x: float, r: float, y: float) -> float:\n    {body}\n", np=np, math=math)
