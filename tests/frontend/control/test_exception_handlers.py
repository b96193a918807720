"""Handlers of what Python's arithmetic of reals raises: staged as branches, with CPython's values and derivatives.

26 operations x 12 places (all 312 pairs with ROSE_TEST_ALL=1, else 112), at 12 points each, and the slope at four; and
handlers of something else, for which reals are IEEE numbers as ever.
"""

import contextlib
import math
import os

import pytest

import rosejit as rose
from rosejit import Vec
from rosejit.errors import RoseError, RoseOverflowError, UnsupportedSyntax
from rosejit.numeric import np
from tests.frontend.oracle import define

OPERATIONS = {
    "1.0 / x": "ZeroDivisionError", "1.0 // x": "ZeroDivisionError", "1.0 % x": "ZeroDivisionError",
    "1 / (x - 1)": "ZeroDivisionError", "divmod(5.0, x)[1]": "ZeroDivisionError",
    "abs(x) ** (x - 3.0)": "ArithmeticError", "x ** 2": "OverflowError", "x ** 3.5 if x > 0 else x": "OverflowError",
    "x ** -2": "(ZeroDivisionError, OverflowError)", "pow(x, 4)": "OverflowError", "math.pow(x, -2.0)": "ValueError",
    "math.sqrt(x)": "ValueError", "math.log(x)": "ValueError", "math.log(x, x - 1.0)": "(ZeroDivisionError, ValueError)",
    "math.log1p(x)": "ValueError", "math.asin(x / 8.0)": "ValueError", "math.acosh(x)": "ValueError",
    "math.atanh(x)": "ValueError", "math.sin(x)": "ValueError", "math.fmod(1.0, x)": "ValueError",
    "math.exp(x)": "OverflowError", "math.cosh(x)": "OverflowError", "math.gamma(x)": "(ValueError, OverflowError)",
    "math.lgamma(x)": "(ValueError, OverflowError)", "1 // int(x * 1.5)": "(ArithmeticError, ValueError)",
    "float(math.floor(x))": "(ValueError, OverflowError)",
    "positive(x)": "ValueError", "refused(x)": "OwnError", "whole(x)": "AssertionError", "kinds(x)": "(OwnError, ValueError)",
    "TABLE[min(max(x, -9.0), 9.0) * 2.0]": "LookupError", "TABLE[int(x > 1.0)]": "KeyError",
    "FEW[int(min(max(x, -9.0), 9.0) * (x == x))]": "(ValueError, IndexError)",
}  # fmt: skip


class OwnError(Exception):
    """An error of the user's."""


def positive(x):
    """A check that raises."""
    if x < 0.0:
        raise ValueError(f"{x} is less than zero")
    return x + 1.0


def refused(x):
    """One that raises in the other branch, behind a computation."""
    y = x * 2.0
    if x > 1.0:
        return y
    raise OwnError


def whole(x):
    """One that asserts."""
    assert x != 2.0, "it is two"
    return x - 1.0


def kinds(x):
    """Errors of two classes."""
    if x < 0.0:
        raise ValueError("less")
    if x > 1.0:
        raise OwnError(x)
    return x * x


NAMES = {
    "positive": positive, "refused": refused, "whole": whole, "kinds": kinds, "OwnError": OwnError,
    "TABLE": {0: 2.5, 1: 3.5, 2: 5.0, 6: 1.5}, "FEW": [1.5, 2.5],
}  # fmt: skip
RAISED = (ArithmeticError, ValueError, OwnError, AssertionError, LookupError)
PLACES = {
    "returned": "    try:\n        return {0}\n    except {1}:\n        return 7.0 + x",
    "assigned": "    try:\n        y = {0}\n    except {1}:\n        y = 7.0\n    return y",
    "kept": "    y = 2.0\n    try:\n        y = 3.0\n        y = {0}\n        y *= 2.0\n    except {1}:\n        return y\n    return y + x",
    "else and finally": "    y = 1.0\n    try:\n        z = {0}\n    except {1}:\n        y += 10.0\n    else:\n        y += z\n    finally:\n        y += 100.0\n    return y",
    "in an if": "    y = x\n    try:\n        if x > 0.5:\n            y = {0}\n        y += 1.0\n    except {1}:\n        y = y - 7.0\n    return y",
    "a loop": "    y = 0.0\n    try:\n        for i in rose.range(3):\n            y += {0}\n            x = x - 0.5\n    except {1}:\n        y -= 7.0\n    return y",
    "a while": "    y = 0.0\n    i = 0\n    try:\n        while {0} > -1.0:\n            y += 1.5\n            x = x - 0.5\n            i += 1\n            if i > 4:\n                break\n    except {1}:\n        y += 70.0\n    return y + x",
    "in a helper": "    def inner():\n        if x > 2.0:\n            return 1.5\n        return {0}\n    try:\n        return inner() + 1.0\n    except {1}:\n        return 7.0",
    "what a helper makes behind": "    def inner():\n        y = {0}\n        p = [y * a for a in (1.0, 2.0)]\n        p.append(sum(y * a for a in (1.0, 2.0)))\n        return sum(p)\n    try:\n        return inner() + 1.0\n    except {1}:\n        return 7.0",
    "in a loop around": "    y = 0.0\n    for i in rose.range(3):\n        x = x - 0.5\n        try:\n            y += {0}\n        except {1}:\n            y += 7.0 * i\n            if i == 1:\n                return y\n    return y",
    "unrolled": "    y = 0.0\n    for i in range(3):\n        x = x - 0.5\n        try:\n            if i == 1 and x > 1.0:\n                continue\n            y += {0}\n        except {1}:\n            y += 7.0 * i\n            break\n    else:\n        y += 1000.0\n    return y",
    "nested": "    y = 0.0\n    try:\n        try:\n            y = {0}\n        except KeyError:\n            y = 3.0\n        y += 1.0\n    except {1}:\n        y -= 2.0\n    return y",
    "suppressed": "    y = 3.0\n    with suppress(*errors({1})):\n        y = 4.0\n        y = {0}\n        y += 1.0\n    return y",
}
POINTS = (-3.0, -1.0, -0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 800.0, 1e200, math.inf, math.nan)
EVERYWHERE = ("1.0 / x", "x ** 2", "math.sqrt(x)", "math.log(x, x - 1.0)", "math.exp(x)", "1 // int(x * 1.5)")
PAIRS = [
    (place, operation)
    for place in PLACES
    for operation in OPERATIONS
    if operation in EVERYWHERE or place in ("returned", "in a loop around") or "ROSE_TEST_ALL" in os.environ
]
CASES = [pytest.param(PLACES[place], operation, id=f"{place}-{operation}") for place, operation in PAIRS]
SAMPLED = ("test_as_python_has_it",)


def _text(place, operation, caught):
    return "def f(x: float) -> float:\n" + place.format(operation, caught)


def _define(text):
    return define(
        text,
        **NAMES,
        math=math,
        rose=rose,
        suppress=contextlib.suppress,
        errors=lambda e: e if isinstance(e, tuple) else (e,),
    )


@pytest.mark.parametrize(("place", "operation"), CASES)
def test_as_python_has_it(place, operation):
    caught = OPERATIONS[operation]
    if len(operation) % 2:
        caught = f"({caught.strip('()')}, KeyError)"
    plain = _define(_text(place, operation, caught))
    staged = rose.jit(plain)
    slope = rose.grad(staged)
    for x in POINTS:
        try:
            want = plain(x)
        except RAISED:  # of what is not caught: IEEE numbers, or the error when it runs
            continue
        if x == 1e200 and ("int" in operation or "floor" in operation):
            with contextlib.suppress(RoseOverflowError):  # Ints have 64 bits, which is never silent
                assert staged(x) == want
        else:
            assert staged(x) == pytest.approx(want, rel=1e-12, nan_ok=True), x
    for x in (-0.7123, 0.3217, 1.3717, 2.7371):
        near = (plain(x + 1e-6) - plain(x - 1e-6)) / 2e-6
        assert slope(x) == pytest.approx(near, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_slope_of_a_handler(operation):
    """Where the handler runs nothing of what raised is in the derivative: it is not nan."""
    plain = _define(_text(PLACES["returned"], operation, "Exception"))
    for x in POINTS[:-2]:
        try:
            eval(operation, {"math": math, "x": x, **NAMES})
        except RAISED:
            assert rose.grad(rose.jit(plain))(x) == 1.0
            assert rose.grad(rose.grad(rose.jit(plain)))(x) == 0.0


@pytest.mark.parametrize("operation", OPERATIONS)
def test_other_handlers(operation):
    if "int(" in operation or "floor" in operation or any(name in operation for name in NAMES):
        return  # fails when it runs, as ever
    plain = _define(_text(PLACES["assigned"], operation, "(KeyError, LookupError)"))
    x = 0.5 if "atanh" in operation else 2.5
    assert rose.jit(plain)(x) == pytest.approx(plain(x), rel=1e-12)


def test_numbers_of_numpy_never_raise():
    def element(a: Vec["n"]) -> float:
        try:
            return a[0] / a[1]
        except ZeroDivisionError:
            return 7.0

    def function(x: float) -> float:
        y = np.sin(x)
        for _ in rose.range(2):
            try:
                y = 1.0 / y
            except ZeroDivisionError:
                y = 7.0
        return y

    for f, argument in ((element, np.array([1.0, 0.0])), (function, 0.0)):
        with pytest.raises(UnsupportedSyntax, match="may be of a number of NumPy's") as refused:
            rose.jit(f)(argument)
        assert refused.value.span is not None

    def python(a: Vec["n"]) -> float:
        try:
            return math.sqrt(a[0])
        except ValueError:
            return 7.0

    assert rose.jit(python)(np.array([-1.0])) == 7.0
    assert rose.jit(python)(np.array([4.0])) == 2.0


REFUSED = {
    "a bare raise": ("    try:\n        y = 1.0 / x\n    except ZeroDivisionError:\n        raise\n    return y", "bare `raise`"),
    "its name": ("    try:\n        y = 1.0 / x\n    except ZeroDivisionError as e:\n        y = len(str(e))\n    return y", "has no object"),
    "an effect behind": ("    def g():\n        y = 1.0 / x\n        print(y)\n        return y\n    try:\n        y = g()\n    except ZeroDivisionError:\n        y = 1.0\n    return y", "may have raised before"),
    "an attribute behind": ("    def g():\n        y = 1.0 / x\n        box.v = y\n        return y\n    try:\n        y = g()\n    except ZeroDivisionError:\n        y = 1.0\n    return y + box.v", "may have raised|from outside|argument"),
    "a while behind": ("    def g(y):\n        while y > 1e-3:\n            y = 0.5 * y / (y - 3.0)\n        return y\n    try:\n        y = g(x)\n    except ZeroDivisionError:\n        y = 1.0\n    return y", "in a `while` of a function"),
    "a manager that swallows": ("    y = 1.0\n    with swallow:\n        y = 1.0 / x\n    return y", "`with` raises is not staged"),
    "a function nobody knows": ("    try:\n        y = math.remainder(x, 0.0)\n    except ValueError:\n        y = 1.0\n    return y", "never raises"),
}  # fmt: skip


class _Swallow:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return True


class _Box:
    v = 0.0


@pytest.mark.parametrize(("text", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(text, words):
    plain = define("def f(x: float) -> float:\n" + text, math=math, swallow=_Swallow(), box=_Box())
    with pytest.raises(RoseError, match=words) as refused:
        rose.jit(plain)(2.0)
    assert refused.value.span is not None


@pytest.mark.parametrize(
    ("suppressed", "raises"), [("ArithmeticError", "y + 1 // 0"), ("KeyError, Exception", "y + int('one')")]
)
def test_suppress_of_the_host(suppressed, raises):
    text = "def f(x: float) -> float:\n    y = 0.0\n    with suppress({}):\n        y = {}\n    return y"
    host = _define(text.format(suppressed, raises))
    assert rose.jit(host)(1.5) == host(1.5) == 0.0


def test_managers_that_swallow_nothing():
    class Manager:
        def __enter__(self):
            return 2.0

        def __exit__(self, *raised):
            return None

    def f(x: float) -> float:
        with Manager() as two:
            y = two / x
        return y

    assert rose.jit(f)(4.0) == 0.5


def test_division_by_a_number_that_is_not_zero():
    f = define(
        "def f(x: float) -> float:\n    try:\n        return x / 2.0\n    except ZeroDivisionError:\n        return 7.0"
    )
    assert rose.jit(f)(3.0) == 1.5
    assert "If" not in repr(rose.jit(f).lower(3.0))


@pytest.mark.parametrize(
    "behind", ["math.sqrt(x)", "x ** 0.5", "math.log(x)", "x / x", "math.asin(1.0 + x)", "x ** -0.5"]
)
@pytest.mark.parametrize("caught", ["ZeroDivisionError", "ArithmeticError", "(ZeroDivisionError, ValueError)"])
def test_what_python_never_comes_to_has_no_slope(behind, caught):
    text = (
        "def f(x: float, y: float) -> float:\n    try:\n        z = x / y + {}\n    except {}:\n        z = 9.0 * x\n"
    )
    f = rose.jit(define(text.format(behind, caught) + "    return z", math=math))
    assert f(0.0, 0.0) == 0.0
    assert rose.grad(f)(0.0, 0.0) == 9.0
    assert rose.jvp(f, (0.0, 0.0), (1.0, 0.0)) == (0.0, 9.0)
    assert rose.grad(rose.grad(f))(0.0, 0.0) == 0.0


@pytest.mark.parametrize("name", ["item()", "T", "dtype", "sum()", "mean()", "astype(float)", "tolist()", "max()"])
@pytest.mark.parametrize("kind", ["AttributeError", "Exception"])
def test_what_numpys_numbers_have_and_pythons_have_not(name, kind):
    """Which of them a staged number is in Python is not known, so a handler that waits for the answer is refused."""
    f = define(f"""
    def f(x):
        try:
            return 6.0 * x.{name}
        except {kind}:
            return 4.0 * x
    """)
    with pytest.raises(rose.UnsupportedSyntax, match="inside a `try`"):
        rose.jit(f)(1.0)


class Degenerate(ArithmeticError):
    """The user's own: no error of NumPy's is one."""


SOLVED = {
    "solve": "np.linalg.solve(np.array([[x, 1.0], [0.0, 2.0]]), np.ones(2))[0]",
    "inv": "np.linalg.inv(np.array([[x, 1.0], [0.0, 2.0]]))[0, 0]",
    "element": "np.array([x, 2.0])[int(x)]",
}


@pytest.mark.parametrize("solved", SOLVED)
@pytest.mark.parametrize("caught", ["Degenerate", "(Degenerate, KeyError)", "LookupError", "Exception"])
def test_what_no_handler_waits_for_is_raised(solved, caught):
    text = f"def f(x):\n    try:\n        y = {SOLVED[solved]}\n        if y > 3.0:\n            raise Degenerate('large')\n"
    f = define(f"{text}    except {caught}:\n        return -1.0\n    return y", np=np, Degenerate=Degenerate)
    for x in (2.0, 0.125, 0.0):
        try:
            wanted = f(x)
        except (ArithmeticError, LookupError, ValueError) as error:
            wanted = type(error)
        if isinstance(wanted, type):
            with pytest.raises(wanted):
                rose.jit(f)(x)
        else:
            assert rose.jit(f)(x) == pytest.approx(wanted, rel=1e-15)
