"""Handlers that wait for what Python's arithmetic of reals raises: refused with the line, never silently dead.

16 operations x 6 places x the handlers that would catch (their class, `Exception`, all): 288 cells, and as many that
catch something else, which give CPython's number.
"""

import contextlib
import math

import pytest

import rosejit as rose
from rosejit.errors import UnsupportedSyntax
from tests.frontend.oracle import define

OPERATIONS = {
    "1.0 / x": "ZeroDivisionError", "1.0 // x": "ZeroDivisionError", "1.0 % x": "ZeroDivisionError",
    "x ** (x - 3.0)": "ZeroDivisionError", "math.sqrt(x)": "ValueError", "math.log(x)": "ValueError",
    "math.log2(x)": "ValueError", "math.log10(x)": "ValueError", "math.log1p(x)": "ValueError",
    "math.asin(x / 8.0)": "ValueError", "math.fmod(1.0, x)": "ValueError", "math.exp(x)": "OverflowError",
    "math.sinh(x)": "OverflowError", "math.cosh(x)": "OverflowError", "math.expm1(x)": "OverflowError",
    "math.gamma(x)": "OverflowError",
}  # fmt: skip
PLACES = {
    "returned": "    try:\n        return {0}\n    except {1}:\n        return 7.0",
    "assigned": "    try:\n        y = {0}\n    except {1}:\n        y = 7.0\n    return y",
    "in an if": "    y = x\n    try:\n        if x > 0.5:\n            y = {0}\n    except {1}:\n        y = 7.0\n    return y",
    "in a loop": "    y = 0.0\n    try:\n        for i in rose.range(3):\n            y += {0}\n    except {1}:\n        y = 7.0\n    return y",
    "in a helper": "    def inner():\n        return {0}\n    try:\n        return inner()\n    except {1}:\n        return 7.0",
    "in a loop around": "    y = 0.0\n    for i in rose.range(3):\n        try:\n            y += {0}\n        except {1}:\n            y = 7.0\n    return y",
}
CASES = [pytest.param(p, o, id=f"{name}-{o}") for name, p in PLACES.items() for o in OPERATIONS]


@pytest.mark.parametrize(("place", "operation"), CASES)
def test_a_handler_of_what_python_would_raise(place, operation):
    for caught in (OPERATIONS[operation], "Exception", "(KeyError, BaseException)"):
        text = "def f(x: float) -> float:\n" + place.format(operation, caught)
        with pytest.raises(UnsupportedSyntax, match="a handler waits for its") as refused:
            rose.jit(define(text, math=math, rose=rose))(1.5)
        assert refused.value.span is not None


@pytest.mark.parametrize(("place", "operation"), CASES)
def test_other_handlers(place, operation):
    plain = define(
        "def f(x: float) -> float:\n" + place.format(operation, "(KeyError, LookupError)"), math=math, rose=rose
    )
    assert rose.jit(plain)(1.5) == pytest.approx(plain(1.5), rel=1e-14)


@pytest.mark.parametrize(
    ("suppressed", "staged", "raises"),
    [
        ("ValueError", "math.sqrt(x)", "y + math.sqrt(-1.0)"),
        ("ArithmeticError", "1.0 / x", "y + 1 // 0"),
        ("KeyError, Exception", "math.exp(x)", "y + int('one')"),
    ],
)
def test_suppress(suppressed, staged, raises):
    text = "def f(x: float) -> float:\n    y = 0.0\n    with suppress({}):\n        y = {}\n    return y"
    with pytest.raises(UnsupportedSyntax, match="of staged reals never raises"):
        rose.jit(define(text.format(suppressed, staged), math=math, suppress=contextlib.suppress))(1.5)
    host = define(text.format(suppressed, raises), math=math, suppress=contextlib.suppress)
    assert rose.jit(host)(1.5) == host(1.5) == 0.0


def test_division_by_a_number_that_is_not_zero():
    f = define(
        "def f(x: float) -> float:\n    try:\n        return x / 2.0\n    except ZeroDivisionError:\n        return 7.0"
    )
    assert rose.jit(f)(3.0) == 1.5
