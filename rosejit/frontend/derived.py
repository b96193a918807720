"""Functions of NumPy that are written with others of its functions, on staged arrays."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

import operator
from collections.abc import Callable
from typing import Any

from rosejit.errors import ShapeError
from rosejit.frontend import joining, products, reductions, shapes
from rosejit.frontend.array_methods import METHODS, put_all
from rosejit.frontend.arrays import Array, atom_of, of_host
from rosejit.frontend.elementwise import converted, mapped
from rosejit.frontend.gathers import scatter
from rosejit.frontend.indexing import get, set_
from rosejit.frontend.making import as_array
from rosejit.frontend.reductions import chosen
from rosejit.frontend.tape import Tape
from rosejit.frontend.values import P, int_atom, type_of, wrap
from rosejit.frontend.views import element
from rosejit.ir.types import REAL
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
        steps = diff(_other(y, x))
        steps = steps if steps.ndim == y.ndim else shapes.reshape(steps, *_lone(y, axis, steps.shape[0]))
    middle = (_along(y, axis, slice(1, None)) + _along(y, axis, slice(None, -1))) * (0.5 * steps)
    return reductions.total(middle, axis)


def _lone(a: Array, axis: int, length: int) -> list[int]:
    shape = [1] * a.ndim
    shape[axis] = length
    return shape


def cross(a: Any, b: Any) -> Any:
    """`np.cross` of vectors with three components, in the last axis."""
    other = _other(a, b)
    if a.shape[-1:] != (3,) or other.shape[-1:] != (3,):
        raise a.tape.fault(ShapeError, f"`np.cross` takes vectors of 3, given shapes {a.shape} and {other.shape}")
    x, y = ([_along(v, -1, k) for k in range(3)] for v in (a, other))
    parts = [x[(k + 1) % 3] * y[(k + 2) % 3] - x[(k + 2) % 3] * y[(k + 1) % 3] for k in range(3)]
    if a.ndim == other.ndim == 1:
        return as_array(a.tape, parts)
    return joining.stacked(a.tape, parts, -1, "np.cross")


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """`np.convolve`."""
    other = _other(a, v)
    if a.ndim != 1 or other.ndim != 1 or not len(a) or not len(other):
        raise a.tape.fault(ShapeError, f"`np.convolve` takes vectors, given shapes {a.shape} and {other.shape}")
    if len(other) > len(a):
        a, other = other, a
    wide = shapes.rearranged(np.pad)(a, len(other) - 1)
    starts = np.arange(len(a) + len(other) - 1)[:, None] + np.arange(len(other) - 1, -1, -1)
    whole = products.matmul(get(wide, of_host(a.tape, starts)), other)
    skip = {"full": 0, "same": (len(other) - 1) // 2, "valid": len(other) - 1}[mode]
    length = {"full": len(whole), "same": len(a), "valid": len(a) - len(other) + 1}[mode]
    return whole[skip : skip + length]


def polyval(p: Any, x: Any) -> Any:
    """`np.polyval`: by Horner's rule."""
    at = _other(p, x)
    found: Any = at * 0.0 if at.__class__ is Array else 0.0
    for coefficient in p:
        found = found * at + coefficient
    return found


# --- comparisons of arrays


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """`np.isclose`."""

    def close(x: Any, y: Any) -> Any:
        near = (abs(x - y) <= atol + rtol * abs(y)) & P["isfinite"](y) | (x == y)
        return near | ((x != x) & (y != y)) if equal_nan else near

    return mapped(a.tape, close, a, _other(a, b))


def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """`np.allclose`."""
    found = isclose(a, b, rtol, atol, equal_nan)
    return reductions.every(found) if found.__class__ is Array else found


def array_equal(a: Any, b: Any) -> Any:
    """`np.array_equal`."""
    other = _other(a, b)
    return getattr(other, "shape", ()) == a.shape and reductions.every(mapped(a.tape, operator.eq, a, other))


# --- averages and counts


def average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    """`np.average`."""
    if weights is None:
        return reductions.mean(a, axis)
    w = _other(a, weights)
    if w.shape != a.shape:
        w = shapes.reshape(w, *_lone(a, axis, w.shape[0]))
    return reductions.total(a * w, axis) / reductions.total(mapped(a.tape, lambda x, y: y, a, w), axis)


def ptp(a: Any, axis: Any = None) -> Any:
    """`np.ptp`."""
    return METHODS["max"](a, axis) - METHODS["min"](a, axis)


def _total(made: Any, axis: Any) -> Any:
    """The sum of what was made of elements; of an array without dimensions that is a number."""
    return +made if type_of(made) is not None else reductions.total(made, axis)


def count_nonzero(a: Any, axis: Any = None) -> Any:
    """`np.count_nonzero`."""
    return _total(a != 0 if a.type.name != "Bool" else a, axis)


def nansum(a: Any, axis: Any = None) -> Any:
    """`np.nansum`."""
    return _total(mapped(a.tape, lambda x: chosen(x != x, 0.0, x), a), axis)


def nan_to_num(a: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """`np.nan_to_num`."""
    largest = float(np.finfo(float).max)
    top, bottom = (largest if posinf is None else posinf), (-largest if neginf is None else neginf)

    def number(x: Any) -> Any:
        held = chosen(x == float("inf"), top, chosen(x == float("-inf"), bottom, x))
        return chosen(x != x, nan, held)

    return mapped(a.tape, number, a)


# --- other


def outer(a: Any, b: Any, op: Make) -> Any:
    """`np.add.outer(a, b)` and its like."""
    other = _other(a, b)
    rank = getattr(other, "ndim", 0)
    return mapped(a.tape, op, get(a, (Ellipsis, *[None] * rank)), other)


def gradient(f: Any, *spacing: Any) -> Any:
    """`np.gradient` of a vector with even steps."""
    if f.ndim != 1 or len(spacing) > 1 or len(f) < 2 or (spacing and type_of(spacing[0]) is None):
        raise f.tape.type_fault("`np.gradient` is staged for a vector and one step", "use `np.diff`")
    step = spacing[0] if spacing else 1.0
    ends = [(f[1] - f[0]) / step, (f[-1] - f[-2]) / step]
    inside = (f[2:] - f[:-2]) / (2.0 * step)
    return joining.joined(f.tape, [[ends[0]], inside, [ends[1]]], 0, "np.gradient")


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

    return at(x) if type_of(x) is not None else mapped(tape, at, _other(points, x))


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
    inside = slope * (x - begin) + _at(values, place)
    found = chosen(x < _at(points, 0), low, chosen(x > _at(points, last), high, inside))
    return chosen(x == _at(points, last), _at(values, last), found)


def _at(a: Array, index: Any) -> Any:
    """The element at an index that is known to be in range."""
    at = int_atom(a.tape, index)
    assert at is not None
    return wrap(a.tape, element(a, (at,)))


FUNCTIONS: dict[str, Make] = {
    "diff": diff, "trapezoid": trapezoid, "trapz": trapezoid, "cross": cross, "convolve": convolve, "polyval": polyval,
    "isclose": isclose, "allclose": allclose, "array_equal": array_equal, "average": average, "ptp": ptp,
    "count_nonzero": count_nonzero, "nansum": nansum, "nan_to_num": nan_to_num, "gradient": gradient,
    "fliplr": lambda a: shapes.flipped(a, 1), "flipud": lambda a: shapes.flipped(a, 0), "real": lambda a: a,
    "array_split": lambda a, sections, axis=0: shapes.split(a, sections, axis, False),
    "hsplit": lambda a, sections: shapes.split(a, sections, min(1, a.ndim - 1)),
    "vsplit": lambda a, sections: shapes.split(a, sections, 0),
    "atleast_1d": lambda a: shapes.at_least(a, 1), "atleast_2d": lambda a: shapes.at_least(a, 2),
}  # fmt: skip
"""The functions, whose first argument is a staged array."""


def select(tape: Tape, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """`np.select`: the first choice whose condition holds; all are computed."""
    found = default
    for condition, choice in zip(reversed(list(condlist)), reversed(list(choicelist)), strict=True):
        operands = [v if type_of(v) is not None else as_array(tape, v) for v in (condition, choice, found)]
        found = mapped(tape, chosen, *operands)
    return found


OF_SEVERAL: dict[str, Make] = {"interp": interp, "select": select}
"""The functions that are given the tape first."""


# --- functions that write


def fill_diagonal(a: Array, val: Any) -> None:
    """`np.fill_diagonal`."""
    count = of_host(a.tape, np.arange(min(a.shape)))
    scatter(a, [count] * a.ndim, val)


def put(a: Array, ind: Any, v: Any) -> None:
    """`np.put` into a vector."""
    if a.ndim != 1:
        raise a.tape.type_fault("`np.put` is staged for vectors", "write `y[i, j] = v`")
    set_(a, ind, v)


WRITING: dict[str, Make] = {"copyto": put_all, "fill_diagonal": fill_diagonal, "put": put}
