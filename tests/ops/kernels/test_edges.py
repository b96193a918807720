"""The special cases of C99, Annex F, and what the functions it does not know do there."""

import math

import pytest

from rosejit.ops import PRIMITIVES
from tests.ops.points import for_each, identical

INF, NAN, PI = math.inf, math.nan, math.pi
TINY, HUGE = 5e-324, 1.7976931348623157e308
ODD_FUNCTIONS = "expm1 log1p cbrt sin tan asin atan sinh tanh asinh atanh erf".split()

ONE_OPERAND = {
    "sqrt": [(0.0, 0.0), (-0.0, -0.0), (-1.0, NAN), (INF, INF), (-INF, NAN)],
    "abs": [(-0.0, 0.0), (-INF, INF)],
    "sign": [(0.0, 0.0), (-0.0, 0.0), (-INF, -1.0), (TINY, 1.0)],
    "floor": [(-0.0, -0.0), (0.5, 0.0), (-0.5, -1.0), (-INF, -INF), (2.0**52 + 1.0, 2.0**52 + 1.0)],
    "ceil": [(-0.0, -0.0), (-0.5, -0.0), (0.5, 1.0), (INF, INF)],
    "trunc": [(-0.0, -0.0), (-0.5, -0.0), (-1.5, -1.0), (INF, INF)],
    "nearest": [(0.5, 0.0), (-0.5, -0.0), (1.5, 2.0), (2.5, 2.0), (-0.0, -0.0), (INF, INF), (0.49999999999999994, 0.0)],
    "exp": [
        (0.0, 1.0),
        (-0.0, 1.0),
        (-INF, 0.0),
        (INF, INF),
        (710.0, INF),
        (-746.0, 0.0),
        (-745.0, TINY),
        (1e-300, 1.0),
    ],
    "exp2": [(0.0, 1.0), (-INF, 0.0), (INF, INF), (1024.0, INF), (1023.0, 2.0**1023), (-1074.0, TINY), (-1076.0, 0.0)],
    "expm1": [(-INF, -1.0), (INF, INF), (710.0, INF), (-50.0, -1.0), (-1000.0, -1.0)],
    "log": [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (INF, INF), (-INF, NAN)],
    "log2": [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (INF, INF), (TINY, -1074.0), (2.0**1023, 1023.0)],
    "log10": [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (INF, INF), (1000.0, 3.0), (1e22, 22.0)],
    "log1p": [(-1.0, -INF), (-2.0, NAN), (INF, INF), (-INF, NAN)],
    "cbrt": [(INF, INF), (-INF, -INF), (27.0, 3.0), (-8.0, -2.0)],
    "sin": [(INF, NAN), (-INF, NAN)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (TINY, 1.0)],
    "tan": [(INF, NAN), (-INF, NAN)],
    "asin": [(1.0, PI / 2), (-1.0, -PI / 2), (1.0000000000000002, NAN), (INF, NAN), (-INF, NAN)],
    "acos": [(1.0, 0.0), (-1.0, PI), (0.0, PI / 2), (1.0000000000000002, NAN), (-INF, NAN)],
    "atan": [(INF, PI / 2), (-INF, -PI / 2), (1.0, PI / 4), (HUGE, PI / 2)],
    "sinh": [(INF, INF), (-INF, -INF), (711.0, INF), (-711.0, -INF)],
    "cosh": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (711.0, INF)],
    "tanh": [(INF, 1.0), (-INF, -1.0), (30.0, 1.0)],
    "sech2": [(0.0, 1.0), (INF, 0.0), (-INF, 0.0)],
    "bell": [(0.0, 0.25), (INF, 0.0), (-INF, 0.0)],
    "asinh": [(INF, INF), (-INF, -INF)],
    "acosh": [(1.0, 0.0), (0.5, NAN), (-INF, NAN), (INF, INF)],
    "atanh": [(1.0, INF), (-1.0, -INF), (2.0, NAN), (INF, NAN)],
    "erf": [(INF, 1.0), (-INF, -1.0), (7.0, 1.0)],
    "erfc": [(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 2.0), (30.0, 0.0), (-7.0, 2.0)],
    "gamma": [
        (0.0, INF),
        (-0.0, -INF),
        (-1.0, NAN),
        (-(2.0**60), NAN),
        (-INF, NAN),
        (INF, INF),
        (172.0, INF),
        (5.0, 24.0),
    ]
    + [(-200.5, -0.0), (-201.5, 0.0), (TINY, INF), (1.0, 1.0), (2.0, 1.0)],
    "lgamma": [(1.0, 0.0), (2.0, 0.0), (0.0, INF), (-0.0, INF), (-3.0, INF), (INF, INF), (-INF, INF), (HUGE, INF)],
    "digamma": [(0.0, -INF), (-0.0, INF), (-1.0, NAN), (INF, INF)],
    "sigmoid": [(0.0, 0.5), (INF, 1.0), (-INF, 0.0), (40.0, 1.0)],
    "softplus": [(INF, INF), (-INF, 0.0), (1000.0, 1000.0)],
    "one_minus_square": [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (INF, -INF)],
}

TWO_OPERANDS = {
    "pow": [
        *((x, y, r) for y, r in ((0.0, 1.0), (-0.0, 1.0)) for x in (0.0, -1.0, INF, -INF, NAN, 2.5)),
        *((1.0, y, 1.0) for y in (NAN, INF, -INF, 1e300)),
        *((0.0, -3.0, INF), (-0.0, -3.0, -INF), (-0.0, -2.0, INF), (-0.0, -0.5, INF), (0.0, -INF, INF)),
        *((0.0, 3.0, 0.0), (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (-0.0, 0.5, 0.0), (0.0, INF, 0.0)),
        *((-1.0, INF, 1.0), (-1.0, -INF, 1.0), (-1.0, 1e300, 1.0), (-1.0, 2.0**53 - 1.0, -1.0)),
        *((-2.0, 0.5, NAN), (-2.0, 3.0, -8.0), (-2.0, 2.0, 4.0), (-2.0, -1.0, -0.5), (-2.0, 1e17, INF)),
        *((0.5, -INF, INF), (2.0, -INF, 0.0), (0.5, INF, 0.0), (2.0, INF, INF), (-0.5, -INF, INF), (-2.0, -INF, 0.0)),
        *((-INF, -3.0, -0.0), (-INF, -2.0, 0.0), (-INF, 3.0, -INF), (-INF, 2.0, INF), (-INF, 0.5, INF)),
        *((INF, -1.0, 0.0), (INF, 0.5, INF), (2.0, 1024.0, INF), (2.0, -1074.0, TINY), (2.0, -1080.0, 0.0)),
        *((NAN, 1.0, NAN), (2.0, NAN, NAN), (HUGE, 1.0, HUGE), (TINY, 1.0, TINY), (1.0000000000000002, 1e300, INF)),
        *((0.9999999999999999, 1e300, 0.0), (-2.0, 1025.0, -INF), (10.0, -5.0, 1e-05)),
    ],
    "hypot": [
        *((INF, NAN, INF), (NAN, -INF, INF), (-INF, 1.0, INF), (0.0, -0.0, 0.0), (NAN, 1.0, NAN), (HUGE, HUGE, INF)),
        *(
            (TINY, 0.0, TINY),
            (2.0**600 * 3, 2.0**602, 2.0**600 * 5),
            (2.0**-600 * 3, 2.0**-598, 2.0**-600 * 5),
            (3e-320, 0.0, 3e-320),
            (1e300, 1e-300, 1e300),
        ),
    ],
    "sech2_by": [(0.0, 0.0, 1.0), (INF, 1.0, 0.0), (-INF, -1.0, 0.0)],
    "bell_by": [(0.0, 0.5, 0.25), (INF, 1.0, 0.0), (-INF, 0.0, 0.0)],
    "unit": [(0.0, 0.0, 0.0), (-3.0, 4.0, -0.6), (0.0, 1.0, 0.0), (-2.0, 0.0, -1.0)],
    "atan2": [
        *((0.0, -0.0, PI), (-0.0, -0.0, -PI), (0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (0.0, -1.0, PI), (-0.0, -1.0, -PI)),
        *((0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (1.0, 0.0, PI / 2), (-1.0, -0.0, -PI / 2), (1.0, -INF, PI)),
        *((-1.0, -INF, -PI), (1.0, INF, 0.0), (-1.0, INF, -0.0), (INF, 1.0, PI / 2), (-INF, -1.0, -PI / 2)),
        *((INF, -INF, 3 * PI / 4), (-INF, -INF, -3 * PI / 4), (INF, INF, PI / 4), (-INF, INF, -PI / 4)),
        *(
            (NAN, 1.0, NAN),
            (1.0, NAN, NAN),
            (NAN, INF, NAN),
            (TINY, -HUGE, PI),
            (TINY, HUGE, 0.0),
            (HUGE, TINY, PI / 2),
        ),
    ],
    "fmod": [
        *((0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (5.0, INF, 5.0), (INF, 5.0, NAN), (5.0, 0.0, NAN), (-5.5, 2.0, -1.5)),
        *((HUGE, TINY, 0.0), (TINY, HUGE, TINY), (1e300, 3.0, math.fmod(1e300, 3.0)), (NAN, 1.0, NAN), (1.0, NAN, NAN)),
    ],
    "mod": [
        (-5.5, 2.0, 0.5),
        (5.5, -2.0, -0.5),
        (-4.0, 2.0, 0.0),
        (4.0, -2.0, -0.0),
        (5.0, 0.0, NAN),
        (-5.0, INF, INF),
    ],
    "floordiv": [
        (7.5, 2.0, 3.0),
        (-7.5, 2.0, -4.0),
        (1.0, 0.0, INF),
        (-1.0, 0.0, -INF),
        (0.0, 0.0, NAN),
        (-5.0, INF, -1.0),
    ],
    "div": [(1.0, 0.0, INF), (1.0, -0.0, -INF), (0.0, 0.0, NAN), (INF, 0.0, INF), (-1.0, INF, -0.0), (NAN, 0.0, NAN)],
    "max": [(1.0, NAN, 1.0), (NAN, 1.0, NAN), (0.0, -0.0, 0.0), (-0.0, 0.0, -0.0), (1.0, 2.0, 2.0)],
    "min": [(1.0, NAN, 1.0), (NAN, 1.0, NAN), (0.0, -0.0, 0.0), (-0.0, 0.0, -0.0), (1.0, 2.0, 1.0)],
    "maximum": [(1.0, NAN, NAN), (NAN, 1.0, NAN), (1.0, 2.0, 2.0), (INF, 2.0, INF)],
    "minimum": [(1.0, NAN, NAN), (NAN, 1.0, NAN), (1.0, 2.0, 1.0), (-INF, 2.0, -INF)],
    "copysign": [(1.0, -0.0, -1.0), (-INF, 1.0, INF), (0.0, -1.0, -0.0)],
}


@pytest.mark.parametrize(("name", "x", "expected"), [(n, *case) for n, cases in ONE_OPERAND.items() for case in cases])
def test_one_operand(name, x, expected):
    assert identical(PRIMITIVES[name].evaluate(x), expected)


@pytest.mark.parametrize(
    ("name", "x", "y", "expected"), [(n, *case) for n, cases in TWO_OPERANDS.items() for case in cases]
)
def test_two_operands(name, x, y, expected):
    assert identical(PRIMITIVES[name].evaluate(x, y), expected)


@pytest.mark.parametrize("name", ODD_FUNCTIONS)
@pytest.mark.parametrize("x", [0.0, -0.0, TINY, -TINY, 2.2250738585072014e-308, -1e-310])
def test_odd_functions_keep_tiny_numbers_and_the_sign_of_zero(name, x):
    got = PRIMITIVES[name].evaluate(x)
    if name == "erf" and x != 0.0:
        assert got == pytest.approx(x * 2 / math.sqrt(PI), abs=5e-324)
    elif name == "cbrt" and x != 0.0:
        assert got == pytest.approx(math.copysign(abs(x) ** (1 / 3), x))
    else:
        assert identical(got, x)


@for_each(lambda op: set(op.params) == {op.result} == {PRIMITIVES["add"].result} and len(op.params) == 1)
def test_nan_gives_nan(op):
    assert math.isnan(op.evaluate(NAN))


@pytest.mark.parametrize(
    ("n", "x", "expected"), [(1, INF, 0.0), (2, INF, -0.0), (1, 0.0, INF), (1, -1.0, INF), (2, -1.0, NAN)]
)
def test_polygamma(n, x, expected):
    assert identical(PRIMITIVES["polygamma"].evaluate(n, x), expected)


@pytest.mark.parametrize("x", [0.5, 3.0, -0.5, 12.0])
def test_polygamma_of_order_zero_is_digamma(x):
    assert PRIMITIVES["polygamma"].evaluate(0, x) == PRIMITIVES["digamma"].evaluate(x)
