"""Every solver x functions that nobody should give it: it ends soon, and says no success where there is no solution."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import rosejit as rose

BAD: dict[str, tuple[Callable[[float], float], float | None]] = {  # and the only root, if there is one
    "NaN": (lambda x: math.nan * x, None),
    "infinite": (lambda x: math.inf + 0.0 * x, None),
    "NaN beyond 2": (lambda x: math.sqrt(2.0 - x) - 3.0, -7.0),
    "NaN here": (lambda x: math.log(x - 1e6), 1e6 + 1.0),
    "constant": (lambda x: 1.0 + 0.0 * x, None),
    "overflow": (lambda x: math.exp(1000.0 * x) + 1.0, None),
    "no root": (lambda x: x * x + 1.0, None),
    "pole": (lambda x: 1.0 / (x - 0.3), None),
    "jump": (lambda x: 1.0 if x > 0.3 else -1.0 + 0.0 * x, None),
    "kink": (lambda x: abs(x - 0.1) + 0.5, None),
    "tiny": (lambda x: 1e-300 * (x + 1.0), -1.0),
    "huge": (lambda x: 1e200 * (x * x + 1.0), None),
    "waves": (lambda x: math.sin(1e6 * x) + 2.0, None),
    "steep": (lambda x: math.atan(1e12 * (x - 0.3)) + 2.0, None),
}
STARTS = (0.5, math.nan, math.inf, -math.inf, 1e200)
SEARCHES = {
    **{m: lambda f, x, m=m: rose.root(f, x, method=m) for m in ("hybr", "newton", "broyden1", "lm")},
    **{f"fixed {m}": lambda f, x, m=m: rose.fixed_point(f, x, method=m) for m in ("iteration", "hybr")},
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("name", BAD)
def test_searches_for_roots(name, search):
    f, root = BAD[name]
    value = rose.jit(f)

    def given(x):
        return f(x) + x if search.startswith("fixed") else f(x)

    find = rose.jit(lambda x: SEARCHES[search](given, x))
    for start in STARTS:
        found = find(start)
        assert found.nfev < 15_000, start
        assert found.message
        lost = search.startswith("fixed") and abs(value(found.x)) < 1e-15 * abs(found.x)
        if found.success and (lost or (name == "waves" and abs(found.x) > 1e9)):
            continue  # what is added to x is lost in rounding; the waves are shorter than the spacing of numbers
        assert not found.success or (root is not None and found.x == pytest.approx(root, rel=1e-6)), start
        if not math.isfinite(start):
            assert not found.success


@pytest.mark.parametrize("name", BAD)
def test_brackets(name):
    f, root = BAD[name]
    find = rose.jit(lambda a, b: rose.root(f, bracket=(a, b)))
    for a, b in ((-9.0, 1.5), (1.5, -9.0), (0.0, 1.0), (math.nan, 1.0), (-math.inf, math.inf), (-1e300, 1e300)):
        found = find(a, b)
        assert found.nfev < 300
        assert found.message
        assert not found.success or (root is not None and found.x == pytest.approx(root, rel=1e-6)), (a, b)


def is_least(cost, x, name, low=-math.inf):
    """Whether no number near `x` costs less."""
    here = cost(x)
    if name == "waves" and abs(x) > 1.0:
        return here < math.inf  # steps that are short beside x are longer than waves
    step = (1e-8 if name == "waves" else 1e-3) * max(abs(x), 1.0)
    near = [(k, cost(x + k * step)) for k in (-1.0, -0.01, 0.01, 1.0)]
    return here < math.inf and all(k * step + x < low or not (each < here * (1.0 - 1e-4) - 1e-6) for k, each in near)


FITS = {
    "least_squares": lambda f, x: rose.least_squares(lambda x: f(x), x),
    "a loss": lambda f, x: rose.least_squares(lambda x: f(x), x, loss="cauchy"),
    "bounds": lambda f, x: rose.least_squares(lambda x: f(x), x, bounds=(-20.0, 1e7)),
    "sparse": lambda f, x: rose.least_squares(lambda x: f(x), x, jac_sparsity=np.ones((1, 1))),
}


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("name", BAD)
def test_fits(name, fit):
    f, _ = BAD[name]
    find, value = rose.jit(lambda x: FITS[fit](f, x)), rose.jit(f)
    for start in STARTS:
        found = find(start)
        assert found.nfev <= 500
        assert found.message
        assert not found.success or is_least(
            lambda x: value(x) ** 2, found.x, name, -20.0 if fit == "bounds" else -math.inf
        ), start


@pytest.mark.parametrize("method", ["SLSQP", "L-BFGS-B"])
@pytest.mark.parametrize("name", BAD)
def test_minima(name, method):
    f, _ = BAD[name]
    more = {"constraints": [lambda x: x + 1e8]} if method == "SLSQP" else {"bounds": (-1e8, 1e8)}
    find, value = rose.jit(lambda x: rose.optim.minimize(f, x, method=method, **more)), rose.jit(f)
    for start in STARTS:
        found = find(start)
        assert found.nfev <= 200_000
        assert found.message
        if found.success and abs(found.x) < 1e7:
            assert is_least(value, found.x, name), start


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Tsit5", "Rodas5P"])
@pytest.mark.parametrize("name", BAD)
def test_equations(name, method):
    f, _ = BAD[name]
    solve = rose.jit(lambda y, end: rose.solve_ivp(lambda t, y: f(y), (0.0, end), y, method, max_steps=2000))
    for start in STARTS:
        for end in (1.0, -1.0, math.nan, math.inf):
            found = solve(start, end)
            assert found.nit <= 2000
            assert found.message
            assert found.success == math.isfinite(found.y[-1]), (start, end)
            if (
                name in ("NaN", "infinite")
                or (name == "NaN here" and start == 0.5)
                or not (math.isfinite(start) and math.isfinite(end))
            ):
                assert not found.success, (start, end)


INTEGRALS = {"jump": 0.7 - 0.3, "constant": 1.0, "no root": 4.0 / 3.0, "kink": 0.5 + 0.5 * (0.01 + 0.81)}
CLOSED = {
    **INTEGRALS,
    "NaN beyond 2": 2.0 / 3.0 * (2.0**1.5 - 1.0) - 3.0,
    "tiny": 1.5e-300,
    "huge": 4e200 / 3.0,
    "waves": 2.0 + (1.0 - math.cos(1e6)) / 1e6,
}


@pytest.mark.parametrize("name", BAD)
def test_integrals(name):
    f, _ = BAD[name]
    integrate = rose.jit(lambda a, b: rose.quad(f, a, b))
    value, error = integrate(0.0, 1.0)[:2]
    if name in CLOSED:
        assert not (error < abs(value - CLOSED[name]) * 0.5)
    elif name != "steep":
        assert not (error < 1e-6 * abs(value)), (value, error)
    for a, b in ((math.nan, 1.0), (0.0, math.nan), (0.0, math.inf)):
        value, error = integrate(a, b)[:2]
        assert not (error < 1.0) or name == "tiny", (value, error)


CROSSED = {"above": (2.0, 1.0), "one of two": ([0.0, 2.0], [1.0, 1.0]), "NaN below": (math.nan, 1.0)}


@pytest.mark.parametrize("bounds", CROSSED.values(), ids=CROSSED)
def test_bounds_that_cross_hold_no_solution(bounds):
    start = np.array([0.5, 0.5])
    fit = rose.least_squares(lambda x: x - 0.7, start, bounds=bounds)
    assert (fit.success, fit.status) == (False, -3)
    assert not rose.jit(lambda x: rose.least_squares(lambda x: x - 0.7, x, bounds=bounds).success)(start)
    found, covariances = rose.curve_fit(lambda x, a, b: a * x + b, np.arange(4.0), np.arange(4.0), start, bounds=bounds)
    assert np.isnan(found).all()
    assert np.isnan(covariances).all()
    with pytest.raises(rose.ShapeError, match="3 bounds for 2 numbers"):
        rose.least_squares(lambda x: x, start, bounds=([0.0] * 3, 1.0))


def test_parameters_that_data_do_not_tell():
    x, y = np.arange(4.0), np.array([0.1, 1.0, 2.2, 2.9])
    for f in (lambda x, a, b: (a + b) * x, lambda x, a, b: a * x + 0.0 * b):
        found, covariances = rose.jit(lambda y, f=f: rose.curve_fit(f, x, y, (1.0, 1.0)))(y)
        assert np.isfinite(found).all()
        assert np.isinf(covariances).all()
    with pytest.raises(rose.ShapeError, match="1 data for 2 parameters"):
        rose.curve_fit(lambda x, a, b: a * x + b, x[:1], y[:1], (1.0, 1.0))


ONE_ARGUMENT = {
    "root": lambda args: rose.root(lambda x, a: x - a, np.zeros(2), args=args).x,
    "bracket": lambda args: rose.root(lambda x, a: x - a.sum(), bracket=(0.0, 9.0), args=args).x,
    "fixed point": lambda args: rose.fixed_point(lambda x, a: 0.5 * x + a, np.zeros(2), args=args).x,
    "fit": lambda args: rose.least_squares(lambda x, a: x - a, np.zeros(2), args=args).x,
    "integral": lambda args: rose.quad(lambda x, a: x * a.sum(), 0.0, 1.0, args=args)[0],
    "equation": lambda args: rose.solve_ivp(lambda t, y, a: a * y, (0.0, 1.0), np.ones(2), args=args).y[:, -1],
    "odeint": lambda args: rose.odeint(lambda y, t, a: a * y, np.ones(2), np.array([0.0, 1.0]), args=args)[-1],
    "minimum": lambda args: rose.optim.minimize(lambda x, a: ((x - a) ** 2).sum(), np.zeros(2), args=args).x,
}


@pytest.mark.parametrize("solver", ONE_ARGUMENT.values(), ids=ONE_ARGUMENT)
def test_one_argument_needs_no_tuple(solver):
    alone = np.array([0.25, 0.5])
    np.testing.assert_array_equal(solver(alone), solver((alone,)))
