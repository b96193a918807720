"""Least squares and curve fits beside SciPy's, their derivatives beside differences and closed forms."""

import math

import numpy as np
import pytest
from scipy import optimize

import rosejit as rose

RNG = np.random.default_rng(0)
X = np.linspace(0, 4, 30)
Y = 2.5 * np.exp(-1.3 * X) + 0.5 + 0.05 * RNG.normal(size=30)
Y[3] += 3
TIGHT = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-12}


def decay(x, a, b, c):
    return a * np.exp(-b * x) + c


def residuals(p):
    return decay(X, p[0], p[1], p[2]) - Y


BARD = np.array([0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39])
U = np.arange(1.0, 16.0)
KOWALIK = np.array([0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246])
V = np.array([4.0, 2.0, 1.0, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625])
BOX = np.arange(1.0, 11.0) / 10
STEPS = np.arange(1.0, 11.0)
PROBLEMS = {  # Moré, Garbow and Hillstrom 1981: residuals, start, and the least sum of squares
    "rosenbrock": (lambda x: [10 * (x[1] - x[0] ** 2), 1 - x[0]], [-1.2, 1.0], 0.0),
    "freudenstein and roth": (
        lambda x: [
            -13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1],
            -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1],
        ],
        [0.5, -2.0],
        48.9842,
    ),
    "beale": (lambda x: [y - x[0] * (1 - x[1] ** k) for k, y in ((1, 1.5), (2, 2.25), (3, 2.625))], [1.0, 1.0], 0.0),
    "bard": (lambda x: BARD - (x[0] + U / ((16 - U) * x[1] + np.minimum(U, 16 - U) * x[2])), [1.0] * 3, 8.21487e-3),
    "kowalik and osborne": (
        lambda x: KOWALIK - x[0] * (V * V + V * x[1]) / (V * V + V * x[2] + x[3]),
        [0.25, 0.39, 0.415, 0.39],
        3.07505e-4,
    ),
    "box": (
        lambda x: np.exp(-BOX * x[0]) - np.exp(-BOX * x[1]) - x[2] * (np.exp(-BOX) - np.exp(-10 * BOX)),
        [0.0, 10.0, 20.0],
        0.0,
    ),
    "jennrich and sampson": (
        lambda x: 2 + 2 * STEPS - (np.exp(STEPS * x[0]) + np.exp(STEPS * x[1])),
        [0.3, 0.4],
        124.362,
    ),
    "powell singular": (
        lambda x: [
            x[0] + 10 * x[1],
            math.sqrt(5) * (x[2] - x[3]),
            (x[1] - 2 * x[2]) ** 2,
            math.sqrt(10) * (x[0] - x[3]) ** 2,
        ],
        [3.0, -1.0, 0.0, 1.0],
        0.0,
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_published_problems_are_solved(name):
    f, start, least = PROBLEMS[name]
    fit = rose.least_squares(f, np.array(start))
    assert fit.success, fit
    assert 2 * fit.cost == pytest.approx(least, rel=1e-5, abs=1e-9)
    assert fit.nfev < 150


@pytest.mark.parametrize("loss", ["linear", "soft_l1", "huber", "cauchy", "arctan"])
def test_losses_are_those_of_scipy(loss):
    fit = rose.least_squares(residuals, np.ones(3), loss=loss, f_scale=0.1, **TIGHT)
    known = optimize.least_squares(residuals, np.ones(3), loss=loss, f_scale=0.1, **TIGHT)
    assert fit.success
    assert fit.x == pytest.approx(known.x, rel=1e-6)
    assert fit.cost == pytest.approx(known.cost, rel=1e-12)
    assert fit.fun == pytest.approx(known.fun, abs=1e-6)
    assert fit.optimality < 1e-6


def test_bounds_hold():
    def f(x):
        return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])

    bounds = ([-2.0, -2.0], [0.5, 2.0])
    fit = rose.least_squares(f, np.array([-1.2, 1.0]), bounds=bounds)
    assert fit.success
    assert fit.x == pytest.approx([0.5, 0.25], rel=1e-6)
    assert fit.x[0] <= 0.5
    gradient = rose.grad(lambda top: rose.least_squares(f, np.zeros(2), bounds=(-2.0, 2.0 * top)).x[1])(1.0)
    assert gradient == 0.0  # no bound holds anything


@pytest.mark.parametrize("absolute", [False, True])
def test_curve_fits_are_those_of_scipy(absolute):
    sigma = 0.1 + 0.05 * X
    known = optimize.curve_fit(decay, X, Y, (1.0, 1.0, 1.0), sigma, absolute, ftol=1e-14, xtol=1e-14, gtol=1e-14)
    found = rose.curve_fit(decay, X, Y, (1.0, 1.0, 1.0), sigma, absolute)
    assert found[0] == pytest.approx(known[0], rel=1e-5)  # SciPy's by differences
    assert found[1] == pytest.approx(known[1], rel=1e-4)


@pytest.mark.parametrize("kind", [list, tuple])
def test_lists_of_numbers_are_data_as_scipy_takes_them(kind):
    def fit(x, y, sigma):
        return rose.curve_fit(decay, x, y, (1.0, 1.0, 1.0), sigma)

    known = fit(X, Y, 0.1 + 0.05 * X)
    found = fit(kind(X), kind(Y), kind(0.1 + 0.05 * X))
    assert [each.tolist() for each in found] == [each.tolist() for each in known]
    slopes = rose.grad(lambda y: fit(X, y, 1.0)[0][1])
    assert slopes(kind(Y)) == pytest.approx(slopes(Y).tolist(), rel=1e-9)


def test_derivatives_of_a_linear_fit_are_the_pseudoinverse():
    a = np.stack([X, np.ones(30)], 1)
    jacobian = rose.jacobian(lambda y: rose.curve_fit(lambda x, p, q: p * x + q, X, y, (1.0, 0.0))[0])(Y)
    assert jacobian == pytest.approx(np.linalg.pinv(a), abs=1e-10)


@pytest.mark.parametrize("loss", ["linear", "soft_l1", "cauchy"])
def test_derivatives_of_a_fit_to_order_two(loss):
    def rate(shift):
        def moved(p):
            return p[0] * np.exp(-p[1] * X) + p[2] - Y - shift * X * X

        return rose.least_squares(moved, np.ones(3), loss=loss, f_scale=0.5, **TIGHT).x[1]

    h = 1e-4
    values = [rose.jit(rate)(k * h) for k in (-1.0, 0.0, 1.0)]
    assert rose.grad(rate)(0.0) == pytest.approx((values[2] - values[0]) / (2 * h), rel=1e-5)
    slopes = [rose.grad(rate)(k * h) for k in (-1.0, 1.0)]
    assert rose.hessian(rate)(0.0) == pytest.approx((slopes[1] - slopes[0]) / (2 * h), rel=1e-5)


def test_batches_of_fits():
    def mean(y):
        return rose.least_squares(lambda p: p - y, 0.0).x

    assert rose.vmap(mean)(Y[:15].reshape(3, 5)) == pytest.approx(Y[:15].reshape(3, 5).mean(1), rel=1e-10)
    assert rose.vmap(rose.grad(mean))(Y[:15].reshape(3, 5)) == pytest.approx(np.full((3, 5), 0.2), rel=1e-10)


@pytest.mark.parametrize(("name", "status"), [("ftol", 2), ("xtol", 3), ("gtol", 1)])
def test_one_tolerance_alone_ends_a_fit(name, status):
    none = dict.fromkeys(("ftol", "xtol", "gtol"))
    fit = rose.least_squares(lambda p: [p[0] - 1.0, p[0] - p[1], p[1] ** 2 - 3.0], [1.0, 1.0], **{**none, name: 1e-6})
    assert (fit.success, fit.status) == (True, status)


def test_failures_are_statuses_and_words():
    fit = rose.least_squares(lambda p: [math.log(p[0]), p[1]], [-1.0, 1.0])
    assert (fit.success, fit.status) == (False, -1)
    assert "no number" in fit.message
    fit = rose.least_squares(PROBLEMS["rosenbrock"][0], np.array([-1.2, 1.0]), max_nfev=3)
    assert (fit.success, fit.status, fit.nfev) == (False, 0, 3)
    with pytest.raises(rose.RoseValueError, match="limit of evaluations"):
        rose.least_squares(PROBLEMS["rosenbrock"][0], np.array([-1.2, 1.0]), max_nfev=3, raise_on_failure=True)
    with pytest.raises(rose.RoseValueError, match="knows no loss 'square'"):
        rose.least_squares(residuals, np.ones(3), loss="square")
    parameters, covariances = rose.curve_fit(decay, X, Y, (1.0, 1.0, 1.0), max_nfev=2)
    assert np.isnan(parameters).all()
    assert np.isnan(covariances).all()


@pytest.mark.parametrize(
    "start", [[1, 2.5], [1, 2], (1, 2.5), np.array([1, 2]), {"a": 1, "b": 2.5}, [np.array([1]), 2]]
)
def test_integers_where_a_fit_begins_are_varied(start):
    def line(p):
        a, b = p.values() if isinstance(p, dict) else p
        return [a - 3.0, b - a - 1.0]

    found = rose.least_squares(line, start, bounds=(-10, 10)).x
    values = found.values() if isinstance(found, dict) else found
    assert [float(np.ravel(value)[0]) for value in values] == pytest.approx([3.0, 4.0], rel=1e-9)
    is_flat = isinstance(start, list) and not any(isinstance(each, np.ndarray) for each in start)
    assert type(found) is (np.ndarray if is_flat else type(start))


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_derivatives_by_a_bound(side):
    """A number that a bound holds moves with the bound; the others as the fit says."""

    def fitted(b: float) -> float:
        bounds = (b, 99.0) if side == "lower" else (-9.0, b)
        x = rose.least_squares(
            lambda v: np.array([v[0] - 2.0, v[1] - 3.0 * v[0]]), np.array([2.0, 2.0]), bounds=bounds
        ).x
        return x[0] + 10.0 * x[1]

    if side == "upper":  # 6 is cut at b = 4: x0 minimises (x - 2)^2 + (4 - 3 x)^2, so that dx0/db = 0.3
        assert rose.grad(fitted)(4.0) == pytest.approx(0.3 + 10.0, rel=1e-9)
    else:  # at b = 7 the first is held, and the second is three times as large
        assert rose.grad(fitted)(7.0) == pytest.approx(31.0, rel=1e-9)
    h = 1e-4
    at = 4.0 if side == "upper" else 7.0
    assert rose.grad(fitted)(at) == pytest.approx((fitted(at + h) - fitted(at - h)) / (2 * h), rel=1e-6)
