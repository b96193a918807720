"""Kinds of containers: each as argument and result, in every way that a function can be called, and their classes."""

import dataclasses
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

import numpy as np
import pytest

import rosejit as rose
from rosejit import containers
from rosejit.abi import Leaf, Node, leaves


class Pair(NamedTuple):
    x: float
    y: float


class Named(TypedDict):
    x: float
    y: float


@dataclass
class Plain:
    x: float
    y: float


@dataclass(frozen=True)
class Frozen:
    x: float
    y: float


@dataclass(slots=True)
class Slots:
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class FrozenSlots:
    x: float
    y: float


@dataclass(frozen=True)
class HalfSlots(FrozenSlots):
    """With a dictionary, and slots above it."""

    z: float = 1.0


@dataclass
class Guarded:
    """Writes go through its own `__setattr__`, constructors through `__post_init__`: neither runs for a result."""

    x: float
    y: float

    def __setattr__(self, name: str, value: Any) -> None:
        _WRITTEN.append(name)
        object.__setattr__(self, name, value)

    def __post_init__(self) -> None:
        _WRITTEN.append("post_init")


@dataclass
class Counted:
    """Has a field that no constructor takes, and a `__new__` of its own."""

    x: float
    y: float = dataclasses.field(init=False, default=0.5)

    def __new__(cls, *args: Any) -> "Counted":
        made = object.__new__(cls)
        made.note = "new"
        return made


@dataclass
class Described:
    """A field is a property of the class, which keeps it elsewhere."""

    x: float
    y: float


Described.x = property(lambda self: self.kept / 2, lambda self, value: setattr(self, "kept", value * 2))
_WRITTEN: list[str] = []


def parts_of(value: Any) -> list[Any]:
    """What is in a container, by Python alone."""
    if isinstance(value, dict):
        return list(value.values())
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return list(value)


def counted(x: float, y: float) -> Counted:
    made = Counted(x)
    made.y = y
    return made


SAMPLES: dict[str, tuple[Any, Any]] = {
    "tuple": (lambda x, y: (x, y), tuple[float, float]),
    "list": (lambda x, y: [x, y], list[float]),
    "dict": (lambda x, y: {"x": x, "y": y}, dict[str, float]),
    "deque": (lambda x, y: deque([x, y]), deque[float]),
    "namedtuple": (Pair, Pair),
    "typeddict": (lambda x, y: Named(x=x, y=y), Named),
    "plain": (Plain, Plain),
    "frozen": (Frozen, Frozen),
    "slots": (Slots, Slots),
    "frozen slots": (FrozenSlots, FrozenSlots),
    "guarded": (Guarded, Guarded),
    "counted": (counted, Counted),
    "described": (Described, Described),
}


def energy(value: Any) -> float:
    x, y = value if not dataclasses.is_dataclass(value) else (value.x, value.y)
    return x * x * y


def of_dict(value: Any) -> float:
    return value["x"] * value["x"] * value["y"]


def program(kind: str, hinted: bool) -> Any:
    body = of_dict if kind in ("dict", "typeddict") else energy

    def f(value):
        return body(value)

    if hinted:
        f.__annotations__ = {"value": SAMPLES[kind][1]}
    return f


each_kind = pytest.mark.parametrize("kind", SAMPLES)
each_way = pytest.mark.parametrize("hinted", [False, True], ids=["inferred", "hinted"])


@each_way
@each_kind
def test_values_and_gradients_have_the_class_of_the_argument(kind, hinted):
    f, make = rose.jit(program(kind, hinted)), SAMPLES[kind][0]
    assert f(make(3.0, 5.0)) == 45.0
    for _ in range(2):
        made = rose.grad(f)(make(3.0, 5.0))
        assert type(made) is type(make(3.0, 5.0))
        assert parts_of(made) == [30.0, 9.0]
    with rose.disable_jit():
        assert parts_of(rose.grad(f)(make(3.0, 5.0))) == [30.0, 9.0]


# the setter of a property would run in the loop over the batch, which is refused
@pytest.mark.parametrize("kind", [kind for kind in SAMPLES if kind != "described"])
def test_batches(kind):
    f, make = rose.jit(program(kind, False)), SAMPLES[kind][0]
    value = make(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    assert rose.vmap(f)(value).tolist() == [3.0, 16.0]
    made = parts_of(rose.vmap(rose.grad(f))(value))
    assert [part.tolist() for part in made] == [[6.0, 16.0], [1.0, 4.0]]


@each_kind
def test_tangents_and_cotangents_are_given_as_the_argument(kind):
    f, make = rose.jit(program(kind, False)), SAMPLES[kind][0]
    assert rose.jvp(f, (make(3.0, 5.0),), (make(1.0, 10.0),)) == (45.0, 120.0)
    value, pullback = rose.vjp(f, make(3.0, 5.0))
    assert value == 45.0
    assert parts_of(pullback(2.0)[0]) == [60.0, 18.0]


@each_kind
def test_every_kind_can_be_exported(kind, tmp_path):
    f, make = rose.jit(program(kind, False)), SAMPLES[kind][0]
    rose.export(f, make(3.0, 5.0), path=tmp_path)
    declared = next(tmp_path.glob("*.d.mts")).read_text()
    assert ("x: number" in declared) == (kind not in ("tuple", "list", "deque"))


@each_kind
def test_a_structure_is_made_again_of_its_parts(kind):
    value = SAMPLES[kind][0](1.0, 2.0)
    found = containers.of_class(type(value))
    assert found is not None
    assert found.parts(value) == [1.0, 2.0]
    again = found.like(value, [3.0, 4.0])
    assert (type(again), parts_of(again), parts_of(value)) == (type(value), [3.0, 4.0], [1.0, 2.0])
    node = found.node(value, (Leaf("real"), Leaf("real")))
    assert (node.kind, len(leaves(node))) == (found.name, 2)
    assert parts_of(found.make(node, [5.0, 6.0])) == [5.0, 6.0]
    assert found.picked(value, node.keys) == [1.0, 2.0]


def test_the_table_has_one_kind_for_each_class():
    for make, _ in SAMPLES.values():
        owners = [kind for kind in containers.KINDS.values() if kind.owns(type(make(1.0, 2.0)))]
        assert len(owners) == 1
    for value in (1.0, "ab", b"ab", {1}, frozenset({1}), None, range(2), np.zeros(2), object(), Plain, OrderedDict()):
        assert containers.of_class(type(value)) is None


# --- many that are alike


def many(kind: str, count: int) -> list[Any]:
    return [SAMPLES[kind][0](float(k), 3.0) for k in range(count)]


def total(items: Any) -> Any:
    result = 0.0
    for item in items:
        x, y = item if not dataclasses.is_dataclass(item) else (item.x, item.y)
        result = result + x * x * y
    return result


ROWS = [kind for kind in SAMPLES if kind not in ("dict", "typeddict")]


@pytest.mark.parametrize("count", [1, 3, 4, 5, 200])
@pytest.mark.parametrize("kind", ROWS)
def test_lists_of_many(kind, count):
    items = many(kind, count)
    assert rose.jit(total)(items) == sum(3.0 * k * k for k in range(count))
    made = rose.grad(total)(items)
    assert type(made) is list
    assert {type(one) for one in made} == {type(items[0])}
    assert [parts_of(one) for one in made] == [[6.0 * k, float(k * k)] for k in range(count)]
    assert len({id(one) for one in made}) == count


@pytest.mark.parametrize("count", [5, 200])
@pytest.mark.parametrize(
    "around",
    [tuple, list, deque, lambda items: deque(items, 300), lambda items: {k: item for k, item in enumerate(items)}],
    ids=["tuple", "list", "deque", "bounded deque", "dict"],
)
def test_structures_of_many(around, count):
    def f(items):
        return total(items.values() if isinstance(items, dict) else items)

    given = around(many("frozen", count))
    made = rose.grad(f)(given)
    assert type(made) is type(given)
    assert getattr(made, "maxlen", None) == getattr(given, "maxlen", None)
    assert list(made) == list(given) if isinstance(given, dict) else len(made) == count
    assert [parts_of(one) for one in parts_of(made)] == [[6.0 * k, float(k * k)] for k in range(count)]


@dataclass
class Inside:
    flag: bool
    number: int
    at: Pair
    nothing: None
    weight: float


@pytest.mark.parametrize("count", [4, 150])
def test_rows_of_mixed_numbers_are_read_and_made(count):
    def f(items):
        return [Inside(not i.flag, i.number + 1, Pair(i.at.y, i.at.x), i.nothing, i.weight * 2) for i in items]

    given = [Inside(k % 3 == 0, k, Pair(k + 0.5, -1.0), None, 2.0) for k in range(count)]
    compiled = rose.jit(f)
    for _ in range(2):
        assert compiled(given) == f(given)
    kinds = {tuple(map(type, parts_of(one))) for one in compiled(given)}
    assert kinds == {(bool, int, Pair, type(None), float)}


def test_what_does_not_fit_a_row_is_told_or_converted():
    f = rose.jit(total)
    items = many("plain", 200)
    assert f(items) == sum(3.0 * k * k for k in range(200))
    items[7] = Plain(np.float64(7.0), 3.0)
    assert f(items) == sum(3.0 * k * k for k in range(200))
    items[7] = Plain(7.0, 4)
    assert f(items) == sum(3.0 * k * k for k in range(200)) + 49.0
    items[7] = Frozen(7.0, 3.0)
    assert f(items) == sum(3.0 * k * k for k in range(200))
    with pytest.raises(rose.RoseError):
        f([*many("plain", 199), Plain("7", 3.0)])


def test_ints_of_rows_do_not_wrap():
    @dataclass
    class Step:
        count: int
        size: float

    @rose.jit
    def f(steps: list[Step]) -> list[Step]:
        return [Step(s.count + 1, s.size) for s in steps]

    steps = [Step(k, 1e300) for k in range(200)]
    assert f(steps) == [Step(k + 1, 1e300) for k in range(200)]
    steps[150].count = 1 << 63
    with pytest.raises(rose.RoseError, match="9223372036854775808"):
        f(steps)


def test_no_constructor_and_no_setter_runs_for_a_result():
    f = rose.grad(rose.jit(program("guarded", True)))
    given = Guarded(3.0, 5.0)
    f(given)
    _WRITTEN.clear()
    made = f(given)
    assert _WRITTEN == []
    assert (made.x, made.y) == (30.0, 9.0)


def test_a_slot_below_and_a_dictionary_above():
    def f(value: HalfSlots) -> float:
        return value.x * value.y * value.z

    made = rose.grad(f)(HalfSlots(2.0, 3.0, 5.0))
    assert made == HalfSlots(15.0, 10.0, 6.0)
    assert vars(made) == {"z": 6.0}


# --- deques


def test_a_deque_is_another_one_by_its_bound():
    def f(q: Any, x: float) -> Any:
        q = q.copy()
        q.append(x)
        return q

    compiled = rose.jit(f)
    for bound in (None, 2, 3, None):
        for x in (3.0, 4.0):
            assert compiled(deque([1.0, 2.0], bound), x) == f(deque([1.0, 2.0], bound), x)
            assert compiled(deque([1.0, 2.0], bound), x).maxlen == bound


def test_deques_meet_after_a_branch_and_in_a_loop():
    def f(x: float, n: int) -> Any:
        q = deque([x, 1.0]) if x > 0.0 else deque([2.0, x])
        for _ in range(n):
            q = deque([q[1], q[0] + q[1]])
        return q

    for x in (3.0, -3.0):
        assert rose.jit(f)(x, 4) == f(x, 4)


def test_a_deque_is_asked_for_by_name():
    def f(q: deque[float]) -> float:
        return q[0]

    with pytest.raises(rose.RoseError, match="`f` needs a deque for `q`, given a list of 1"):
        rose.jit(f)([1.0])


def test_nodes_know_their_kind():
    for name, kind in containers.KINDS.items():
        assert containers.of_node(Node(name)) is kind
