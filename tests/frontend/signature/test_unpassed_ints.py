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


def in_tuple(p, sizes=(3, (5, 2))):
    assert type(sizes[1][0]) is int
    return running(p, sizes[1][0])


def in_hinted_tuple(p: float, sizes: tuple[int, int] = (3, 5)):
    return running(p, sizes[1])


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
    "tuple": in_tuple,
    "decorated with a tuple": rose.jit(in_tuple),
    "tuple with a hint": in_hinted_tuple,
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


def test_a_tuple_that_is_passed_is_staged():
    def weighted(p, w=(3, 5)):
        return p * w[0] + w[1]

    f = rose.jit(weighted)
    assert f(0.5) == 6.5
    assert [f(0.5, (k, 1)) for k in (3, 4, 5)] == [2.5, 3.0, 3.5]
    assert f.cache_info().misses == 2
    with pytest.raises(rose.StagingTypeError, match="shape"):
        rose.jit(lambda p, shape=(2, 3): np.sum(np.zeros(shape) + p))(0.5, (4, 5))
