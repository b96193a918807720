"""Builtins and `math` on staged numbers; what is called as it is."""

import fractions
import math
import statistics

import numpy as np
import pytest

from rosejit.errors import StagingTypeError
from rosejit.frontend.hints.hints import Vec
from rosejit.frontend.syntax.user_code import is_users
from rosejit.frontend.values import rose_functions as rose
from tests.frontend.oracle import agrees, define, evaluate, fault, says

EXPRESSIONS = [
    "math.sqrt(x)", "math.exp(x)", "math.log(x)", "math.log(x, 3)", "math.log2(x)", "math.log10(x)", "math.log1p(x)",
    "math.sin(x)", "math.cos(x)", "math.tan(x)", "math.asin(y)", "math.acos(y)", "math.atan(x)", "math.atan2(x, y)",
    "math.sinh(x)", "math.cosh(x)", "math.tanh(x)", "math.asinh(x)", "math.acosh(x)", "math.atanh(y)", "math.pow(x, y)",
    "math.hypot(x, y)", "math.hypot(x, y, 2.0)", "math.floor(x)", "math.ceil(x)", "math.trunc(x)", "math.fabs(-x)",
    "math.copysign(x, -y)", "math.fmod(x, y)", "math.isnan(x)", "math.isinf(x)", "math.isfinite(x)", "math.degrees(x)",
    "math.radians(x)", "math.dist([x, y], (1.0, 2))", "math.prod([x, y, n])", "math.fsum([x, 2.0, y])", "math.expm1(x)",
    "math.sqrt(n)", "math.pow(n, 2)", "math.atan2(1.0, 2.0)", "math.gcd(12, 18)", "math.pi * x",
    "math.fsum([1e16, x, -1e16, 1.0])", "math.fsum([math.inf, x])", "math.hypot(x * 1e200, 1e200, y * 1e200)", "math.hypot(-x)",
    "math.isclose(x, 2.5 + 1e-12)", "math.isclose(x, y, rel_tol=0.5, abs_tol=1.0)", "math.isclose(x * math.inf, 1.0)",
    "x.real + x.imag", "x.conjugate()", "x.is_integer()", "(x * 2).is_integer()", "(x * math.inf).is_integer()",
    "math.gcd(n, 12)", "math.lcm(n, -4, 6)", "math.isqrt(n * 7)", "math.factorial(n)", "math.comb(9, n)",
    "math.perm(n, 2)", "math.perm(n)", "math.perm(n + 19, 40)", "math.modf(-x)", "math.frexp(x * 12)", "math.ldexp(x, -n)", "math.remainder(x, y)",
    "np.gcd(n, [4, 6])", "np.lcm(n, 5)", "np.ldexp([x, y], n)", "(n * 37).bit_count()", "(-n).bit_count()",
    "n.bit_length()", "(-n * 5).bit_length()", "(n - n).bit_length()", "n.numerator / n.denominator + n.real", "hasattr(x, 'real')",
    "abs(-x)", "abs(n)", "float(x)", "float(n)", "float('2.5') * x", "int(x)", "int(-x)", "int(n)", "int('3') + n",
    "bool(x)", "bool(n)", "round(x)", "pow(x, 2)", "pow(n, 2)", "pow(2, n)", "pow(7, 2, 5)", "divmod(n, 2)", "divmod(x, y)",
    "isinstance(x, float)", "isinstance(x, int)", "isinstance(n, int)", "isinstance(p, bool)", "isinstance(p, int)",
    "isinstance(v, np.ndarray)", "isinstance([x], list)", "isinstance(x, (str, float))", "isinstance(x, int | float)",
    "type(x) is float", "type(n) is int", "type(p) is bool", "type(v) is np.ndarray", "type([]) is list",
    "len(v)", "len([x, y])", "list(v)", "tuple(v)", "list(zip(v, [1, 2, 3]))", "list(enumerate(v))", "list(reversed(v))",
    "sum(v)", "sum([x, y], n)", "max(x, y)", "min(v)", "sum(range(4))", "list(range(3))", "sorted([2, 1])", "str(3)",
    "len(rose.range(5))", "[k for k in rose.unroll(range(2))]", "sum(k for k in reversed(rose.range(2, 9, 3)))",
    "dict(a=x)['a']", "set([1, 1])", "bool([])", "repr('a')", "any([x > 1, False])", "all([p, x > 0])", "map(abs, [1])",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_as_python(expression):
    made = f"list({expression})" if expression.startswith("map") else expression
    scope = {"math": math, "np": np, "Vec": Vec, "rose": rose}
    f = define(f"def f(x: float, y: float, n: int, p: bool, v: Vec[3]): return {made}", **scope)
    agrees(f, (1.75, 0.5, 3, True, np.array([1.0, -2.0, 3.0])), (2.5, -0.25, 4, False, np.array([0.0, 2.0, 1.0])))


def test_domains_as_ieee():
    def f(x: float):
        return math.sqrt(x), math.log(x), 1 / x, x / 0

    found = evaluate(f, -0.0)
    assert found[0] == 0.0
    assert found[1] == -math.inf
    assert found[2] == -math.inf
    assert math.isnan(found[3])
    assert math.isnan(evaluate(f, -1.0)[0])


def test_conversions_that_do_not_fit():
    def f(x: float):
        return int(x)

    agrees(f, (1e18,), (-2.9,))
    with pytest.raises(OverflowError):
        evaluate(f, 1e19)


def test_functions_of_libraries_are_called_as_they_are():
    def known(x: float):
        return x * statistics.mean([1.0, 2.0]) * float(fractions.Fraction(1, 2))

    def given(x: float):
        return statistics.mean([x, 2.0])  # library

    agrees(known, (2.0,))
    error = fault(given, 1.0)
    assert isinstance(error, StagingTypeError)
    says(error, line="return statistics.mean([x, 2.0])  # library")


def test_bad_ranges():
    for use, word in (
        ("rose.range(x)", "integer bounds"),
        ("range(n, x)", "integer bounds"),
        ("rose.range(1.5)", "integer"),
    ):
        f = define(f"def f(x: float, n: int):\n    for k in {use}:  # bounds\n        pass\n    return x", rose=rose)
        error = fault(f, 1.0, 2)
        assert isinstance(error, StagingTypeError)
        says(error, word, line=f"for k in {use}:  # bounds")
    f = define("def f(n: int):\n    for k in rose.range(0, n, 0): pass\n    return n", rose=rose)
    with pytest.raises(ValueError, match="must not be zero"):
        evaluate(f, 2)
    g = define("def g(n: int):\n    for k in rose.range(0, 3, n): pass\n    return n", rose=rose)
    with pytest.raises((ValueError, ZeroDivisionError)):
        evaluate(g, 0)


def test_staged_ranges_on_the_host():
    def f(n: int):
        return list(rose.range(n))  # list

    error = fault(f, 3)
    assert isinstance(error, StagingTypeError)
    says(error, "staged range", line="return list(rose.range(n))  # list")


def test_ranges_outside_of_staged_code():
    assert list(rose.range(1, 4)) == [1, 2, 3]
    assert rose.unroll([1]) == [1]


def test_whose_a_file_is():
    assert is_users(__file__)
    for module in (math, statistics, np, pytest, fractions):
        assert not is_users(getattr(module, "__file__", None) or statistics.__file__)
    assert not is_users("<nowhere>")
    assert is_users(define("def f(): pass").__code__.co_filename)
