"""Conventions of derivatives, and forms that keep digits."""

import math

import pytest

from rosejit import interp
from rosejit.ir.types import REAL
from rosejit.ops import elementary
from rosejit.ops.traced_value import define
from rosejit.transforms.autodiff.derivative_programs import cotangents, pushforward

INF, NAN = math.inf, math.nan


def slopes(op, *args):
    """The partials as they are staged: `/` divides by zero there."""
    return interp.run(define("f", op.params, lambda *values: op.partials(*values, op(*values))), args)


def hessian_vector(body, point, direction):
    """Reverse over forward: the Hessian times `direction`."""
    f = define("f", (REAL, REAL), body)
    forward = pushforward(f, (True, True))
    back = cotangents(forward, (True, True, False, False))
    *_, hx, hy = interp.run(back, [*point, *direction, 0.0, 1.0])
    return hx, hy


def test_pow_at_the_paper_s_points():
    assert elementary.pow_(2.0, 3.0) == 8.0
    assert slopes(elementary.pow_, 2.0, 3.0) == (12.0, pytest.approx(5.545177444479562, rel=1e-15))
    dx, dy = slopes(elementary.pow_, -1.0, 2.0)
    assert dx == -2.0
    assert math.isnan(dy)


@pytest.mark.parametrize(
    ("x", "y", "dx", "dy"),
    [
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 2.0, 0.0, 0.0),
        (0.0, 1.0, 1.0, 0.0),
        (0.0, 0.5, INF, 0.0),
        (0.0, -1.0, -INF, -INF),
        (-3.0, 0.0, 0.0, NAN),
        (5.0, 0.0, 0.0, math.log(5.0)),
    ],
)
def test_pow_at_base_and_exponent_zero(x, y, dx, dy):
    assert slopes(elementary.pow_, x, y) == pytest.approx((dx, dy), nan_ok=True)


@pytest.mark.parametrize("x", [0.0, 3.0])
def test_untaken_sides_of_pow_do_not_reach_a_gradient(x):
    assert hessian_vector(elementary.pow_, (x, 0.0), (1.0, 0.0))[0] == 0.0


@pytest.mark.parametrize("y", [1e-7, 1.0, 1e5])
def test_second_derivatives_of_hypot_keep_their_digits(y):
    """y²/r³ where the difference of 1/r and x²/r³ would leave none."""
    x = 1000.0
    r = math.hypot(x, y)
    hx, hy = hessian_vector(elementary.hypot, (x, y), (1.0, 0.0))
    assert hx == pytest.approx(y * y / r**3, rel=1e-14)
    assert hy == pytest.approx(-x * y / r**3, rel=1e-14)


def test_hypot_is_flat_at_the_origin():
    assert slopes(elementary.hypot, 0.0, 0.0) == (0.0, 0.0)
    assert slopes(elementary.hypot, -2.0, 0.0) == (-1.0, 0.0)


@pytest.mark.parametrize("x", [1000.0, -1000.0, 400.0])
def test_hyperbolic_tangent_is_flat_far_out_at_every_order(x):
    def body(x, y):
        return elementary.tanh(x) * y

    slope = interp.run(pushforward(define("f", (REAL, REAL), body), (True, True)), [x, 1.0, 1.0, 0.0])[1]
    assert slope == pytest.approx(0.0, abs=1e-300)
    assert hessian_vector(body, (x, 1.0), (1.0, 0.0))[0] == pytest.approx(0.0, abs=1e-300)


@pytest.mark.parametrize("k", range(-12, 13))
def test_power_by_multiplication(k):
    assert elementary.power(2.0, k) == 2.0**k
    assert elementary.power(-3.0, k) == pytest.approx((-3.0) ** k, rel=1e-15)
    assert elementary.power(0.0, abs(k)) == 0.0 ** abs(k)


def test_power_multiplies_few_times():
    f = define("f", (REAL,), lambda x: elementary.power(x, 100))
    assert len(f.body.lets) == 8
    assert interp.run(f, [1.01]) == pytest.approx([1.01**100])
