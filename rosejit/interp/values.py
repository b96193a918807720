"""How the interpreter holds the values of the IR: handles and places over nested lists, and what is done to them whole.

Scalar values are Python's. The data of an array, a tuple or a residual is a list, of a sum a `Tagged` list.
All walks have their own stack: the residual of a deep recursion is a deep tree.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any, cast

from rosejit.errors import VerifyError
from rosejit.ir.syntax import Function
from rosejit.ir.types import BOOL, INT, REAL, TAN, UNIT, Array, Nominal, Ref, Scalar, Sum, Type, fields_of
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np


@dataclass(slots=True)
class Counters:
    """What a run has cost. Linear in the work of compiled code, which is what the laws of cost speak about."""

    operations: int = 0
    """Lets executed, iterations of loops, and elements added by a boxed `+=`."""
    copied: int = 0
    """Elements copied: by `copy`, and by updates with a boxed value."""
    allocations: int = 0
    """Fresh boxed values, whatever their size."""
    zeroed: int = 0
    """Elements of boxed zeros."""
    stacked: int = 0
    """Rows that loops put into their stacks."""
    calls: Counter[Function] = field(default_factory=Counter[Function])


Data = list[Any]


class Tagged(Data):
    """The data of a sum: its side, then its value."""

    __slots__ = ()


class Handle:
    """A boxed value under one name. A view shares the `owner` of its base; consumption kills the owner."""

    __slots__ = ("alive", "data", "name", "owner")

    def __init__(self, data: Data, name: str, owner: "Handle | None" = None) -> None:
        self.data = data
        self.name = name
        self.owner = self if owner is None else owner
        self.alive = True

    def read(self) -> Data:
        """The data, to be looked at."""
        if not self.owner.alive:
            raise VerifyError(f"`{self.name}` is read after `{self.owner.name}` was consumed")
        return self.data

    def take(self) -> Data:
        """The data, for a new owner."""
        data = self.read()
        if self.owner is not self:
            raise VerifyError(f"`{self.name}` is consumed, but only borrowed")
        self.alive = False
        return data


class Place:
    """What can be added to: `container[key]`."""

    __slots__ = ("alive", "container", "key", "name", "owner")

    def __init__(self, container: Data, key: int, name: str, owner: "Place | Handle | None" = None) -> None:
        self.container = container
        self.key = key
        self.name = name
        self.owner = self if owner is None else owner
        self.alive = True

    def check(self) -> None:
        """Fail if it was resolved."""
        if not self.owner.alive:
            raise VerifyError(f"the place `{self.name}` is used after `{self.owner.name}` was resolved")

    def resolve(self) -> Any:
        """What it holds; ends it."""
        self.check()
        if self.owner is not self:
            raise VerifyError(f"the place `{self.name}` is resolved, but only borrowed")
        self.alive = False
        return self.container[self.key]


# --- whole values


def copied(data: Data, counters: Counters) -> Data:
    """A copy that shares nothing."""
    root = type(data)(data)
    todo = [root]
    leaves = 0
    while todo:
        node = todo.pop()
        leaves += len(node)
        for key, item in enumerate(node):
            if isinstance(item, list):
                items = cast(Data, item)
                node[key] = fresh = type(items)(items)
                todo.append(fresh)
                leaves -= 1
    counters.allocations += 1
    counters.copied += leaves
    return root


def add_to(target: Data, value: Data, counters: Counters) -> None:
    """Add the Reals and Tans of `value` to those of `target`, in place."""
    todo = [(target, value)]
    while todo:
        into, addend = todo.pop()
        if len(into) != len(addend) or (type(into) is Tagged and into[0] != addend[0]):
            raise VerifyError("`+=` of a value whose lengths or tags differ from those of the place")
        for key, item in enumerate(addend):
            if type(item) is float:
                into[key] += item
            elif isinstance(item, list):
                todo.append((into[key], cast(Data, item)))
        counters.operations += len(addend)


def zeros(t: Type, like: Data | None, counters: Counters) -> Data:
    """The zero of the boxed type `t`, with the lengths and tags of `like` where `t` has none."""
    cell: Data = [None]
    todo: list[_Hole] = [(t, like, cell, 0)]
    while todo:
        part, shape, container, key = todo.pop()
        match part:
            case Scalar():
                container[key] = SCALAR_ZEROS[part]
                counters.zeroed += part is not UNIT
            case Array(length=length, element=Scalar() as element):
                container[key] = [SCALAR_ZEROS[element]] * (len(shape) if length is None else length)
                counters.zeroed += len(container[key])
            case Array(length=length, element=element):
                types = [element] * (len(shape) if length is None else length)
                todo += _holes(types, shape, container, key)
            case Sum(left=left, right=right):
                container[key] = node = Tagged((shape[0], None))
                todo.append((right if shape[0] else left, shape[1], node, 1))
            case _:
                todo += _holes(fields_of(part), shape, container, key)
    counters.allocations += 1
    return cell[0]


_Hole = tuple[Type, Any, Data, int]
"""What is to be put into a container, and the value it is to be like."""


def _holes(types: Sequence[Type], shape: Data | None, container: Data, key: int) -> list[_Hole]:
    container[key] = node = [None] * len(types)
    return [(t, None if shape is None else shape[i], node, i) for i, t in enumerate(types)]


SCALARS: dict[Type, type] = {BOOL: bool, INT: int, REAL: float, TAN: float}
SCALAR_ZEROS: dict[Type, Any] = {UNIT: None, BOOL: False, INT: 0, REAL: 0.0, TAN: 0.0}


# --- the border


class Residual:
    """A value of a nominal type outside of a run: opaque, to be given to another run."""

    __slots__ = ("data",)

    def __init__(self, data: Data) -> None:
        self.data = data


def from_python(t: Type, value: Any) -> Any:
    """The data of a value given as nested sequences or NumPy arrays; a sum is given as (side, value)."""
    match t:
        case Scalar():
            return None if t is UNIT else SCALARS[t](value)
        case Array(length=length, element=element):
            items = value.tolist() if hasattr(value, "tolist") else value
            if length is not None and len(items) != length:
                raise ValueError(f"an array of length {length} is needed, given {len(items)} elements")
            return [from_python(element, item) for item in items]
        case Sum(left=left, right=right):
            side, content = value
            return Tagged((side, from_python(right if side else left, content)))
        case Nominal():
            return copied(value.data, Counters()) if isinstance(value, Residual) else _record(t, value)
        case Ref(target=target):
            return from_python(target, value)
        case _:
            return _record(t, value)


def _record(t: Type, values: Iterable[Any]) -> Data:
    return [from_python(field, value) for field, value in zip(fields_of(t), values, strict=True)]


def to_python(t: Type, data: Any) -> Any:
    """The nested lists (arrays) and tuples (tuples and sums) of `data`."""
    match t:
        case Scalar():
            return data
        case Array(element=element):
            return [to_python(element, item) for item in data]
        case Sum(left=left, right=right):
            return data[0], to_python(right if data[0] else left, data[1])
        case Nominal():
            return Residual(copied(data, Counters()))
        case Ref(target=target):
            return to_python(target, data)
        case _:
            return tuple(to_python(field, item) for field, item in zip(fields_of(t), data, strict=True))


def to_host(t: Type, data: Any) -> Any:
    """What a host function is given: arrays of scalars as NumPy arrays that cannot be written."""
    element = t
    while isinstance(element, Array):
        element = element.element
    if element is t:
        return data
    kind: Any = SCALARS[element]
    array = np.array(to_python(t, data), dtype=kind)
    array.flags.writeable = False
    return array
