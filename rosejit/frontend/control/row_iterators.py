"""`enumerate` and `zip` of arrays, which remember what they go through: a loop over them can then be staged once."""

from collections.abc import Iterator
from dataclasses import field
from inspect import GEN_CREATED, getgeneratorstate
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.control.staged_range import StagedRange, is_downwards
from rosejit.frontend.values.tape import Tape
from rosejit.lazy_dataclass import dataclass

Source = range | Array


@dataclass(slots=True)
class Sources:
    """What a loop goes through side by side: ranges, and arrays by their rows, all of one `length`; `is_tuple` tells
    whether its items are tuples."""

    each: tuple[Source, ...]
    length: int
    is_tuple: bool
    inductions: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    """Of a loop that may be rolled: the names that the host steps, and their values."""
    growing: list[Any] = field(default_factory=list[Any])
    """The lists that such a loop appends to, with what they are given (`growing_lists.py`)."""


class RowEnumerate(enumerate[Any]):
    """Python's, of the rows of an array."""

    each: tuple[Source, ...] = ()
    begun: tuple[Iterator[Any], ...] = ()


class RowZip(zip):
    """Python's, of rows of arrays."""

    each: tuple[Source, ...] = ()
    begun: tuple[Iterator[Any], ...] = ()


def remembering(function: Any, given: tuple[Any, ...], rows: list[Any], kwargs: dict[str, Any]) -> Any:
    """`function(*rows, **kwargs)`, where `rows` are iterators over the arrays among the arguments `given`."""
    plain = all([a.__class__ is Array or a.__class__ is range for a in given])
    if function is zip and plain:
        made: Any = RowZip(*rows, **kwargs)
        made.each = given
    elif function is enumerate and given and given[0].__class__ is Array and not kwargs:
        made = RowEnumerate(*rows)
        grid, start = given if len(given) == 2 else (given[0], 0)
        made.each = (range(start, start + grid.shape[0]), grid) if start.__class__ is int else ()
    else:
        return function(*rows, **kwargs)
    made.begun = tuple([row for a, row in zip(given, rows, strict=True) if a.__class__ is Array])
    return made


def sources(tape: Tape, items: Any) -> Sources | None:
    """What a loop over `items` goes through; None if it is something else, or has been begun."""
    kind = items.__class__
    is_tuple = kind is RowEnumerate or kind is RowZip
    if is_tuple and any([getgeneratorstate(row) != GEN_CREATED for row in items.begun]):
        return None
    each = items.each if is_tuple else (items,) if kind is range or kind is Array else ()
    lengths = {len(a) if isinstance(a, range) else _rows(a) for a in each}
    length = lengths.pop() if len(lengths) == 1 else None
    if length is None or (is_tuple and any([isinstance(a, range) and is_downwards(as_staged(tape, a)) for a in each])):
        return None  # a loop that counts downwards has other indices
    return Sources(each, length, is_tuple)


def _rows(a: Array) -> int | None:
    return a.shape[0] if a.shape and isinstance(a.shape[0], int) else None


def as_staged(tape: Tape, items: range) -> StagedRange:
    """A range as one of a staged loop."""
    return StagedRange(tape, items.start, items.stop, items.step)
