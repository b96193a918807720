"""Ints that are defaults, and that nobody passes, are host values whatever the function is transformed to."""

import functools

import numpy as np
import pytest

import rosejit as rose


def running(p, n=5):
    assert type(n) is int
    x = np.zeros(n)
    x[0] = p
    for k in range(1, n):
        x[k] = 0.5 * x[k - 1] + p
    return ((x - 1.0) ** 2).sum()


class Model:
    def method(self, p, n=5):
        return running(p, n)

    def __call__(self, p, n=5):
        return running(p, n)


FUNCTIONS = {
    "function": running,
    "decorated": rose.jit(running),
    "lambda": lambda p, n=5: running(p, n),
    "method": Model().method,
    "object": Model(),
    "partial": functools.partial(running, n=5),
}
GRADIENT, POINTS = (running(0.3 + 1e-6) - running(0.3 - 1e-6)) / 2e-6, np.array([0.3, 0.3])
TRANSFORMATIONS = {
    "jit": (lambda f: rose.jit(f)(0.3), running(0.3)),
    "grad": (lambda f: rose.grad(f)(0.3), GRADIENT),
    "vmap": (lambda f: rose.vmap(f)(POINTS), running(0.3)),
    "threads": (lambda f: rose.vmap(f, threads=2)(POINTS), running(0.3)),
    "vmap of grad": (lambda f: rose.vmap(rose.grad(f))(POINTS), GRADIENT),
    "checkpoint": (lambda f: rose.checkpoint(f)(0.3), running(0.3)),
    "grad of checkpoint": (lambda f: rose.grad(rose.checkpoint(f))(0.3), GRADIENT),
    "jacobian": (lambda f: rose.jacobian(f)(0.3), GRADIENT),
    "lbfgs": (lambda f: rose.grad(f)(rose.optim.lbfgs(f, tolerance=1e-9)(0.3).x), 0.0),
    "newton": (lambda f: rose.grad(f)(rose.optim.newton(f)(0.3).x), 0.0),
    "vmap of newton": (lambda f: rose.grad(f)(rose.vmap(rose.optim.newton(f))(POINTS).x[1]), 0.0),
    "minimize": (lambda f: rose.grad(f)(rose.optim.minimize(f, 0.3).x), 0.0),
    "compiled": (lambda f: rose.jit(f).lower(0.3).compile()(0.3), running(0.3)),
}


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_default_is_a_host_value(function, transformation):
    value, expected = TRANSFORMATIONS[transformation]
    assert value(FUNCTIONS[function]) == pytest.approx(expected, rel=1e-6, abs=1e-6)
