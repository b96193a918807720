"""The methods on functions whose minima are known, beside SciPy's."""

import math

import numpy as np
import pytest
import scipy.optimize

import rosejit as rose
from rosejit import Vec
from rosejit.optim.curvature import solved
from rosejit.optim.search import between, wolfe


@rose.jit
def rosenbrock(x: Vec["n"]) -> float:
    """A curved valley; lowest, and zero, where all are 1."""
    total = 0.0
    for i in rose.range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


@rose.jit
def himmelblau(x: Vec[2]) -> float:
    """Four minima, all zero, and a maximum between them."""
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


@rose.jit
def logistic(w: Vec["n"], scale: float) -> float:
    """Convex, with slopes that differ much."""
    total = 0.0
    for i in rose.range(len(w)):
        total += math.log(1 + math.exp(-scale * (i + 1) * w[i])) + 0.5 * w[i] * w[i]
    return total


def test_lbfgs_keeps_up_with_scipy():
    start = np.tile([-1.2, 1.0], 50)
    ours = rose.optim.lbfgs(rosenbrock, tolerance=1e-5)(start)
    options = {"maxiter": 5000, "maxfun": 5000, "gtol": 1e-5, "ftol": 0}
    theirs = scipy.optimize.minimize(
        rose.value_and_grad(rosenbrock), start, jac=True, method="L-BFGS-B", options=options
    )
    assert ours.converged
    assert np.allclose(ours.x, 1.0, atol=1e-5)
    assert ours.evaluations < 1.2 * theirs.nfev


@pytest.mark.parametrize("solver", [rose.optim.lbfgs, rose.optim.newton])
@pytest.mark.parametrize("start", [(0.0, 0.0), (4.0, 4.0), (-4.0, -4.0), (-0.27, -0.92), (1e3, -1e3)])
def test_the_minima_of_himmelblau(solver, start):
    """Two starts are at and near the maximum, where the Hessian is negative."""
    found = solver(himmelblau)(np.array(start))
    assert found.converged
    assert found.value < 1e-12


@pytest.mark.parametrize("solver", [rose.optim.lbfgs, rose.optim.newton])
@pytest.mark.parametrize("scale", [1.0, 10.0, 100.0])
def test_badly_scaled_problems(solver, scale):
    found = solver(logistic, tolerance=1e-8)(np.full(5, -1.0), scale)
    assert found.converged


def test_newton_takes_one_step_to_the_minimum_of_a_quadratic():
    a = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
    found = rose.optim.newton(lambda x: 0.5 * x @ a @ x - x.sum())(np.zeros(3))
    assert found.steps == 1
    assert np.allclose(found.x, np.linalg.solve(a, np.ones(3)), rtol=1e-14)


def test_without_a_minimum_it_ends():
    found = rose.optim.lbfgs(lambda x: -(x**2).sum(), steps=20)(np.ones(2))
    assert not found.converged
    assert found.steps <= 20


@pytest.mark.parametrize("solver", [rose.optim.lbfgs, rose.optim.newton])
@pytest.mark.parametrize("f", [lambda x: x.sum(), lambda x: (x**3).sum(), lambda x: -np.exp(-x).sum()])
def test_what_has_no_lower_bound_ends_soon(solver, f):
    found = solver(f)(-np.ones(2))
    assert not found.converged
    assert found.evaluations < 200


METHODS = [rose.optim.gradient_descent, rose.optim.adam, rose.optim.lbfgs, rose.optim.newton]


@pytest.mark.parametrize("solver", METHODS)
def test_where_there_is_no_number_it_ends_at_once(solver):
    """Also where the slope is one: of log it is 1 / x."""
    for f in (lambda x: np.log(x).sum(), lambda x: 0.0 * x.sum() + math.nan):
        found = solver(f)(-np.ones(2))
        assert (found.steps, found.converged) == (0, False)
        assert math.isnan(found.value)


def test_newton_does_not_depend_on_units():
    found = rose.optim.newton(lambda x: 1e12 * x[0] ** 2 + 1e-6 * (x[1] - 1) ** 2, tolerance=1e-12)(
        np.array([1.0, 5.0])
    )
    assert found.converged
    assert found.steps <= 2
    assert found.x == pytest.approx([0.0, 1.0])


def test_newton_follows_the_slope_where_the_approximation_misleads():
    """The second derivative of the first term is zero at 3, but for rounding; beyond zero there are no numbers."""
    found = rose.optim.newton(lambda x: (np.sqrt(x) + 1 / np.sqrt(x)).sum())(np.array([3.0, 0.5]))
    assert found.converged
    assert found.x == pytest.approx(np.ones(2), rel=1e-6)


def test_adam_as_it_is_published():
    """Its first step is as long as the rate, whatever the gradient."""
    found = rose.optim.adam(lambda x: (1e6 * x * x).sum(), rate=0.125, steps=1)(np.array([1.0, -4.0]))
    assert np.allclose(found.x, [0.875, -3.875], rtol=1e-12)


def test_momentum():
    """Two steps by hand: v = -0.1 g, then v = 0.5 v - 0.1 g."""
    found = rose.optim.gradient_descent(lambda x: x * x, rate=0.1, momentum=0.5, steps=2)(1.0)
    assert found.x == pytest.approx(1.0 - 0.2 + (0.5 * -0.2 - 0.1 * 1.6), rel=1e-15)


def test_the_solution_of_a_positive_system():
    a = np.array([[4.0, 1.0], [1.0, 3.0]])
    assert np.allclose(rose.jit(solved)(a, np.ones(2)), np.linalg.solve(a, np.ones(2)), rtol=1e-15)


def test_an_indefinite_system_gets_a_direction_of_descent():
    a, right = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([1.0, -1.0])
    assert right @ rose.jit(solved)(a, right) > 0


def test_the_minimum_of_a_cubic():
    """x**3 - 3 x has its minimum at 1."""
    f, df = lambda x: x**3 - 3 * x, lambda x: 3 * x * x - 3
    assert rose.jit(between)(0.0, f(0.0), df(0.0), 2.0, f(2.0), df(2.0)) == pytest.approx(1.0, rel=1e-15)
    assert rose.jit(between)(0.99, f(0.99), df(0.99), 2.0, f(2.0), df(2.0)) == 1.495  # too near to the end


@rose.jit
def creased(x: Vec["n"]) -> float:
    """Valleys with a crease along their floor."""
    total = 0.0
    for i in rose.range(len(x) - 1):
        total += 10.0 * max(x[i + 1] - x[i] ** 2, 0.0) + (1 - x[i]) ** 2 + 0.5 * (x[i + 1] - 1.0) ** 2
    return total


def test_lbfgs_forgets_the_other_side_of_a_crease():
    """Where no step along what is remembered goes down, the slope itself may lead on."""
    found = rose.optim.lbfgs(creased, steps=2000)(np.array([-1.2, 1.0, -1.2, 1.0]))
    assert found.converged
    assert found.x == pytest.approx(np.ones(4), abs=1e-5)


def test_lbfgs_follows_creases():
    """From 40 starts, without losing itself in steps that rounding makes: the median takes some 120 evaluations."""
    solve = rose.optim.lbfgs(creased, steps=2000)
    found = [solve(np.random.default_rng(seed).normal(scale=1.5, size=4)) for seed in range(40)]
    assert sum(each.value < 1e-9 for each in found) >= 36
    assert np.median([each.evaluations for each in found]) < 200


def test_a_point_beyond_a_crease_is_taken_when_the_interval_is_narrow():
    """The slope of |x| has one size: no point satisfies the strong conditions."""

    def evaluate(x):
        return abs(x[0]), np.sign(x)

    search = rose.jit(lambda x, first: wolfe(evaluate, x, abs(x[0]), np.sign(x), -np.sign(x), first))
    for first in (1.5, 0.3, 1e-6):
        at, value, slope, trials, accepted = search(np.ones(1), first)
        assert accepted
        assert -1.0 < at[0] < 0.0
        assert value == -at[0]
        assert slope[0] == -1.0
        assert trials < 30
