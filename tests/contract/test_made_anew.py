"""Host values in results: what a function makes is made anew for each call, and has the class that Python gives it."""

import array
import collections
import copy
import io
import random
import threading
import types
from dataclasses import dataclass
from typing import Any

import pytest

import rosejit as rose
from rosejit import StagingTypeError, UnsupportedSyntax


class Plain:
    def __init__(self, a: Any = 1) -> None:
        self.a = a


class Slots:
    __slots__ = ("a",)

    def __init__(self, a: Any = 1) -> None:
        self.a = a


@dataclass
class Record:
    a: Any


class Twice(list):
    def __getitem__(self, k):
        return 2 * list.__getitem__(self, k)


class Names(dict):
    def __getattr__(self, name):
        if name[:2] == "__":  # what Python itself asks for: `copy` wants `__getstate__` in 3.10
            raise AttributeError(name)
        return self[name]

    def __missing__(self, key):
        return 7.0


class Pair(tuple):
    def total(self):
        return sum(self)


def knot() -> Any:
    made = {1}
    return made, [made]


MADE: dict[str, tuple[Any, Any]] = {
    "set": (lambda: {1, 2}, lambda v: v.add(9)),
    "bytearray": (lambda: bytearray(b"ab"), lambda v: v.extend(b"c")),
    "namespace": (lambda: types.SimpleNamespace(a=1), lambda v: setattr(v, "a", 5)),
    "object": (lambda: Plain([1]), lambda v: v.a.append(5)),
    "slots": (lambda: Slots(), lambda v: setattr(v, "a", 5)),
    "field": (lambda: Record({1}), lambda v: v.a.add(5)),
    "shared": (knot, lambda v: v[1][0].add(5)),
    "Counter": (lambda: collections.Counter("aab"), lambda v: v.update("z")),
    "OrderedDict": (lambda: collections.OrderedDict(b=1, a=2), lambda v: v.move_to_end("b")),
    "defaultdict": (lambda: collections.defaultdict(int, a=1), lambda v: v["q"]),
    "deque": (lambda: collections.deque([1], maxlen=2), lambda v: v.extend([2, 3])),
    "list of a class": (lambda: Twice([1]), lambda v: v.append(2)),
    "dict of a class": (lambda: Names(a=1), lambda v: v.update(b=2)),
    "tuple of a class": (lambda: Pair((1, {2})), lambda v: v[1].add(3)),
    "ChainMap": (lambda: collections.ChainMap({}, {"a": 1}), lambda v: v.update(b=2)),
    "UserList": (lambda: collections.UserList([1]), lambda v: v.append(2)),
    "Random": (lambda: random.Random(1), lambda v: v.random()),
    "StringIO": (lambda: io.StringIO("ab"), lambda v: v.write("zz")),
    "method": (lambda: Plain([1]).a.__class__([1, {2}]), lambda v: v[1].add(3)),
}


def shown(value: Any) -> Any:
    if isinstance(value, random.Random):
        return value.getstate()
    if isinstance(value, io.StringIO):
        return value.getvalue(), value.tell()
    if isinstance(value, (Plain, Slots)):
        return type(value), value.a
    return type(value), repr(value), getattr(value, "maxlen", None)


def observed(f: Any, change: Any) -> list[Any]:
    """What two calls give, the result of the first being changed between, and whether that is one object."""
    first = f(2.0)[1]
    before = copy.deepcopy(shown(first))
    change(first)
    second = f(2.0)[1]
    return [before, shown(first), shown(second), first is second]


def ways(make: Any) -> dict[str, Any]:
    def f(x):
        return 2.0 * x, make()

    inner = rose.jit(f)

    def twice(x):
        a, b = inner(x), inner(x)
        return (a[1] is b[1]) * x, b[1]

    compiled = inner.lower(1.0).compile()
    return {"python": f, "call": inner, "compiled": compiled, "inside": rose.jit(twice), "value and grad": pulled(f)}


def pulled(f: Any) -> Any:
    gradient = rose.grad(f, has_aux=True)
    return lambda x: gradient(x)


@pytest.mark.parametrize("kind", MADE)
def test_each_call_makes_its_own(kind):
    make, change = MADE[kind]
    found = {name: observed(f, change) for name, f in ways(make).items()}
    for name, each in found.items():
        assert each == found["python"], name


def test_what_is_from_outside_is_the_same_object():
    held, cache = {1}, {}

    def f(x, given: rose.Static):
        cache.setdefault("k", {2})
        return x, held, given, Record(held), [cache["k"]]

    given = {3}
    _, a, b, record, inside = rose.jit(f)(1.0, given)
    assert a is held
    assert b is given
    assert record.a is held
    assert inside[0] is cache["k"]


def counter() -> Any:
    count = [0]

    def step():
        count[0] += 1
        return count[0]

    return step


@pytest.mark.parametrize(
    "make",
    [threading.Lock, counter, lambda: {1}.add, lambda: [counter()]],
    ids=["lock", "closure", "method", "closure in a list"],
)
def test_what_cannot_be_made_anew_is_refused(make):
    with pytest.raises(StagingTypeError, match="make it outside of the function"):
        rose.jit(lambda x: (x, make()))(1.0)


ARGUMENTS: dict[str, Any] = {
    "list": Twice([1.0, 2.0]),
    "dict": Names(a=1.0),
    "tuple": Pair((1.0, 2.0)),
    "OrderedDict": collections.OrderedDict(b=3.0, a=1.0),
    "defaultdict": collections.defaultdict(float, a=1.0),
    "Counter": collections.Counter({"a": 2}),
}
USES: dict[str, Any] = {
    "an element": lambda v, x: v[0] * x,
    "a key": lambda v, x: v["a"] * x,
    "an attribute": lambda v, x: v.a * x,
    "a method": lambda v, x: v.total() * x,
    "its class": lambda v, x: x * isinstance(v, (Twice, Names, Pair, collections.OrderedDict, collections.Counter)),
    "what is in it": lambda v, x: x * sum(v.values()),
    "itself": lambda v, x: v,
}


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_arguments_keep_their_class(kind):
    value = ARGUMENTS[kind]
    for use in USES.values():
        try:
            wanted = use(copy.copy(value), 3.0)
        except (AttributeError, KeyError, TypeError) as error:
            with pytest.raises(type(error)):
                rose.jit(use)(value, 3.0)
        else:
            if kind == "defaultdict" and 0 not in value and use is USES["an element"]:
                with pytest.raises(UnsupportedSyntax, match="arguments are never written"):
                    rose.jit(use)(value, 3.0)
            else:
                found = rose.jit(use)(value, 3.0)
                assert (type(found), found) == (type(wanted), wanted)


def test_classes_of_arguments_tell_specialisations_apart():
    f = rose.jit(lambda v: v[0] * 1.0)
    assert [f([1.0]), f(Twice([1.0])), f((1.0,)), f(Twice([1.0]))] == [1.0, 2.0, 1.0, 2.0]
    assert type(rose.grad(lambda v: v["a"] ** 2)(collections.OrderedDict(a=3.0))) is collections.OrderedDict


def test_attributes_of_a_container_are_refused():
    noted = Twice([1.0])
    noted.scale = 2.0
    with pytest.raises(StagingTypeError, match="hand over its parts"):
        rose.jit(lambda v: v[0])(noted)
    assert rose.jit(lambda v: v[0])(array.array("d", [1.0])) == 1.0


def test_programs_that_were_saved_make_results_anew(tmp_path):
    def f(x):
        return x, {1}, collections.deque([x], maxlen=2), collections.OrderedDict(a=x)

    rose.jit(f).lower(1.0).compile().save(tmp_path / "f.rose")
    g = rose.load(tmp_path / "f.rose")
    g(1.0)[1].add(2)
    assert repr(g(2.0)) == repr(f(2.0))
