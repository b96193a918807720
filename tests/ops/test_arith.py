"""Facts of their own: kinks, ties, and rounding."""

import math
import random
from fractions import Fraction

import pytest

from rosejit import interp
from rosejit.ops import arith
from rosejit.ops.traced_value import define
from tests.ops.points import awkward

INF, NAN = math.inf, math.nan


def slope(op, *args):
    """The partials as they are staged: `/` divides by zero there."""
    return interp.run(define("f", op.params, lambda *values: op.partials(*values, op(*values))), args)


def chosen(op, x, y, dx=2.0, dy=3.0):
    return op.tangent((x, y), op.evaluate(x, y), (dx, dy))


def test_abs_is_flat_at_zero():
    assert [slope(arith.abs_, x)[0] for x in (0.0, -0.0, 2.0, -2.0)] == [0.0, 0.0, 1.0, -1.0]


def test_sqrt_has_infinite_slope_at_zero():
    assert slope(arith.sqrt, 0.0) == (INF,)


@pytest.mark.parametrize("op", [arith.max_, arith.min_, arith.maximum, arith.minimum])
def test_a_tie_has_the_derivative_of_the_first(op):
    assert chosen(op, 1.0, 1.0) == 2.0
    assert chosen(op, 0.0, -0.0) == 2.0


def test_the_derivative_is_that_of_the_argument_returned():
    assert chosen(arith.max_, 1.0, 2.0) == 3.0
    assert chosen(arith.min_, 1.0, 2.0) == 2.0
    assert chosen(arith.max_, 1.0, NAN) == 2.0
    assert chosen(arith.max_, NAN, 1.0) == 2.0
    assert chosen(arith.maximum, 1.0, NAN) == 3.0
    assert chosen(arith.minimum, NAN, 1.0) == 2.0


@pytest.mark.parametrize("op", [arith.max_, arith.min_])
def test_builtin_max_and_min(op):
    for x, y in awkward(op, 300):
        expected = (max if op is arith.max_ else min)(x, y)
        assert math.copysign(1.0, op.evaluate(x, y)) == math.copysign(1.0, expected)
        assert op.evaluate(x, y) == expected or expected != expected


def selected(condition, dx, dy):
    assert arith.select.tangent is not None
    return arith.select.tangent((condition, 1.0, 2.0), 1.0 if condition else 2.0, (None, dx, dy))


def test_absent_tangents_are_zero():
    assert selected(True, None, 5.0) == 0.0
    assert selected(False, None, 5.0) == 5.0
    assert selected(True, None, None) is None


def test_a_selection_does_not_let_nan_through():
    assert selected(True, 5.0, NAN) == 5.0


def test_fma_rounds_once():
    rng = random.Random(0)
    for _ in range(300):
        x, y = rng.uniform(1, 2), rng.uniform(1, 2)
        z = -x * y * (1 + rng.choice([0.0, 2.0**-52, 1.0]))
        assert Fraction(arith.fma(x, y, z)) == Fraction(float(Fraction(x) * Fraction(y) + Fraction(z)))


def test_remainders_are_those_of_python():
    for x, y in awkward(arith.mod, 400):
        if math.isfinite(x) and math.isfinite(y) and y != 0.0:
            assert arith.mod(x, y) == x % y
            assert arith.floordiv(x, y) == x // y
            assert arith.fmod(x, y) == math.fmod(x, y)
