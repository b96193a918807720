"""Bounds of the methods, beside SciPy's L-BFGS-B and closed forms."""

import math
import pickle

import numpy as np
import pytest
from scipy import optimize

import rosejit as rose
from rosejit import Vec
from rosejit.optim.box import sides
from tests.export.machine import bits

METHODS = [
    (rose.optim.gradient_descent, {"rate": 0.1}),
    (rose.optim.adam, {"rate": 0.05, "steps": 5000}),
    (rose.optim.lbfgs, {}),
    (rose.optim.newton, {}),
]
each_method = pytest.mark.parametrize(("method", "options"), METHODS, ids=[method.__name__ for method, _ in METHODS])


@rose.jit
def rosenbrock(x: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


@rose.jit
def coupled(x: Vec[3]) -> float:
    """Convex; lowest at (1, 2, 3) where nothing is bounded."""
    return (x[0] - 1) ** 2 + (x[1] - 2) ** 2 + (x[2] - 3) ** 2 + (x[0] - 1) * (x[1] - 2)


@each_method
def test_numbers_at_their_bounds(method, options):
    """x1 <= 1: then x0 minimises (x0 - 1)^2 - (x0 - 1), at 1.5; x2 >= 4."""
    seen = []
    found = method(
        coupled, **options, bounds=[(None, None), (0.0, 1.0), (4.0, None)], progress=lambda *t: seen.append(t)
    )(np.array([9.0, 9.0, 9.0]))
    assert found.converged
    assert found.x == pytest.approx([1.5, 1.0, 4.0], abs=1e-5)
    assert found.x[1] == 1.0
    assert found.x[2] == 4.0
    assert found.gradient == pytest.approx([0.0, -1.5, 2.0], abs=1e-4)
    assert seen[-1][2] <= 1e-6  # of what no bound holds


@each_method
def test_it_never_leaves_the_bounds(method, options):
    """Outside there are no numbers."""
    found = method(lambda x: (x - np.log(x)).sum() - 3.0 * x[0], **options, bounds=(0.01, 2.0))(np.array([1.0, 1.9]))
    assert found.converged
    assert found.x == pytest.approx([2.0, 1.0], abs=1e-5)


@pytest.mark.parametrize("method", [rose.optim.lbfgs, rose.optim.newton])
@pytest.mark.parametrize("bounds", [[(-2, 2)] * 10, [(1.1, 3)] * 5 + [(-3, None)] * 5])
def test_valleys_cut_off_beside_scipy(method, bounds):
    start = np.tile([-1.2, 1.0], 5)
    ours = method(rosenbrock, bounds=bounds, tolerance=1e-7)(start)
    theirs = optimize.minimize(
        rose.value_and_grad(rosenbrock), start, jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 0}
    )
    assert ours.converged
    assert min(ours.value - theirs.fun, abs(ours.value - 3.986579)) < 1e-5  # its other minimum
    assert ours.evaluations < 2 * theirs.nfev


def test_all_ways_to_write_bounds():
    assert sides([(0.0, None), (None, 2.0)]) == ([0.0, -math.inf], [math.inf, 2.0])
    for same in (optimize.Bounds([0, -math.inf], [math.inf, 2]), rose.optim.Bounds((0.0, -math.inf), (math.inf, 2.0))):
        found = rose.optim.lbfgs(lambda x: ((x - np.array([-1.0, 3.0])) ** 2).sum(), bounds=same)(np.ones(2))
        assert found.x.tolist() == [0.0, 2.0]
    table = np.array([[0.0, 9.0], [1.0, 2.0]])
    assert rose.optim.lbfgs(lambda x: ((x + 1) ** 2).sum(), bounds=table)(np.ones(2)).x.tolist() == [0.0, 1.0]
    found = rose.optim.lbfgs(
        lambda p: (p["a"] + 1) ** 2 + (p["b"] - 9) ** 2, bounds=rose.optim.Bounds(0.0, {"a": 1.0, "b": 2.0})
    )
    assert found({"a": 0.5, "b": 0.5}).x == {"a": 0.0, "b": 2.0}
    again = pickle.loads(pickle.dumps(rose.optim.lbfgs(rosenbrock, bounds=(0.0, 0.5))))
    assert bits(again(np.zeros(3))) == bits(rose.optim.lbfgs(rosenbrock, bounds=(0.0, 0.5))(np.zeros(3)))


def test_bounds_that_mean_nothing():
    with pytest.raises(rose.ShapeError, match="3 bounds for 2 numbers"):
        rose.optim.lbfgs(rosenbrock, bounds=[(0, 1)] * 3)(np.zeros(2))
    with pytest.raises(rose.StagingTypeError, match=r"`bounds` are pairs \(min, max\)"):
        rose.optim.lbfgs(rosenbrock, bounds=[0.0, 1.0, 2.0])
    with pytest.raises(rose.RoseValueError, match="lower bound is above"):
        rose.optim.lbfgs(rosenbrock, bounds=[(0, 1), (3, 2)])
