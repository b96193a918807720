"""The objects that containers hold, compared by their addresses: each way to change one is seen, and nothing else."""

import random
from collections import deque

import pytest

from rosejit.frontend.values import object_identity
from rosejit.frontend.values.object_identity import LONG, HeldKeys, HeldObjects


class Thing:
    def __init__(self) -> None:
        self.m = 1.0


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self) -> None:
        self.a, self.b = 1.0, 2.0


@pytest.fixture(params=["addresses", "id"], autouse=True)
def _reader(request, monkeypatch):
    """By memory as CPython lays it out, and as where it is laid out otherwise."""
    if request.param == "id":
        monkeypatch.setattr(object_identity, "_addresses", lambda: lambda objects: list(map(id, objects)))


def test_addresses_are_read_where_they_can_be():
    objects = [1, "a", None]
    assert object_identity._addresses()(objects) == object_identity._addresses()(list(objects))
    assert object_identity._addresses()([]) == object_identity._addresses()([])


CHANGES = {
    "an element": (lambda: [1, 2, 3], lambda x: x.__setitem__(1, 5)),
    "an equal one of another type": (lambda: [1, 2, 3], lambda x: x.__setitem__(0, True)),
    "the sign of zero": (lambda: [0.0], lambda x: x.__setitem__(0, -0.0)),
    "an equal object": (lambda: [[1.0]], lambda x: x.__setitem__(0, [1.0])),
    "the order": (lambda: ["a", "b"], lambda x: x.reverse()),
    "one more": (lambda: ["a"], lambda x: x.append("a")),
    "one less": (lambda: ["a", "b"], lambda x: x.pop()),
    "of many": (lambda: [1.5] * LONG, lambda x: x.__setitem__(7, 2.5)),
    "one more of many": (lambda: [1.5] * LONG, lambda x: x.append(1.5)),
    "a deque": (lambda: deque([1, 2]), lambda x: x.rotate()),
    "a value": (lambda: {"a": 1}, lambda x: x.__setitem__("a", 2)),
    "a value under a number": (lambda: {1: "a"}, lambda x: x.__setitem__(1, "b")),
    "an attribute": (lambda: Thing(), lambda x: setattr(x, "m", 2.0)),
    "another class": (lambda: Thing(), lambda x: setattr(x, "__class__", type("Other", (Thing,), {}))),
    "a slot": (lambda: Slotted(), lambda x: setattr(x, "b", 3.0)),
    "a slot that is gone": (lambda: Slotted(), lambda x: delattr(x, "a")),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_are_seen(name):
    make, change = CHANGES[name]
    container = make()
    other = ["beside"]
    held = HeldObjects([other, container, *([vars(container)] if hasattr(container, "__dict__") else [])])
    assert held.is_same()
    change(container)
    assert not held.is_same()


@pytest.mark.parametrize("change", [lambda d: d.update(c=d.pop("a")), lambda d: d.update(a=d.pop("a"))])
def test_keys_and_their_order_are_seen(change):
    d = {"a": 1, "b": 1}
    held = HeldKeys([d])
    assert held.is_same()
    change(d)
    assert not held.is_same()


def test_random_lists():
    """Whether it says the same as a comparison of every element."""
    rng = random.Random(3)
    pool = [1, 1.0, True, "a", None, (1,), 2**70, -0.0]
    for _ in range(300):
        lists = [[rng.choice(pool) for _ in range(rng.choice((0, 1, 3, LONG)))] for _ in range(4)]
        held, before = HeldObjects(lists), [list(each) for each in lists]
        one = rng.choice(lists)
        if one and rng.random() < 0.7:
            one[rng.randrange(len(one))] = rng.choice(pool)
        same = all(a is b for now, then in zip(lists, before, strict=True) for a, b in zip(now, then, strict=True))
        assert held.is_same() == same
