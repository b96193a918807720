"""Elements of lists of structures whose parts are in arrays: they read and write there, and are objects of their own.

What would show that they are numbers in arrays is refused.
"""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Iterator, Sequence
from dataclasses import field
from operator import is_
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.getitem import get, set_
from rosejit.frontend.arrays.row_aliases import HELD, hold
from rosejit.frontend.values.pytree import (
    FieldProxy,
    attributes,
    detached,
    is_alike,
    is_mutable,
    is_row,
    members,
    objects,
    with_parts,
)
from rosejit.frontend.values.scalars import int_atom, type_of
from rosejit.frontend.values.tape import Frame, Tape
from rosejit.ir.syntax import Atom
from rosejit.ir.types import INT, REAL, Scalar
from rosejit.lazy_dataclass import dataclass


@dataclass(slots=True)
class Uses:
    """What was done with the elements that have a part in one array: each is an object of its own in Python."""

    replaced: list[tuple[list[Frame], Atom | None]] = field(default_factory=list[tuple[list[Frame], Atom | None]])
    """The indices at which other objects were put, and the blocks in which that was."""
    seen: list[tuple[list[Frame], Atom | None]] = field(default_factory=list[tuple[list[Frame], Atom | None]])
    """The indices of elements that were used in loops and taken before, and the loops."""
    changed: list[Frame] = field(default_factory=list[Frame])
    """The loops in which attributes were assigned."""
    shared: bool = False
    """Whether an element may be in two places."""


def arrays_in(value: Any) -> Iterator[Array]:
    """The arrays in a structure."""
    if value.__class__ is Array:
        yield value
    for part in members(value) or ():
        yield from arrays_in(part)


def row_of(value: Any, index: Any, live: bool = False, since: Sequence[int] | None = None) -> Any:
    """The element at `index`. One that can be changed reads and writes in the arrays, and with `live` any other too."""
    return _taken(value, index, live, None if since is None else iter(since))


def _taken(value: Any, index: Any, live: bool, since: Iterator[int] | None) -> Any:
    if value.__class__ is Array:
        count = None if since is None else next(since)
        return _entry(value, index, count) if live else get(value, index)
    inside = members(value)
    if inside is None:
        return value
    live = live or (is_mutable(value) and not isinstance(value, (list, dict)))
    return with_parts(value, [_taken(item, index, live, since) for item in inside])


def uses_of(column: Array) -> Uses:
    """What was done with the elements that have a part in this array."""
    if column.box.uses is None:
        column.box.uses = Uses()
    return column.box.uses


def _loops(tape: Tape) -> list[Frame]:
    return [frame for frame in tape.frames if frame.kind == "loop"]


def _entry(column: Array, index: Any, count: int | None) -> FieldProxy:
    tape, uses, length = column.tape, uses_of(column), column.shape[0]
    at = int_atom(tape, index) if count is None else None
    since = len(uses.replaced) if count is None else count
    around = _loops(tape)

    def is_other(there: Atom | None) -> bool:
        """Whether the element at `there` is surely another one."""
        apart = _apart(tape, at, there)
        return apart is not None and apart % max(length, 1) != 0

    def use() -> None:
        first_sides = [frame.other for frame in tape.frames if frame.other is not None]
        if not all(
            is_other(there) or any(frame in first_sides for frame in frames) for frames, there in uses.replaced[since:]
        ):
            raise tape.type_fault(
                "an element of a list is used that was taken before another took its place",
                "take a copy of it: `copy.copy(items[i])`",
            )
        inner = [frame for frame in _loops(tape) if frame not in around]
        if inner:
            uses.seen.append((inner, at))

    def read() -> Any:
        use()
        return get(column, index)

    def replace(value: Any) -> None:
        loops = _loops(tape)
        for frames, there in uses.seen:
            if any(frame in loops for frame in frames) and not is_other(there):
                raise tape.type_fault(
                    "an element of a list is replaced in a loop that uses one taken before",
                    "take a copy of that: `copy.copy(items[i])`",
                )
        uses.replaced.append((list(tape.frames), at))
        set_(column, index, value, in_place=False)

    def write(value: Any, whole: bool) -> None:
        _check_kind(column, value)
        if not whole:
            use()
            if uses.shared:
                raise _shared(tape)
            uses.changed += _loops(tape)
        if value.__class__ is Array and value.box is column.box:
            if value.axes == get(column, index).axes:
                return  # `element.array += x` has changed it in place
            raise value.tape.type_fault("one array is given to two elements of a list", "copy it: `.copy()`")
        if value.__class__ is Array:
            hold(column, value)
        if whole:
            replace(value)
        else:
            set_(column, index, value, in_place=False)

    get(column, index)  # raises here if it is out of range
    return FieldProxy(read, write, (column.box, at), lambda: share(column))


def _check_kind(column: Array, value: Any) -> None:
    """Raise where an attribute would become something else than the column holds."""
    whole = None if type_of(value) is not None else as_array(column.tape, value)
    shape, kind = ((), type_of(value)) if whole is None else (whole.shape, whole.type)
    if shape != column.shape[1:] or not (kind is column.type or (kind is INT and column.type is REAL)):
        raise column.tape.type_fault(
            f"an attribute is {_described(column.shape[1:], column.type)} in all elements of this list, and "
            f"{_named(value) if kind is None else _described(shape, kind)} is assigned",
            "give it that kind of value where the list is made: `float(...)`, `np.zeros(n)`",
        )


def _described(shape: tuple[int, ...], kind: Scalar) -> str:
    return f"an array of {kind}s of shape {shape}" if shape else f"{'an' if kind is INT else 'a'} {kind}"


def share(column: Array) -> None:
    """Refuse to change the elements that have a part in an array: they are in two places."""
    uses = uses_of(column)
    if any(frame in uses.changed for frame in _loops(column.tape)):
        raise _shared(column.tape)
    uses.shared = True


def _shared(tape: Tape) -> Exception:
    return tape.type_fault(
        "an element of a list is changed, and one of these is in two places", "put a copy there: `copy.copy(it)`"
    )


def put(row: Any, name: str, value: Any, tape: Tape) -> None:
    """`row.name = value`, of an element."""
    places = attributes(row)
    if name not in places:
        raise tape.type_fault(
            f"the elements of this list have no `{name}`", "give an element all its parts where it is made"
        )
    assign(tape, places[name], value)


def assign(tape: Tape, place: Any, value: Any, whole: bool = False) -> None:
    """Write the parts of `value` to the entries in `place`."""
    if place.__class__ is FieldProxy:
        place.write(value, whole)
        return
    places, values = _places(place), members(value)
    if is_row(value):
        values = list(attributes(value, read=True).values())
        if _is_same(tape, value, place):
            return
        for entry in (*_entries(value), *_entries(place)):
            entry.share()
    if places is None and (place is value or place == value):
        return
    if places is None or values is None or not is_alike(place, value):
        raise tape.type_fault(
            f"a part of the elements of this list is {_named(place)}, and {_named(value)} is assigned",
            "assign a structure of the same class, with the same parts",
        )
    for one, other in zip(places, values, strict=True):
        assign(tape, one, other, whole=True)
    if not is_row(value):
        tape.freeze(HELD, *objects(value))


def _is_same(tape: Tape, a: Any, b: Any) -> bool:
    """Whether two elements are surely one: `items[i] += v` puts it where it is."""
    keys = [(one.key, other.key) for one, other in zip(_entries(a), _entries(b), strict=False)]
    return all(box is there and _apart(tape, at, place) == 0 for (box, at), (there, place) in keys)


def _apart(tape: Tape, a: Atom | None, b: Atom | None) -> int | None:
    """By how much two indices differ, if that is known."""
    if a is None or b is None:
        return None
    return tape.definitions.difference((*(frame.lets for frame in tape.frames), tape.lets), a, b)


def _entries(value: Any) -> Iterator[FieldProxy]:
    if value.__class__ is FieldProxy:
        yield value
    elif is_row(value):
        for item in attributes(value).values():
            yield from _entries(item)


def owned(value: Any) -> Any:
    """The element of an iteration with copies of the elements of lists that are in it; these are in two places then."""
    if is_row(value):
        for entry in _entries(value):
            entry.share()
        return detached(value)
    inside = members(value)
    if inside is None or value.__class__ is Array:
        return value
    own = [owned(item) for item in inside]
    return value if all(map(is_, own, inside)) else with_parts(value, own)


def share_outside(tape: Tape, frame: Frame, element: Any, columns: Any) -> None:
    """Refuse changes of what every element of a list has in common, being made outside of the iterations."""
    if columns.__class__ is Array or members(element) is None:
        return
    if is_mutable(element) and id(element) not in frame.allocated:
        tape.freeze(HELD, *objects(element))
        for column in arrays_in(columns):
            share(column)
        return
    for one, other in zip(members(element) or (), members(columns) or (), strict=True):
        share_outside(tape, frame, one, other)


def _places(place: Any) -> list[Any] | None:
    """The parts of an element, entries as such."""
    if isinstance(place, (tuple, list)):
        return list(place)
    if isinstance(place, dict):
        return list(place.values())
    return None if not hasattr(place, "__dict__") and not is_row(place) else list(attributes(place).values()) or None


def _named(value: Any) -> str:
    return repr(value) if isinstance(value, str) else f"a {type(value).__name__}"
