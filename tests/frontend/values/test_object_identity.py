"""The objects that containers hold, compared by their addresses: each way to change one is seen, and nothing else."""

import gc
import random
import sys
import threading
from collections import deque

import pytest

from rosejit.frontend.values import held_memory, object_identity
from rosejit.frontend.values.held_memory import PIECE, SHORT, WORD, Memory

LONG = 3 * PIECE // WORD + 5


class Thing:
    def __init__(self) -> None:
        self.m = 1.0


class Numbered(Thing):
    """An object of another layout."""

    __slots__ = ("n",)

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n


class Sorted(dict):
    __slots__ = ()


class Slotted:
    __slots__ = ("a", "b", "__weakref__")

    def __init__(self) -> None:
        self.a, self.b = 1.0, 2.0

    def set(self, x) -> None:
        self.a = x


@pytest.fixture(params=["memory", "lists", "id"], autouse=True)
def _reader(request, monkeypatch):
    """By memory as CPython lays it out, lists and slots alone (from 3.13), and as where it is laid out otherwise."""
    if request.param != "memory":
        monkeypatch.setattr(held_memory, "sees_dicts", lambda: False)
    if request.param == "id":
        monkeypatch.setattr(held_memory, "sees_lists", lambda: False)


def watch(*values):
    """Whether these hold what they hold now."""
    lists = [each for each in values if isinstance(each, (list, deque))]
    dicts = [each for each in values if isinstance(each, dict)]
    objects = [each for each in values if isinstance(each, Thing)]
    slotted = [each for each in values if isinstance(each, Slotted)]
    checks = list(object_identity.checks(lists, dicts, objects, slotted))
    return lambda: all(check() for check in checks)


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="laid out as CPython is")
def test_memory_is_read_where_it_can_be(request):
    if request.node.callspec.params["_reader"] == "memory":
        assert held_memory.sees_lists()
        assert held_memory.sees_dicts() == (sys.version_info < (3, 13))


def test_addresses_are_read_where_they_can_be():
    objects = [1, "a", None]
    assert object_identity._addresses(objects) == object_identity._addresses(list(objects))
    assert object_identity._addresses([]) == object_identity._addresses([])


CHANGES = {
    "an element": (lambda: [1, 2, 3], lambda x: x.__setitem__(1, 5)),
    "an equal one of another type": (lambda: [1, 2, 3], lambda x: x.__setitem__(0, True)),
    "the sign of zero": (lambda: [0.0], lambda x: x.__setitem__(0, -0.0)),
    "an equal object": (lambda: [[1.0]], lambda x: x.__setitem__(0, [1.0])),
    "the order": (lambda: ["a", "b"], lambda x: x.reverse()),
    "one more": (lambda: ["a"], lambda x: x.append("a")),
    "one less": (lambda: ["a", "b"], lambda x: x.pop()),
    "the first": (lambda: [], lambda x: x.append(1)),
    "all": (lambda: [1, 2], lambda x: x.clear()),
    "some of some": (lambda: [1.5] * SHORT, lambda x: x.__setitem__(SHORT - 1, 2.5)),
    "of some more": (lambda: [1.5] * (SHORT + 1), lambda x: x.__setitem__(SHORT, 2.5)),
    "of many": (lambda: [1.5] * LONG, lambda x: x.__setitem__(7, 2.5)),
    "the last of many": (lambda: [1.5] * LONG, lambda x: x.__setitem__(-1, 2.5)),
    "many at once": (lambda: [1.5] * LONG, lambda x: x.__setitem__(slice(None), [2.5] * LONG)),
    "all of many": (lambda: [1.5] * LONG, lambda x: x.clear()),
    "one more of many": (lambda: [1.5] * LONG, lambda x: x.append(1.5)),
    "a deque": (lambda: deque([1, 2]), lambda x: x.rotate()),
    "a value": (lambda: {"a": 1}, lambda x: x.__setitem__("a", 2)),
    "an equal value": (lambda: {"a": 1}, lambda x: x.__setitem__("a", True)),
    "a key more": (lambda: {"a": 1}, lambda x: x.__setitem__("b", 1)),
    "a key less": (lambda: {"a": 1}, lambda x: x.pop("a")),
    "the order of keys": (lambda: {"a": 1, "b": 1}, lambda x: x.update(a=x.pop("a"))),
    "another key": (lambda: {"a": 1, "b": 1}, lambda x: x.update(c=x.pop("b"))),
    "an equal key": (lambda: {1: "a"}, lambda x: x.__setitem__(True, x.pop(1))),
    "a dict derived": (lambda: Sorted(a=1), lambda x: x.__setitem__("a", 2)),
    "a value under a number": (lambda: {1: "a"}, lambda x: x.__setitem__(1, "b")),
    "an attribute": (lambda: Thing(), lambda x: setattr(x, "m", 2.0)),
    "a new attribute": (lambda: Thing(), lambda x: setattr(x, "n", 1.0)),
    "an attribute that is gone": (lambda: Thing(), lambda x: delattr(x, "m")),
    "another dict": (lambda: Thing(), lambda x: setattr(x, "__dict__", {"m": 1.0})),
    "by the dict": (lambda: Thing(), lambda x: vars(x).update(m=2.0)),
    "past its class": (lambda: Thing(), lambda x: object.__setattr__(x, "m", 2.0)),
    "of an object derived": (lambda: Numbered(3), lambda x: setattr(x, "m", 2.0)),
    "another class": (lambda: Thing(), lambda x: setattr(x, "__class__", type("Other", (Thing,), {}))),
    "a slot": (lambda: Slotted(), lambda x: setattr(x, "b", 3.0)),
    "a slot that is gone": (lambda: Slotted(), lambda x: delattr(x, "a")),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_are_seen(name):
    make, change = CHANGES[name]
    container = make()
    other = ["beside"]
    is_same = watch(other, Thing(), container, Slotted(), [], {})
    assert is_same()
    gc.collect(1)  # what was just made; the rest of the process is large
    assert is_same()
    change(container)
    assert not is_same()


def test_elements_that_go_from_one_list_to_the_next_are_seen():
    one, other = [1, 2], [3]
    is_same = watch(one, other)
    other.insert(0, one.pop())
    assert not is_same()


def test_what_was_held_is_kept_alive():
    """An address alone would be that of the next object."""
    for make, put in ((list, list.append), (dict, lambda d, x: d.update(a=x)), (Slotted, lambda s, x: s.set(x))):
        container = make()
        put(container, object())
        is_same = watch(container)
        for _ in range(50):
            if make is list:
                container.clear()
            put(container, object())
            assert not is_same()


@pytest.mark.parametrize("kind", ["list", "dict", "object"])
def test_other_threads_may_change_what_is_looked_at(kind):
    lists = [[k] * (k % 7) for k in range(50)]
    dicts = [{"a": k} for k in range(50)]
    things = [Thing() for _ in range(50)]
    stop = threading.Event()

    def change():
        rng = random.Random(1)
        while not stop.is_set():
            k = rng.randrange(50)
            if kind == "list":
                lists[k] += [None] * rng.randrange(500)
                lists[k].clear()
            elif kind == "dict":
                dicts[k].update({str(j): j for j in range(rng.randrange(300))})
                dicts[k].clear()
            else:
                things[k].__dict__ = {"m": k}

    thread = threading.Thread(target=change)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread.start()
    try:
        for _ in range(40):
            is_same = watch(*lists, *dicts, *things)
            for _ in range(10):
                is_same()
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
    is_same = watch(*lists, *dicts, *things)
    assert is_same()
    assert not Memory()


def test_random_lists():
    """Whether it says the same as a comparison of every element."""
    rng = random.Random(3)
    pool = [1, 1.0, True, "a", None, (1,), 2**70, -0.0]
    for _ in range(200):
        lists = [[rng.choice(pool) for _ in range(rng.choice((0, 1, 3, SHORT + 9)))] for _ in range(4)]
        is_same, before = watch(*lists), [list(each) for each in lists]
        one = rng.choice(lists)
        if one and rng.random() < 0.7:
            one[rng.randrange(len(one))] = rng.choice(pool)
        same = all(a is b for now, then in zip(lists, before, strict=True) for a, b in zip(now, then, strict=True))
        assert is_same() == same
