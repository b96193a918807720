"""Control flow by the papers and by number: each program's value and derivatives to the orders that are known."""

import math

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec
from tests.programs.control import bisection, collatz, early_return, halved, newton


def both_ways(f, x, order):
    """All derivatives of one order at x, by forward and by reverse over one another."""
    if order == 0:
        return [f(x)]
    reverse, forward = rose.grad(f), lambda at: rose.jvp(f, (at,), (1.0,))[1]
    return [*both_ways(reverse, x, order - 1), *both_ways(forward, x, order - 1)]


# --- paper 001: straight lines, IF, WHILE (TREE: test_recursion.py)


@pytest.mark.parametrize(("x", "value", "slope"), [(10.0, 0.625, 0.0625), (1.5, 0.75, 0.5), (1.0, 1.0, 1.0)])
def test_while_of_paper_001(x, value, slope):
    assert halved(x) == value
    assert both_ways(halved, x, 1) == [slope] * 2
    assert both_ways(halved, x, 2) == [0.0] * 4


@rose.jit
def branch(x: float) -> float:
    if x > 0:
        y = -x * x
    else:
        y = x * x
    return y


@pytest.mark.parametrize(("x", "slope", "curvature"), [(2.0, -4.0, -2.0), (-3.0, -6.0, 2.0), (0.0, 0.0, 2.0)])
def test_if_of_paper_001(x, slope, curvature):
    assert both_ways(branch, x, 1) == [slope] * 2
    assert both_ways(branch, x, 2) == [curvature] * 4


def test_perturbations_are_not_confused():
    outer = rose.grad(lambda x: x * rose.grad(lambda y: x + y)(1.0))
    assert outer(1.0) == 1.0
    assert rose.grad(lambda x: x * rose.jvp(lambda y: x + y, (1.0,), (1.0,))[1])(1.0) == 1.0


# --- paper 002: the rules of Futhark


@rose.jit
def fifth_power(x: float) -> float:
    """`x` is free in the body."""
    y = 1.0
    for _ in rose.range(5):
        y = y * x
    return y


@rose.jit
def squared(x: float, n: int) -> float:
    y = x
    for _ in rose.range(n):
        y *= y
    return y


def test_loops_of_paper_002():
    assert fifth_power(2.0) == 32.0
    assert both_ways(fifth_power, 2.0, 1) == [80.0] * 2
    assert both_ways(fifth_power, 2.0, 2) == [160.0] * 4
    assert squared(1.1, 3) == pytest.approx(2.1435888100000016, rel=1e-15)
    assert rose.grad(squared)(1.1, 3) == pytest.approx(15.589736800000008, rel=1e-15)
    assert both_ways(lambda x: squared(x, 3), 1.1, 2) == pytest.approx([56 * 1.1**6] * 4, rel=1e-14)
    assert (squared(1.1, 0), rose.grad(squared)(1.1, 0)) == (1.1, 1.0)


def test_loops_downwards_and_with_steps():
    @rose.jit
    def horner(c: Vec["n"], x: float) -> float:
        y = 0.0
        for i in rose.range(len(c) - 1, -1, -1):
            y = y * x + c[i]
        return y

    @rose.jit
    def strided(c: Vec["n"], x: float) -> float:
        y = 0.0
        for i in rose.range(0, len(c), 2):
            for j in rose.range(i, 0, -1):
                y += c[j] * x
        return y

    c = np.array([1.0, 2.0, 3.0, 4.0])
    assert horner(c, 2.0) == 49.0
    assert rose.grad(horner, argnums=(0, 1))(c, 2.0)[0].tolist() == [1.0, 2.0, 4.0, 8.0]
    assert rose.grad(horner, argnums=1)(c, 2.0) == 62.0
    assert rose.grad(strided)(c, 2.0).tolist() == [0.0, 2.0, 2.0, 0.0]


def test_branches_with_different_free_variables():
    """REVIF: each side gives adjoints for the union of what both read."""

    @rose.jit
    def f(p: bool, a: float, b: float) -> float:
        return a * a if p else 3 * b

    gradient = rose.grad(f, argnums=(1, 2))
    assert gradient(True, 2.0, 5.0) == (4.0, 0.0)
    assert gradient(False, 2.0, 5.0) == (0.0, 3.0)


X = np.array([0.5, 1.5, -2.0, 3.0])
Y = np.array([1.0, -1.0, 0.5, 2.0])
M = np.arange(6.0).reshape(2, 3) + 1.0


@rose.jit
def mapped(x: Vec["n"], y: Vec["n"]) -> Vec["n"]:
    return [math.sin(x[i]) * y[i] for i in rose.range(len(x))]


@rose.jit
def reduced(x: Vec["n"], y: Vec["n"]) -> float:
    return max(x[i] * y[i] for i in rose.range(len(x))) + sum(x[i] for i in rose.range(len(x)))


@rose.jit
def multiplied(x: Vec["n"], y: Vec["n"]) -> float:
    p = 1.0
    for i in rose.range(len(x)):
        p *= x[i] + y[i] * y[i]
    return p


@rose.jit
def scanned(x: Vec["n"], y: Vec["n"]) -> Vec["n"]:
    z = np.zeros(len(x))
    s = 0.0
    for i in rose.range(len(x)):
        s = s * y[i] + x[i]
        z[i] = s
    return z


@rose.jit
def scan_of_map(x: Vec["n"], y: Vec["n"]) -> Vec["n"]:
    return np.cumsum([x[i] * x[i] * y[i] for i in rose.range(len(x))])


@rose.jit
def reduction_of_map(x: Vec["n"], y: Vec["n"]) -> float:
    return sum(math.exp(x[i]) * y[i] for i in rose.range(len(x)))


@rose.jit
def products(x: Vec["n"], y: Vec["n"]) -> Vec["n"]:
    return np.cumprod(x) * y


@rose.jit
def rearranged(x: Vec[4], y: Vec[4]) -> Mat[2, 2]:
    return (x.reshape(2, 2).T @ y.reshape(2, 2)).T[::-1]


@rose.jit
def replicated(x: Vec[4], y: Vec[4]) -> Mat[4, 4]:
    rows = np.zeros((4, 4))
    for i in rose.range(4):
        rows[i] = x * y[i]
    return rows + x


def lower(entry):
    """The matrix of `entry(row, column)`, zero above the diagonal."""
    return np.array([[entry(i, j) if j <= i else 0.0 for j in range(4)] for i in range(4)])


SLOPES = {
    mapped: lambda x, y: np.diag(np.cos(x) * y),
    reduced: lambda x, y: np.where(np.arange(4) == np.argmax(x * y), y, 0.0) + 1.0,
    multiplied: lambda x, y: np.prod(x + y * y) / (x + y * y),
    scanned: lambda x, y: lower(lambda i, j: np.prod(y[j + 1 : i + 1])),
    scan_of_map: lambda x, y: lower(lambda i, j: 2 * x[j] * y[j]),
    reduction_of_map: lambda x, y: np.exp(x) * y,
    products: lambda x, y: lower(lambda i, j: np.prod(np.delete(x[: i + 1], j)) * y[i]),
    replicated: lambda x, y: (y[:, None, None] + 1.0) * np.eye(4),
}


@pytest.mark.parametrize("f", SLOPES, ids=lambda f: f.__name__)
def test_array_combinators_of_paper_002(f):
    known = SLOPES[f](X, Y)
    for jacobian in (rose.jacfwd(f), rose.jacrev(f)):
        np.testing.assert_allclose(jacobian(X, Y), known, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("f", [*SLOPES, rearranged], ids=lambda f: f.__name__)
def test_array_combinators_to_order_2(f):
    np.testing.assert_allclose(f(X, Y), f.__wrapped__(X, Y), rtol=1e-14)
    rose.check_grads(f, (X, Y), order=2)


# --- loops until something holds


@pytest.mark.parametrize("a", [2.0, 0.5, 9.0])
def test_newton_to_order_3(a):
    roots = [a**0.5, a**-0.5 / 2, -(a**-1.5) / 4, a**-2.5 * 3 / 8]
    for order, known in enumerate(roots):
        assert both_ways(newton, a, order) == pytest.approx([known] * 2**order, rel=1e-11)


def test_bisection():
    """The value follows from comparisons alone: its derivative is 0, as it is written."""
    assert bisection(2.0) == pytest.approx(math.sqrt(2.0), abs=1e-9)
    assert both_ways(bisection, 2.0, 1) == [0.0, 0.0]

    @rose.jit
    def polished(a: float) -> float:
        """One step of Newton's iteration has the derivative that is meant."""
        x = rose.stop_gradient(bisection(a))
        return x - (x * x - a) / (2 * x)

    assert both_ways(polished, 2.0, 1) == pytest.approx([0.5 / math.sqrt(2.0)] * 2, rel=1e-9)


def test_early_return():
    root, turns = early_return(2.0, 50)
    assert root == pytest.approx(2 ** (1 / 3), rel=1e-15)
    assert 4 <= turns <= 8
    assert both_ways(lambda a: early_return(a, 50)[0], 2.0, 1) == pytest.approx([2 ** (-2 / 3) / 3] * 2, rel=1e-12)
    assert both_ways(lambda a: early_return(a, 50)[0], 2.0, 2) == pytest.approx(
        [-(2 ** (-5 / 3)) * 2 / 9] * 4, rel=1e-9
    )
    assert early_return(2.0, 2)[1] == -1


def test_collatz():
    assert [collatz(n) for n in (1, 6, 27, 97, 837_799)] == [0, 8, 111, 118, 524]
    with pytest.raises(rose.RoseOverflowError):
        collatz((2**63 - 1) // 3 * 2 + 1)
    with pytest.raises(rose.NotDifferentiable):
        rose.grad(collatz)(27)


def test_memory_of_a_loop_forwards_and_of_a_repeated_reverse_pass():
    """Nothing is kept forwards; what one reverse pass has taken serves the next."""

    @rose.jit
    def turning(x: float, n: int) -> float:
        t = 0.0
        while t < n:
            x = math.sin(x) + 0.5
            t += 1.0
        return x

    from benchmarks.growth import instances

    with instances() as made:
        sizes = []
        for n in (10, 300_000, 10, 300_000):
            turning(0.3, n)
            sizes.append(sum(instance.memory.size() for instance in made))
    assert len(set(sizes)) == 1
    gradient = rose.grad(turning)
    with instances() as made:
        sizes = []
        for n in (10, 100_000, 100_000, 50_000, 100_000):
            gradient(0.3, n)
            sizes.append(sum(instance.memory.size() for instance in made))
    assert sizes[0] < sizes[1] == sizes[-1] < 100_000 * 64
