"""`rose.optim.minimize`: minima under constraints, beside closed forms and SciPy's; what they depend on; failures."""

import math

import numpy as np
import pytest
from scipy import optimize, sparse

import rosejit as rose
from rosejit import Vec
from rosejit.optim.box_program import quadratic_program
from tests.export.machine import bits, results

minimize = rose.optim.minimize


def circle(radius):
    return {"type": "ineq", "fun": lambda x: radius * radius - x[0] ** 2 - x[1] ** 2}


def test_a_line_on_a_disc():
    found = minimize(lambda x: x[0] + 2 * x[1], [1.0, 1.0], constraints=circle(3.0))
    assert found.success
    assert found.message == "the conditions of a minimum hold, within `tol` or as far as rounding lets one see"
    assert found.x == pytest.approx([-3 / math.sqrt(5), -6 / math.sqrt(5)], abs=1e-8)
    assert found.fun == pytest.approx(-3 * math.sqrt(5), abs=1e-8)
    assert found.multipliers[0][0] == pytest.approx(math.sqrt(5) / 6, abs=1e-6)  # d fun / d radius^2
    assert found.jac.tolist() == [1.0, 2.0]
    assert 0 < found.njev <= found.nfev
    assert abs(found.maxcv) < 1e-8


def test_structures_and_arguments():
    def box(p, cost):
        return cost * p["side"] ** 2 + 4 * p["side"] * p["height"]

    volume = {"type": "eq", "fun": lambda p, v: p["side"] ** 2 * p["height"] - v, "args": (32.0,)}
    found = minimize(box, {"side": 1, "height": 1.0}, (1.0,), constraints=volume)
    assert found.x == pytest.approx({"side": 4.0, "height": 2.0}, rel=1e-6)
    bounded = minimize(
        box, {"side": 1.0, "height": 1.0}, (1.0,), constraints=volume, bounds=rose.optim.Bounds(0.0, 3.5)
    )
    assert bounded.x == pytest.approx({"side": 3.5, "height": 32 / 3.5**2}, rel=1e-6)


def test_constraints_of_scipy():
    f, start = (lambda x: (x[0] - 2) ** 2 + (x[1] - 1) ** 2 + x[2] ** 2), np.zeros(3)
    matrix = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    for constraints in (
        optimize.LinearConstraint(sparse.csr_array(matrix), [-np.inf, 0.5], [2.0, 0.5]),
        optimize.NonlinearConstraint(lambda x: np.array([x[0] + x[1], x[1] + x[2]]), [-np.inf, 0.5], [2.0, 0.5]),
        [
            optimize.NonlinearConstraint(lambda x: x[0] + x[1], -1.0, 2.0),
            {"type": "eq", "fun": lambda x: x[1] + x[2] - 0.5},
        ],
        [lambda x: 2.0 - x[0] - x[1], {"type": "eq", "fun": lambda x: x[1] + x[2] - 0.5}],
    ):
        found = minimize(f, start, constraints=constraints)
        assert found.success, found
        # Lagrange: x0 - 2 = x1 - 1 - x2 (multipliers of both), x0 + x1 = 2, x1 + x2 = 0.5
        assert found.x == pytest.approx([1.5, 0.5, 0.0], abs=1e-7)


def test_without_constraints_it_is_a_projected_descent():
    found = minimize(
        lambda x: (x[0] - 3) ** 2 + x[0] * x[1] + x[1] ** 2, np.zeros(2), bounds=[(None, None), (-1, None)]
    )
    assert found.success
    assert found.x == pytest.approx([3.5, -1.0], abs=1e-7)
    assert found.multipliers == ()
    assert minimize(lambda x: (x - 2.0) ** 2, 0.0).x == pytest.approx(2.0)


def test_derivatives_of_a_minimum():
    """The nearest point of an ellipse x^2 / a + y^2 = 1 to (p, 0), for p small: x = a p / (a - 1)."""

    def nearest(p, a):
        rule = {"type": "eq", "fun": lambda x: x[0] ** 2 / a + x[1] ** 2 - 1}
        return minimize(lambda x: (x[0] - p) ** 2 + x[1] ** 2, np.array([0.1, 1.0]), constraints=rule, tol=1e-12).x[0]

    assert rose.jit(nearest)(0.3, 4.0) == pytest.approx(0.4, rel=1e-9)
    by_p, by_a = rose.grad(nearest, (0, 1))(0.3, 4.0)
    assert by_p == pytest.approx(4 / 3, rel=1e-8)
    assert by_a == pytest.approx(-0.3 / 9, rel=1e-8)
    assert rose.hessian(nearest, 1)(0.3, 4.0) == pytest.approx(0.6 / 27, rel=1e-7)
    assert rose.jvp(nearest, (0.3, 4.0), (1.0, 2.0))[1] == pytest.approx(4 / 3 - 0.6 / 9, rel=1e-8)


def test_derivatives_by_what_holds_a_minimum():
    """An active constraint moves it, an inactive one does not, a bound that holds moves its number."""

    def found(limit, far, low):
        rules = [lambda x: limit - x[0] - x[1], lambda x: far - x[0]]
        bounds = [(None, None), (None, None), (low, None)]
        return minimize(
            lambda x: (x[0] - 3) ** 2 + (x[1] - 1) ** 2 + (x[2] - x[0]) ** 2,
            np.zeros(3),
            constraints=rules,
            bounds=bounds,
        ).x

    slopes = rose.jacobian(found, (0, 1, 2))(2.0, 50.0, 9.0)
    # x2 = low; x1 = limit - x0; 2 (x0 - 3) - 2 (limit - x0 - 1) + 2 (x0 - low) = 0, so x0 = (2 + limit + low) / 3
    assert slopes[0] == pytest.approx([1 / 3, 2 / 3, 0.0], abs=1e-8)
    assert slopes[1] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert slopes[2] == pytest.approx([1 / 3, -1 / 3, 1.0], abs=1e-8)


def test_batches_and_the_price_of_a_constraint():
    def best(radius):
        return minimize(lambda x: x[0] + x[1], np.array([0.1, 0.0]), constraints=circle(radius)).fun

    radii = np.array([1.0, 2.0, 5.0])
    assert rose.vmap(best)(radii) == pytest.approx(-math.sqrt(2) * radii, rel=1e-8)
    assert rose.vmap(rose.grad(best))(radii) == pytest.approx([-math.sqrt(2)] * 3, rel=1e-7)


def test_it_leaves_with_the_page(tmp_path):
    def corner(x, radius):
        return minimize(lambda x: x[0] + 2 * x[1], x, bounds=[(-0.5, None), (None, None)], constraints=circle(radius))

    f = rose.jit(corner)
    call = (np.array([0.5, 0.5]), 2.0)
    assert f(*call).x == pytest.approx([-0.5, -math.sqrt(3.75)], abs=1e-8)
    module = rose.export({"corner": f}, *call, path=tmp_path)[1]
    found = results(tmp_path, [(module, "corner", f, call)])
    if found:
        assert bits(found[0]) == bits(f(*call))


FAILURES = {
    "far apart": (lambda x: x[0] ** 2, 1.0, [lambda x: x[0] - 2, lambda x: 1 - x[0]], 4),
    "no root": (lambda x: x[0], 1.0, [{"type": "eq", "fun": lambda x: x[0] ** 2 + 1}], 4),
    "outside the bounds": (lambda x: x[0], 0.5, [lambda x: x[0] - 2], 4),
    "nan at the start": (lambda x: math.log(x[0] - 9), 1.0, [lambda x: x[0]], 3),
    "nan in a constraint": (lambda x: x[0], 1.0, [lambda x: math.sqrt(x[0] - 9)], 3),
    "always nan": (lambda x: x[0] * math.nan, 1.0, [], 3),
    "one iteration": (lambda x: math.exp(x[0]) - 2 * x[0], 1.0, [lambda x: x[0] + 9], 1),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_are_statuses(name):
    f, start, constraints, status = FAILURES[name]
    bounds = [(0, 1)] if name == "outside the bounds" else None
    limit = 1 if name == "one iteration" else None
    found = minimize(f, np.array([start]), constraints=constraints, bounds=bounds, maxiter=limit)
    assert (found.success, found.status) == (False, status)
    assert found.nfev < 2000
    with pytest.raises(rose.RoseValueError, match=r"found no solution"):
        minimize(f, np.array([start]), constraints=constraints, bounds=bounds, maxiter=limit, raise_on_failure=True)


def test_what_nothing_bounds_ends():
    for constraints in ((), {"type": "ineq", "fun": lambda x: x[1]}):
        found = minimize(lambda x: x[0] + x[1] ** 2, np.ones(2), constraints=constraints)
        assert not found.success
        assert found.nfev < 5000


@pytest.mark.parametrize(
    "rules",
    [
        [lambda x: x[0] + x[1] - 1] * 3,
        [{"type": "eq", "fun": lambda x: [x[0] + x[1] - 1, 2 * x[0] + 2 * x[1] - 2]}],
        [{"type": "eq", "fun": lambda x: x[0] + x[1] - 1}, lambda x: x[0] + x[1] - 1, lambda x: 1 - x[0] - x[1]],
    ],
    ids=["thrice", "twice as large", "from both sides"],
)
def test_constraints_that_depend_on_each_other(rules):
    found = minimize(lambda x: x[0] ** 2 + 2 * x[1] ** 2, np.array([5.0, -3.0]), constraints=rules)
    assert found.success
    assert found.x == pytest.approx([2 / 3, 1 / 3], abs=1e-7)


def test_a_number_outside_of_which_there_is_none():
    """Bounds hold at every point that is tried, also inside constraints."""
    rule = {"type": "ineq", "fun": lambda x: np.sqrt(x[1]) - 2 * x[0]}
    found = minimize(
        lambda x: -np.log(x[0]) + 3 * x[1], np.array([0.3, 1.0]), bounds=[(1e-9, None), (0, 4)], constraints=rule
    )
    assert found.success
    assert found.x == pytest.approx([1 / math.sqrt(24), 1 / 6], rel=1e-6)  # x1 = 4 x0^2, 1 / x0 = 24 x0


def swing_up(hess, guess):
    """A pendulum brought upright by a weak motor, ten torques: the end is far from linear in them."""

    def end(torques):
        state, h = np.zeros(2), 0.1
        for k in rose.range(10):
            for _ in rose.range(4):
                middle = state + h / 2 * np.array([state[1], torques[k] - 9.81 * math.sin(state[0])])
                state = state + h * np.array([middle[1], torques[k] - 9.81 * math.sin(middle[0])])
        return state - np.array([math.pi, 0.0])

    rule = {"type": "eq", "fun": end}
    return minimize(lambda u: u @ u, guess, bounds=(-4, 4), constraints=rule, hess=hess, maxiter=300), rose.jit(end)


@pytest.mark.parametrize("size", [0.1, 4.0])
def test_shooting(size):
    """The Lagrangian bends downwards, and exact curvature finds the way; the conditions hold where it ends."""
    found, end = swing_up("exact", size * np.sin(np.arange(10.0)))
    assert found.success
    assert found.nit < 100
    assert np.abs(end(found.x)).max() < 1e-8
    free = np.abs(found.x) < 4.0
    balance = 2 * found.x - rose.jacobian(end)(found.x).T @ found.multipliers[0]
    assert balance[free] == pytest.approx(0.0, abs=1e-6)
    assert (balance[~free] * found.x[~free] < 0.0).all()


def test_without_second_derivatives():
    """BFGS ends where exact Hessians do, and serves a constraint that has no second derivative."""
    rule = circle(3.0)
    exact, remembered = [
        minimize(lambda x: math.exp(x[0]) + x[1] ** 4 + 2 * x[1], np.ones(2), constraints=rule, hess=hess)
        for hess in ("exact", "bfgs")
    ]
    assert exact.success
    assert remembered.success
    assert remembered.x == pytest.approx(exact.x, abs=1e-6)
    assert exact.nit < remembered.nit

    @rose.opaque
    def square(x: float) -> float:
        return x * x

    @rose.opaque
    def double(x: float) -> float:
        return 2 * x

    @square.jvp
    def _(x: rose.Dual) -> rose.Dual:
        return rose.Dual(square(x.re), double(x.re) * x.du)

    half = {"type": "ineq", "fun": lambda x: square(x[0]) - 4.0}
    found = minimize(lambda x: x[0] + x[1] ** 2, np.array([3.0, 1.0]), constraints=half, hess="bfgs")
    assert found.success
    assert found.x == pytest.approx([2.0, 0.0], abs=1e-6)
    with pytest.raises(rose.NotDifferentiable, match="double"):
        minimize(lambda x: x[0] + x[1] ** 2, np.array([3.0, 1.0]), constraints=half)


def test_what_is_refused():
    with pytest.raises(rose.RoseValueError, match="knows no hess 'sr1'"):
        minimize(lambda x: x, 1.0, constraints=lambda x: x, hess="sr1")
    with pytest.raises(rose.RoseValueError, match="a constraint is"):
        minimize(lambda x: x, 1.0, constraints={"type": "equal", "fun": lambda x: x})
    with pytest.raises(rose.StagingTypeError, match="a constraint is a dict, a function"):
        minimize(lambda x: x, 1.0, constraints=[3.0])
    with pytest.raises(rose.RoseValueError, match="knows no method 'COBYLA'"):
        minimize(lambda x: x, 1.0, method="COBYLA")
    with pytest.raises(rose.RoseValueError, match="has no constraints with the method 'L-BFGS-B'"):
        minimize(lambda x: x, 1.0, method="L-BFGS-B", constraints=lambda x: x)
    with pytest.raises(rose.ShapeError, match="an objective gives one number, this one 2"):
        minimize(lambda x: x, np.ones(2))
    with pytest.raises(rose.RoseValueError, match="lower bound is above"):
        minimize(lambda x: x, 1.0, bounds=(2.0, 1.0), raise_on_failure=True)


@pytest.mark.parametrize("seed", range(4))
def test_quadratic_programs_meet_their_conditions(seed):
    """Stationary, feasible, complementary: of random programs, some of whose rows cannot be met at their price."""
    rng = np.random.default_rng(seed)
    n, m = 4, 7
    half = rng.normal(size=(n, n))
    factor = np.linalg.cholesky(half @ half.T + 0.1 * np.eye(n))
    slope, matrix, right = rng.normal(size=n), rng.normal(size=(m, n)), rng.normal(size=m)
    least = np.array([-3.0, 0, 0, 0, 0, 0, 0])
    most = np.array([3.0, 3, 3, 3, 3, math.inf, math.inf])
    right[5:] = abs(right[5:])  # no step meets these
    step, multipliers, optimal = rose.jit(lambda *given: quadratic_program(*given))(
        factor, slope, matrix, right, least, most, np.zeros(m)
    )
    assert optimal
    rows = matrix @ step + right
    assert factor @ factor.T @ step + slope == pytest.approx(matrix.T @ multipliers, abs=1e-9)
    assert ((multipliers >= least) & (multipliers <= most)).all()
    for row, multiplier, low, high in zip(rows, multipliers, least, most, strict=True):
        assert row > -1e-9 or multiplier == high
        assert row < 1e-9 or multiplier == low


@pytest.mark.parametrize("noise", [1e-13, 1e-12, 1e-11])
def test_rounding_is_no_failure(noise):
    """Near the minimum the value is its rounding, and the gradient is not zero to the last bit."""

    def f(x: Vec["n"]) -> float:
        rough = noise * np.sin(1e9 * np.sum(x))  # as a value is that comes out of a factorisation
        return 30.0 + 20.0 * (x[0] - 1.0) ** 2 + 3.0 * (x[1] + 2.0) ** 2 + rose.stop_gradient(rough)

    found = rose.optim.minimize(f, np.array([0.3, 0.1]))
    assert found.success
    assert found.x == pytest.approx([1.0, -2.0], abs=1e-5)


@pytest.mark.parametrize("slope", [1e-3, 1.0, 1e3])
def test_creases_are_no_minima(slope):
    def f(x: Vec["n"]) -> float:
        return slope * (abs(x[0]) + 0.1 * x[1])  # falls without end along the crease

    found = rose.optim.minimize(f, np.array([0.3, 0.1]), maxiter=50)
    assert not found.success
