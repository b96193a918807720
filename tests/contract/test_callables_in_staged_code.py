"""Whatever can be called, and holds staged numbers, given in staged code to what takes functions."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import rosejit as rose
from tests.tables import crossed


class Plain:
    def __init__(self, c: Any) -> None:
        self.c = c

    def f(self, x):
        return self.c * x * x

    def __call__(self, x):
        return self.c * x * x

    @rose.jit
    def decorated(self, x):
        return self.c * x * x

    def slope(self, x):
        return rose.jvp(self.f, (x,), (1.0 + 0.0 * x,))[1]

    def doubled(self, x):
        first = self.slope(x)
        self.c = 2.0 * self.c
        return (first + self.slope(x)) / 6.0


class Slots:
    __slots__ = ("c",)

    def __init__(self, c: Any) -> None:
        self.c = c

    f, __call__ = Plain.f, Plain.__call__


@dataclass
class Data:
    c: Any
    f, __call__ = Plain.f, Plain.__call__


@dataclass(frozen=True)
class Frozen:
    c: Any
    f, __call__ = Plain.f, Plain.__call__


@dataclass(frozen=True, slots=True)
class Both:
    c: Any
    f, __call__ = Plain.f, Plain.__call__


class Named(NamedTuple):
    c: Any

    def f(self, x):
        return self.c * x * x

    def __call__(self, x):
        return self.c * x * x


class Around:
    """An object that holds another callable."""

    def __init__(self, inner: Callable[[Any], Any]) -> None:
        self.inner = inner

    def f(self, x):
        return self.inner(x)


def scaled(c, x):
    return c * x * x


def scaled_last(x, c):
    return c * x * x


CLASSES = (Plain, Slots, Data, Both, Named)
CALLABLES: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    **{f"method of {cls.__name__}": lambda c, cls=cls: cls(c).f for cls in CLASSES},
    **{f"object of {cls.__name__}": lambda c, cls=cls: cls(c) for cls in CLASSES},
    "decorated method": lambda c: Plain(c).decorated,
    "partial": lambda c: functools.partial(scaled, c),
    "partial by name": lambda c: functools.partial(scaled_last, c=c),
    "partial of a method": lambda c: functools.partial(Data(c).f),
    "partial of an object": lambda c: functools.partial(Both(c)),
    "lambda": lambda c: lambda x: c * x * x,
    "decorated lambda": lambda c: rose.jit(lambda x: c * x * x),
    "method around a method": lambda c: Around(Data(c).f).f,
    "method around a lambda": lambda c: Around(lambda x: c * x * x).f,
    "method that differentiates": lambda c: lambda x: Plain(c).slope(x) * x / 2.0,
    "method that changes": lambda c: lambda x: Plain(c).doubled(x) * x,
}
ONES = np.array([1.0, 2.0])
TAKERS: dict[str, Callable[[Any], Any]] = {
    "call": lambda f: f(1.5),
    "grad": lambda f: rose.grad(f)(1.5),
    "jacobian": lambda f: rose.jacobian(f)(ONES)[1, 1],
    "jvp": lambda f: rose.jvp(f, (1.5,), (1.0,))[1],
    "vjp": lambda f: rose.vjp(f, 1.5)[1](1.0)[0],
    "hvp": lambda f: rose.hvp(f)(1.5, 1.0),
    "vmap": lambda f: rose.vmap(f)(ONES).sum(),
    "checkpoint": lambda f: rose.checkpoint(f)(1.5),
    "jit": lambda f: rose.jit(f)(1.5),
    "grad of grad": lambda f: rose.grad(rose.grad(f))(1.5),
    "quad": lambda f: rose.quad(f, 0.0, 1.0)[0],
    "quad in quad": lambda f: rose.quad(lambda a: a * rose.quad(f, 0.0, 1.0)[0], 0.0, 1.0)[0],
    "root": lambda f: rose.root(lambda x: f(x) - 3.0, 1.0).x,
    "fixed_point": lambda f: rose.fixed_point(f, 0.6, method="hybr").x,
    "solve_ivp": lambda f: rose.solve_ivp(
        functools.partial(lambda g, t, y: -g(y), f), (0.0, 1.0), np.array([0.5]), rtol=1e-10, atol=1e-12
    ).y[0, -1],
    "least_squares": lambda f: rose.least_squares(lambda x: f(x) - 3.0, ONES).x.sum(),
    "minimize": lambda f: rose.optim.minimize(f, 1.0).fun,
    "lbfgs": lambda f: rose.optim.lbfgs(f)(1.0).value,
    "map": lambda f: sum(map(f, [1.0, 2.0])),
}


def test_values_and_gradients():
    for (name, make), (taker, take) in crossed(CALLABLES.items(), TAKERS.items(), 13):

        def f(c, make=make, take=take):
            return take(make(c))

        value, slope = rose.value_and_grad(f)(2.0)
        difference = (f(2.0 + 1e-5) - f(2.0 - 1e-5)) / 2e-5
        assert value == pytest.approx(f(2.0), rel=1e-9, abs=1e-9), (name, taker)
        assert slope == pytest.approx(difference, rel=1e-5, abs=1e-5), (name, taker)


@pytest.mark.parametrize("cls", [Frozen, Both, Named])
def test_an_argument_whose_hash_is_of_staged_numbers_is_called(cls):
    assert rose.grad(lambda d: d(3.0))(cls(2.0)).c == 9.0
    assert rose.grad(lambda c: sum(cls(c)(3.0) for _ in rose.range(2)))(2.0) == 18.0
    assert rose.grad(lambda d: rose.quad(d.f, 0.0, 3.0)[0])(cls(2.0)).c == pytest.approx(9.0)


HELD = Plain(2.0)
cached = functools.lru_cache(lambda: HELD)


@pytest.mark.parametrize("reach", [lambda: HELD.f, lambda: HELD, lambda: cached().f, lambda: functools.partial(HELD.f)])
def test_an_object_of_the_host_is_looked_at_again(reach, monkeypatch):
    f = rose.jit(lambda x: rose.grad(reach())(x))
    assert [f(1.0), f(1.0)] == [4.0, 4.0]
    monkeypatch.setattr(HELD, "c", 5.0)
    assert [f(1.0), f(1.0)] == [10.0, 10.0]
