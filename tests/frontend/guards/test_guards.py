"""What staged code read from outside is remembered; keys are by content."""

import dataclasses
import math
from collections import namedtuple
from types import CellType

import numpy as np
import pytest

from rosejit.frontend.guards.guards import AccessPath, Capture, Outside, PathValue, elements_guard, guard, is_stable
from rosejit.frontend.values.host_values import is_frozen
from rosejit.frontend.values.reachable_state import structural_key

Pair = namedtuple("Pair", "a b")


@dataclasses.dataclass
class Point:
    x: float
    names: list


class Plain:
    def __init__(self, k):
        self.k = k


SAME = [
    (1.5, 1.5), (math.nan, math.nan), ("a", "a"), ([1, [2.0]], [1, [2.0]]), ({"a": [1]}, {"a": [1]}), ({1, 2}, {2, 1}),
    (np.arange(3.0), np.arange(3.0)), (Point(1.0, ["a"]), Point(1.0, ["a"])), (Pair(1, 2), Pair(1, 2)), (len, len),
]  # fmt: skip
DIFFERENT = [
    (1, 1.0), (1, True), (0.0, -0.0), ([1], (1,)), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (Pair(1, 2), (1, 2)),
    (np.arange(3.0), np.arange(3)), (np.zeros((2, 3)), np.zeros((3, 2))), (Point(1.0, ["a"]), Point(1.0, ["b"])),
    (Plain(1), Plain(1)), (np.zeros(2), np.array([0.0, -0.0])),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), SAME)
def test_equal_contents_have_equal_keys(a, b):
    assert structural_key(a) == structural_key(b)
    assert hash(structural_key(a)) == hash(structural_key(b))


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_different_contents_have_different_keys(a, b):
    assert structural_key(a) != structural_key(b)


def test_what_nobody_can_change():
    assert is_frozen((1, "a", (2.0, None), frozenset({3})))
    assert not is_frozen((1, []))
    assert not is_frozen(np.zeros(2))


def _guard(chain):
    return guard(PathValue(chain), Outside(names=frozenset()), set())


def guarded(value):
    """A guard of the global `g`, and the globals."""
    scope = {"g": value}
    return _guard(AccessPath(scope, ("g",))), scope


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (1, 2),
        (1, 1.0),
        ([1, 2], [1, 3]),
        ({"a": 1}, {"a": 2}),
        (len, max),
        (math, np),
        (Plain(1), Plain(1)),
        (Plain, Pair),
    ],
)
def test_another_value_is_noticed(value, other):
    found, scope = guarded(value)
    assert found.holds()
    scope["g"] = other
    assert not found.holds()
    scope["g"] = value
    assert found.holds()
    del scope["g"]
    assert not found.holds()


def test_changes_inside_are_noticed():
    items, thing = [1, {"a": 2}], Plain([1])
    for value, change in ((items, lambda: items[1].update(a=3)), (thing, lambda: thing.k.append(2))):
        found, _ = guarded(value)
        change()
        assert not found.holds()


def test_an_equal_value_is_as_good():
    found, scope = guarded((1, 2.5))
    scope["g"] = (1, 2.5)
    assert found.holds()


def test_elements_of_arrays_count_only_if_the_host_read_them():
    array = np.zeros(3)
    layout, scope = guarded(array)
    elements = elements_guard(array)
    array[0] = 1
    assert layout.holds()
    assert not elements.holds()
    scope["g"] = np.zeros(4)
    assert not layout.holds()


def test_attributes_and_cells():
    thing = Plain(1)
    found = _guard(AccessPath({"thing": thing}, ("thing", "k")))
    thing.k = 2
    assert not found.holds()
    del thing.k
    assert not found.holds()

    cell = CellType(1)
    found = _guard(AccessPath(cell, ("inside",)))
    assert found.holds()
    cell.cell_contents = 2
    assert not found.holds()


def test_functions_of_libraries_are_not_guarded():
    assert is_stable(AccessPath({"np": np}, ("np", "sin")))
    assert not is_stable(AccessPath({"np": np}, ("np",)))
    assert _guard(AccessPath({"math": math}, ("math", "pi"))) is None
    assert _guard(AccessPath({}, ("nothing",))) is None


def test_arrays_that_are_handed_in():
    array = np.zeros(3)
    scope = {"w": array}
    named, kept = Capture(array, AccessPath(scope, ("w",))), Capture(array)
    assert named.read() is array
    scope["w"] = np.ones(3)
    assert named.read() is scope["w"]
    assert kept.read() is array
    for unfit in (np.ones(4), np.ones(3, int), [0.0] * 3):
        scope["w"] = unfit
        assert named.read() is None
