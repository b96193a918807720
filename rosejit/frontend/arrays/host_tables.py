"""Tables of what the host computes from the indices of rolled loops.

In an unrolled loop `math.sin(0.1 * i)` is Python's own number; a compiled sine may differ in the last bit. So where
all operands of a call are known for every iteration, the host computes the results, one an iteration, and the body of
the rolled loop reads them from a constant array at its index (tabulation). Tables have an axis for each loop that
they depend on. Which numbers are known follows from the lets that made them: constants, indices of rolled loops,
elements of tables, and primitives of such.
"""

# Values of users are of any type: what they are is asked while staging.

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import Any

from rosejit.containers import NAMED_TUPLE, of_class
from rosejit.frontend.arrays.access import copy
from rosejit.frontend.arrays.array import Array, Host, atom_of, content, host_data, of_host
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.values.host_scalars import LARGEST, SMALLEST, narrow_dtype, number_kind
from rosejit.frontend.values.scalars import NUMBERS, Int
from rosejit.frontend.values.tape import Frame, Tape
from rosejit.ir.syntax import Apply, Atom, Field, Index, Let, Lit, Var
from rosejit.ir.types import TAN
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

_MOST = 200_000
"""So many numbers a table may have."""
UNKNOWN = object()
"""What is not the same in all runs, or needs no table."""
_serials = itertools.count()


class NotTabled(Exception):
    """The host refuses an operation in some iteration, or its results are of several kinds, or too many."""


class Axis:
    """A loop: its iterations are an axis of tables. Those of outer loops have lower numbers."""

    __slots__ = ("frame", "index", "length", "serial")

    def __init__(self, length: int, index: Var | None = None, frame: Frame | None = None) -> None:
        self.length, self.index, self.frame = length, index, frame
        self.serial = next(_serials)


class HostTable:
    """Values of the host, one a point of the axes, row by row. They are computed when they are asked for."""

    __slots__ = ("_found", "_function", "_kind", "_operands", "axes")

    def __init__(
        self, function: Callable[..., Any], operands: Sequence["HostTable"], axes: Sequence[Axis] = ()
    ) -> None:
        own = {axis for operand in operands for axis in operand.axes} | {*axes}
        self.axes = tuple(sorted(own, key=lambda axis: axis.serial))
        self._function, self._operands = function, operands
        self._found: Sequence[Any] | None = None
        self._kind: Kind | None = None

    @property
    def size(self) -> int:
        """How many points there are."""
        size = 1
        for axis in self.axes:
            size *= axis.length
        return size

    def values(self) -> Sequence[Any]:
        """The values. Whatever the host raises is `NotTabled`."""
        if self.size > _MOST:
            raise NotTabled
        if self._found is None:
            try:
                columns = [operand._along(self.axes) for operand in self._operands]
                self._found = [self._function(*items) for items in zip(*columns, strict=True)]
            except NotTabled:
                raise
            except Exception:
                raise NotTabled from None
        return self._found

    def kind(self) -> "Kind":
        """The kind that all the values have; `NotTabled` where they are of several, or of none that is staged."""
        if self._kind is None:
            values = self.values()
            kinds = {_kind(value) for value in values}
            found = kinds.pop() if len(kinds) == 1 else None
            if found is None or len(values) * prod(found.shape or (1,)) > _MOST:
                raise NotTabled
            self._kind = found
        return self._kind

    def sources(self) -> set[int]:
        """The tables that this one was computed from, by `id`, and itself."""
        found = dict[int, HostTable]()
        pending: list[HostTable] = [self]
        while pending:
            table = pending.pop()
            if id(table) not in found:
                found[id(table)] = table
                pending += table._operands
        return {*found}

    def _along(self, axes: tuple[Axis, ...]) -> Sequence[Any]:
        """The values at the points of more axes."""
        found = self.values()
        if self.axes == axes:
            return found
        strides, step = dict[Axis, int](), 1
        for axis in reversed(self.axes):
            strides[axis], step = step, step * axis.length
        lengths = [[k * strides.get(axis, 0) for k in range(axis.length)] for axis in axes]
        return [found[sum(point)] for point in itertools.product(*lengths)]


def constant(value: Any) -> HostTable:
    """The table of one value."""
    made = HostTable(lambda: value, ())
    made._found = [value]
    return made


def of_content(held: Host) -> HostTable:
    """The table of an array that the host knows."""
    held.table = held.table or constant(held.data)
    return held.table


def along(axis: Axis, items: Sequence[Any]) -> HostTable:
    """The table of what stands in a sequence, an item an iteration."""
    made = HostTable(lambda: None, (), (axis,))
    made._found = items
    return made


# --- kinds


@dataclass(slots=True, frozen=True)
class Kind:
    """What all values of a table are: real, int or bool, in arrays of a shape or not in arrays."""

    element: str
    shape: tuple[int, ...] | None = None


_DTYPES = {"real": "float64", "int": "int64", "bool": "bool"}
_ELEMENTS = {("f", 8): "real", ("i", 8): "int", ("b", 1): "bool"}
_REAL = Kind("real")


def _kind(value: Any) -> Kind | None:
    if value.__class__ is float:
        return _REAL
    if value.__class__.__name__ == "ndarray":
        element = _ELEMENTS.get((value.dtype.kind, value.dtype.itemsize))
        return None if element is None else Kind(element, value.shape)
    element = None if narrow_dtype(value) is not None else number_kind(value)
    if element == "int" and not SMALLEST <= value <= LARGEST:
        return None
    return None if element is None else Kind(element)


# --- while staging


class RolledLoops:
    """The rolled loops that are open, and the numbers and arrays of which their iterations tell the host's."""

    def __init__(self) -> None:
        self.axes: dict[Var, Axis] = {}
        self.known: dict[Var, HostTable] = {}
        self.stacks: dict[int, Any] = {}
        """Lists of the host whose items were put side by side before the outermost of the loops, by `id`."""
        self.rows: dict[int, Any] = {}
        """The rows of such lists that iterations have taken, each with its list and its index, by `id`."""
        self.growing: dict[int, Any] = {}
        """The lists that they append to, by `id`."""
        self.changing: dict[int, Any] = {}
        """What is in the arrays that they write, as it was before them, by `id`: no table is made of it."""


def enter(
    tape: Tape, index: Var, trips: Atom, frame: Frame, growing: Sequence[Any] = (), written: Iterable[Any] = ()
) -> None:
    """The body of a rolled loop begins, which appends to the `growing` lists, and writes the arrays of these boxes."""
    most = _most_trips(tape, trips)
    if most is not None:
        tape.rolled = tape.rolled or RolledLoops()
        axis = tape.rolled.axes[index] = Axis(most, index, frame)
        tape.rolled.known[index] = along(axis, range(most))
        tape.rolled.growing.update({id(each.items): each for each in growing})
        for box in written:
            held = next((f.contents[box] for f in reversed(tape.frames) if box in f.contents), None)
            held = tape.host_contents.get(held) if isinstance(held, Var) else held
            tape.rolled.changing[id(held)] = held


def _most_trips(tape: Tape, trips: Atom) -> int | None:
    """How many iterations a loop has, at most where that changes with the loops around it."""
    if isinstance(trips, Lit):
        return trips.value if trips.value.__class__ is int else None
    table = None if tape.rolled is None else _of_atom(tape, trips)
    try:
        return None if table is None else max(table.values(), default=0)
    except NotTabled:
        return None


def at_index(tape: Tape, index: Var, values: list[Any]) -> Any:
    """The number of an iteration, of those of all of them."""
    assert tape.rolled is not None
    return _read(tape, along(tape.rolled.axes[index], values))


def leave(tape: Tape, index: Var) -> None:
    """The body of a rolled loop is over."""
    if tape.rolled is not None and tape.rolled.axes.pop(index, None) is not None and not tape.rolled.axes:
        tape.rolled = None


def tabled(tape: Tape, call: Callable[..., Any], args: Sequence[Any], named: dict[str, Any] | None = None) -> Any:
    """What `call` of these gives in the body of a rolled loop, read from a table; UNKNOWN where the host does not know
    all of them, or knows that they are the same in all iterations."""
    every: list[HostTable] = []
    named = named or {}
    rebuilt = arranged((*args, *named.values()), lambda value: _of(tape, value), every)
    if rebuilt is None or not any(table.axes for table in every):
        return UNKNOWN
    table = applied(tape, call, rebuilt, every, len(args), tuple(named))
    try:
        return _read(tape, table)
    except NotTabled:
        return UNKNOWN


def applied(
    tape: Tape,
    call: Callable[..., Any],
    rebuilt: Callable[[Iterator[Any]], Any],
    every: Sequence[HostTable],
    count: int,
    names: tuple[str, ...],
) -> HostTable:
    """The table of the results of a call that the host makes as in staged code, of `count` arguments and keywords."""

    def made(*leaves: Any) -> Any:
        given = rebuilt(iter(leaves))
        return _as_unrolled(tape, call, given[:count], dict(zip(names, given[count:], strict=True)))

    return HostTable(made, every)


def arranged(
    value: Any, table_of: Callable[[Any], HostTable | None], every: list[HostTable]
) -> Callable[[Iterator[Any]], Any] | None:
    """What puts leaves back into lists and tuples as they stand in `value`; their tables are appended to `every`. None
    where there is a leaf that has none."""
    if not is_pack(value.__class__):
        table = table_of(value)
        if table is None:
            return None
        every.append(table)
        return next
    parts = [arranged(item, table_of, every) for item in value]
    if None in parts:
        return None
    return lambda leaves: packed(value.__class__, [part(leaves) for part in parts])  # type: ignore[misc]  # none is None


def is_pack(cls: Any) -> bool:
    """Whether a class is that of lists, tuples or named tuples."""
    return cls in (list, tuple) or of_class(cls) is NAMED_TUPLE


def packed(cls: Any, parts: Sequence[Any]) -> Any:
    """A list, a tuple or a named tuple of these."""
    return cls(parts) if cls in (list, tuple) else cls._make(parts)


def _as_unrolled(tape: Tape, call: Callable[..., Any], args: Sequence[Any], named: dict[str, Any]) -> Any:
    """A call as unrolled iterations make it; arrays go in as arrays that the host knows."""
    frame = tape.open("scratch")
    rolled, tape.rolled = tape.rolled, None
    try:
        given = [_entering(tape, value) for value in args]
        more = {name: _entering(tape, value) for name, value in named.items()}
        found = call(*given, **more)
        data = host_data(found) if found.__class__ is Array else found
        if frame.lets or data is None:
            raise NotTabled
        return np.array(data) if found.__class__ is Array else data
    finally:
        frame.lets.clear()
        tape.rolled = rolled
        tape.close(frame)


def _entering(tape: Tape, value: Any) -> Any:
    if is_pack(value.__class__):
        return packed(value.__class__, [_entering(tape, item) for item in value])
    return of_host(tape, value) if value.__class__.__name__ == "ndarray" else value


def _read(tape: Tape, table: HostTable) -> Any:
    """The element of a table at the indices of the open loops, as a number or as a new array."""
    kind = table.kind()
    shape = (*[axis.length for axis in table.axes], *(kind.shape or ()))
    data = np.array(table.values(), _DTYPES[kind.element]).reshape(shape)
    whole = of_host(tape, data, "table", readonly="it is a table of what the host has computed")
    tape.lists[atom_of(tape, whole.box)] = tuple(table.values()) if kind.shape is None else ()
    at = tuple([Int(tape, axis.index, 0) for axis in table.axes if axis.index is not None])
    found = get(whole, at)
    if found.__class__ is Array:
        found = copy(found)
        var = content(tape, found.box)
    else:
        var = found.atom
    assert tape.rolled is not None
    tape.rolled.known[var] = table
    return found


def is_known(tape: Tape, value: Any) -> bool:
    """Whether the host knows a value in all iterations of the rolled loops that are open."""
    return _of(tape, value) is not None


def _of(tape: Tape, value: Any) -> HostTable | None:
    """The table of a value; None where the host does not know it in all iterations."""
    if value.__class__ in NUMBERS:
        return None if value.type is TAN else _of_atom(tape, value.atom)
    if value.__class__ is Array:
        return _of_array(tape, value)
    return constant(value) if number_kind(value) is not None or isinstance(value, PLAIN) else None


PLAIN = (str, bytes, slice, type, type(None), type(Ellipsis))
"""Classes of arguments that are no numbers, and the same for all iterations."""


def _of_array(tape: Tape, a: Array) -> HostTable | None:
    data = host_data(a)
    if data is not None:
        return constant(data)
    held = content(tape, a.box)
    assert tape.rolled is not None
    return tape.rolled.known.get(held) if a.axes is None and not isinstance(held, Host) else None


def _of_atom(tape: Tape, atom: Atom) -> HostTable | None:
    if isinstance(atom, Lit):
        return constant(atom.value)
    assert tape.rolled is not None
    known = tape.rolled.known
    if atom not in known:
        let = _definition(tape, atom)
        made = None if let is None else _of_let(tape, let)
        if made is None:
            return None
        known[atom] = made
    return known[atom]


def _of_let(tape: Tape, let: Let) -> HostTable | None:
    match let.expr:
        case Apply(op, args):
            return _of_operands(op.evaluate, [_of_atom(tape, arg) for arg in args])
        case Index(base, indices) if isinstance(base, Var) and len(let.binders) == 1:
            assert tape.rolled is not None
            whole = tape.rolled.known.get(base) or _of_constant(tape, base)
            operands = [None if isinstance(at, Field) else _of_atom(tape, at) for at in indices]
            return _of_operands(lambda data, *at: data[at].item(), [whole, *operands])
        case _:
            return None


def _of_operands(function: Callable[..., Any], operands: list[HostTable | None]) -> HostTable | None:
    known = [operand for operand in operands if operand is not None]
    return HostTable(function, known) if len(known) == len(operands) else None


def _of_constant(tape: Tape, var: Var) -> HostTable | None:
    """The table of an array that the host knew when a rolled loop first read it at an index that runs."""
    held = tape.host_contents.get(var)
    assert tape.rolled is not None
    if held is None or id(held) in tape.rolled.changing or _may_change(tape, var):
        return None
    if held.captured is not None:
        tape.session.read_elements(held.captured)
    return of_content(held)


def _may_change(tape: Tape, var: Var) -> bool:
    """Whether `var` is what an array held before a loop that is staged as it is, and may write the array further on."""
    crossed = False
    for frame in reversed(tape.frames):
        for box, held in frame.contents.items():
            if held is var:
                return crossed and not box.readonly
        crossed = crossed or is_staged_loop(tape, frame)
    return False


def is_staged_loop(tape: Tape, frame: Frame) -> bool:
    """Whether a block is the body of a loop that is no rolled one: what it writes is known when it is over."""
    is_rolled = tape.rolled is not None and any(axis.frame is frame for axis in tape.rolled.axes.values())
    return frame.kind == "loop" and not is_rolled


def _definition(tape: Tape, var: Var) -> Let | None:
    """The let in the body of an open rolled loop that binds `var`."""
    assert tape.rolled is not None
    outermost = next(iter(tape.rolled.axes.values())).frame
    for lets in itertools.chain([tape.lets], _lets_to(tape, outermost)):
        for let in reversed(lets):
            if var in let.binders:
                return let
    return None


def _lets_to(tape: Tape, outermost: Frame | None) -> Iterator[list[Let]]:
    for frame in reversed(tape.frames):
        yield frame.lets
        if frame is outermost or frame.kind == "function":
            return
