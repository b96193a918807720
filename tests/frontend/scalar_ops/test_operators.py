"""Python's operators on staged numbers."""

import math

import numpy as np
import pytest

from rosejit import text
from rosejit.errors import StagingTypeError
from rosejit.frontend.hints.hints import Vec
from rosejit.frontend.values import rose_functions as rose
from tests.frontend.oracle import agrees, define, evaluate, fault, says, stage

REALS = [(0.5, 2.0), (-1.5, 0.75), (7.25, -2.5), (3.0, 3.0), (-0.0, 1.0)]
INTS = [(7, 2), (-7, 2), (7, -2), (-7, -2), (0, 5), (3, 3)]
ARITHMETIC = ["+", "-", "*", "/", "//", "%"]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]


@pytest.mark.parametrize("symbol", [*ARITHMETIC, *COMPARISONS, "**"])
def test_two_reals(symbol):
    f = define(f"def f(x: float, y: float): return x {symbol} y")
    agrees(f, *[(abs(x) if symbol == "**" else x, y) for x, y in REALS])


@pytest.mark.parametrize("symbol", [*ARITHMETIC, *COMPARISONS, "&", "|", "^"])
def test_two_ints(symbol):
    f = define(f"def f(m: int, n: int): return m {symbol} n")
    agrees(f, *INTS)


@pytest.mark.parametrize("symbol", [*ARITHMETIC, *COMPARISONS])
def test_mixed(symbol):
    f = define(
        f"def f(x: float, n: int): return x {symbol} n, n {symbol} x, x {symbol} 3, 3 {symbol} x, n {symbol} 2.5"
    )
    agrees(f, (0.5, 2), (-1.5, 3), (7.25, -2))


@pytest.mark.parametrize("symbol", ["+", "-", "*", "&", "|", "^", "==", "!=", "<"])
def test_truth_values_are_ints_in_arithmetic(symbol):
    f = define(f"def f(p: bool, q: bool, n: int): return p {symbol} q, p {symbol} 2, n {symbol} q")
    agrees(f, (True, True, 3), (True, False, 3), (False, True, 2))


def test_shifts_and_powers_of_ints():
    def f(m: int, n: int):
        return m << n, m >> n, m**n, m**3, 2**n, m**0, (-m) ** 2

    agrees(f, (3, 2), (-5, 3), (7, 0), (0, 4))


def test_negative_shifts_and_exponents():
    def shift(n: int):
        return 1 << n

    def power(n: int):
        return 2**n

    agrees(shift, (3,), (-1,))
    with pytest.raises(ValueError, match="negative exponent"):
        evaluate(power, -1)


def test_one_operand():
    def f(x: float, n: int, p: bool):
        return -x, +x, abs(x), -n, +n, abs(n), ~n, -p, +p, abs(p)

    agrees(f, (1.5, 3, True), (-1.5, -3, False))


def test_rounding():
    def f(x: float, n: int):
        return (
            round(x),
            int(x),
            math.floor(x),
            math.ceil(x),
            math.trunc(x),
            round(n),
            divmod(x, 2),
            divmod(n, 3),
            divmod(7, n),
        )

    agrees(f, *[(x, 2) for x in (0.5, 1.5, 2.5, -0.5, -1.5, 2.4, -2.6, 1e15)])


@pytest.mark.parametrize("k", [0, 1, 2, 3, 7, 10, -1, -3, 2.0, -2.0, 0.5, 1.5])
def test_constant_powers(k):
    f = define(f"def f(x: float): return x ** {k}")
    agrees(f, (1.5,), (3.0,))
    if float(k).is_integer():
        agrees(f, (-2.0,))
        assert "pow" not in text.show(stage(f, 1.0).function)


def test_zero_to_the_zero():
    def f(x: float, n: int):
        return x**0, x**0.0, n**0

    assert evaluate(f, 0.0, 0) == (1.0, 1.0, 1)


@pytest.mark.parametrize("other", ["'1'", "[1]", "None", "(1,)", "{}"])
def test_operands_that_are_no_numbers(other):
    f = define(f"def f(x: float):\n    return x + {other}  # operand")
    error = fault(f, 1.0)
    assert isinstance(error, StagingTypeError)
    says(error, "`+`", type(eval(other)).__name__, line=f"return x + {other}  # operand", at=f"x + {other}")


def test_equality_with_what_is_no_number():
    def f(x: float):
        return x == None, x != "x", x is None  # noqa: E711

    assert evaluate(f, 1.0) == (False, True, False)


HOST_USES = {
    "f'{x}'": "print",
    "'%s' % str(x)": "print",
    "'{}'.format(x)": "print",
    "bytes(n)": "rose.opaque",
}


@pytest.mark.parametrize("use", HOST_USES)
def test_what_only_the_host_can_do(use):
    f = define(f"def f(x: float, n: int):\n    return {use}  # host")
    error = fault(f, 1.0, 2)
    assert isinstance(error, StagingTypeError)
    says(error, line=f"return {use}  # host", help=HOST_USES[use])


def test_a_constant_too_large():
    def f(n: int):
        return n + 2**63  # large

    error = fault(f, 1)
    assert isinstance(error, StagingTypeError)
    says(error, str(2**63), "64 bits", line="return n + 2**63  # large", help="float")


def test_the_bound_that_spares_the_wrapping():
    source = """
        def f(x: Vec["n"]):
            s = 0.0
            for i in rose.range(1, len(x)):
                s += x[i - 1] * x[i] + x[2 * i - 2] + x[i % 2]
            return s
    """
    from rosejit.frontend.hints.hints import Vec
    from rosejit.frontend.values import rose_functions as rose

    f = define(source, rose=rose, Vec=Vec)
    assert "wrap_index" not in text.show(stage(f, [1.0, 2.0]).function)


@pytest.mark.parametrize(
    ("use", "word"), [("last[0]", "has no elements"), ("sum(last)", "iterates"), ("x[n]", "has no elements")]
)
def test_numbers_are_no_arrays(use, word):
    source = f"""
    def f(v: Vec[3], x: float, n: int):
        s = 0.0
        for i in rose.range(3):
            if i > 0:
                s += {use}  # used
            last = v * i
        return s
    """
    says(fault(define(source, rose=rose, Vec=Vec), np.ones(3), 1.0, 1), word, line=f"s += {use}  # used", at=use)
