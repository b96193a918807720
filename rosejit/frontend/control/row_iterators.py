"""Iterators over arrays and ranges, which remember what they go through: a loop over them can then be staged once.

A loop that is staged once has used them up, as Python's iterators are.
"""

from collections.abc import Callable
from dataclasses import field
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.control.staged_range import StagedRange, is_downwards
from rosejit.frontend.values.tape import Tape, refuse_outer_iterator
from rosejit.lazy_dataclass import dataclass

Source = range | Array | list[Any] | tuple[Any, ...]


@dataclass(slots=True)
class Sources:
    """What a loop goes through side by side: ranges, arrays by their rows, and lists of the host, all of one `length`;
    `is_tuple` tells whether its items are tuples."""

    each: tuple[Source, ...]
    length: int
    is_tuple: bool
    inductions: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    """Of a loop that may be rolled: the names that the host steps, and their values."""
    growing: list[Any] = field(default_factory=list[Any])
    """The lists that such a loop appends to, with what they are given (`growing_lists.py`)."""
    written: frozenset[Any] = frozenset()
    """The arrays from before such a loop that are written in it."""


_SOURCES = frozenset({range, Array, list, tuple})


class RowIterator:
    """An iterator over the elements or rows of an array, over a range, or over a list, however long that has become."""

    __slots__ = ("at", "refuse", "source")

    def __init__(self, source: Source) -> None:
        self.source, self.at = source, 0
        self.refuse: Callable[[], None] | None = None

    def __iter__(self) -> "RowIterator":
        return self

    def __next__(self) -> Any:
        if self.refuse is not None:
            self.refuse()
        if self.at >= self.length:
            raise StopIteration
        self.at += 1
        source = self.source
        return get(source, self.at - 1) if isinstance(source, Array) else source[self.at - 1]

    @property
    def length(self) -> int:
        """How many items there are."""
        return length_of(self.source) or 0

    def __length_hint__(self) -> int:
        return self.length - self.at


class RowEnumerate(enumerate[Any]):
    """Python's, of the rows of an array."""

    each: tuple[Source, ...] = ()
    rows: tuple[RowIterator, ...] = ()


class RowZip(zip):
    """Python's, of rows of arrays."""

    each: tuple[Source, ...] = ()
    rows: tuple[RowIterator, ...] = ()


def remembering(function: Any, given: tuple[Any, ...], items: list[Any], kwargs: dict[str, Any]) -> Any:
    """`function(*items, **kwargs)`, where `items` are the arguments `given` with iterators in place of arrays."""
    if function is zip and given and all([a.__class__ in _SOURCES for a in given]):
        rows = [a if a.__class__ is RowIterator else RowIterator(a) for a in items]
        made: Any = RowZip(*rows, **kwargs)
        made.each = given
    elif function is enumerate and given and given[0].__class__ in _SOURCES and not kwargs:
        rows = [a if a.__class__ is RowIterator else RowIterator(a) for a in items[:1]]
        made = RowEnumerate(rows[0], *items[1:])
        grid, start = given if len(given) == 2 else (given[0], 0)
        length = length_of(grid)
        is_known = start.__class__ is int and length is not None
        made.each = (range(start, start + (length or 0)), grid) if is_known else ()
    else:
        return function(*items, **kwargs)
    made.rows = tuple(rows)
    return made


def use_up(tape: Tape, items: Any, leaves_early: bool) -> None:
    """A loop that is staged once goes through all of `items`; perhaps not where it `leaves_early`."""
    for row in rows_of(items):
        row.at = row.length
    if leaves_early:
        leave_early(tape, items)


def leave_early(tape: Tape, items: Any) -> None:
    """How far a loop goes through an iterator only running tells: from now on it is refused."""
    tape.left_early[id(items)] = items
    for row in rows_of(items):
        row.refuse = lambda: refuse_outer_iterator(tape, items)


def rows_of(items: Any) -> tuple[RowIterator, ...]:
    """The iterators over arrays and ranges that a loop over `items` goes through."""
    kind = items.__class__
    return (items,) if kind is RowIterator else items.rows if kind is RowEnumerate or kind is RowZip else ()


def sources(tape: Tape, items: Any) -> Sources | None:
    """What a loop over `items` goes through; None if it is something else, or has been begun."""
    kind = items.__class__
    is_tuple = kind is RowEnumerate or kind is RowZip
    if any([row.at > 0 for row in rows_of(items)]):
        return None
    each = items.each if is_tuple else (items,) if kind in _SOURCES else ()
    each = (items.source,) if kind is RowIterator else each
    lengths = {length_of(a) for a in each}
    length = lengths.pop() if len(lengths) == 1 else None
    if length is None or (is_tuple and any([isinstance(a, range) and is_downwards(as_staged(tape, a)) for a in each])):
        return None  # a loop that counts downwards has other indices
    return Sources(each, length, is_tuple)


def length_of(a: Source) -> int | None:
    """How many items a loop over it goes through; None where only running tells, or there are none."""
    if not isinstance(a, Array):
        return len(a)
    return a.shape[0] if a.shape and isinstance(a.shape[0], int) else None


def as_staged(tape: Tape, items: range) -> StagedRange:
    """A range as one of a staged loop."""
    return StagedRange(tape, items.start, items.stop, items.step)
