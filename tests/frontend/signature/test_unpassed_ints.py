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


def test_a_tuple_that_is_passed_is_known_where_it_is_a_shape():
    f = rose.jit(lambda p, shape=(2, 3): np.sum(np.zeros(shape) + p))
    assert [f(0.5, shape) for shape in ((4, 5), (1, 2), (4, 5))] == [10.0, 1.0, 10.0]
    assert f(0.5) == 3.0
    assert f.cache_info().size == 3
    assert rose.grad(f)(0.5, (4, 2)) == 8.0


# --- ints that are passed for defaults, where staging has to know them

PASSED_GRADIENT = (running(0.3 + 1e-6, 7) - running(0.3 - 1e-6, 7)) / 2e-6
PASSED_CURVATURE = running(1.3, 7) - 2 * running(0.3, 7) + running(-0.7, 7)  # a square
PASSED = {
    "jit": (lambda f: rose.jit(f)(0.3, 7), running(0.3, 7)),
    "by name": (lambda f: rose.jit(f)(0.3, n=7), running(0.3, 7)),
    "grad": (lambda f: rose.grad(f)(0.3, 7), PASSED_GRADIENT),
    "vmap": (lambda f: rose.vmap(f)(POINTS, 7), running(0.3, 7)),
    "threads": (lambda f: rose.vmap(f, threads=2)(POINTS, 7), running(0.3, 7)),
    "vmap of grad": (lambda f: rose.vmap(rose.grad(f))(POINTS, 7), PASSED_GRADIENT),
    "checkpoint": (lambda f: rose.checkpoint(f)(0.3, 7), running(0.3, 7)),
    "jacobian": (lambda f: rose.jacobian(f)(0.3, 7), PASSED_GRADIENT),
    "jvp": (lambda f: rose.jvp(f, (0.3, 7), (1.0, None))[1], PASSED_GRADIENT),
    "vjp": (lambda f: rose.vjp(f, 0.3, 7)[1](1.0)[0], PASSED_GRADIENT),
    "linearize": (lambda f: rose.linearize(f, 0.3, 7)[1](1.0, None), PASSED_GRADIENT),
    "hessian": (lambda f: rose.hessian(f)(0.3, 7), PASSED_CURVATURE),
    "compiled": (lambda f: rose.jit(f).lower(0.3, 7).compile()(0.3, 7), running(0.3, 7)),
    "staged": (lambda f: rose.jit(lambda p: f(p, 7))(0.3), running(0.3, 7)),
    "decorated, staged": (lambda f: rose.jit(lambda p: rose.jit(f)(p, 7))(0.3), running(0.3, 7)),
    "a length": (lambda f: rose.jit(lambda p, xs: rose.jit(f)(p, len(xs)))(0.3, np.ones(7)), running(0.3, 7)),
    "handed on": (lambda f: rose.jit(lambda p, m=3: rose.jit(f)(p, m))(0.3, 7), running(0.3, 7)),
    "grad, staged": (lambda f: rose.jit(lambda p: rose.grad(f)(p, 7))(0.3), PASSED_GRADIENT),
    "jvp, staged": (lambda f: rose.jit(lambda p: rose.jvp(f, (p, 7), (1.0, None))[1])(0.3), PASSED_GRADIENT),
    "NumPy's": (lambda f: rose.jit(f)(0.3, np.int64(7)), running(0.3, 7)),
}


@pytest.mark.parametrize("transformation", PASSED)
@pytest.mark.parametrize("function", ["function", "decorated", "lambda", "method", "object"])
def test_a_passed_int_is_known_where_staging_needs_it(function, transformation):
    value, expected = PASSED[transformation]
    assert value(FUNCTIONS[function]) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_an_int_that_is_bound_and_passed_again():
    assert rose.jit(FUNCTIONS["partial"])(0.3, n=7) == running(0.3, 7)


def test_one_program_for_all_where_staging_need_not_know():
    f = rose.jit(lambda x, n=2: x**n * n)
    assert [f(3.0, n) for n in (1, 2, 3, 4)] == [3.0, 18.0, 81.0, 324.0]
    assert f.cache_info().size == 1


def test_only_what_is_needed_is_known():
    @rose.jit
    def walk(x: float, steps: int = 4, seed: int = 0) -> float:
        return np.sum(np.zeros(steps) + x) + seed

    assert [walk(1.0, 3, seed) for seed in range(5)] == [3.0, 4.0, 5.0, 6.0, 7.0]
    assert [walk(1.0, steps, 1) for steps in range(3)] == [1.0, 2.0, 3.0]
    assert walk(2.0) == 8.0
    assert walk.cache_info().size == 5  # 3, 0, 1 and 2 steps; nothing passed


def test_several_that_are_needed_together():
    @rose.jit
    def table(x: float, n: int = 2, m: int = 3):
        return [[x + i * j for j in range(m)] for i in range(n)]

    assert table(1.0, 3, 2) == [[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]]
    assert table(1.0, m=1) == [[1.0], [1.0]]


def test_what_the_refused_staging_did_is_undone(capsys):
    seen = []

    @rose.jit
    def f(x: float, n: int = 2) -> float:
        seen.append(n)
        print("staged")
        return np.sum(np.zeros(n) + x)

    with pytest.warns(rose.StagingWarning):
        assert f(1.0, 3) == 3.0
    assert seen == [3]
    assert capsys.readouterr().out == "staged\n"


def test_ints_without_a_default_stay_numbers_of_the_run():
    @rose.jit
    def f(x: float, n: int) -> float:
        return np.sum(np.zeros(n) + x)

    with pytest.raises(rose.StagingTypeError, match="the shape of an array"):
        f(1.0, 3)


def test_the_refusal_that_knowing_does_not_mend():
    @rose.jit
    def f(x: float, n: int = 2) -> float:
        return np.sum(np.zeros(int(x)) + x)

    for _ in range(2):
        with pytest.raises(rose.StagingTypeError, match="the shape of an array"):
            f(1.0, 3)
    assert not f.binding.needed
