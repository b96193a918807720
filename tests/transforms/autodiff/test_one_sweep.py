"""Recursive functions and their pullbacks in one function: when nothing is saved, and when the halves stay two."""

import math
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, Mat, Vec, interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import lets, reachable
from rosejit.ir.types import Nominal
from rosejit.ir.verify import verify_program
from rosejit.transforms.autodiff.derivative_programs import cotangents, differentiable, gradient
from rosejit.transforms.pipeline import optimise, prepared
from tests.laws import check_laws


@rose.jit
def det(a: Mat["n", "n"], row: int, columns: int) -> float:
    """By minors: those of the first row, over the columns that are left."""
    if row == len(a):
        return 1.0
    s, sign = 0.0, 1.0
    for j in range(len(a)):
        if columns >> j & 1:
            s += sign * a[row, j] * det(a, row + 1, columns & ~(1 << j))
            sign = -sign
    return s


@rose.jit
def det_in_a_loop(a: Mat["n", "n"], row: int, columns: int) -> float:
    if row == len(a):
        return 1.0
    s, sign = 0.0, 1.0
    for j in rose.range(len(a)):
        if columns >> j & 1:
            s += sign * a[row, j] * det_in_a_loop(a, row + 1, columns & ~(1 << j))
            sign = -sign
    return s


@rose.jit
def power(x: float, n: int) -> float:
    return 1.0 if n == 0 else x * power(x, n - 1)


@rose.jit
def horner(x: float, c: Vec["n"], k: int) -> float:
    return c[k] if k == len(c) - 1 else c[k] + x * other_horner(x, c, k + 1)


@rose.jit
def other_horner(x: float, c: Vec["n"], k: int) -> float:
    return c[k] if k == len(c) - 1 else horner(x, c, k + 1) * x + c[k]


@rose.jit
def halves(x: Vec["n"], low: int, high: int) -> tuple[float, float]:
    """Two results, of which the second is nowhere multiplied."""
    if high - low == 1:
        return x[low] * x[low], math.sin(x[low])
    middle = (low + high) // 2
    a, b = halves(x, low, middle)
    c, d = halves(x, middle, high)
    return a + 2.0 * c, b - d


@rose.jit
def path(x: Vec["n"], up: Array["n", int], k: int) -> float:
    """A helper stands between the calls."""
    return x[k] if k == 0 else weighed(x, up, k) + x[k]


@rose.jit
def weighed(x: Vec["n"], up: Array["n", int], k: int) -> float:
    return 0.5 * path(x, up, up[k])


X = np.array([0.7, -1.2, 0.4, 1.1])
A = np.array([[0.7, -1.2, 0.4], [1.1, 0.3, -0.6], [0.2, 0.9, 1.3]])
ONE_SWEEP: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "a branch for each column": (det, (A, 0, 7)),
    "a loop": (det_in_a_loop, (A, 0, 7)),
    "one call": (power, (1.3, 4)),
    "a cycle": (horner, (0.7, X, 0)),
    "two results": (halves, (X, 0, 4)),
    "a helper": (path, (X, np.array([0, 0, 1, 1]), 3)),
    "a cotangent that is known later": (lambda a: math.sin(det(a, 0, 7)) * det_in_a_loop(a, 1, 5), (A,)),
    "in a loop": (lambda x, n: sum(power(x * i, n) for i in rose.range(3)), (0.6, 4)),
}


@rose.jit
def nonlinear(x: float, n: int) -> float:
    return x if n == 0 else math.sin(nonlinear(x, n - 1)) * x


@rose.jit
def product(x: Vec["n"], low: int, high: int) -> float:
    """The cotangent of the first call needs what the second gives."""
    if high - low == 1:
        return x[low]
    middle = (low + high) // 2
    return product(x, low, middle) * product(x, middle, high)


@rose.jit
def doubled(x: Vec["n"], k: int) -> Vec["n"]:
    """An array comes back, which is changed."""
    if k == 0:
        return x
    y = doubled(x, k - 1).copy()
    y[k] = y[k] * y[k - 1]
    return y


TWO_SWEEPS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "a factor of what the call gives": (nonlinear, (0.7, 3)),
    "a factor of what a later call gives": (product, (X, 0, 4)),
    "an array": (lambda x: doubled(x, 3).sum(), (X,)),
}


def function(f: Any, args: tuple[Any, ...]) -> ir.Function:
    made = rose.jit(f).lower(*args).ir.function
    assert isinstance(made, ir.Function)
    return made


def values(args: tuple[Any, ...]) -> list[Any]:
    return [a.tolist() if isinstance(a, np.ndarray) else a for a in args]


def saves(f: ir.Function) -> list[str]:
    """The records that `f` and its callees make."""
    made = [let for g in reachable(f) if g.body is not None for let in lets(g.body)]
    records = [let.binders[0].type for let in made if isinstance(let.expr, ir.MakeTuple)]
    return [repr(t) for t in records if isinstance(t, Nominal)]


@pytest.mark.parametrize("name", ONE_SWEEP)
def test_what_saves_nothing(name: str) -> None:
    f = function(*ONE_SWEEP[name])
    (made,) = optimise(gradient(prepared(f), differentiable(f), False))
    assert saves(made) == []


@pytest.mark.parametrize("name", TWO_SWEEPS)
def test_what_stays_two_sweeps(name: str) -> None:
    f = function(*TWO_SWEEPS[name])
    (made,) = optimise(gradient(prepared(f), differentiable(f), False))
    assert saves(made)
    assert not [g.name for g in reachable(made) if g.name.startswith("both")]


@pytest.mark.parametrize("name", [*ONE_SWEEP, *TWO_SWEEPS])
def test_laws(name: str) -> None:
    f, args = (ONE_SWEEP | TWO_SWEEPS)[name]
    made = function(f, args)
    check_laws(made, values(args), order=2)
    back = cotangents(made, differentiable(made))
    again = cotangents(back, differentiable(back))
    for program in optimise(back, again):
        verify_program(program)


def test_a_determinant() -> None:
    """The matrix of cofactors is the gradient; what the function reaches is entered as often as the primal is."""
    a = np.random.default_rng(1).normal(size=(6, 6))
    for f in (det, det_in_a_loop):
        assert np.allclose(rose.grad(f)(a, 0, 63), np.linalg.det(a) * np.linalg.inv(a).T, rtol=1e-12)
        value, slope = rose.value_and_grad(lambda a, f=f: math.log(f(a, 0, 63) ** 2))(a)
        assert math.isclose(value, 2 * math.log(abs(np.linalg.det(a))), rel_tol=1e-12)
        assert np.allclose(slope, 2 * np.linalg.inv(a).T, rtol=1e-12)


def test_memory_is_that_of_the_depth() -> None:
    """No number is kept of 2,000 calls inside each other, and of 2**12 that a tree makes."""
    f = function(halves, (np.ones(8), 0, 8))
    assert rose.grad(lambda x: halves(x, 0, 4096)[0]).lower(np.ones(4096)).cost().tape_bytes == 0
    made = gradient(prepared(f), differentiable(f), False)
    assert interp.run(made, [[1.0] * 8, 0, 8])[0] == [2.0, 4.0, 4.0, 8.0, 4.0, 8.0, 8.0, 16.0]


def test_what_acts_acts_once() -> None:
    """A function that calls the host is not computed again."""
    seen: list[float] = []

    @rose.opaque
    def tell(x: float) -> float:
        seen.append(x)
        return x

    @tell.jvp
    def _(x: rose.Dual) -> rose.Dual:
        return rose.Dual(tell(x.re), x.du)

    @rose.jit
    def told(x: float, n: int) -> float:
        return tell(x) if n == 0 else x * told(x, n - 1)

    assert rose.grad(lambda x: told(x, 3))(2.0) == 32.0
    assert seen == [2.0]
    seen.clear()
    slope = rose.grad(lambda x: math.exp(told(x, 3)))(0.5)
    assert math.isclose(slope, 0.5 * math.exp(0.0625))
    assert seen == [0.5]
