"""`fastmath=True`: what it allows, to whom, and that it is as exact as it says."""

import numpy as np

import rosejit as rose
from rosejit import Vec

X = np.random.default_rng(3).normal(size=101)


def total(x: Vec["n"]) -> float:
    found = 0.0
    for i in rose.range(len(x)):
        found += x[i] * x[i] / x[0]
    return found


def test_values_and_derivatives_are_close_and_those_of_the_interpreter():
    exact, fast = rose.jit(total), rose.jit(fastmath=True)(total)
    for f, g, args in (
        (exact, fast, (X,)),
        (rose.grad(exact), rose.grad(fast), (X,)),
        (rose.hvp(exact), rose.hvp(fast), (X, X[::-1].copy())),
    ):
        found = g(*args)
        np.testing.assert_allclose(found, f(*args), rtol=1e-10, atol=1e-10)
        with rose.disable_jit():
            np.testing.assert_array_equal(g(*args), found)


def test_sums_take_another_order_and_python_keeps_its_own():
    fast, exact = rose.jit(fastmath=True)(total), rose.jit(total)
    in_order = 0.0
    for v in X:
        in_order += float(v) * float(v) / float(X[0])
    assert exact(X) == in_order
    assert fast(X) != in_order


def test_x_minus_x_and_x_times_zero_are_zero():
    def f(x: float) -> float:
        return x * 0.0 + (x - x)

    assert np.isnan(rose.jit(f)(np.inf))
    assert rose.jit(fastmath=True)(f)(np.inf) == 0.0


def test_it_is_a_matter_of_each_function():
    @rose.jit
    def exact(x: float) -> float:
        return x - x

    @rose.jit(fastmath=True)
    def fast(x: float) -> float:
        return x - x

    @rose.jit
    def calls_fast(x: float) -> float:
        return fast(x)

    @rose.jit(fastmath=True)
    def calls_exact(x: float) -> float:
        return exact(x)

    assert calls_fast(np.inf) == 0.0
    assert np.isnan(calls_exact(np.inf))


def test_a_derivative_can_be_relaxed_afterwards():
    slope = rose.jit(fastmath=True)(rose.grad(rose.jit(total)))
    np.testing.assert_allclose(slope(X), rose.grad(total)(X), rtol=1e-11)


def test_numpy_sums_may_take_any_order_and_short_ones_do_not():
    @rose.jit
    def both(x: Vec["n"]) -> tuple[float, float]:
        return x.sum(), x @ x

    for n in (3, 15, 16, 50, 101):
        value, square = both(X[:n])
        np.testing.assert_allclose((value, square), (X[:n].sum(), X[:n] @ X[:n]), rtol=1e-12)
        with rose.disable_jit():
            assert both(X[:n]) == (value, square)
    assert both(X[:5])[0] == sum(X[:5].tolist())


def test_a_sum_that_a_dead_number_reads_keeps_its_order():
    """What the compiler drops may not change the bits: compiled code and the interpreter agree, derivatives too."""

    @rose.jit
    def twice(s: float) -> float:
        return 2.0 * s

    @rose.jit(fastmath=True)
    def f(x: Vec["n"]) -> float:
        total, other = 0.0, 0.0
        for v in x:
            total += v * v
            last = twice(total)  # noqa: F841 - the point of the test
            other += v * v
        return total + 1e-9 * other

    scales = 10.0 ** np.arange(-8, 8).repeat(7)[:101]
    x = X[:101] * scales
    value, slopes = f(x), rose.value_and_grad(f)(x)
    with rose.disable_jit():
        assert f(x) == value
        again = rose.value_and_grad(f)(x)
    assert again[0] == slopes[0] == value
    assert again[1].tolist() == slopes[1].tolist()


def test_short_sums_in_short_loops_keep_their_lanes():
    """The loop around is straight-line code, and so the number of iterations would be known and few."""

    @rose.jit(fastmath=True)
    def f(x: Vec["n"]) -> float:
        found = 0.0
        for i in rose.range(len(x)):
            part = 0.0
            for j in rose.range(i + 1):
                part += x[j] * x[i]
            found += part
        return found

    for n in range(10):
        x = X[:n] * 10.0 ** np.arange(n)
        value, slopes = rose.value_and_grad(f)(x)
        with rose.disable_jit():
            again = rose.value_and_grad(f)(x)
        assert again[0] == value
        assert again[1].tolist() == slopes.tolist()


def test_sums_keep_their_order_when_the_compiler_learns_that_they_are_short():
    """What is called with a literal is compiled where it is called, and so is what returns one."""

    @rose.jit(fastmath=True)
    def first(x: Vec["n"], count: int) -> float:
        found = 0.0
        for i in rose.range(count):
            found += x[i] * x[i]
        return found

    @rose.jit
    def seven(k: int) -> int:
        return 7

    @rose.jit
    def f(x: Vec["n"], k: int) -> float:
        return first(x, 3) + first(x, 5) * first(x, seven(k)) + first(x, k)

    x = np.sqrt(np.abs(X)) * 10.0 ** (np.arange(101) % 9 - 4)
    for k in range(20):
        for g in (f, rose.value_and_grad(f), lambda x, k: rose.jvp(rose.grad(f), (x, k), (X, 0))):
            found = g(x, k)
            with rose.disable_jit():
                np.testing.assert_equal(g(x, k), found)
