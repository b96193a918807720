"""Items of lists of the host at indices of rolled loops: from a table, or from an array of the items side by side."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable, Sequence
from typing import Any

from rosejit.frontend.arrays.access import copy
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.asarray import stacked
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.arrays.host_tables import UNKNOWN, is_known, tabled
from rosejit.frontend.values.scalars import Int, type_of
from rosejit.frontend.values.tape import Tape


def rolled_item(tape: Tape, items: Sequence[Any], index: Int, getitem: Callable[[Any, int], Any]) -> Any:
    """`items[index]`, as `getitem` gives it in unrolled iterations; UNKNOWN for an index that only running tells."""
    found = tabled(tape, lambda k: getitem(items, k), (index,))
    if found is not UNKNOWN or not is_known(tape, index) or shape_of_all(items) is None:
        return found
    key = id(items)
    if key not in tape.rolled.stacks:
        outermost = next(iter(tape.rolled.axes.values())).frame
        with tape.reopened(tape.frames[tape.frames.index(outermost) - 1]):
            tape.rolled.stacks[key] = items, stacked(tape, items)
    row = get(tape.rolled.stacks[key][1], index)
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
