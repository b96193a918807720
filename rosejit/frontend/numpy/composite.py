"""Functions of NumPy that are written with others of its functions, on staged arrays."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

import operator
from collections.abc import Callable
from math import factorial
from typing import Any

from rosejit.errors import RoseValueError, ShapeError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.access import element
from rosejit.frontend.arrays.array import Array, atom_of, of_host
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.broadcast import an_array, broadcast_map, converted, logical
from rosejit.frontend.arrays.getitem import get, set_
from rosejit.frontend.arrays.integer_indexing import scatter
from rosejit.frontend.arrays.reductions import chosen
from rosejit.frontend.numpy import concatenate, manipulation
from rosejit.frontend.numpy.array_methods import cumulative
from rosejit.frontend.values.scalars import P, int_atom, type_of, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.numeric import np

Make = Callable[..., Any]


def _other(a: Array, value: Any) -> Any:
    """Another operand: a number or an array."""
    found = value if type_of(value) is not None else as_array(a.tape, value)
    if found is None:
        raise a.tape.type_fault(f"numbers and arrays are combined, given {type(value).__name__}")
    return found


def _along(a: Array, axis: int, place: Any) -> Any:
    """`a[..., place, ...]` with `place` at `axis`."""
    if not -a.ndim <= axis < a.ndim:
        raise a.tape.fault(ShapeError, f"axis {axis} is out of bounds for an array of shape {a.shape}")
    at: list[Any] = [slice(None)] * a.ndim
    at[axis] = place
    return get(a, tuple(at))


# --- differences


def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """`np.diff`."""
    for _ in range(n):
        a = _along(a, axis, slice(1, None)) - _along(a, axis, slice(None, -1))
    return a


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """`np.trapezoid`."""
    steps: Any = dx
    if x is not None:
        at = _other(y, x)
        steps = diff(at, axis=axis if at.ndim > 1 else -1)
        steps = steps if at.ndim > 1 else manipulation.reshape(steps, *_lone(y, axis, steps.shape[0]))
    middle = (_along(y, axis, slice(1, None)) + _along(y, axis, slice(None, -1))) * (0.5 * steps)
    return reductions.total(middle, axis)


def _lone(a: Array, axis: int, length: int) -> list[int]:
    shape = [1] * a.ndim
    shape[axis] = length
    return shape


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    """`np.cross` of vectors with three components."""
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    if not a.ndim or not getattr(b if b.__class__ is Array else _other(a, b), "ndim", 0):
        raise a.tape.fault(ShapeError, "`np.cross` takes vectors of 3, given a number")
    a, other = manipulation.moved_last(a, axisa), manipulation.moved_last(_other(a, b), axisb)
    if a.shape[-1:] != (3,) or other.shape[-1:] != (3,):
        raise a.tape.fault(ShapeError, f"`np.cross` takes vectors of 3, given shapes {a.shape} and {other.shape}")
    x, y = ([_along(v, -1, k) for k in range(3)] for v in (a, other))
    if a.type is BOOL and other.type is BOOL:
        raise a.tape.type_fault("`np.cross` subtracts, and truth values are not subtracted")
    parts = [x[(k + 1) % 3] * y[(k + 2) % 3] - x[(k + 2) % 3] * y[(k + 1) % 3] for k in range(3)]
    if a.ndim == other.ndim == 1:
        return as_array(a.tape, parts)
    return concatenate.stacked(a.tape, parts, axisc, "np.cross")


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


def polyval(p: Any, x: Any) -> Any:
    """`np.polyval`: by Horner's rule."""
    at = _other(p, x)
    if BOOL in (p.type, getattr(at, "type", type_of(at))):
        raise p.tape.type_fault("`np.polyval` takes numbers, given truth values")
    whole = getattr(at, "type", type_of(at)) is INT
    found: Any = 0 if whole else 0.0
    if at.__class__ is Array:
        found = of_host(p.tape, np.full(at.shape, found))
    for coefficient in p:
        found = found * at + coefficient
    return found


# --- comparisons of arrays


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """`np.isclose`."""

    def close(x: Any, y: Any) -> Any:
        near = (abs(x - y) <= atol + rtol * abs(y)) & P["isfinite"](y) | (x == y)
        return near | ((x != x) & (y != y)) if equal_nan else near

    return broadcast_map(a.tape, close, a, _other(a, b))


def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """`np.allclose`."""
    return _folded(reductions.every, isclose(a, b, rtol, atol, equal_nan))


def _folded(fold: Make, made: Any) -> Any:
    """`fold` of what was made of elements; of an array without dimensions that is a number."""
    return fold(made) if made.__class__ is Array else made


def array_equal(a1: Any, a2: Any) -> Any:
    """`np.array_equal`."""
    other = _other(a1, a2)
    if getattr(other, "shape", ()) != a1.shape:
        return False
    return _folded(reductions.every, broadcast_map(a1.tape, operator.eq, a1, other))


# --- averages and counts


def average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    """`np.average`."""
    if weights is None:
        return reductions.mean(a, axis)
    w = _other(a, weights)
    if getattr(w, "shape", ()) != a.shape:
        if axis is None or getattr(w, "ndim", 0) != 1 or w.shape[0] != a.shape[reductions.one_axis(a, axis)]:
            raise a.tape.fault(ShapeError, f"weights of shape {getattr(w, 'shape', ())} do not fit {a.shape}")
        w = manipulation.reshape(w, *_lone(a, axis, w.shape[0]))
    scale = reductions.total(an_array(a.tape, broadcast_map(a.tape, lambda x, y: y, a, w)), axis)
    message = "Weights sum to zero, can't be normalized"
    reductions.require(a.tape, _folded(reductions.every, scale != 0.0), ZeroDivisionError(message))
    return reductions.total(an_array(a.tape, broadcast_map(a.tape, operator.mul, a, w)), axis) / scale


def ptp(a: Any, axis: Any = None) -> Any:
    """`np.ptp`."""
    if a.type is BOOL:
        raise a.tape.type_fault("`np.ptp` subtracts, and truth values are not subtracted")
    return reductions.largest(a, axis) - reductions.smallest(a, axis)


def _total(a: Array, made: Any, axis: Any, keepdims: bool = False) -> Any:
    """The sum of what was made of the elements of `a`."""
    return reductions.total(an_array(a.tape, made), axis, keepdims)


def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.count_nonzero`."""
    return _total(a, a != 0 if a.type is not BOOL else a, axis, keepdims)


def nansum(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.nansum`."""
    return _total(
        a, a if a.type in (INT, BOOL) else broadcast_map(a.tape, lambda x: chosen(x != x, 0.0, x), a), axis, keepdims
    )


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


def cumulative_sum(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    """`np.cumulative_sum`: of a vector, or along an axis that is named."""
    if x.ndim != 1 and axis is None:
        raise x.tape.fault(ShapeError, f"`np.cumulative_sum` of an array of shape {x.shape} needs `axis`")
    return cumulative(operator.add, 0)(x, axis, dtype)


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


def gradient(f: Any, *varargs: Any) -> Any:
    """`np.gradient` of a vector with even steps."""
    if f.ndim != 1 or len(varargs) > 1 or len(f) < 2 or (varargs and type_of(varargs[0]) is None):
        raise f.tape.type_fault("`np.gradient` is staged for a vector and one step", "use `np.diff`")
    step = varargs[0] if varargs else 1.0
    ends = [(f[1] - f[0]) / step, (f[-1] - f[-2]) / step]
    inside = (f[2:] - f[:-2]) / (2.0 * step)
    return concatenate.joined(f.tape, [[ends[0]], inside, [ends[1]]], 0, "np.gradient")


def interp(tape: Tape, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    """`np.interp`: the place is found by bisection, the line drawn as NumPy draws it."""
    points, values = (as_array(tape, v) for v in (xp, fp))
    if points is None or values is None or points.ndim != 1 or points.shape != values.shape or points.shape == (0,):
        raise tape.fault(ShapeError, "`np.interp` takes two vectors of one length: where, and the values there")
    points, values = converted(points, REAL), converted(values, REAL)
    for v in (points, values):
        atom_of(tape, v.box)
    last = points.shape[0] - 1
    low = _at(values, 0) if left is None else left
    high = _at(values, last) if right is None else right

    def at(point: Any) -> Any:
        return _interpolated(point * 1.0, points, values, last, low, high)

    return at(x) if type_of(x) is not None else broadcast_map(tape, at, _other(points, x))


def _interpolated(x: Any, points: Any, values: Any, last: int, low: Any, high: Any) -> Any:
    place: Any = 0
    step = 1 << max(last, 1).bit_length() - 1
    while step and last > 1:  # the last point but one that is not above x
        tried = P["imin"](place + step, last - 1)
        place = chosen(_at(points, tried) <= x, tried, place)
        step //= 2
    after = place + 1 if last else place
    begin, end = _at(points, place), _at(points, after)
    slope = (_at(values, after) - _at(values, place)) / (end - begin) if last else 0.0
    inside = slope * (x - begin) + _at(values, place) if last else _at(values, place)
    found = chosen(x < _at(points, 0), low, chosen(x > _at(points, last), high, inside))
    return chosen(x == _at(points, last), _at(values, last), found)


def _at(a: Array, index: Any) -> Any:
    """The element at an index that is known to be in range."""
    at = int_atom(a.tape, index)
    assert at is not None
    return wrap(a.tape, element(a, (at,)))


def select(tape: Tape, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """`np.select`: the first choice whose condition holds; all are computed."""
    found = default
    for condition, choice in zip(reversed(list(condlist)), reversed(list(choicelist)), strict=True):
        operands = [v if type_of(v) is not None else as_array(tape, v) for v in (condition, choice, found)]
        found = broadcast_map(tape, chosen, *operands)
    return found


# --- functions that write


def write_at(a: Array, indices: Any, b: Any, op: Make) -> None:
    """`np.add.at(y, index, value)`: an index that comes twice counts twice."""
    set_(a, indices, b, op)


def fill_diagonal(a: Array, val: Any) -> None:
    """`np.fill_diagonal`."""
    if a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) > 1):
        raise a.tape.fault(ShapeError, f"`np.fill_diagonal` of an array of shape {a.shape}, which has no diagonal")
    count = of_host(a.tape, np.arange(min(a.shape)))
    scatter(a, [count] * a.ndim, val)


def put(a: Array, ind: Any, v: Any) -> None:
    """`np.put` into a vector."""
    if a.ndim != 1:
        raise a.tape.type_fault("`np.put` is staged for vectors", "write `y[i, j] = v`")
    set_(a, ind, v)
