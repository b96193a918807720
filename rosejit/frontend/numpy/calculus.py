"""Differences, gradients, integrals and interpolation of sampled values."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

import math
import operator
from typing import Any

from rosejit.errors import RoseValueError, ShapeError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.access import element
from rosejit.frontend.arrays.array import atom_of
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.broadcast import broadcast_map, converted
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.arrays.reductions import chosen
from rosejit.frontend.numpy import concatenate, manipulation
from rosejit.frontend.numpy.array_methods import cumulative
from rosejit.frontend.numpy.staged_numpy import array_of, of
from rosejit.frontend.values.scalars import P, int_atom, type_of, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import BOOL, INT, REAL


def along(a: Any, axis: int, place: Any) -> Any:
    """`a[..., place, ...]` with `place` at `axis`."""
    if not -a.ndim <= axis < a.ndim:
        raise a.tape.fault(ShapeError, f"axis {axis} is out of bounds for an array of shape {a.shape}")
    at: list[Any] = [slice(None)] * a.ndim
    at[axis] = place
    return get(a, tuple(at))


def lone(a: Any, axis: int, length: int) -> list[int]:
    """The shape that puts a vector along one axis of `a`."""
    shape = [1] * a.ndim
    shape[axis] = length
    return shape


# --- differences


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = ..., append: Any = ...) -> Any:
    """`np.diff`."""
    if n == 0:
        return a
    if n < 0:
        raise a.tape.fault(RoseValueError, f"order must be non-negative but got {n!r}")
    axis = reductions.one_axis(a, axis)
    ends = [None if end is ... else _end(a, end, axis) for end in (prepend, append)]
    if ends != [None, None]:
        parts = [part for part in (ends[0], a, ends[1]) if part is not None]
        a = concatenate.joined(a.tape, parts, axis, "np.diff")
    for _ in range(n):
        after, before = along(a, axis, slice(1, None)), along(a, axis, slice(None, -1))
        a = after ^ before if a.type is BOOL else after - before
    return a


def _end(a: Any, end: Any, axis: int) -> Any:
    made = array_of(a.tape, "np.diff", end)
    shape = list(a.shape)
    shape[axis] = 1
    return made if made.shape else manipulation.broadcast(made, tuple(shape))


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """`np.ediff1d`: differences of all elements in order, and what is given before and behind."""
    tape = ary.tape
    if ary.type is BOOL:
        raise tape.type_fault("`np.ediff1d` subtracts, and truth values are not subtracted")
    middle = diff(manipulation.reshape(ary, -1))
    given = [part for part in (to_begin, middle, to_end) if part is not None]
    whole = [manipulation.reshape(array_of(tape, "np.ediff1d", part), -1) for part in given]
    if any(part.type is not ary.type for part in whole):
        raise tape.type_fault("`np.ediff1d`: what is put before and behind has another type than the array")
    return concatenate.joined(tape, whole, 0, "np.ediff1d") if len(whole) > 1 else middle


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """`np.trapezoid`."""
    steps: Any = dx
    if x is not None:
        at = array_of(y.tape, "np.trapezoid", x)
        steps = diff(at, axis=axis if at.ndim > 1 else -1)
        steps = steps if at.ndim > 1 else manipulation.reshape(steps, *lone(y, axis, steps.shape[0]))
    middle = (along(y, axis, slice(1, None)) + along(y, axis, slice(None, -1))) * steps * 0.5
    return reductions.total(middle, axis)


def cumulative_sum(x: Any, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """`np.cumulative_sum`: of a vector, or along an axis that is named."""
    return _running(x, "sum", axis, dtype, include_initial)


def cumulative_prod(x: Any, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """`np.cumulative_prod`."""
    return _running(x, "prod", axis, dtype, include_initial)


def _running(x: Any, name: str, axis: Any, dtype: Any, include_initial: bool) -> Any:
    if x.ndim != 1 and axis is None:
        raise x.tape.fault(ShapeError, f"`np.cumulative_{name}` of an array of shape {x.shape} needs `axis`")
    start = 0 if name == "sum" else 1
    axis = 0 if axis is None else reductions.one_axis(x, axis)
    found = cumulative(operator.mul if start else operator.add, start or -0.0)(x, axis, dtype)
    if not include_initial:
        return found
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    first = of(x.tape).full(shape, start, float if found.type is REAL else int)
    return concatenate.joined(x.tape, [first, found], axis, f"np.cumulative_{name}")


def unwrap(p: Any, discont: Any = None, axis: int = -1, period: Any = 2 * math.pi) -> Any:
    """`np.unwrap`: the multiples of the period that are added have no derivative by `p`."""
    tape, xp = p.tape, of(p.tape)
    axis = reductions.one_axis(p, axis)
    if p.type is BOOL:
        raise tape.type_fault("`np.unwrap` subtracts, and truth values are not subtracted")
    if p.type is INT and type_of(period) is INT:
        raise tape.type_fault("`np.unwrap` of integers with a period that is one is not staged", "`.astype(float)`")
    p, half = converted(p, REAL), period / 2.0
    least = half if discont is None else xp.maximum(discont, half)
    steps = diff(p, axis=axis)
    folded = xp.mod(steps + half, period) - half
    folded = xp.where((folded == -half) & (steps > 0.0), half, folded)
    fixed = xp.where(abs(steps) < least, 0.0, folded - steps)
    first = along(p, axis, slice(0, 1))
    return concatenate.joined(tape, [first, along(p, axis, slice(1, None)) + xp.cumsum(fixed, axis)], axis, "np.unwrap")


# --- gradients


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """`np.gradient`: central differences, of even or uneven steps, along one axis or several."""
    tape = f.tape
    axes = reductions.axes_of(f, axis if axis is None or isinstance(axis, tuple) else int(axis))
    if isinstance(axis, tuple):
        axes = tuple(reductions.one_axis(f, k) for k in axis)
    steps = list(varargs) or [1.0]
    steps = steps * len(axes) if len(steps) == 1 and _is_number(steps[0]) else steps
    if len(steps) != len(axes):
        raise tape.type_fault(f"`np.gradient` takes one step, or one for each of {len(axes)} axes")
    if edge_order not in (1, 2):
        raise tape.fault(RoseValueError, "'edge_order' greater than 2 not supported")
    if f.type is BOOL:
        raise tape.type_fault("`np.gradient` subtracts, and truth values are not subtracted")
    f = converted(f, REAL)
    found = [_slopes(f, step, k, edge_order) for k, step in zip(axes, steps, strict=True)]
    return found[0] if len(axes) == 1 else tuple(found)


def _is_number(step: Any) -> bool:
    return type_of(step) is not None or getattr(step, "shape", None) == ()


def _slopes(f: Any, step: Any, axis: int, edge_order: int) -> Any:
    n, tape = f.shape[axis], f.tape
    if n < edge_order + 1:
        what = "the array is too small for a numerical gradient: it needs (edge_order + 1) elements along each axis"
        raise tape.fault(RoseValueError, what)

    def at(place: Any) -> Any:
        return along(f, axis, place)

    if _is_number(step):
        inside = (at(slice(2, None)) - at(slice(None, -2))) / (2.0 * step)
        before = after = step
    else:
        places = array_of(tape, "np.gradient", step)
        if places.shape != (n,):
            raise tape.fault(RoseValueError, "distances must match the length of the corresponding dimension")
        gaps = diff(converted(places, REAL))
        left: Any
        right: Any
        left, right = (manipulation.reshape(g, *lone(f, axis, n - 2)) for g in (gaps[:-1], gaps[1:]))
        a, c = -right / (left * (left + right)), left / (right * (left + right))
        b = (right - left) / (left * right)
        inside = a * at(slice(None, -2)) + b * at(slice(1, -1)) + c * at(slice(2, None))
        before, after = gaps, gaps[::-1]
    ends = [_edge(f, axis, before, 1, edge_order), _edge(f, axis, after, -1, edge_order)]
    return concatenate.joined(tape, [ends[0], inside, ends[1]], axis, "np.gradient")


def _edge(f: Any, axis: int, steps: Any, way: int, order: int) -> Any:
    """The slope at the first element (or the last, going back)."""

    def at(k: int) -> Any:
        place = k if way > 0 else -1 - k
        return along(f, axis, slice(place, place + 1 or None))

    first = steps if _is_number(steps) else steps[0]
    if order == 1:
        return (at(1) - at(0) if way > 0 else at(0) - at(1)) / first
    second = steps if _is_number(steps) else steps[1]
    a = -(2.0 * first + second) / (first * (first + second))
    b, c = (first + second) / (first * second), -first / (second * (first + second))
    left, middle, right = [factor * way * at(k) for k, factor in enumerate((a, b, c))][::way]
    return left + middle + right


# --- interpolation


def interp(tape: Tape, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """`np.interp`: the place is found by bisection, the line drawn as NumPy draws it."""
    points: Any
    values: Any
    points, values = (as_array(tape, v) for v in (xp, fp))
    if points is None or values is None or points.ndim != 1 or points.shape != values.shape or points.shape == (0,):
        raise tape.fault(ShapeError, "`np.interp` takes two vectors of one length: where, and the values there")
    points, values = converted(points, REAL), converted(values, REAL)
    if period is not None:
        return _periodic(tape, x, points, values, period)
    for v in (points, values):
        atom_of(tape, v.box)
    last = points.shape[0] - 1
    low = _at(values, 0) if left is None else left
    high = _at(values, last) if right is None else right

    def at(point: Any) -> Any:
        return _interpolated(point * 1.0, points, values, last, low, high)

    return at(x) if type_of(x) is not None else broadcast_map(tape, at, array_of(tape, "np.interp", x))


def _periodic(tape: Tape, x: Any, points: Any, values: Any, period: Any) -> Any:
    """Of a function that repeats: the points in order in one period, and one more on each side."""
    xp, period = of(tape), abs(period)
    reductions.require(tape, period != 0, ValueError("period must be a non-zero value"))
    points = points % period
    order = xp.argsort(points)
    points, values = points[order], values[order]
    points = xp.concatenate([points[-1:] - period, points, points[:1] + period])
    return interp(tape, x % period if type_of(x) is not None else array_of(tape, "np.interp", x) % period, points,
                  xp.concatenate([values[-1:], values, values[:1]]))  # fmt: skip


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


def _at(a: Any, index: Any) -> Any:
    """The element at an index that is known to be in range."""
    at = int_atom(a.tape, index)
    assert at is not None
    return wrap(a.tape, element(a, (at,)))
