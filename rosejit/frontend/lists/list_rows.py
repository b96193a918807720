"""The rows of lists whose length only running tells: an array for every number, or array, of an item.

What an item is made of says its template: one `Column` a number, and what all items have in common as it is.
"""

# Values of users are of any type: what they are is asked while staging.

import enum
from collections.abc import Callable
from typing import Any

from rosejit.frontend.arrays.access import copy
from rosejit.frontend.arrays.array import Array, of_host
from rosejit.frontend.arrays.getitem import get, set_
from rosejit.frontend.arrays.row_aliases import HELD, hold
from rosejit.frontend.lists.dynamic_option import either, if_there
from rosejit.frontend.scalar_ops.origins import pythons
from rosejit.frontend.soa.struct_of_arrays import host_elements, map_arrays
from rosejit.frontend.values.host_scalars import is_array
from rosejit.frontend.values.pytree import is_alike, is_mutable, members, objects, with_parts
from rosejit.frontend.values.scalars import type_of
from rosejit.frontend.values.tape import Tape, merged
from rosejit.ir.types import BOOL, INT, REAL, Scalar
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

_DTYPES: dict[Scalar, str] = {REAL: "float64", INT: "int64", BOOL: "bool"}
_KINDS = {"f": REAL, "i": INT, "u": INT, "b": BOOL}
_WHY = "it is an item of a list whose length only running tells"
Template = Any


@dataclass(slots=True, frozen=True)
class Column:
    """A number in every item of a list, or an array of a shape."""

    kind: Scalar
    shape: tuple[int, ...] = ()


@dataclass(slots=True, frozen=True)
class Choice:
    """In every item of a list, one of these texts, members of an `Enum`, or None."""

    options: tuple[Any, ...]


@dataclass(slots=True, frozen=True)
class Maybe:
    """In every item of a list, what is made of `held`, or None."""

    held: Any


@dataclass(frozen=True, eq=False)
class ChoiceRows:
    """The rows of a `Choice`: the place of each among the options."""

    places: Any
    options: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class MaybeRows:
    """The rows of a `Maybe`: whether it is there, and what it is."""

    flags: Any
    held: Any


class Unlike(Exception):
    """Items of which one list cannot be made, and why."""


# --- what items are made of


def template_of(item: Any) -> Template:
    """What an item is made of. Raises `Unlike` for one that is not put in rows."""
    if _is_constant(item):
        return item
    options = getattr(item, "__rose_options__", None)
    if options is not None and all(map(_is_constant, options)):
        return Choice(tuple(options))
    if hasattr(item, "__rose_optional__"):
        return joined(None, template_of(item.__rose_held__))
    kind = type_of(item)
    if kind is not None:
        if kind not in _DTYPES:
            raise Unlike("a tangent is put in it")
        return Column(kind)
    if item.__class__ is Array or is_array(item):
        element = item.type if item.__class__ is Array else _KINDS.get(item.dtype.kind)
        if element not in _DTYPES:
            raise Unlike(f"an array of {item.dtype} is put in it")
        return Column(element, tuple(item.shape))
    inside = members(item)
    if inside is None or not inside or type(item).__name__ in _UNTOLD or hasattr(item, "__rose_dynamic__"):
        raise Unlike(f"its items may be numbers, arrays, and tuples and records of such, and one is {_named(item)}")
    return with_parts(item, [template_of(part) for part in inside])


def _is_constant(item: Any) -> bool:
    return item is None or isinstance(item, (str, bytes, enum.Enum))


_UNTOLD = frozenset({"MaybeBound", "Optional", "Chosen", "StructOfArrays", "Poison"})


def template_of_rows(rows: Any) -> Template:
    """What the items in rows are made of."""
    if rows.__class__ is Array:
        return Column(rows.type, tuple(rows.shape[1:]))
    if rows.__class__ is ChoiceRows:
        return Choice(rows.options)
    if rows.__class__ is MaybeRows:
        return Maybe(template_of_rows(rows.held))
    inside = members(rows)
    return rows if inside is None else with_parts(rows, [template_of_rows(part) for part in inside])


def joined(one: Template, other: Template) -> Template:
    """What items of two templates are made of: ints become floats where there are floats."""
    if one.__class__ is Column and other.__class__ is Column:
        if one.shape != other.shape:
            raise Unlike(f"arrays of the shapes {one.shape} and {other.shape} are put in it")
        if one.kind is other.kind:
            return one
        if BOOL in (one.kind, other.kind):
            raise Unlike("truth values and numbers are put in it")
        return Column(REAL, one.shape)
    options = _options_of(one), _options_of(other)
    if options[0] is not None and options[1] is not None:
        found = options[0] + tuple([each for each in options[1] if place_in(options[0], each) is None])
        return one if one.__class__ is not Choice and len(found) == 1 else Choice(found)
    if _is_optional(one) or _is_optional(other):
        held = [each.held if each.__class__ is Maybe else each for each in (one, other) if _options_of(each) != (None,)]
        return Maybe(joined(*held) if len(held) > 1 else held[0])
    inside, others = members(one), members(other)
    if one.__class__ is not other.__class__ or (inside is None and one != other):
        raise Unlike(f"{_named(one)} and {_named(other)} are put in it")
    if inside is None or others is None:
        return one
    if not is_alike(one, other):
        raise Unlike("structures with other parts are put in it")
    return with_parts(one, [joined(a, b) for a, b in zip(inside, others, strict=True)])


def with_columns(template: Template) -> Template:
    """The same, with a column where all is constant: it tells how much room there is."""
    if has_columns(template):
        return template
    inside = members(template)
    return Choice((template,)) if inside is None else with_parts(template, [with_columns(part) for part in inside])


def has_columns(template: Template) -> bool:
    """Whether something of it differs from item to item."""
    return template.__class__ in (Column, Choice, Maybe) or any(map(has_columns, members(template) or ()))


def _is_optional(template: Template) -> bool:
    return template.__class__ is Maybe or _options_of(template) == (None,)


def _options_of(template: Template) -> tuple[Any, ...] | None:
    if template.__class__ is Choice:
        return template.options
    return (template,) if _is_constant(template) else None


def place_in(options: tuple[Any, ...], value: Any) -> int | None:
    """Where a text, a member or None is among the options."""
    for k, each in enumerate(options):
        if each is value or (each.__class__ is value.__class__ and each == value):
            return k
    return None


def _named(value: Any) -> str:
    if value.__class__ is Column:
        return "an array" if value.shape else "a number"
    if hasattr(value, "__rose_dynamic__"):
        return "such a list itself"
    if isinstance(value, (list, dict, set)) and not value:
        return f"an empty {type(value).__name__}"
    return repr(value) if value is None or isinstance(value, str) else f"a {type(value).__name__}"


# --- rows


def rows_for(tape: Tape, template: Template, length: int) -> Any:
    """Room for so many items of a template."""
    if template.__class__ is Column:
        return of_host(tape, np.zeros((length, *template.shape), _DTYPES[template.kind]), "items")
    if template.__class__ is Choice:
        return ChoiceRows(rows_for(tape, Column(INT), length), template.options)
    if template.__class__ is Maybe:
        return MaybeRows(rows_for(tape, Column(BOOL), length), rows_for(tape, template.held, length))
    inside = members(template)
    return template if inside is None else with_parts(template, [rows_for(tape, part, length) for part in inside])


def room_in(rows: Any) -> int:
    """For how many items there is room."""
    if rows.__class__ is Array:
        return rows.shape[0]
    return max(map(room_in, members(rows) or ()), default=0)


def read(tape: Tape, rows: Any, row: Any) -> Any:
    """The item in a row: numbers of Python's; arrays, and objects, that cannot be changed."""
    if rows.__class__ is Array:
        found = get(rows, row)
        if found.__class__ is not Array:
            return pythons(tape, found)
        made = copy(found)
        made.box.readonly = _WHY
        return made
    if rows.__class__ is ChoiceRows:
        return _one_of(tape, rows.options, get(rows.places, row))
    if rows.__class__ is MaybeRows:
        return tape.session.hooks.call(if_there, get(rows.flags, row), read(tape, rows.held, row))
    inside = members(rows)
    if inside is None:
        return rows
    made = merged(tape, with_parts(rows, [read(tape, part, row) for part in inside]))
    if is_mutable(made):
        tape.freeze(_WHY, made)
    return made


def _place_of(tape: Tape, options: tuple[Any, ...], item: Any) -> Any:
    """Where an item is among the options, which it may be one of."""
    if hasattr(item, "__rose_optional__"):
        places = [_place_of(tape, options, each) for each in (item.__rose_held__, None)]
        return tape.session.hooks.call(either, item.__rose_flag__, *places)
    given = getattr(item, "__rose_options__", None)
    if given is None:
        return place_in(options, item)
    return _one_of(tape, tuple([place_in(options, each) for each in given]), item.__rose_position__)


def _one_of(tape: Tape, options: tuple[Any, ...], place: Any) -> Any:
    return options[-1] if len(options) == 1 else tape.session.hooks.getitem(options, place)


def write(tape: Tape, rows: Any, row: Any, item: Any) -> None:
    """Put an item, of the template of the rows, in one."""
    if rows.__class__ is Array:
        value = tape.session.hooks.read_outer(item)
        if value.__class__ is Array:
            hold(rows, value)
        set_(rows, row, value, in_place=False)
        return
    if rows.__class__ is ChoiceRows:
        set_(rows.places, row, _place_of(tape, rows.options, item), in_place=False)
        return
    if rows.__class__ is MaybeRows:
        is_open = hasattr(item, "__rose_optional__")
        set_(rows.flags, row, item.__rose_flag__ if is_open else item is not None, in_place=False)
        if item is not None:
            write(tape, rows.held, row, item.__rose_held__ if is_open else item)
        return
    for part, value in zip(members(rows) or (), members(item) or (), strict=True):
        write(tape, part, row, value)
    if members(rows) is not None:
        tape.freeze(HELD, *objects(item))


def elements(rows: Any, start: int, count: int) -> list[Any]:
    """The items for Python, of what a call has left in the rows."""
    return list(host_elements(_map_numpys(rows, lambda column: column[start : start + count]), count))


def _map_numpys(rows: Any, change: Callable[[Any], Any]) -> Any:
    if is_array(rows):
        return change(rows)
    if rows.__class__ is ChoiceRows:
        places = change(rows.places)
        return _column([rows.options[k] for k in places.tolist()])
    if rows.__class__ is MaybeRows:
        flags = change(rows.flags).tolist()
        held = host_elements(_map_numpys(rows.held, change), len(flags))
        return _column([item if flag else None for flag, item in zip(flags, held, strict=True)])
    inside = members(rows)
    return rows if inside is None else with_parts(rows, [_map_numpys(part, change) for part in inside])


def _column(items: list[Any]) -> Any:
    """An array of NumPy's of these, whatever they are."""
    found = np.empty(len(items), dtype=object)
    for k, item in enumerate(items):
        found[k] = item
    return found


def anew(rows: Any, tape: Tape) -> Any:
    """As much room for the same kind of items."""
    return map_arrays(rows, lambda column: rows_for(tape, Column(column.type, column.shape[1:]), column.shape[0]))
