"""Makes arrays of numbers and rows that are there one by one."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Sequence
from typing import Any

from rosejit import narrow_values
from rosejit.errors import RoseError, ShapeError
from rosejit.frontend.arrays.access import variable
from rosejit.frontend.arrays.array import Array, atom_of, fresh, of_host
from rosejit.frontend.arrays.broadcast import converted
from rosejit.frontend.values.host_scalars import is_array, narrow_dtype
from rosejit.frontend.values.pytree import is_staged_deep, staged_leaf
from rosejit.frontend.values.scalars import ATOMS, refuse_tangent, type_of
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Atom, MakeArray
from rosejit.ir.types import BOOL, INT, REAL, Scalar, array
from rosejit.narrow_values import NarrowValue
from rosejit.numeric import np


def as_array(tape: Tape, value: Any, name: str = "array") -> Array | None:
    """`value` as a staged array: arrays of the host and lists of numbers become one; None for anything else."""
    if value.__class__ is Array:
        return value
    if isinstance(value, np.ndarray):
        _require_64_bits(tape, value)
        tape.session.opened.goes_through(value)
        return of_host(tape, value, name)
    if not isinstance(value, (list, tuple)):
        _require_64_bits(tape, value)
        return None
    items: Any = value
    if any(is_staged_deep(item) for item in items):
        return stacked(tape, items, name)
    try:
        data = np.asarray(items)
    except ValueError:
        raise _ragged(tape) from None
    _require_64_bits(tape, data)
    return of_host(tape, data, name) if data.dtype.kind in "fiub" else None


def read_like(tape: Tape, value: Any, other: Any) -> Any:
    """An array that an object from outside holds as staged code reads it, where another one stands in its place."""
    if value is other or not is_array(value):
        return value
    is_one = other.__class__ is Array or isinstance(other, NarrowValue) or is_array(other)
    return tape.session.captured(value) if is_one else value


def _require_64_bits(tape: Tape, value: Any) -> None:
    """Refuse numbers of other dtypes where nobody has asked which dtype comes out."""
    if isinstance(value, NarrowValue) or narrow_dtype(value) is not None:
        wider = "float64" if value.dtype.kind == "f" else "int64"
        raise tape.type_fault(
            f"numbers of {value.dtype} are not staged here", f"convert before: `x.astype(np.{wider})`"
        )


def in_64_bits(value: Any) -> Any:
    """An index, or what is stored, with numbers of all dtypes in 64 bits; of a value or None the value."""
    if isinstance(value, (tuple, list)):
        items: Any = value
        return type(value)([in_64_bits(item) for item in items]) if any(map(_may_be_narrow, items)) else value
    if isinstance(value, NarrowValue):
        return value.wide
    if hasattr(value.__class__, "__rose_required__"):
        return value.__rose_required__()
    return value if narrow_dtype(value) is None else narrow_values.widened(value)


def _may_be_narrow(value: Any) -> bool:
    is_optional = hasattr(value.__class__, "__rose_required__")
    return is_optional or isinstance(value, (NarrowValue, tuple, list)) or narrow_dtype(value) is not None


def _ragged(tape: Tape) -> RoseError:
    return tape.fault(ShapeError, "the rows of a nested list differ in length", help="an array is rectangular")


def staged_items(value: Any) -> Array | None:
    """The array of a list in which something is staged; None for anything else."""
    if value.__class__ is Array or not isinstance(value, (list, tuple)):
        return None
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, (list, tuple)):
            pending += reversed(item)  # of anything
        elif staged_leaf(item) is not None:
            return as_array(item.tape, value)
    return None


def stacked(tape: Tape, items: Sequence[Any], name: str = "array") -> Array | None:
    """The array of these numbers or rows, some of them staged; None if they are no numbers."""
    rows = [as_array(tape, item) if not _is_number(item) else item for item in items]
    if any(row is None for row in rows) or not rows:
        return None
    shapes = {row.shape if row.__class__ is Array else () for row in rows}  # pyright: ignore[reportOptionalMemberAccess]  # never None here
    if len(shapes) > 1:
        raise _ragged(tape)
    shape = shapes.pop()
    kind = common_type(rows)
    if kind is None:
        raise tape.type_fault("numbers and truth values cannot be in one array", "convert with `float(...)`")
    atoms: list[Atom] = []
    for row in rows:
        atom = variable(converted(row, kind)) if row.__class__ is Array else ATOMS[kind](tape, row)  # pyright: ignore[reportArgumentType]  # its kind is known here
        if atom is None:  # of numbers, only those that are no tangents
            refuse_tangent(tape, "an array of tangents and of numbers that are none is not linear")
        atoms.append(atom)
    return fresh(tape, tape.bind(MakeArray(tuple(atoms)), array((len(rows), *shape), kind), name), name)


def side_by_side(tape: Tape, array: Any, items: Sequence[Any]) -> Any:
    """An array with the numbers of a list of the host, which stay of the classes that they have there."""
    if array.__class__ is Array and array.ndim == 1:
        held = atom_of(tape, array.box)
        tape.lists[held] = tuple(items)
        if len({type_of(item) for item in items}) > 1:
            tape.mixed.add(held)
    return array


def _is_number(value: Any) -> bool:
    return value.__class__ is not Array and type_of(value) is not None


def common_type(values: Sequence[Any]) -> Scalar | None:
    """The type that holds all of these numbers and arrays: Ints widen to Reals, nothing else does."""
    kinds = {value.type if value.__class__ is Array else type_of(value) for value in values}
    if len(kinds) == 1:
        return kinds.pop()
    if kinds == {INT, REAL}:
        return REAL
    return None if BOOL in kinds else next((k for k in kinds if k not in (INT, REAL, None)), None)


def is_masked(value: Any) -> bool:
    """Whether it is one of NumPy's arrays of which something is masked, without loading what makes them."""
    return (
        type(value) is not np.ndarray and isinstance(value, np.ndarray) and bool(np.any(getattr(value, "mask", False)))
    )


def hides_staged(value: Any) -> bool:
    """Whether an object, which the host would keep, has something staged inside."""
    held = getattr(value, "__dict__", None)
    return isinstance(held, dict) and any(is_staged_deep(part) for part in list(held.values()))
