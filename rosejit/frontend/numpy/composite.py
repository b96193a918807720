"""Functions of NumPy that are written with others of its functions, on staged arrays."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

import operator
from collections.abc import Callable
from math import factorial
from typing import Any

from rosejit.errors import RoseValueError, ShapeError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.array import Array, of_host
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.broadcast import an_array, broadcast_map, converted, logical
from rosejit.frontend.arrays.getitem import get, set_
from rosejit.frontend.arrays.reductions import chosen
from rosejit.frontend.numpy import concatenate, manipulation
from rosejit.frontend.values.scalars import P, type_of
from rosejit.ir.types import BOOL, INT
from rosejit.numeric import np

Make = Callable[..., Any]


def _other(a: Array, value: Any) -> Any:
    """Another operand: a number or an array."""
    found = value if type_of(value) is not None else as_array(a.tape, value)
    if found is None:
        raise a.tape.type_fault(f"numbers and arrays are combined, given {type(value).__name__}")
    return found


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    """`np.cross` of vectors with three components."""
    other = _other(a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    if a.type is BOOL and other.type is BOOL:
        raise a.tape.type_fault("`np.cross` subtracts, and truth values are not subtracted")
    first, second = _with_last(a, axisa), _with_last(other, axisb)
    if first.shape[-1:] != (3,) or second.shape[-1:] != (3,):
        in_plane = first.shape[-1:] == second.shape[-1:] == (2,)
        message = f"`np.cross` takes vectors of 3, given shapes {a.shape} and {other.shape}"
        edit = "of vectors of 2, which NumPy 2.5 refuses as well: `a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]`"
        raise a.tape.fault(ShapeError, message, help=edit if in_plane else None)
    x, y = ([get(v, (Ellipsis, k)) for k in range(3)] for v in (first, second))
    parts = [x[(k + 1) % 3] * y[(k + 2) % 3] - x[(k + 2) % 3] * y[(k + 1) % 3] for k in range(3)]
    if a.ndim == other.ndim == 1:
        return as_array(a.tape, parts)
    return concatenate.stacked(a.tape, parts, axisc, "np.cross")


def _with_last(a: Any, axis: int) -> Any:
    if not getattr(a, "ndim", 0):
        raise a.tape.fault(ShapeError, "`np.cross` takes vectors of 3, given a number")
    axis = reductions.one_axis(a, axis)
    return manipulation.transposed(a, [*(k for k in range(a.ndim) if k != axis), axis])


def cross_of(x1: Any, x2: Any, axis: int = -1) -> Any:
    """`np.linalg.cross`."""
    return cross(x1, x2, axis=axis)


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """`np.convolve`."""
    other = _other(a, v)
    if a.ndim != 1 or other.ndim != 1 or not len(a) or not len(other):
        raise a.tape.fault(ShapeError, f"`np.convolve` takes vectors, given shapes {a.shape} and {other.shape}")
    if a.type is BOOL and other.type is BOOL:
        raise a.tape.type_fault("`np.convolve` of truth values is not staged", "count with `.astype(int)`")
    if len(other) > len(a):
        a, other = other, a
    if mode not in ("full", "same", "valid"):
        raise a.tape.fault(RoseValueError, f"`mode` is 'full', 'same' or 'valid', given {mode!r}")
    places = np.arange(len(a) + len(other) - 1)[:, None] - np.arange(len(other))
    inside = (places >= 0) & (places < len(a))  # outside is no zero: that times infinity is NaN
    terms: Any = get(a, of_host(a.tape, np.where(inside, places, 0))) * other
    zero = 0 if terms.type is INT else 0.0
    whole = reductions.total(broadcast_map(a.tape, chosen, of_host(a.tape, inside), terms, zero), 1)
    skip = {"full": 0, "same": (len(other) - 1) // 2, "valid": len(other) - 1}[mode]
    length = {"full": len(whole), "same": len(a), "valid": len(a) - len(other) + 1}[mode]
    return whole[skip : skip + length]


# --- comparisons of arrays


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """`np.isclose`."""

    def close(x: Any, y: Any) -> Any:
        x, y = (v * 1 if type_of(v) is BOOL else v for v in (x, y))  # truth values are not subtracted
        near = (abs(x - y) <= atol + rtol * abs(y)) & P["isfinite"](y) | (x == y)
        return near | ((x != x) & (y != y)) if equal_nan else near

    return broadcast_map(a.tape, close, a, _other(a, b))


def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """`np.allclose`."""
    return _folded(reductions.every, isclose(a, b, rtol, atol, equal_nan))


def _folded(fold: Make, made: Any) -> Any:
    """`fold` of what was made of elements; of an array without dimensions that is a number."""
    return fold(made) if made.__class__ is Array else made


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """`np.array_equal`."""
    other = _other(a1, a2)
    if getattr(other, "shape", ()) != a1.shape:
        return False
    return _folded(reductions.every, broadcast_map(a1.tape, _same_with_nan if equal_nan else operator.eq, a1, other))


def _same_with_nan(x: Any, y: Any) -> Any:
    return (x == y) | ((x != x) & (y != y))


def array_equiv(a1: Any, a2: Any) -> Any:
    """`np.array_equiv`."""
    other = _other(a1, a2)
    try:
        np.broadcast_shapes(a1.shape, getattr(other, "shape", ()))
    except ValueError:
        return False
    return _folded(reductions.every, broadcast_map(a1.tape, operator.eq, a1, other))


# --- counts


def ptp(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.ptp`."""
    if a.type is BOOL:
        raise a.tape.type_fault("`np.ptp` subtracts, and truth values are not subtracted")
    return reductions.largest(a, axis, keepdims) - reductions.smallest(a, axis, keepdims)


def _total(a: Array, made: Any, axis: Any, keepdims: bool = False) -> Any:
    """The sum of what was made of the elements of `a`."""
    return reductions.total(an_array(a.tape, made), axis, keepdims)


def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.count_nonzero`."""
    return _total(a, a != 0 if a.type is not BOOL else a, axis, keepdims)


def nan_to_num(x: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """`np.nan_to_num`."""
    if x.type in (INT, BOOL):
        return broadcast_map(x.tape, lambda v: v, x)
    largest = float(np.finfo(float).max)
    top, bottom = (largest if posinf is None else posinf), (-largest if neginf is None else neginf)

    def number(v: Any) -> Any:
        held = chosen(v == float("inf"), top, chosen(v == float("-inf"), bottom, v))
        return chosen(v != v, nan, held)

    return broadcast_map(x.tape, number, x)


# --- other


def outer(A: Any, B: Any, op: Make) -> Any:
    """`np.add.outer(a, b)` and its like."""
    other = _other(A, B)
    rank = getattr(other, "ndim", 0)
    wide = get(A, (Ellipsis, *[None] * rank)) if A.shape and rank else A
    return broadcast_map(A.tape, logical(A.tape, op, A, other), wide, other)


def reduced(array: Any, axis: Any = 0, keepdims: bool = False, *, fold: Make) -> Any:
    """`np.add.reduce` and its like."""
    return fold(array, axis=axis, keepdims=keepdims)


def accumulated(array: Any, axis: int = 0, *, running: Make, counts: bool) -> Any:
    """`np.add.accumulate` and its like."""
    made = running(array, reductions.one_axis(array, axis))
    return converted(made, BOOL) if array.type is BOOL and not counts else made


def sinc(x: Any) -> Any:
    """`np.sinc`: near 0 its series, whose derivatives are right to any order that the terms reach."""
    y = np.pi * x
    square, near = y * y, abs(y) < 1.0
    series: Any = 0.0
    for k in range(_TERMS, -1, -1):
        series = series * square + (-1.0) ** k / factorial(2 * k + 1)
    far = chosen(near, 1.0, y)
    return chosen(near, series, P["sin"](far) / far)


_TERMS = 14
"""So many powers of a square below 1 leave nothing in the sixth derivative of the series, divided by (2 k + 1)!."""


# --- functions that write


def write_at(a: Array, indices: Any, b: Any, op: Make) -> None:
    """`np.add.at(y, index, value)`: an index that comes twice counts twice."""
    set_(a, indices, b, op)
