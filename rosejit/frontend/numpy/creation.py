"""Stages the functions of NumPy that make arrays of staged numbers."""

# Values of users are of any type: what they are is asked while staging.

from math import copysign, nan
from typing import Any

from rosejit.errors import ShapeError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.access import build, copy
from rosejit.frontend.arrays.array import Array, fresh, of_host
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.boolean_indexing import refuse_no_array
from rosejit.frontend.arrays.broadcast import broadcast_map, broadcast_shape, cast, converted
from rosejit.frontend.arrays.call_binding import kind_of
from rosejit.frontend.numpy import manipulation
from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.open_lengths import OpenLength, as_staged, has_open
from rosejit.frontend.values.pytree import staged_leaf
from rosejit.frontend.values.scalars import ATOMS, P, Tan, refuse_tangent, type_of
from rosejit.frontend.values.staged_inputs import to_know
from rosejit.frontend.values.tape import Tape
from rosejit.ir.lengths import clipped
from rosejit.ir.syntax import Zero
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, array
from rosejit.numeric import np

DTYPES: dict[Scalar | None, str] = {REAL: "float64", INT: "int64", BOOL: "bool"}

_copy = copy


def array_of_object(tape: Tape, object: Any, dtype: Any = None, copy: Any = True) -> Any:
    """`np.array`: the elements may be staged."""
    return _array(tape, "np.array", object, dtype, copy)


def asarray(tape: Tape, a: Any, dtype: Any = None, copy: Any = None) -> Any:
    """`np.asarray`."""
    return _array(tape, "np.asarray", a, dtype, copy)


def ascontiguousarray(tape: Tape, a: Any, dtype: Any = None) -> Any:
    """`np.ascontiguousarray`: of one dimension at least."""
    made = _array(tape, "np.ascontiguousarray", a, dtype, None)
    return made if made.shape else manipulation.reshaped(made, (1,))


def _array(tape: Tape, name: str, value: Any, dtype: Any, copied: Any) -> Any:
    kind = kind_of(tape, dtype)
    if copied is False and value.__class__ is not Array:
        raise tape.type_fault(f"`{name}(..., copy=False)` of what has to be copied", "leave out `copy`")
    if type_of(value) is not None:
        number = value if kind is None else cast(tape, value, kind)
        return _filled(tape, (), number)
    made = as_array(tape, value)
    if made is None:
        raise tape.type_fault(f"`{name}` takes numbers, given {type(value).__name__}")
    changed = kind is not None and made.type is not kind
    if copied is False and changed:
        raise tape.type_fault(f"`{name}(..., copy=False)` to another type has to copy", "leave out `copy`")
    if kind is not None and changed:
        return converted(made, kind)
    return _copy(made) if value.__class__ is Array and (copied or made.box.held) else made


def _filled(tape: Tape, shape: tuple[int, ...], value: Any) -> Array:
    """An array of one number."""
    kind = type_of(value)
    assert kind is not None
    atom = ATOMS[kind](tape, value)
    assert atom is not None
    made = build(tape, shape, kind, lambda indices: atom)
    return fresh(tape, made)  # pyright: ignore[reportArgumentType]  # without dimensions a number


def real(tape: Tape, val: Any) -> Any:
    """`np.real`: a number stays one."""
    return val.real if type_of(val) is not None else _array(tape, "np.real", val, None, None)


def zeros_like(tape: Tape, a: Any, dtype: Any = None, shape: Any = None) -> Any:
    """`np.zeros_like`."""
    return full_like(tape, a, 0, dtype, shape)


def ones_like(tape: Tape, a: Any, dtype: Any = None, shape: Any = None) -> Any:
    """`np.ones_like`."""
    return full_like(tape, a, 1, dtype, shape)


def empty_like(tape: Tape, prototype: Any, dtype: Any = None, shape: Any = None) -> Any:
    """`np.empty_like`: zeros."""
    return full_like(tape, prototype, 0, dtype, shape)


def full_like(tape: Tape, a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """`np.full_like`."""
    like = as_array(tape, a)
    own = type_of(a) if like is None else like.type
    shape = getattr(like, "shape", ()) if shape is None else shape
    if own is TAN and dtype is None:
        return _tangents(tape, lengths_of(tape, shape), fill_value)
    kind = kind_of(tape, dtype) or own
    if kind is None:
        refuse_no_array(tape, "what makes an array like another", a)
    return full(tape, shape, fill_value, DTYPES[kind])


def _tangents(tape: Tape, shape: tuple[int, ...], value: Any) -> Array:
    """An array of one tangent, or of the only constant one, zero."""
    if value.__class__ is Tan:
        return _filled(tape, shape, value)
    if number_kind(value) is None or value != 0:
        refuse_tangent(tape, "an array like one of tangents holds no tangents: the only constant one is zero")
    return fresh(tape, tape.bind(Zero(), array(shape, TAN)))


def full(tape: Tape, shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """`np.full` with a staged value, or of a known one."""
    lengths, value = lengths_of(tape, shape), fill_value
    kind = kind_of(tape, dtype)
    if number_kind(value) is not None and has_open(lengths):
        return of_open(tape, lengths, cast(tape, value, kind or type_of(value) or REAL))
    if number_kind(value) is not None:
        return of_host(tape, np.full(lengths, value, DTYPES.get(kind)))
    if type_of(value) is None:
        row = as_array(tape, value)
        if row is None:
            raise tape.type_fault(f"an array is filled with numbers, given {type(value).__name__}")
        row = row if kind is None else converted(row, kind)
        if broadcast_shape(tape, (row,), lengths) != lengths:
            raise tape.fault(ShapeError, f"an array of shape {row.shape} does not fill one of shape {lengths}")
        return broadcast_map(tape, lambda x, z: x, row, of_host(tape, np.zeros(lengths)))
    return _filled(tape, lengths, value if kind is None else cast(tape, value, kind))


def _help_with_lengths(tape: Tape, length: Any) -> str:
    atom = getattr(length, "atom", None)
    known = "make it a host value: `rose.Static`" if atom is None else to_know(tape, atom)
    return f"take it from the shape of an argument; or {known}"


def lengths_of(tape: Tape, shape: Any) -> tuple[int, ...]:
    """A shape as a tuple of integers."""
    lengths = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    for length in lengths:
        if staged_leaf(length) is not None:
            raise tape.type_fault(
                "the shape of an array must be known while staging",
                _help_with_lengths(tape, length),
            )
    return lengths


def of_open(tape: Tape, lengths: tuple[Any, ...], value: Any) -> Array:
    """An array of open length, of one number. Raises when the code runs what NumPy does where it is negative."""
    if not has_open(lengths):
        of_known(tape, lengths)
    for length in lengths:
        negative = length.__class__ is OpenLength and (length.low is None or length.low < 0)
        if negative:
            reductions.require(tape, as_staged(length) >= 0, ValueError("negative dimensions are not allowed"))
    kind = type_of(value)
    if number_kind(value) is not None and value == 0 and copysign(1.0, value) > 0.0:
        assert kind is not None
        return fresh(tape, tape.bind(Zero(), array(lengths, kind)))
    return _filled(tape, lengths, value)


def zeros(tape: Tape, shape: Any, dtype: Any = None) -> Any:
    """`np.zeros` and `np.empty`, of open length."""
    return of_open(tape, lengths_of(tape, shape), cast(tape, 0.0, kind_of(tape, dtype) or REAL))


def ones(tape: Tape, shape: Any, dtype: Any = None) -> Any:
    """`np.ones`, of open length."""
    return of_open(tape, lengths_of(tape, shape), cast(tape, 1.0, kind_of(tape, dtype) or REAL))


def arange(tape: Tape, start_or_stop: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """`np.arange(n)`, of open length."""
    if stop is not None or step != 1 or start_or_stop.__class__ is not OpenLength:
        return of_known(tape, start_or_stop, stop, step)
    made = fresh(tape, build(tape, (clipped(start_or_stop),), INT, lambda indices: indices[0]))  # pyright: ignore[reportArgumentType]  # an array
    return converted(made, kind_of(tape, dtype) or INT)


def of_known(tape: Tape, *args: Any, **kwargs: Any) -> Any:
    """`np.zeros(shape)` and its like, whose arguments the host knows: here one is staged."""
    for value in (*args, *kwargs.values()):
        lengths_of(tape, value)
    raise tape.type_fault("what an array without staged elements is made of must be known while staging")


def linspace(
    tape: Tape, start: Any, stop: Any, num: Any = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None
) -> Any:
    """`np.linspace` between staged numbers, or arrays of them."""
    (count,) = lengths_of(tape, num)
    gaps = count - 1 if endpoint else count
    ends: list[Any] = [end if type_of(end) is not None else as_array(tape, end) for end in (start, stop)]
    if None in ends or BOOL in [getattr(end, "type", None) for end in ends] or count < 0:
        raise tape.type_fault("`np.linspace` is staged between numbers, or arrays of them, in so many steps")
    first, last = (broadcast_map(tape, lambda x: x * 1.0, end) if end.__class__ is Array else end * 1.0 for end in ends)
    step = (last - first) / float(max(gaps, 1))
    rank = getattr(step, "ndim", 0)
    places = of_host(tape, np.arange(float(count)).reshape((count,) + (1,) * rank))
    made = broadcast_map(tape, lambda k, step, first: k * step + first, places, step, first)
    if endpoint and count > 1:
        made[count - 1] = last
    kind = kind_of(tape, dtype)
    if kind is INT:
        made = converted(broadcast_map(tape, P["floor"].__call__, made), INT)
    if kind is BOOL:
        raise tape.type_fault("`np.linspace` of truth values is not staged")
    return (made, step if gaps > 0 else nan) if retstep else made
