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
