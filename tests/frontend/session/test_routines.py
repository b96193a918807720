"""Functions of the program that no user wrote: staged once in a process, and wherever they are called as if made there."""

import traceback
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec
from rosejit.frontend.session import routines
from rosejit.ir.syntax import Check
from rosejit.ir.traversal import forms, reachable

A, B = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, -1.0])


def fresh() -> tuple[Any, Any]:
    """Two functions that call the same routines, the second at another line."""

    @rose.jit
    def first(a: Mat[2, 2], b: Vec[2]) -> float:
        return np.linalg.solve(a, b)[0] * np.linalg.svd(a)[1][1]

    @rose.jit
    def second(a: Mat[2, 2], b: Vec[2]) -> float:
        found = np.linalg.svd(a)[1][1]
        return found * np.linalg.solve(a, b)[0]

    return first, second


def test_values_and_derivatives_are_the_same_bits() -> None:
    first, second = fresh()
    for d in (lambda f: f, lambda f: rose.grad(f, argnums=(0, 1)), lambda f: rose.hessian(f, argnums=(0, 1))):
        assert str(d(first)(A, B)) == str(d(second)(A, B))


def test_draws_are_the_same_bits() -> None:
    def drawing() -> Any:
        @rose.jit
        def draw(seed: int, scale: float) -> float:
            rng = np.random.default_rng(seed)
            return rng.normal(0.0, scale) + rng.exponential(scale)

        return draw

    first, second = drawing(), drawing()
    assert first(3, 2.0) == second(3, 2.0)
    assert rose.grad(first, argnums=1)(3, 2.0) == rose.grad(second, argnums=1)(3, 2.0)


def test_each_fails_at_its_own_line() -> None:
    for f, line in zip(fresh(), ("return np.linalg.solve(a, b)", "return found * np.linalg.solve"), strict=True):
        for failing in (f, rose.grad(f)):
            with pytest.raises(np.linalg.LinAlgError) as found:
                failing(A * 0.0, B)
            assert line in "".join(traceback.format_exception(found.value))


def test_what_is_kept_holds_no_code_of_users() -> None:
    fresh()[0](A, B)
    kept = [f for f in routines._kept.values() if f.body is not None]
    assert kept
    for f in reachable(*kept, *[f.rule for f in kept if f.rule is not None]):
        assert f.body is not None
        assert f.span is None
        for let in forms(f.body):
            assert let.span is None
            assert not isinstance(let.expr, Check) or let.expr.failure.span is None


def test_few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routines, "KEPT", 3)
    fresh()[0](A + 1.0, B)

    @rose.jit
    def wide(a: Mat[5, 4]) -> Vec[4]:
        return np.linalg.svd(a)[1]

    @rose.jit
    def wider(a: Mat[6, 5]) -> Vec[5]:
        return np.linalg.svd(a)[1]

    for f, shape in ((wide, (5, 4)), (wider, (6, 5))):
        a = np.arange(float(np.prod(shape))).reshape(shape) ** 1.5
        assert np.allclose(f(a), np.linalg.svd(a)[1])
        assert len(routines._kept) <= 3
