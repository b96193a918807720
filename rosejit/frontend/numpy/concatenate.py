"""Stages the functions of NumPy that put arrays next to each other."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Sequence
from typing import Any

from rosejit.errors import ShapeError
from rosejit.frontend.arrays.access import element, store, variable
from rosejit.frontend.arrays.array import Array, fresh, of_host
from rosejit.frontend.arrays.asarray import as_array, common_type
from rosejit.frontend.arrays.basic_indexing import part_of, steps_of
from rosejit.frontend.arrays.broadcast import converted
from rosejit.frontend.arrays.call_binding import kind_of
from rosejit.frontend.arrays.setitem_cast import assigned
from rosejit.frontend.numpy import manipulation
from rosejit.frontend.values.scalars import type_of
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Lit, MakeArray
from rosejit.ir.types import BOOL, INT, REAL, Scalar, array
from rosejit.numeric import np

_FEW = 32
"""So many numbers are written out one by one; more are copied in loops."""


def joined(tape: Tape, arrays: Sequence[Any], axis: Any, name: str, dtype: Any = None) -> Array:
    """Arrays one behind the other along an axis; None joins the elements of all."""
    parts = _parts(tape, arrays, name, dtype)
    if axis is None:
        parts, axis = [manipulation.reshape(part, -1) for part in parts], 0
    rank = parts[0].ndim
    if any(part.ndim != rank for part in parts):
        _misfit(tape, parts)
    if not rank:
        raise tape.fault(
            ShapeError,
            f"`{name}` joins arrays that have dimensions, and a number has none",
            help="make it an array of one element, `[v]`, or put numbers together with `np.array`",
        )
    if not -rank <= axis < rank:
        raise tape.fault(ShapeError, f"axis {axis} is out of bounds for arrays of shape {parts[0].shape}")
    axis %= rank
    rests = {part.shape[:axis] + part.shape[axis + 1 :] for part in parts}
    if len(rests) > 1:
        _misfit(tape, parts)
    lengths = [part.shape[axis] for part in parts]
    whole = (*parts[0].shape[:axis], sum(lengths), *parts[0].shape[axis + 1 :])
    if rank == 1 and whole[0] <= _FEW and sum(lengths):
        atoms = tuple(element(part, (Lit(k, INT),)) for part in parts for k in range(part.shape[0]))
        return fresh(tape, tape.bind(MakeArray(atoms), array(whole, parts[0].type)))
    return _laid(tape, parts, axis, whole, lengths)


def stacked(tape: Tape, arrays: Sequence[Any], axis: int, name: str, dtype: Any = None) -> Array:
    """Arrays of one shape next to each other along a new axis."""
    parts = _parts(tape, arrays, name, dtype)
    rank = parts[0].ndim + 1
    if not -rank <= axis < rank:
        raise tape.fault(ShapeError, f"axis {axis} is out of bounds for arrays of shape {parts[0].shape}")
    axis %= rank
    if len({part.shape for part in parts}) > 1:
        _misfit(tape, parts)
    if axis == 0:
        rows = tuple(variable(part) for part in parts)
        return fresh(tape, tape.bind(MakeArray(rows), array((len(rows), *parts[0].shape), parts[0].type)))
    whole = (*parts[0].shape[:axis], len(parts), *parts[0].shape[axis:])
    return _laid(tape, [manipulation.expanded(part, axis) for part in parts], axis, whole, [1] * len(parts))


def _parts(tape: Tape, arrays: Sequence[Any], name: str, dtype: Any = None) -> list[Array]:
    """The arrays, their elements of one type: that of `dtype`, which must hold them all."""
    found: list[Array] = []
    for item in arrays:
        made = as_array(tape, [item] if type_of(item) is not None else item)
        if made is None:
            raise tape.type_fault(f"`{name}` joins arrays, given {type(item).__name__}")
        found.append(manipulation.reshaped(made, ()) if type_of(item) is not None else made)
    if not found:
        raise tape.fault(ShapeError, f"`{name}` needs one array at least")
    kind, wanted = common_type(found), kind_of(tape, dtype)
    if wanted in (REAL, INT):
        if wanted is INT and REAL in [part.type for part in found]:
            raise tape.type_fault(f"`{name}(..., dtype={dtype})` would drop the fractions of floats", "`.astype(int)`")
        kind = wanted
    if kind is None:
        raise tape.type_fault(f"`{name}`: arrays of numbers and of truth values cannot be joined", "`.astype(float)`")
    return [converted(part, kind) for part in found]


def _misfit(tape: Tape, parts: list[Array]) -> None:
    shown = ", ".join(str(part.shape) for part in parts)
    raise tape.fault(ShapeError, f"arrays of shapes {shown} cannot be joined")


def _laid(tape: Tape, parts: list[Array], axis: int, shape: tuple[int, ...], lengths: list[int]) -> Array:
    """A new array into which the parts are copied, one behind the other."""
    made = of_host(tape, np.zeros(shape, _DTYPES.get(parts[0].type, "float64")))
    start = 0
    for part, length in zip(parts, lengths, strict=True):
        place: list[Any] = [slice(None)] * len(shape)
        place[axis] = slice(start, start + length)
        target = part_of(made, *steps_of(made, place))
        store(target, assigned(target, part))
        start += length
    return made


_DTYPES: dict[Scalar, str] = {INT: "int64", BOOL: "bool"}


# --- under NumPy's names


def concatenate(tape: Tape, arrays: Any, axis: Any = 0, dtype: Any = None) -> Array:
    """`np.concatenate`."""
    return _of_type(joined(tape, list(arrays), axis, "np.concatenate", dtype), dtype)


def _of_type(made: Array, dtype: Any) -> Array:
    """What was joined, of which a `dtype` that is bool must be the type."""
    kind = kind_of(made.tape, dtype)
    if kind is BOOL and made.type is not BOOL:
        raise made.tape.type_fault("numbers are not joined as truth values", "`.astype(bool)`")
    return made


def stack(tape: Tape, arrays: Any, axis: int = 0, dtype: Any = None) -> Array:
    """`np.stack`."""
    return _of_type(stacked(tape, list(arrays), axis, "np.stack", dtype), dtype)


def vstack(tape: Tape, tup: Any, dtype: Any = None) -> Array:
    """`np.vstack`."""
    parts = [manipulation.at_least(part, 2) for part in _parts(tape, list(tup), "np.vstack", dtype)]
    return _of_type(joined(tape, parts, 0, "np.vstack"), dtype)


def hstack(tape: Tape, tup: Any, dtype: Any = None) -> Array:
    """`np.hstack`."""
    parts = [manipulation.at_least(part, 1) for part in _parts(tape, list(tup), "np.hstack", dtype)]
    return _of_type(joined(tape, parts, 0 if parts[0].ndim == 1 else 1, "np.hstack"), dtype)


def column_stack(tape: Tape, tup: Any) -> Array:
    """`np.column_stack`."""
    parts = [manipulation.at_least(part, 1) for part in _parts(tape, list(tup), "np.column_stack")]
    columns = [manipulation.expanded(part, 1) if part.ndim == 1 else part for part in parts]
    return joined(tape, columns, 1, "np.column_stack")


def dstack(tape: Tape, tup: Any) -> Array:
    """`np.dstack`."""
    parts = [manipulation.at_least(part, 2) for part in _parts(tape, list(tup), "np.dstack")]
    return joined(tape, [manipulation.expanded(part, 2) if part.ndim == 2 else part for part in parts], 2, "np.dstack")


def append(tape: Tape, arr: Any, values: Any, axis: Any = None) -> Array:
    """`np.append`."""
    return joined(tape, [arr, values], axis, "np.append")


def meshgrid(tape: Tape, *xi: Any, indexing: str = "xy") -> list[Array]:
    """`np.meshgrid`."""
    parts = [manipulation.reshape(_parts(tape, [x], "np.meshgrid")[0], -1) for x in xi]
    places = np.meshgrid(*(np.arange(1, part.shape[0] + 1) for part in parts), indexing=indexing)  # pyright: ignore[reportArgumentType, reportCallIssue]  # as the user says
    return [manipulation.picked(part, found) for part, found in zip(parts, places, strict=True)]
