"""Items of lists of the host at indices of rolled loops: from a table, or from an array of the items side by side.
Tuples and records are made of their parts, a list of the host each: its columns."""

# Values of users are of any type: what they are is asked while staging.

import operator
from collections.abc import Callable, Sequence
from typing import Any

from rosejit.abi import Node
from rosejit.containers import of_class
from rosejit.frontend.arrays.access import copy
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.asarray import side_by_side, stacked
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.arrays.host_tables import PLAIN, UNKNOWN, is_known, tabled
from rosejit.frontend.values.pytree import is_record
from rosejit.frontend.values.scalars import NUMBERS, Int, type_of
from rosejit.frontend.values.tape import Tape
from rosejit.lazy_dataclass import dataclass


@dataclass(slots=True, frozen=True)
class Columns:
    """The parts of tuples or records of one kind that stand in a list: a list a part."""

    cls: Any
    keys: tuple[Any, ...]
    each: list[list[Any]]

    def made(self, parts: list[Any]) -> Any:
        """An item with these parts."""
        kind = of_class(self.cls)
        assert kind is not None
        return kind.make(Node(kind.name, (), self.keys, self.cls), parts)


def columns(tape: Tape, items: Sequence[Any]) -> Columns | None:
    """The columns of a list of tuples or records; None of any other. They are the same as long as its items are."""
    kept, found = tape.columns.get(id(items), ((), None))
    if len(kept) != len(items) or not all(map(operator.is_, kept, items)):
        found = _columns(items)
        tape.columns[id(items)] = (*items,), found
    return found


def _columns(items: Sequence[Any]) -> Columns | None:
    cls = type(items[0]) if items else None
    kind = of_class(cls)
    if kind is None or not (kind.type is tuple or is_record(cls)) or any(type(item) is not cls for item in items):
        return None
    layouts = {kind.keys(item) or (len(item) if kind.type is tuple else 0) for item in items}
    if len(layouts) > 1 or layouts == {0}:
        return None  # of what may be None, too: to ask for its length would be a use
    return Columns(cls, kind.keys(items[0]), [[*column] for column in zip(*map(kind.parts, items), strict=True)])


@dataclass(slots=True, frozen=True)
class Rows:
    """Lists of one length in a list, of numbers of one kind that are all staged, or all the host's."""

    length: int
    kind: Any
    on_host: bool


def rows(tape: Tape, items: Sequence[Any]) -> Rows | None:
    """The rows of a list of lists; None of any other. They are the same as long as its items are."""
    kept, found = tape.rows.get(id(items), ((), None))
    if len(kept) != len(items) or not all(map(operator.is_, kept, items)):
        found = _rows(items)
        tape.rows[id(items)] = (*items,), found
    return found


def _rows(items: Sequence[Any]) -> Rows | None:
    if any(item.__class__ is not list for item in items) or len({*map(len, items)}) != 1:
        return None
    each = [number for row in items for number in row]
    kinds, staged = {*map(type_of, each)}, {number.__class__ in NUMBERS for number in each}
    kind = kinds.pop() if len(kinds) == 1 and len(staged) == 1 else None
    on_host = staged == {False}
    if kind is None or (on_host and not {*map(type, each)} <= {float, int, bool}):
        return None
    return Rows(len(items[0]), kind, on_host)


def _rolled_row(tape: Tape, items: Sequence[Any], index: Int, length: int) -> Any:
    """The row at an index, a list; UNKNOWN for an index that only running tells."""
    if not is_known(tape, index):
        return UNKNOWN
    row: list[Any] = [None] * length
    tape.rolled.rows[id(row)] = row, items, index
    row[:] = [_in_row(tape, items, index, k) for k in range(length)]
    return row


def _in_row(tape: Tape, items: Sequence[Any], index: Int, place: Any) -> Any:
    """`items[index][place]`."""
    found = tabled(tape, lambda i, k: items[i][k], (index, place))
    if found is not UNKNOWN or not is_known(tape, place):
        return found
    return get(_stack(tape, items), (index, place))


def _stack(tape: Tape, items: Sequence[Any]) -> Any:
    """The items of a list side by side in an array, made before the outermost of the rolled loops."""
    key = id(items)
    if key not in tape.rolled.stacks:
        outermost = next(iter(tape.rolled.axes.values())).frame
        with tape.reopened(tape.frames[tape.frames.index(outermost) - 1]):
            tape.rolled.stacks[key] = items, side_by_side(tape, stacked(tape, items), items)
    return tape.rolled.stacks[key][1]


def only_item(items: Sequence[Any]) -> Any:
    """The text or the like that all items are; UNKNOWN where there is none."""
    first = items[0] if items else UNKNOWN
    return first if isinstance(first, PLAIN) and all(item is first for item in items) else UNKNOWN


def rolled_item(tape: Tape, items: Sequence[Any], index: Int, getitem: Callable[[Any, int], Any]) -> Any:
    """`items[index]`, as `getitem` gives it in unrolled iterations; UNKNOWN for an index that only running tells."""
    if id(items) in tape.rolled.rows:
        _, whole, at = tape.rolled.rows[id(items)]
        return _in_row(tape, whole, at, index)
    side = rows(tape, items)
    if side is not None:
        return _rolled_row(tape, items, index, side.length)
    beside = columns(tape, items)
    if beside is not None:
        parts = [rolled_item(tape, column, index, getitem) for column in beside.each]
        return UNKNOWN if any(part is UNKNOWN for part in parts) else beside.made(parts)
    if is_known(tape, index) and only_item(items) is not UNKNOWN:
        return items[0]
    found = tabled(tape, lambda k: getitem(items, k), (index,))
    if found is not UNKNOWN or not is_known(tape, index) or shape_of_all(items) is None:
        return found
    row = get(_stack(tape, items), index)
    return copy(row) if row.__class__ is Array else row


def shape_of_all(items: Sequence[Any]) -> Any:
    """The type and the shape of all items, numbers or arrays; None where they differ."""
    kinds = {_kind(item) for item in items}
    return kinds.pop() if len(kinds) == 1 else None


def _kind(item: Any) -> Any:
    if item.__class__ is Array:
        return item.type, item.shape
    kind = type_of(item)
    return None if kind is None else (kind, None)
