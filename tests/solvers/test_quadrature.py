"""Integrals with known values, and their derivatives."""

import math

import numpy as np
import pytest

import rosejit as rose
from rosejit.solvers import quadrature

INTEGRALS = {
    "exp": (lambda x: math.exp(x), 0.0, 1.0, math.e - 1),
    "backwards": (lambda x: math.exp(x), 1, 0, 1 - math.e),
    "empty": (lambda x: math.exp(x), 2.0, 2.0, 0.0),
    "root": (lambda x: math.sqrt(x), 0.0, 1.0, 2 / 3),
    "logarithm": (lambda x: math.log(x), 0.0, 1.0, -1.0),
    "peak": (lambda x: 1 / (1e-4 + (x - 0.3) ** 2), 0.0, 1.0, 100 * (math.atan(70) + math.atan(30))),
    "waves": (lambda x: math.sin(50 * x), 0.0, 1.0, (1 - math.cos(50)) / 50),
    "crease": (lambda x: abs(x - 0.123), 0.0, 1.0, (0.123**2 + 0.877**2) / 2),
    "Gauss": (lambda x: math.exp(-x * x), -math.inf, math.inf, math.sqrt(math.pi)),
    "Gauss, backwards": (lambda x: math.exp(-x * x), math.inf, -math.inf, -math.sqrt(math.pi)),
    "right half": (lambda x: math.exp(-x), 1.0, math.inf, math.exp(-1)),
    "right half, backwards": (lambda x: math.exp(-x), math.inf, 1.0, -math.exp(-1)),
    "left half": (lambda x: math.exp(x), -math.inf, 1.0, math.e),
    "left half, backwards": (lambda x: math.exp(x), 1.0, -math.inf, -math.e),
}


@pytest.mark.parametrize("name", INTEGRALS)
def test_integrals(name):
    f, a, b, known = INTEGRALS[name]
    value, error = rose.quad(f, a, b)
    assert error <= max(1.49e-8, 1.49e-8 * abs(known))
    assert abs(value - known) <= max(error, 1e-13)


def test_the_rule_is_exact_for_polynomials():
    for degree in (0, 1, 2, 10, 31):  # Kronrod's 21 nodes: degree 31
        nodes = sum(weight * x**degree for x, weight, _ in quadrature._BOTH)
        assert nodes == pytest.approx(2 / (degree + 1) if degree % 2 == 0 else 0.0, abs=1e-15)
    assert sum(gauss for _, _, gauss in quadrature._BOTH) == pytest.approx(2.0, rel=1e-15)


def test_derivatives_to_order_two():
    def f(a):
        return rose.quad(lambda x, k: math.sin(k * x), 0.0, a, (a,))[0]

    a = 1.3  # (1 - cos a²) / a
    slope = 2 * math.sin(a * a) - (1 - math.cos(a * a)) / a**2
    bend = 4 * a * math.cos(a * a) - 2 * math.sin(a * a) / a + 2 * (1 - math.cos(a * a)) / a**3
    assert rose.grad(f)(a) == pytest.approx(slope, rel=1e-12)
    assert rose.hessian(f)(a) == pytest.approx(bend, rel=1e-11)
    assert rose.vmap(rose.grad(f))(np.array([a, a])) == pytest.approx([slope, slope], rel=1e-12)


def test_what_does_not_converge_says_so():
    value, error = rose.quad(lambda x: 1 / x, 0.0, 1.0)
    assert error > 1.49e-8 * abs(value)
    assert math.isnan(rose.quad(lambda x: math.sqrt(x), -1.0, 1.0)[1])
    assert math.isnan(rose.jit(lambda b: rose.quad(lambda x: math.exp(-x), 0.0, b))(math.inf)[1])
