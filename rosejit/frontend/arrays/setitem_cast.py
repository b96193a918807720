"""Turns what is stored into an array into what it can hold: numbers of its kind, arrays of its shape."""

# Values of users are of any type: what they are is asked while staging.

from typing import Any, NoReturn

from rosejit.errors import ShapeError
from rosejit.frontend.arrays.access import Indices, build, element, is_prefix, owned, variable
from rosejit.frontend.arrays.array import Array, atom_of
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.basic_indexing import part_of, steps_of
from rosejit.frontend.arrays.broadcast import broadcast_shape
from rosejit.frontend.values.open_lengths import is_one
from rosejit.frontend.values.scalars import ATOMS, tan_atom, type_of, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Atom, Lit
from rosejit.ir.types import INT, REAL, TAN, Scalar
from rosejit.numeric import np


def assigned(target: Array, value: Any) -> Atom:
    """`value` as what can be stored in `target`: a number for an element, else an array of its shape and kind."""
    tape = target.tape
    value = fitting(tape, target.type, target.shape, value)
    if value.__class__ is not Array:
        return _repeated(target, value)
    if value.shape != target.shape or value.type is not target.type:
        return _spread(target, value)
    if not target.shape:
        return element(value, ())
    return owned(value) if is_prefix(target) == 0 else variable(value)


def fitting(tape: Tape, wanted: Scalar, shape: tuple[int, ...], value: Any) -> Any:
    """`value` as a number or an array that can be stored in a place of that shape. Raises where it cannot."""
    if isinstance(value, (list, tuple, np.ndarray)):
        value = as_array(tape, value)
    kind = value.type if value.__class__ is Array else type_of(value)
    if kind is None or not (
        _fits(kind, wanted) or (value.__class__ is not Array and wanted is TAN and tan_atom(tape, value) is not None)
    ):
        _refuse_value(tape, wanted, type(value).__name__ if kind is None else _SHOWN.get(kind, str(kind)))
    if value.__class__ is Array and value.ndim > len(shape):
        value = _without_lead(value, value.ndim - len(shape))
    if value.__class__ is Array and broadcast_shape(tape, (value,), shape) != shape:
        raise tape.fault(ShapeError, f"an array of shape {value.shape} does not fit into the shape {shape}")
    return value


_SHOWN: dict[Scalar, str] = {TAN: "tangent"}
_MAKE = {TAN: "make it an array of tangents: `np.zeros_like(x.du)`", INT: "make the array one of floats: `np.zeros(n)`"}


def _refuse_value(tape: Tape, wanted: Scalar, shown: str) -> NoReturn:
    help = _MAKE.get(TAN if shown == "tangent" else wanted)
    raise tape.type_fault(f"an array of {_SHOWN.get(wanted, str(wanted))}s cannot hold a {shown}", help)


def _fits(kind: Scalar, wanted: Scalar) -> bool:
    """Whether elements of one type can be stored as the other: Ints widen to Reals."""
    return kind is wanted or (wanted is REAL and kind is INT)


def _converted(target: Array, value: Any) -> Atom:
    atom = ATOMS[target.type](target.tape, value)
    assert atom is not None
    return atom


def _without_lead(value: Array, count: int) -> Array:
    """An array without its first axes, if their length is 1: what NumPy stores does not need to have fewer."""
    if set(value.shape[:count]) != {1}:
        return value
    return part_of(value, *steps_of(value, [*[0] * count, *[slice(None)] * (value.ndim - count)]))


def _repeated(target: Array, value: Any) -> Atom:
    """A number, or an array of it."""
    atom = _converted(target, value)
    return build(target.tape, target.shape, target.type, lambda indices: atom)


def _spread(target: Array, value: Array) -> Atom:
    """An array that is converted, or repeated along dimensions of length 1."""
    atom_of(target.tape, value.box)

    def make(indices: Indices) -> Atom:
        return _converted(target, spread(value, indices))

    return build(target.tape, target.shape, target.type, make)


def spread(value: Any, indices: Indices) -> Any:
    """The element of `value`, a number or an array that is broadcast, for the place at `indices`."""
    if value.__class__ is not Array:
        return value
    own = indices[len(indices) - value.ndim :]
    at = tuple(Lit(0, INT) if is_one(n) else k for n, k in zip(value.shape, own, strict=True))
    return wrap(value.tape, element(value, at))
