"""Lambdas and methods that are made anew for each call of a solver: staged once, never stale, and nothing is kept."""

import dataclasses
import gc
import threading
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from rosejit.api.wrapping import stand_ins

X0 = np.zeros(2)


@dataclasses.dataclass
class Box:
    value: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    value: Any


class Object:
    def __init__(self, value: Any) -> None:
        self.value = value

    def least(self, x):
        return (x[0] - self.value) ** 2


def function_of(value: float) -> Callable[[], float]:
    return lambda: value


# What a lambda closes over: how it holds a number, how the number is read, and how it is changed in place.
HOLDS: dict[str, tuple[Callable[[float], Any], Callable[[Any], Any], Callable[[Any, float], Any] | None]] = {
    "float": (float, lambda held: held, None),
    "int": (int, lambda held: held, None),
    "array": (lambda k: np.array([k, 1.0]), lambda held: held[0], lambda held, k: held.__setitem__(0, k)),
    "array of no dimensions": (np.array, lambda held: held * 1.0, lambda held, k: held.__setitem__((), k)),
    "list": (lambda k: [k, 1.0], lambda held: held[0], lambda held, k: held.__setitem__(0, k)),
    "list of arrays": (
        lambda k: [np.array([k])], lambda held: held[0][0], lambda held, k: held.append(held.pop() * 0 + k)
    ),
    "dict": (lambda k: {"a": k}, lambda held: held["a"], lambda held, k: held.update(a=k)),
    "tuple": (lambda k: (k, "text"), lambda held: held[0], None),
    "dataclass": (Box, lambda held: held.value, lambda held, k: setattr(held, "value", k)),
    "frozen dataclass": (Frozen, lambda held: held.value, None),
    "object": (Object, lambda held: held.value, lambda held, k: setattr(held, "value", k)),
    "namespace": (lambda k: SimpleNamespace(a=k), lambda held: held.a, lambda held, k: setattr(held, "a", k)),
    "function": (function_of, lambda held: held(), None),
    "decorated function": (lambda k: rose.jit(lambda: k * 1.0), lambda held: held(), None),
    "array in an object": (
        lambda k: Object(np.array([k])), lambda held: held.value[0], lambda held, k: held.value.__setitem__(0, k)
    ),
}  # fmt: skip


def least(read: Callable[[Any], Any], held: Any) -> float:
    """The same code at each call, another lambda."""
    return float(rose.optim.minimize(lambda x: (x[0] - read(held)) ** 2 + x[1] ** 2, X0).x[0])


@pytest.mark.parametrize("kind", HOLDS)
def test_a_lambda_reads_what_it_holds(kind: str):
    make, read, change = HOLDS[kind]
    for k in (1.0, 2.0, 2.0, 1.0):
        assert least(read, make(k)) == pytest.approx(k)
    held = make(3.0)
    for k in (3.0, 4.0, 4.0) if change is None else ():
        assert least(read, make(k)) == pytest.approx(k)
    if change is not None:
        for k in (4.0, 5.0, 5.0):
            assert least(read, held) == pytest.approx(float(read(held)))
            change(held, k)
            assert least(read, held) == pytest.approx(k)
    for k in (1, True, 1.0):  # other types of one value
        assert least(read, make(k)) == pytest.approx(1.0)


def residual(k):
    return lambda x: x * x - k


SOLVERS: dict[str, Callable[[Any], Any]] = {
    "root": lambda k: rose.root(lambda x: x * x - k, 1.0).x,
    "root, bracketed": lambda k: rose.root(lambda x: x * x - k, bracket=(0.0, 10.0)).x,
    "fixed_point": lambda k: rose.fixed_point(lambda x: 0.5 * (x + k / x), 1.0).x,
    "quad": lambda k: rose.quad(lambda t: 0.5 * t**-0.5 * k, 0.25, 2.25)[0] / k**0.5,
    "minimize": lambda k: rose.optim.minimize(lambda x: (x * x - k) ** 2, 1.3).x,
    "least_squares": lambda k: rose.least_squares(lambda x: np.array([x[0] ** 2 - k]), np.array([1.0])).x[0],
    "solve_ivp": lambda k: rose.solve_ivp(lambda t, y: k**0.5 * y, (0.0, 1.0), np.array([1.0]), rtol=1e-9).y[0, -1],
    "of another function": lambda k: rose.root(residual(k), 1.0).x,
}


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_second_call_stages_nothing(solver: str, stagings: list[str]):
    first = SOLVERS[solver](np.array(2.0))
    for _ in range(2):
        del stagings[:]
        assert SOLVERS[solver](np.array(2.0)) == pytest.approx(first)
        assert not stagings
    assert SOLVERS[solver](np.array(2.25)) != pytest.approx(first)
    assert not stagings


def test_methods_are_of_their_objects(stagings: list[str]):
    one, two = Object(1.0), Object(2.0)
    assert rose.optim.minimize(one.least, X0).x[0] == pytest.approx(1.0)
    del stagings[:]
    assert rose.optim.minimize(one.least, X0).x[0] == pytest.approx(1.0)
    assert not stagings
    assert rose.optim.minimize(two.least, X0).x[0] == pytest.approx(2.0)
    two.value = 3.0
    assert rose.optim.minimize(two.least, X0).x[0] == pytest.approx(3.0)
    assert rose.optim.minimize(one.least, X0).x[0] == pytest.approx(1.0)


def test_functions_that_live_on_keep_their_own(stagings: list[str]):
    def make(k: float):
        return lambda x: (x[0] - k) ** 2 + x[1] ** 2

    both = [make(1.0), make(2.0)]
    for _ in range(3):
        assert [rose.optim.minimize(f, X0).x[0] for f in both] == pytest.approx([1.0, 2.0])
    del stagings[:]
    for _ in range(3):
        assert [rose.optim.minimize(f, X0).x[0] for f in both] == pytest.approx([1.0, 2.0])
    assert not stagings


def test_globals_defaults_and_hints_tell_functions_apart():
    def with_default(k: float) -> float:
        return rose.optim.minimize(lambda x, k=k: (x[0] - k) ** 2, X0).x[0]

    assert [with_default(k) for k in (1.0, 2.0, 1.0)] == pytest.approx([1.0, 2.0, 1.0])
    code = (lambda x: (x[0] - K) ** 2).__code__
    functions = [type(least)(code, {"K": k}, "<lambda>") for k in (1.0, 2.0)]
    for f in functions:
        f.__qualname__ = "made.<locals>.<lambda>"
    assert [rose.optim.minimize(f, X0).x[0] for f in functions * 2] == pytest.approx([1.0, 2.0] * 2)


def test_nothing_is_kept():
    def fit(data: Any) -> None:
        rose.optim.minimize(lambda x: (x[0] - data.value[0]) ** 2, X0)

    big, small = Object(np.zeros(1_000_000)), Object(np.zeros(3))
    held = weakref.ref(big)
    fit(big)
    del big
    gc.collect()
    assert held() is None
    fit(small)
    standing = next(reversed(stand_ins._known.values()))
    assert all(cell == type(cell)() for cell in standing.cells)
    for k in range(2 * stand_ins._MOST):
        scope: dict[str, Any] = {"rose": rose}
        exec(f"def g(x):\n    return rose.quad(lambda t: t * {k}, 0.0, x)", scope)
    assert len(stand_ins._known) <= stand_ins._MOST


def test_a_solver_inside_of_itself_and_threads():
    def roots(depth: int, k: float) -> float:
        @rose.opaque
        def inner(x: float) -> float:
            return roots(depth - 1, k) if depth else k

        @inner.jvp
        def _(x: rose.Dual) -> rose.Dual:
            return rose.Dual(inner(x.re), 0.0 * x.du)

        return float(rose.root(lambda x: x - inner(x), bracket=(0.0, 50.0)).x)

    assert roots(2, 7.0) == pytest.approx(7.0)
    found: dict[int, list[float]] = {}

    def work(k: int) -> None:
        found[k] = [SOLVERS["minimize"](np.array(float(k * k))) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(k,)) for k in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: pytest.approx([k] * 5, rel=1e-4) for k in (1, 2, 3)}


def test_errors_leave_it_free():
    def attempt(k: Any) -> Any:
        return rose.root(lambda x: x - k, bracket=(0.0, 5.0)).x

    for bad in ("text", None, [1.0]):
        with pytest.raises(Exception):
            attempt(bad)
        assert attempt(2.0) == pytest.approx(2.0)
    assert not any(each.lock.locked() for each in stand_ins._known.values())
