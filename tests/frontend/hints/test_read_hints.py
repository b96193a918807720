"""Kinds of hints, in each place where one can stand: a call computes what CPython computes, or is refused in words of
ours with the user's line, and no library for hints is heard of."""

import abc
import collections.abc
import typing
from dataclasses import dataclass
from typing import Any, Generic, NewType, Optional, Protocol, TypeVar, Union, runtime_checkable

import numpy as np
import pytest

import rosejit as rose
from rosejit.errors import RoseError
from tests.tables import crossed

T = TypeVar("T")
Bound = TypeVar("Bound", bound=float)
Metres = NewType("Metres", float)
Json = Union[float, list["Json"], dict[str, "Json"]]


class Family(Protocol):
    def loss(self, z: float) -> float: ...


class Of(Protocol[T]):
    def loss(self, z: T) -> T: ...


@runtime_checkable
class Checked(Protocol):
    def loss(self, z: float) -> float: ...


class Base(abc.ABC):
    @abc.abstractmethod
    def loss(self, z: float) -> float: ...


@dataclass
class Huber(Base):
    d: float

    def loss(self, z):
        return z * z if abs(z) < self.d else self.d * (2 * abs(z) - self.d)


@dataclass
class Box(Generic[T]):
    d: T

    def loss(self, z):
        return self.d * z


VALUES: dict[str, tuple[Any, Any]] = {
    "a protocol": (Family, Huber(1.0)),
    "a generic protocol": (Of[float], Huber(1.0)),
    "a protocol that can be asked for": (Checked, Huber(1.0)),
    "an abstract class": (Base, Huber(1.0)),
    "a generic class": (Box[float], Box(2.0)),
    "Self": (getattr(typing, "Self", Any), Huber(1.0)),
    "the name of what comes later": ("Later", Huber(1.0)),
    "a type variable": (T, Huber(1.0)),
    "a bound type variable": (Bound, 1.5),
    "a new type": (Metres, 1.5),
    "a recursive alias": (Json, 1.5),
    "another class": (Box[float], Huber(1.0)),
    "an int": (int, 1.5),
    "Never": (typing.NoReturn, 1.5),
    "an abstract generic": (typing.SupportsFloat, 1.5),
    "a union of numbers": (float | int, 1.5),
    "a name that nobody knows": ("Unknown", 1.5),
}

PLACES = ("parameter", "result", "field", "item", "sequence", "optional", "union", "method", "values")
WAYS = ("jit", "grad", "check")


def value_of(m: Any, z: Any) -> Any:
    return m.loss(z) if hasattr(m, "loss") else m * z


def placed(hint: Any, value: Any, place: str) -> tuple[Any, Any]:
    """A function with the hint in that place, and its first argument."""

    @dataclass
    class Holder:
        m: Any

        def method(self, m: Any, z: float) -> float:
            return value_of(m, z)

    of_one = lambda m, z: value_of(m, z)
    of_items = lambda m, z: value_of(m[0], z) + value_of(m[1], z)
    hinted: dict[str, Any] = {"m": hint, "z": float, "return": float}
    wrapped = {"item": list, "sequence": typing.Sequence, "optional": Optional}
    if place == "method":
        Holder.method.__annotations__["m"] = hint
        return Holder(1.0).method, value
    if place == "field":
        Holder.__annotations__["m"] = hint
        of_one = lambda m, z: value_of(m.m, z)
        hinted["m"], value = Holder, Holder(value)
    elif place == "result":
        hinted = {"return": hint}
        of_one = (lambda m, z: m * z) if isinstance(value, float) else (lambda m, z: type(value)(m.d * z))
    elif place in wrapped:
        hinted["m"] = wrapped[place][hint]
        value = value if place == "optional" else [value, value] if place == "item" else (value, value)
        of_one = of_one if place == "optional" else of_items
    elif place == "union":
        hinted["m"] = Union[hint, str]
    elif place == "values":
        hinted["m"], value = dict[str, hint], {"a": value}
        of_one = lambda m, z: value_of(m["a"], z)

    def f(m, z):
        return of_one(m, z)

    f.__annotations__.update(hinted)
    return f, value


def computed(f: Any, way: str, value: Any) -> Any:
    if way == "jit":
        return rose.jit(f)(value, 2.5), f(value, 2.5)
    if way == "check":
        return repr(rose.check(rose.jit(f), value, 2.5)), None
    slope = (f(value, 2.5 + 1e-6) - f(value, 2.5 - 1e-6)) / 2e-6
    return rose.grad(f, argnums=1)(value, 2.5), pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(("name", "place"), crossed(VALUES, PLACES, 6))
def test_hints_in_places(name, place, monkeypatch):
    monkeypatch.setitem(globals(), "Later", Huber)
    hint, value = VALUES[name]
    f, given = placed(hint, value, place)
    for way in WAYS:
        if way == "grad" and place == "result" and not isinstance(value, float):
            continue
        try:
            found, wanted = computed(f, way, given)
        except RoseError as error:
            assert error.span is not None, error
            assert name in REFUSED, error
            assert "thread" not in str(error)
            assert "beartype" not in str(error).lower()
        else:
            assert found == wanted if way != "check" else "thread" not in found
            assert way != "check" or name in REFUSED or "differs" not in found, found


REFUSED = {"another class", "an int", "a name that nobody knows"}


class Outer:
    @rose.jit
    def plus(self, o: "Outer | None", by: "Below") -> "Below":
        return Below(self.x + o.x + by.x)

    def __init__(self, x):
        self.x = x


@dataclass
class Below:
    x: float


def test_names_that_come_later():
    assert Outer(1.0).plus(Outer(2.0), Below(3.0)) == Below(6.0)


def test_a_class_inside_a_function():
    @dataclass
    class V:
        x: float

        @rose.jit
        def plus(self, o: "V") -> "list[V]":
            return [type(self)(self.x + o.x)]

    assert V(1.0).plus(V(2.0)) == [V(3.0)]


def test_trees_of_numbers():
    def total(j: Json) -> float:
        return j if isinstance(j, float) else sum([total(v) for v in j])  # pyright: ignore[reportGeneralTypeIssues]

    assert rose.grad(total)([1.0, [2.0, 3.0]]) == [1.0, [1.0, 1.0]]
    assert rose.jit(total)(np.float64(2.0)) == 2.0


def test_a_name_that_stays_unknown():
    @rose.jit
    def f(x: "Nowhere") -> float:  # noqa: F821  # a name that stays unknown
        return x

    with pytest.raises(RoseError, match="`Nowhere`") as caught:
        f(1.0)
    assert "leave the hint out" in str(caught.value)
    assert caught.value.span is not None


@pytest.mark.parametrize(
    "hint",
    [
        collections.abc.Sequence[str],
        typing.Sequence[str],
        collections.abc.Iterable[str],
        collections.abc.Collection[str],
    ],
)
@pytest.mark.parametrize("value", ["abba", "", ["a", "b"], ("b",), []])
def test_a_text_is_a_sequence_of_texts(hint, value):
    table = {"a": 1.0, "b": 2.0}

    def total(x, sequence):
        found = 0.0
        for each in sequence:
            found += table[each] * x
        return found

    total.__annotations__ = {"x": float, "sequence": hint}
    assert rose.jit(total)(1.5, value) == total(1.5, value)
    with pytest.raises(rose.StagingTypeError):
        rose.jit(total)(1.5, [1.0])
