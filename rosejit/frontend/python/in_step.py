"""`zip` and `enumerate` of what has a length that only running tells."""

# Values of users are of any type: what they are is asked while staging.

import functools
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.control.list_iteration import stamp_of
from rosejit.frontend.control.staged_range import StagedRange, is_downwards, item_at, staged_range, trip_count
from rosejit.frontend.values.scalars import Int, P, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Lit

Args = tuple[Any, ...]
Options = dict[str, Any]


def in_step(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`zip` and `enumerate` of a range whose length only running tells: a staged loop makes the tuples."""
    tape: Tape = session.tape
    if function is enumerate:
        items, *start = args
        first = start[0] if start else kwargs.get("start", 0)
        each: Args = (staged_range(tape, (first, first + whole_count(items))), items)
    else:
        each = args
    if kwargs.get("strict") or not all(_has_items(a) for a in each):
        raise tape.type_fault(
            f"`{function.__name__}` of a staged range takes ranges, arrays, lists and tuples beside it, of any length",
            "write the loop as `for k in range(n)`, and index the others",
        )
    counts = [whole_count(a) if a.__class__ is StagedRange else len(a) for a in each]
    count = functools.reduce(lambda a, b: _picked("min", a, b), counts)

    def item(index: Any) -> tuple[Any, ...]:
        at = Int(tape, index, 0)
        ranges = [item_at(a, index) if a.__class__ is StagedRange else None for a in each]
        return tuple([session.hooks.getitem(a, at) if r is None else r for a, r in zip(each, ranges, strict=True)])

    checkpoint = next((a.checkpoint for a in each if a.__class__ is StagedRange), None)
    through = tuple([one for a in each if a.__class__ is StagedRange for one in a.through])
    return StagedRange(tape, 0, count, 1, checkpoint, item, through, stamp_of(tape, through))


def _has_items(value: Any) -> bool:
    if value.__class__ is StagedRange:
        return not is_downwards(value)
    return isinstance(value, (range, list, tuple, str, bytes)) or (value.__class__ is Array and bool(value.shape))


def whole_count(numbers: StagedRange) -> Any:
    """How many numbers there are in a range, which may be staged."""
    trips = trip_count(numbers)
    if isinstance(trips, Lit):
        return max(0, int(trips.value or 0))
    count = wrap(numbers.tape, trips)
    return _picked("max", count, 0)


def _picked(name: str, a: Any, b: Any) -> Any:
    """The smaller, or the larger, of two counts."""
    if a.__class__ is int and b.__class__ is int:
        return min(a, b) if name == "min" else max(a, b)
    return P[f"i{name}"].__call__(a, b)
