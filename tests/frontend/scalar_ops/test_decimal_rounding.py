"""`round(x, digits)` is CPython's, to the last bit; its derivative is zero."""

import math
import random

import numpy as np
import pytest

import rosejit as rose
from rosejit.errors import RoseValueError, StagingTypeError
from tests.frontend.oracle import define

DIGITS = (-22, -9, -3, -2, -1, 0, 1, 2, 3, 6, 10, 15, 17, 22)


def _reals() -> list[float]:
    draw = random.Random(7)
    found = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, 2.675, 1.005, 250.0, 350.0, 5e-324, 1e300, -1.7e308, math.inf, -math.inf]
    found += [2.0**k * s for k in range(-60, 120, 3) for s in (1.0, -1.5, 1.0 + 2.0**-52)]
    for _ in range(400):
        found.append(draw.uniform(-1.0, 1.0) * 10.0 ** draw.randint(-25, 40))
        whole, digits = draw.randint(-(10**6), 10**6), draw.randint(-3, 12)
        found.append((whole + 0.5) * 10.0**-digits)  # as near to a tie as a Real is
        found.append(math.nextafter((whole + 0.5) / 10.0**digits, draw.choice((-math.inf, math.inf))))
    return found


@pytest.mark.parametrize("digits", DIGITS)
def test_reals_are_rounded_as_cpython_does(digits: int) -> None:
    f = define(f"def f(x: float) -> float:\n    return round(x, {digits})\n")
    staged = rose.jit(f)
    for x in _reals():
        assert staged(x).hex() == f(x).hex(), x
    assert math.isnan(staged(math.nan))


@pytest.mark.parametrize("digits", [-18, -3, -1, 0, 2])
def test_integers_are_rounded_as_cpython_does(digits: int) -> None:
    f = define(f"def f(n: int) -> int:\n    return round(n, {digits})\n")
    staged = rose.jit(f)
    for n in (*range(-60, 61, 5), 249, 250, 251, 350, -1500, 2500, 10**18 + 5 * 10**17, 5 * 10**17):
        assert staged(n) == f(n)


def test_the_derivative_is_zero_everywhere() -> None:
    f = define("def f(x: float) -> float:\n    return x + round(x, 2)\n")
    for x in (0.123, 2.675, 1e15, 1e18):
        assert rose.grad(f)(x) == 1.0


def test_the_number_of_digits_is_known_while_staging() -> None:
    f = define("def f(x: float, n: int) -> float:\n    return round(x, n)\n")
    with pytest.raises(StagingTypeError, match="digits that staging knows"):
        rose.jit(f)(1.0, 2)


def test_a_negative_exponent_of_integers_is_an_error_of_ours() -> None:
    f = define("def f(a: int, b: int) -> float:\n    return a**b\n")
    assert rose.jit(f)(4, 2) == 16.0
    with pytest.raises(RoseValueError, match="negative exponent") as told:
        rose.jit(f)(4, -1)
    assert told.value.span is not None
    assert told.value.span.line == 2


NUMPYS = ["v[0]", "v.sum()", "2.0 * v[0]", "np.sin(x)", "max(v[0], x)", "v[0] if x > 0 else x"]
PYTHONS = ["x", "float(v[0])", "math.sin(v[0])", "float(v.sum())", "2.0 * x + 1.0"]


@pytest.mark.parametrize("number", [*NUMPYS, *PYTHONS])
def test_numbers_of_numpys_round_otherwise(number):
    """`round(np.float64(2.675), 2)` is 2.68: NumPy multiplies, and rounds that."""
    f = define(f"def f(x: float, v: np.ndarray):\n    return round({number}, 2)\n", np=np, math=math)
    if number in NUMPYS:
        with pytest.raises(rose.StagingTypeError, match="may be NumPy's, which rounds otherwise than Python"):
            rose.jit(f)(2.675, np.array([2.675]))
    else:
        assert rose.jit(f)(2.675, np.array([2.675])) == f(2.675, np.array([2.675]))
