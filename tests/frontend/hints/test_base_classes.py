"""Hints that say nothing of parts (a base class, `object`), and values that have some: numbers stay numbers."""

import abc
import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Optional, TypeVar

import numpy as np
import pytest

import rosejit as rose

T = TypeVar("T")


class Plain:
    pass


class Abstract(abc.ABC):
    pass


class Made(Generic[T]):
    pass


@dataclass
class Both(Plain, Abstract, Made[float]):
    value: Any


class Free(Plain, Abstract, Made[float]):
    """No dataclass, and of the host: its class has no hints for what it holds."""

    def __init__(self, value: float) -> None:
        self.value = value


class Colour(enum.IntEnum):
    RED = 1
    BLUE = 2


HINTS = {
    "plain": Plain,
    "object": object,
    "abstract": Abstract,
    "generic": Made,
    "generic of": Made[float],
    "optional": Optional[Plain],
    "union": Plain | None,
    "text": "Plain",
}
PLACES = {
    "itself": (lambda hint: hint, lambda x: x, lambda x: x),
    "list": (lambda hint: list[hint], lambda x: [x], lambda x: x[0]),
    "dict": (lambda hint: dict[str, hint], lambda x: {"a": x}, lambda x: x["a"]),
    "tuple": (lambda hint: tuple[hint, ...], lambda x: (x,), lambda x: x[0]),
    "sequence": (lambda hint: Sequence[hint], lambda x: [x], lambda x: x[0]),
}


@pytest.mark.parametrize("kind", ["number", "array"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("hint", HINTS)
def test_numbers_below_a_base_class(hint, place, kind):
    make, into, out = PLACES[place]
    hinted = make(HINTS[hint])

    @dataclass
    class Pair:
        left: hinted
        right: hinted

    def of_fields(pair):
        return (3.0 * out(pair.left).value * out(pair.right).value + 0.0 * np.zeros(1)).sum()

    def of_arguments(left: hinted, right: hinted):
        return (3.0 * out(left).value * out(right).value + 0.0 * np.zeros(1)).sum()

    two, five = (value if kind == "number" else np.array([value]) for value in (2.0, 5.0))
    pair = Pair(into(Both(two)), into(Both(five)))
    gradient = rose.grad(of_fields)(pair)
    assert np.ravel(out(gradient.left).value) == [15.0]
    assert np.ravel(out(gradient.right).value) == [6.0]
    assert float(rose.jvp(of_fields, (pair,), (pair,))[1]) == 60.0
    left, right = rose.grad(of_arguments, (0, 1))(pair.left, pair.right)
    assert [*np.ravel(out(left).value), *np.ravel(out(right).value)] == [15.0, 6.0]


def test_numbers_that_are_objects():
    @rose.jit
    def f(x: object, y: object) -> float:
        return 3.0 * x * y

    assert rose.grad(f, (0, 1))(2.0, 5.0) == (15.0, 6.0)


@pytest.mark.parametrize("hint", [Plain, Abstract, Made, object])
def test_objects_of_the_host(hint):
    def f(x: float, thing: hint) -> float:
        return x * x * thing.value

    assert rose.jit(f)(3.0, Free(2.0)) == 18.0
    assert rose.grad(f)(3.0, Free(2.0)) == 12.0
    if hint is not object:
        with pytest.raises(rose.StagingTypeError, match="the hint of `thing` is"):
            rose.jit(f)(3.0, "text")


def test_what_is_of_the_host_stays_so():
    @rose.jit
    def f(x: float, colour: Colour, text: str, power: Literal[1, 2], kind: type) -> float:
        return x ** {1: 2.0, 2: 3.0}[colour] + power + len(text) + kind(1.5)

    assert f(2.0, Colour.BLUE, "abc", 2, float) == 8.0 + 2 + 3 + 1.5
    assert f(2.0, Colour.RED, "", 1, int) == 4.0 + 1 + 0 + 1
