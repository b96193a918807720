"""What is known of values without running: of a tangent the inputs it depends on, of an Int or Bool the value, if one.

Tangents are sets of inputs, as bits of an int. An Int or Bool is itself, or None where it may be several. Numbers that
are neither, and what holds only such, are None. Arrays are lists, tuples and residuals too; an array of unknown length
is a `Many`, which has one element for all; a sum is an `Either`. A place is a list of (list, key).
"""

# What is known is of any shape: lists in lists, as the types say.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from collections.abc import Callable
from functools import cache
from typing import Any

from rosejit.ir.types import (
    BOOL,
    INT,
    TAN,
    Array,
    Nominal,
    Ref,
    Scalar,
    Sum,
    Tuple,
    Type,
    fields_of,
    has_dynamic_length,
    is_linear,
)

Known = Any
"""A value of the lattice."""
Join = Callable[[Known, Known], Known]
Places = list[tuple[list[Known], int]]


class Many:
    """An array of which not even the length is known: `cells` has the one element that stands for all."""

    __slots__ = ("cells",)

    def __init__(self, element: Known) -> None:
        self.cells: list[Known] = [element]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Many) and self.cells == other.cells

    __hash__ = None  # type: ignore[assignment]  # it changes


class Either:
    """A sum: what it holds on each side, `ABSENT` where it is known not to be of that side."""

    __slots__ = ("sides",)

    def __init__(self, left: Known, right: Known) -> None:
        self.sides: list[Known] = [left, right]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Either) and self.sides == other.sides

    __hash__ = None  # type: ignore[assignment]  # it changes


ABSENT: Any = object()
"""Stands on the side of a sum that a value is not of."""


@cache
def matters(t: Type) -> bool:
    """Whether anything is known of values of `t`."""
    match t:
        case Scalar():
            return t in (INT, BOOL, TAN)
        case Array(element=element):
            return has_dynamic_length(t) or matters(element)
        case Tuple(items=items):
            return any(matters(item) for item in items)
        case Ref(target=target):
            return matters(target)
        case Sum() | Nominal():
            return True


@cache
def join_of(t: Type) -> Join:
    """What is known of a value of `t` that is one of two."""
    if not matters(t):
        return lambda a, b: None
    match t:
        case Scalar():
            return (lambda a, b: a | b) if t is TAN else (lambda a, b: a if a == b else None)
        case Array(element=element):
            return lambda a, b: _join_arrays(join_of(element), a, b)
        case Tuple() | Nominal():
            return lambda a, b: [join_of(f)(x, y) for f, x, y in zip(fields_of(t), a, b, strict=True)]
        case Sum(left=left, right=right):
            return lambda a, b: Either(*[_side(join_of(s), a, b, k) for k, s in enumerate((left, right))])
        case Ref():
            return lambda a, b: a if a == b else [*a, *b]


def _join_arrays(join: Join, a: Known, b: Known) -> Known:
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [join(x, y) for x, y in zip(a, b, strict=True)]
    elements = [*elements_of(a), *elements_of(b)]
    return Many(joined(join, elements)) if elements else a


def _side(join: Join, a: Either, b: Either, k: int) -> Known:
    one, other = a.sides[k], b.sides[k]
    return other if one is ABSENT else one if other is ABSENT else join(one, other)


def elements_of(array: Known) -> list[Known]:
    """The elements that stand for all of an array."""
    return array.cells if isinstance(array, Many) else array


def joined(join: Join, values: list[Known]) -> Known:
    """What is known of a value that is one of `values`."""
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result


def copied(value: Known) -> Known:
    """The same in lists of its own."""
    if isinstance(value, list):
        return [copied(item) for item in value]
    if isinstance(value, Many):
        return Many(copied(value.cells[0]))
    if isinstance(value, Either):
        return Either(*[copied(side) for side in value.sides])
    return value


def lists_in(values: list[Known]) -> set[int]:
    """The identities of all lists that `values` hold, at any depth."""
    found: set[int] = set()
    pending: list[Known] = list(values)
    while pending:
        value = pending.pop()
        cells = value.cells if isinstance(value, Many) else value.sides if isinstance(value, Either) else value
        if isinstance(cells, list) and id(cells) not in found:
            found.add(id(cells))
            pending += cells
        elif isinstance(cells, tuple):
            pending += cells[:1]  # a place: its list
    return found


def anything(t: Type) -> Known:
    """What is known of a value of `t`, not linear, of which nothing is known but its type."""
    assert not is_linear(t)
    if not matters(t):
        return None
    match t:
        case Array(length=None, element=element):
            return Many(anything(element))
        case Array(length=length, element=element):
            return [anything(element) for _ in range(length or 0)]
        case Tuple() | Nominal():
            return [anything(field) for field in fields_of(t)]
        case Sum(left=left, right=right):
            return Either(anything(left), anything(right))
        case _:
            return None


def zero(t: Type, like: Known = None) -> Known:
    """Zeros of `t`, which may take its lengths and tags from `like`; without it arrays of unknown length are empty."""
    if not matters(t):
        return None
    match t:
        case Scalar():
            return False if t is BOOL else 0
        case Array(length=None, element=element):
            if isinstance(like, Many):
                return Many(zero(element, like.cells[0]))
            return [zero(element, item) for item in like or ()]
        case Array(length=length, element=element):
            items: list[Known] = like if isinstance(like, list) else [None] * (length or 0)
            return [zero(element, item) for item in items]
        case Tuple() | Nominal():
            types = fields_of(t)
            items = like if isinstance(like, list) else [None] * len(types)
            return [zero(field, item) for field, item in zip(types, items, strict=True)]
        case Sum(left=left, right=right):
            tags: list[Known] = like.sides if isinstance(like, Either) else [ABSENT, ABSENT]
            return Either(*[ABSENT if v is ABSENT else zero(s, v) for s, v in zip((left, right), tags, strict=True)])
        case Ref():
            raise AssertionError("a place is not zero")
