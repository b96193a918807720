"""What the host computes from the indices of rolled loops, beside the abstract values (`arrays/host_tables.py`).

A lifted number or array that is known in every iteration has a table. What no rule of abstract arithmetic lets through
(a sine of the index, a power) is allowed where the host computes it for all iterations without an error, in one kind:
the rolled loop reads it from the table.
"""

# Values of users are of any type: what they are is asked while staging.

import functools
import operator
from collections.abc import Callable
from dataclasses import field
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.host_lists import columns, only_item, rows, shape_of_all
from rosejit.frontend.arrays.host_tables import (
    PLAIN,
    UNKNOWN,
    Axis,
    HostTable,
    NotTabled,
    along,
    applied,
    arranged,
    constant,
    is_pack,
    packed,
)
from rosejit.frontend.numpy import registry
from rosejit.frontend.python.math import MATH
from rosejit.frontend.rolling import abstract_arrays, abstract_numbers
from rosejit.frontend.rolling.abstract_arrays import AbstractArray, AbstractElements
from rosejit.frontend.rolling.abstract_numbers import AbstractNumber, CannotRoll, Constant, unroll
from rosejit.frontend.rolling.abstract_records import AbstractStructure
from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import BOOL, INT, REAL, Scalar
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import loaded

_KINDS: dict[str, Scalar] = {"real": REAL, "int": INT, "bool": BOOL}
_ROUNDING = frozenset({round, pow})


def is_computed(function: Any) -> bool:
    """Whether the results of a function may stand in a table: it has no effect, and gives numbers or new arrays."""
    try:
        if function in MATH or function in _ROUNDING:
            return True
        row = registry.row_of(function) if loaded() is not None else None
    except TypeError:  # no hash
        return False
    return row is not None and row.gives == "fresh"


def is_method_computed(name: str) -> bool:
    """The same of a method of an array."""
    return name in registry.METHODS and registry.METHODS[name].gives == "fresh"


@dataclass(slots=True)
class Tables:
    """The tables of a walk; the same one for the same expression of the same loops."""

    tape: Tape
    axes: dict[Any, tuple[Axis, HostTable]] = field(default_factory=dict[Any, Any])
    made: dict[Any, tuple[Any, HostTable]] = field(default_factory=dict[Any, Any])
    around: dict[int, AbstractNumber] = field(default_factory=dict[int, AbstractNumber])
    """By `id`: what rolled loops around this one have tables of, their indices among them; they are staged here."""
    relied: set[int] = field(default_factory=set[int])
    """The tables by whose values something was let through, by `id`: what they were computed from may not change."""

    def index(self, plan: Any, items: range) -> HostTable:
        """The index of the loop with that plan."""
        key = id(plan), items
        if key not in self.axes:
            axis = Axis(len(items))
            self.axes[key] = axis, along(axis, items)
        return self.axes[key][1]

    def longest(self, node: Any, start: Any, stop: Any) -> HostTable | None:
        """The index of a loop over `range(start, stop)`, whose ends change: as if it went on as long as it ever does.
        None where the host does not know that."""
        first, last = self._of({}, start), self._of({}, stop)
        if first is None or last is None:
            return None
        try:
            most = max(HostTable(operator.sub, [last, first]).values(), default=0)
        except NotTabled:
            return None
        if most < 1:
            return None
        number = self.index(node, range(most))
        return number if start == Constant(0) else HostTable(operator.add, [first, number])

    def of_call(
        self, contents: Any, name: Any, call: Callable[..., Any], args: list[Any], named: dict[str, Any]
    ) -> HostTable | None:
        """The table of a call of what goes by `name`; None where the host does not know all that it is given, or
        where that is constants."""
        if not any(self._is_tabled(contents, value) for value in (*args, *named.values())):
            return None
        every: list[HostTable] = []
        values = tuple(map(_opened, (*args, *named.values())))
        rebuilt = arranged(values, lambda value: self._of(contents, value), every)
        if rebuilt is None:
            return None
        key = name, tuple(map(id, every)), _shape(values), tuple(named)
        if key not in self.made:  # the tables are kept, so that their identities stay theirs
            self.made[key] = every, applied(self.tape, call, rebuilt, every, len(args), tuple(named))
        return self.made[key][1]

    def of_numbers(self, name: str, call: Callable[..., Any], args: list[Any]) -> HostTable | None:
        """The same of what Python computes of numbers."""
        tables: list[Any] = [self._of({}, value) for value in args]
        if None in tables:
            return None
        key = name, *map(id, tables)
        if key not in self.made:
            self.made[key] = tables, HostTable(call, tables)
        return self.made[key][1]

    def _is_tabled(self, contents: Any, value: Any) -> bool:
        """Whether a number or an array with a table is in a value."""
        if value.__class__ is AbstractStructure:
            return any(self._is_tabled(contents, item) for item in value.items)
        if value.__class__ is AbstractArray:
            return contents[value.place].table is not None
        return value.__class__ is AbstractNumber and value.table is not None

    def _of(self, contents: Any, value: Any) -> HostTable | None:
        if value.__class__ is AbstractNumber:
            return value.table
        if value.__class__ is AbstractArray:
            return contents[value.place].table if value.is_whole else None
        if value.__class__ is not Constant:
            return None
        held = value.value
        if number_kind(held) is None and not isinstance(held, PLAIN):
            return None
        key = held.__class__, repr(held)
        if key not in self.made:
            self.made[key] = held, constant(held)
        return self.made[key][1]


def _opened(value: Any) -> Any:
    """Tuples and lists as they are given to functions."""
    if value.__class__ is AbstractStructure and is_pack(value.made):
        return packed(value.made, [*map(_opened, value.items)])
    return value


def _shape(value: Any) -> Any:
    return (value.__class__, *map(_shape, value)) if is_pack(value.__class__) else ""


def followed(
    at: Any, name: Any, call: Callable[..., Any], args: list[Any], named: dict[str, Any], rule: Callable[[], Any]
) -> Any:
    """What `rule` says of a call, with its table if it has one; where it gives up, what the table says, if the host can
    compute that."""
    return _followed(at, at.tables.of_call(at.contents, name, call, args, named), rule)


def _followed(at: Any, table: HostTable | None, rule: Callable[[], Any]) -> Any:
    try:
        found = rule()
    except CannotRoll:
        made = None if table is None else _of_table(at, table)
        if table is None or made is None:
            raise
        at.tables.relied |= table.sources()
        return made
    return found if table is None else _with_table(at, found, table)


def _with_table(at: Any, found: Any, table: HostTable) -> Any:
    if found.__class__ is AbstractNumber and found.is_lifted:
        return AbstractNumber(found.kind, found.hosts, found.low, found.high, found.is_certain, table)
    if found.__class__ is AbstractArray and found.is_whole and at.contents[found.place].is_lifted:
        held = at.contents[found.place]
        at.contents[found.place] = AbstractElements(held.hosts, held.low, held.high, table)
    return found


def _of_table(at: Any, table: HostTable) -> Any:
    """What a table says of the number or the array; None where there can be no table."""
    try:
        kind = table.kind()
    except NotTabled:
        return None
    if kind.shape is None:
        return numbered(table)
    values, element = table.values(), _KINDS[kind.element]
    ends = (min(int(v.min()) for v in values), max(int(v.max()) for v in values)) if _has_bounds(kind) else ()
    return abstract_arrays.fresh(at.contents, kind.shape, element, AbstractElements(None, *ends, table=table))


def numbered(table: HostTable) -> AbstractNumber:
    """The number that is in a table."""
    values, element = table.values(), _KINDS[table.kind().element]
    if element is BOOL or any(value != value for value in values):
        return AbstractNumber(element, None, table=table)
    return AbstractNumber(element, None, min(values), max(values), table=table)


def _has_bounds(kind: Any) -> bool:
    return kind.element == "int" and 0 not in kind.shape


def listed(at: Any, held: Any, index: Any) -> Any:
    """An item of a list or a tuple of the host at an index that changes with the loop."""
    if held.__class__ is AbstractStructure and held.taken is not None and index.__class__ is AbstractNumber:
        items, row = held.taken
        return _in_row(at, items, row, index)
    items: Any = held.value if held.__class__ is Constant else None
    is_number = index.__class__ is AbstractNumber and index.kind is INT
    if items.__class__ not in (list, tuple) or not is_number or (index.is_lifted and index.table is None):
        unroll("the index is an index of a container of the host")
    if _has_texts(items):
        unroll("a text in the items of a container of the host is not the same in all of them")
    is_of_loops = index.table is not None or id(index) in at.tables.around
    side = rows(at.tape, items) if is_of_loops else None
    if side is not None:
        each = [_in_row(at, items, index, Constant(k)) for k in range(side.length)]
        return AbstractStructure(each, taken=(items, index))
    beside = columns(at.tape, items)
    if beside is not None:
        return AbstractStructure([listed(at, Constant(c), index) for c in beside.each], beside.cls, beside.keys)
    only = only_item(items)
    if only is not UNKNOWN:
        return Constant(only)
    table = None if index.table is None else _table_of_items(at, items, index)
    found = None if table is None else _of_table(at, table)
    if found is None:
        found = _staged_item(at, items)
    if found.__class__ is AbstractArray:
        at.picked.add(found.place)
    return found


def _in_row(at: Any, items: Any, index: AbstractNumber, place: Any) -> Any:
    """`items[index][place]` of lists in a list of the host."""
    side = rows(at.tape, items)
    assert side is not None
    is_around = id(place) in at.tables.around
    if place.__class__ is AbstractNumber and not is_around and (place.kind is not INT or place.table is None):
        unroll("the index is an index of a container of the host")
    if not side.on_host or index.table is None or is_around:
        return abstract_numbers.staged(side.kind)
    table = at.tables.of_numbers(f"row of {id(items)}", lambda i, k: items[i][k], [index, place])
    found = None if table is None else _of_table(at, table)
    return unroll("the items of a container of the host are not alike") if found is None else found


def _has_texts(items: Any) -> bool:
    """Whether items are texts, or tuples with a text at one place, and others of them have another one there: then no
    more of them are looked at."""
    first: Any = items[0] if items else None
    if first.__class__ is str:
        return any(item.__class__ is not str or item != first for item in items)
    places = [k for k, part in enumerate(first) if part.__class__ is str] if first.__class__ is tuple else []
    return any(
        item.__class__ is tuple and len(item) > k and (item[k].__class__ is not str or item[k] != first[k])
        for k in places
        for item in items
    )


def _table_of_items(at: Any, items: Any, index: AbstractNumber) -> HostTable | None:
    """The table of numbers or arrays of the host at an index; None of items that are neither."""
    first: Any = items[0] if items else None
    if {*map(type, items)} <= _EXACT:
        return at.tables.of_numbers(f"item of {id(items)}", items.__getitem__, [index])
    if number_kind(first) is None and first.__class__ is not Array and first.__class__.__name__ != "ndarray":
        return None
    call = functools.partial(at.tape.session.hooks.containers.getitem, items)
    return at.tables.of_call(at.contents, ("item", id(items)), call, [index], {})


_EXACT = frozenset({float, int, bool})
"""Numbers that a list gives as they are."""


def _staged_item(at: Any, items: Any) -> Any:
    """One of staged items."""
    kind = shape_of_all(items)
    if kind is None:
        unroll("the items of a container of the host are not alike")
    for item in items:
        leaf = at.classified(item, "*")
        if leaf.__class__ is AbstractArray:
            at.picked.add(leaf.place)
    if kind[1] is None:
        return abstract_numbers.staged(kind[0])
    return abstract_arrays.fresh(at.contents, kind[1], kind[0])


# --- operators


_DIVISIONS = frozenset({operator.truediv, operator.floordiv, operator.mod})


def operated(at: Any, op: str, left: Any, right: Any, rule: Callable[[], Any]) -> Any:
    """`left op right`."""
    call = _CALLS.get(op)
    if call is None or left.__class__ is Constant is right.__class__:
        return rule()
    if AbstractArray in (left.__class__, right.__class__):
        return followed(at, op, call, [left, right], {}, rule)
    return _followed(at, at.tables.of_numbers(op, call, [left, right]), rule)


def negated(at: Any, value: Any, rule: Callable[[], Any]) -> Any:
    """`-value`."""
    if value.__class__ is AbstractArray:
        return followed(at, "neg", operator.neg, [value], {}, rule)
    return _followed(at, at.tables.of_numbers("neg", operator.neg, [value]), rule)


def _operate(op: Callable[..., Any], *values: Any) -> Any:
    if op in _DIVISIONS and values[1].__class__.__name__ != "ndarray" and values[1] == 0:
        raise NotTabled  # NumPy's integers give 0 and a warning, and compiled code has Python's error
    found = op(*values)
    if op is operator.truediv and all(isinstance(v, int) for v in values) and max(map(abs, values)) > 2**53:
        raise NotTabled  # compiled code rounds the operands first
    return found


_CALLS = {op: functools.partial(_operate, call) for op, call in abstract_numbers.PYTHON.items() if op != "neg"}
