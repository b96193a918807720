"""Tolerances and limits are numbers for the run: other ones are not another program."""

import numpy as np
import pytest

import rosejit as rose


def banana(x):
    return ((1.0 - x[:-1]) ** 2).sum() + 100.0 * ((x[1:] - x[:-1] ** 2) ** 2).sum()


def parabola(x):
    return x * x - 2.0


def residuals(p):
    return np.array([p[0] - 3.0, 10.0 * (p[1] - p[0] ** 2)])


START = np.zeros(3)
CALLS = {
    "minimize": (lambda limit, tol: rose.optim.minimize(banana, START, maxiter=limit, tol=tol), "nit"),
    "bounded": (
        lambda limit, tol: rose.optim.minimize(banana, START, bounds=[(0, 2)] * 3, maxiter=limit, tol=tol),
        "nit",
    ),
    "SLSQP": (lambda limit, tol: rose.optim.minimize(banana, START, method="SLSQP", maxiter=limit, tol=tol), "nit"),
    "root": (lambda limit, tol: rose.root(parabola, 1.0, maxiter=limit, tol=tol), "nit"),
    "newton": (lambda limit, tol: rose.root(parabola, 1.0, method="newton", maxiter=limit, tol=tol), "nit"),
    "bracket": (lambda limit, tol: rose.root(parabola, bracket=(0.0, 2.0), maxiter=limit, tol=tol), "nit"),
    "fixed point": (lambda limit, tol: rose.fixed_point(halved, 1.0, maxiter=limit, tol=tol), "nit"),
    "least squares": (lambda limit, tol: rose.least_squares(residuals, [1.0, 1.0], max_nfev=limit, gtol=tol), "nfev"),
}


def halved(x):
    return 0.5 * x + 1.0


@pytest.mark.parametrize("name", CALLS)
def test_other_ends_are_the_same_program(name, monkeypatch):
    call, counter = CALLS[name]
    whole = call(100, 1e-10)
    assert whole.success
    with monkeypatch.context() as patched:
        patched.setattr("rosejit.frontend.session.session.Session.stage", None)  # nothing is staged again
        short, rough = call(2, 1e-10), call(100, 1e-2)
    assert getattr(short, counter) <= 2 < getattr(whole, counter)
    assert not short.success
    assert getattr(rough, counter) <= getattr(whole, counter)
