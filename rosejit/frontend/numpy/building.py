"""Builds arrays of arrays: blocks, insertions, borders, windows, and what the user's functions give."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import Any

from rosejit.errors import RoseValueError, ShapeError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.array import Array, host_data, of_host
from rosejit.frontend.arrays.broadcast import broadcast_shape, converted
from rosejit.frontend.arrays.call_binding import kind_of
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.arrays.zero_dimensional import mark
from rosejit.frontend.numpy import concatenate, manipulation
from rosejit.frontend.numpy.creation import DTYPES
from rosejit.frontend.numpy.staged_numpy import array_of, calling, of
from rosejit.frontend.values import rose_functions as rose
from rosejit.frontend.values.open_lengths import has_open, refuse
from rosejit.frontend.values.scalars import type_of
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.numeric import np

Make = Callable[..., Any]


# --- next to each other


def block(tape: Tape, arrays: Any) -> Any:
    """`np.block`: lists inside along the last axis, those around them along the axes before."""
    depth = _depth(tape, arrays)
    rank = max(depth, *(array_of(tape, "np.block", leaf).ndim for leaf in _leaves(arrays)))
    return _blocked(tape, arrays, depth, rank)


def _depth(tape: Tape, arrays: Any) -> int:
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(tape, item) for item in arrays}
    if len(depths) != 1:
        raise tape.fault(RoseValueError, "List depths are mismatched.")
    return depths.pop() + 1


def _leaves(arrays: Any) -> Iterator[Any]:
    if not isinstance(arrays, list):
        yield arrays
        return
    for item in arrays:
        yield from _leaves(item)


def _blocked(tape: Tape, arrays: Any, depth: int, rank: int) -> Any:
    if not isinstance(arrays, list):
        return manipulation.at_least(array_of(tape, "np.block", arrays), rank)
    parts = [_blocked(tape, item, depth - 1, rank) for item in arrays]
    return concatenate.joined(tape, parts, -depth, "np.block") if rank else parts[0]


def along_rows(tape: Tape, items: Any) -> Any:
    """`np.r_[items]`."""
    return _joined(tape, items, 0, 1, -1)


def along_columns(tape: Tape, items: Any) -> Any:
    """`np.c_[items]`."""
    return _joined(tape, items, -1, 2, 0)


def _joined(tape: Tape, items: Any, axis: int, rank: int, at: int) -> Any:
    """What `np.r_` joins: arrays, numbers and ranges; a text in front says along which axis, and of what rank."""
    items = list(items) if isinstance(items, tuple) else [items]
    if isinstance(items[0], str):
        words = items.pop(0).split(",")
        if words[0] in ("r", "c"):
            raise tape.type_fault("`np.r_['r']` makes matrices, which are not staged")
        axis, rank, at = [*map(int, words), *(axis, rank, at)[len(words) :]]
    parts: list[Any] = []
    for item in items:
        if isinstance(item, slice):
            parts.append(_range(tape, item))
        elif type_of(item) is not None:
            parts.append(manipulation.reshape(array_of(tape, "np.r_", item), 1))
        else:
            parts.append(array_of(tape, "np.r_", item))
        if parts[-1].ndim < rank:
            parts[-1] = _raised(parts[-1], rank, at)
    return concatenate.joined(tape, parts, axis, "np.r_")


def _range(tape: Tape, item: slice) -> Array:
    """Numbers from `start`: up to `stop`, or so many of them as an imaginary step says."""
    step, start = 1 if item.step is None else item.step, 0 if item.start is None else item.start
    if isinstance(step, complex):
        return array_of(tape, "np.r_", of(tape).linspace(start, item.stop, int(abs(step))))
    return array_of(tape, "np.r_", of(tape).arange(start, item.stop, step))


def _raised(part: Any, rank: int, at: int) -> Any:
    """An array with new axes, its own from `at` on."""
    own = part.ndim
    first = at if at >= 0 else rank - own + 1 + at
    first = max(0, min(first, rank - own))
    return get(part, (None,) * first + (slice(None),) * own + (None,) * (rank - own - first))


def ix_(tape: Tape, *args: Any) -> tuple[Any, ...]:
    """`np.ix_`."""
    found: list[Any] = []
    for k, arg in enumerate(args):
        part = array_of(tape, "np.ix_", arg)
        if part.type is BOOL and host_data(part) is not None:
            part = of_host(tape, np.nonzero(host_data(part))[0])
        if part.type is BOOL:
            raise tape.type_fault("`np.ix_` of a staged mask: how many indices it stands for only running tells")
        if part.ndim != 1:
            raise tape.fault(ShapeError, "Cross index must be 1 dimensional")
        shape = [1] * len(args)
        shape[k] = part.shape[0]
        found.append(manipulation.reshaped(part, tuple(shape)))
    return tuple(found)


def broadcast_arrays(tape: Tape, *args: Any) -> tuple[Any, ...]:
    """`np.broadcast_arrays`, which nobody may write."""
    parts = [array_of(tape, "np.broadcast_arrays", arg) for arg in args]
    shape = broadcast_shape(tape, parts)
    return tuple(manipulation.broadcast(part, shape) if part.shape != shape else part for part in parts)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """`np.insert`: NumPy says where which element goes, asked with their numbers."""
    tape = arr.tape
    given = converted(array_of(tape, "np.insert", values), arr.type)
    if axis is None:
        arr, axis = manipulation.reshape(arr, -1), 0
    axis = reductions.one_axis(arr, axis)
    size = prod(arr.shape)
    own = np.arange(1, size + 1).reshape(arr.shape)
    new = np.arange(size + 1, size + 1 + prod(given.shape)).reshape(given.shape)
    if any(hasattr(item, "tape") for item in (obj if isinstance(obj, (list, tuple)) else [obj])):
        raise tape.type_fault("`np.insert`: where something is inserted must be known while staging")
    places = np.insert(own, obj, new, axis)
    both = concatenate.joined(tape, [manipulation.reshape(arr, -1), manipulation.reshape(given, -1)], 0, "np.insert")
    return manipulation.picked(both, places)


# --- borders


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """`np.pad`: of one axis after the other."""
    if not isinstance(mode, str) or mode not in (*_MOVED, *_OF_VALUES):
        known = ", ".join(map(repr, sorted((*_MOVED, *_OF_VALUES))))
        raise array.tape.type_fault(f"`np.pad(..., mode={mode!r})` is not staged", f"staged are {known}")
    if mode in _MOVED and kwargs.get("reflect_type", "even") == "even":
        return manipulation.rearranged(np.pad)(array, pad_width, mode=mode, **kwargs)
    if mode in _MOVED:
        raise array.tape.type_fault("`np.pad(..., reflect_type='odd')` is not staged", "write `2 * x[0] - x[k]`")
    key = _OF_VALUES[mode]
    if set(kwargs) - {key}:
        raise array.tape.fault(RoseValueError, f"unsupported keyword arguments for mode {mode!r}: {set(kwargs)}")
    widths = _pairs(array, pad_width)
    option: Any = kwargs.get(key, 0 if key != "stat_length" else None)
    options = [(None, None)] * array.ndim if option is None else _pairs(array, option)
    found: Any = array
    for axis, (width, pair) in enumerate(zip(widths, options, strict=True)):
        ends = [_border(found, axis, *each, mode) for each in zip(width, pair, (0, -1), strict=True)]
        found = concatenate.joined(array.tape, [ends[0], found, ends[1]], axis, "np.pad")
    return found


_MOVED = ("edge", "reflect", "symmetric", "wrap")
_OF_VALUES = {
    "constant": "constant_values", "linear_ramp": "end_values", "maximum": "stat_length", "minimum": "stat_length",
    "mean": "stat_length", "median": "stat_length",
}  # fmt: skip
"""The modes that make new numbers, and the keyword of each."""


def _pairs(a: Any, value: Any) -> list[Any]:
    """Two values for each axis, of one, two, or two for each."""
    if isinstance(value, dict):
        return [_pair(value.get(k, value.get(k - a.ndim, 0))) for k in range(a.ndim)]
    if not isinstance(value, (list, tuple, np.ndarray)) and getattr(value, "ndim", 0) == 0:
        return [(value, value)] * a.ndim
    rows = list(value)
    if len(rows) == 1:
        return [_pair(rows[0])] * a.ndim
    if (
        all(getattr(row, "ndim", np.ndim(row) if not hasattr(row, "tape") else 0) == 0 for row in rows)
        and len(rows) == 2
    ):
        return [tuple(rows)] * a.ndim
    if len(rows) != a.ndim:
        raise a.tape.fault(RoseValueError, f"operands could not be broadcast to a pair for each of {a.ndim} axes")
    return [_pair(row) for row in rows]


def _is_row(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or bool(getattr(value, "ndim", 0))


def _pair(value: Any) -> tuple[Any, Any]:
    items = list(value) if _is_row(value) else [value, value]
    return (items[0], items[-1])


def _border(a: Any, axis: int, width: Any, value: Any, end: int, mode: str) -> Any:
    """What is put before the first element along an axis (or behind the last)."""
    xp, shape = of(a.tape), list(a.shape)
    if not isinstance(width, (int, np.integer)) or width < 0:
        raise a.tape.fault(RoseValueError, "index can't contain negative values")
    shape[axis] = int(width)
    kind = {REAL: float, INT: int}.get(a.type, bool)
    if mode == "constant":
        return xp.full(tuple(shape), value).astype(kind)
    if not a.shape[axis]:
        raise a.tape.fault(
            RoseValueError, f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
        )
    at: list[Any] = [slice(None)] * a.ndim
    if mode == "linear_ramp":
        if a.type is not REAL:
            raise a.tape.type_fault("a ramp of integers is not staged", "convert with `.astype(float)`")
        at[axis] = slice(0, 1) if not end else slice(-1, None)
        steps = np.arange(float(width)).reshape([-1 if k == axis else 1 for k in range(a.ndim)])
        steps = steps if not end else np.flip(steps, axis)
        edge = get(a, tuple(at))
        return steps * ((edge - value) / float(max(width, 1))) + value
    length = a.shape[axis] if value is None else min(int(value), a.shape[axis])
    if value is not None and (value < 0 or (not value and mode in ("maximum", "minimum"))):
        raise a.tape.fault(RoseValueError, "stat_length of 0 yields no value for padding")
    at[axis] = slice(0, length) if not end else slice(a.shape[axis] - length, None)
    found = getattr(xp, {"maximum": "max", "minimum": "min"}.get(mode, mode))(
        get(a, tuple(at)), axis=axis, keepdims=True
    )
    found = found if a.type is REAL or found.type is a.type else xp.rint(found).astype(kind)
    return manipulation.broadcast(found, tuple(shape))


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, subok: bool = False, writeable: bool = False
) -> Any:
    """`np.lib.stride_tricks.sliding_window_view`, which nobody may write."""
    if writeable:
        raise x.tape.type_fault("windows that are written are not staged", "write `x` itself")
    places = np.arange(1, prod(x.shape) + 1).reshape(x.shape)
    shown = np.lib.stride_tricks.sliding_window_view(places, window_shape, axis)
    return manipulation.read_only(x, manipulation.picked(x, shown), "sliding_window_view")


# --- what functions of the user's give


def each(one: Any, parts: Any) -> Any:
    """`one` of the elements, or rows, of some arrays in turn."""
    return np.array([one(*[part[k] for part in parts]) for k in rose.range(len(parts[0]))])


def of_each(tape: Tape, function: Any, parts: list[Any]) -> Any:
    """An array of what a function of the user's gives for each element, or row: one loop."""
    return tape.session.run(each, lambda run: run(function, parts))


def apply_along_axis(tape: Tape, func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.apply_along_axis`."""
    a = array_of(tape, "np.apply_along_axis", arr)
    axis = reductions.one_axis(a, axis)
    kept = [k for k in range(a.ndim) if k != axis]
    lengths = tuple(a.shape[k] for k in kept)
    if not prod(lengths):
        raise tape.fault(RoseValueError, "Cannot apply_along_axis when any iteration dimensions are 0")
    one = calling(tape, func1d)
    rows = manipulation.reshaped(manipulation.transposed(a, (*kept, axis)), (prod(lengths), a.shape[axis]))
    found = of_each(tape, lambda row: one(row, *args, **kwargs), [rows])
    more = found.shape[1:]
    if not lengths:
        return get(found, 0)
    found = manipulation.reshaped(found, lengths + more)
    order = [*range(axis), *range(len(lengths), found.ndim), *range(axis, len(lengths))]
    return manipulation.transposed(found, order) if more else found


def apply_over_axes(tape: Tape, func: Any, a: Any, axes: Any) -> Any:
    """`np.apply_over_axes`."""
    found: Any = array_of(tape, "np.apply_over_axes", a)
    for axis in np.atleast_1d(np.array(axes)).tolist():
        axis = reductions.one_axis(found, axis)
        made = array_of(tape, "np.apply_over_axes", calling(tape, func)(found, axis))
        made = made if made.ndim == found.ndim else manipulation.expanded(made, axis)
        if made.ndim != found.ndim:
            raise tape.fault(RoseValueError, "function is not returning an array of the correct shape")
        found = made
    return found


def fromfunction(tape: Tape, function: Any, shape: Any, dtype: Any = float, like: Any = None, **kwargs: Any) -> Any:
    """`np.fromfunction`: called once, with the indices."""
    if like is not None:
        raise tape.type_fault("`np.fromfunction(..., like=...)` is not staged", "leave out `like`")
    kind = kind_of(tape, dtype)
    grid = np.indices(shape, dtype=DTYPES[kind])
    return calling(tape, function)(*[of_host(tape, each) for each in grid], **kwargs)


def vectorized(tape: Tape, made: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of what `np.vectorize` made: the function runs in one loop over the elements."""
    if made.signature is not None or made.otypes is not None or made.excluded or kwargs:
        raise tape.type_fault(
            "`np.vectorize` is staged without `signature`, `otypes`, `excluded` and keywords", "write the loop"
        )
    parts = [array_of(tape, "np.vectorize", arg) for arg in args]
    shape = broadcast_shape(tape, parts)
    if not prod(shape):
        raise tape.fault(RoseValueError, "cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    if not shape:
        return mark(tape, calling(tape, made.pyfunc)(*(get(part, ()) for part in parts)), "np.vectorize")
    flat = [manipulation.reshaped(manipulation.broadcast(part, shape), (prod(shape),)) for part in parts]
    found = of_each(tape, calling(tape, made.pyfunc), flat)
    if not isinstance(found, Array) or found.ndim != 1:
        raise tape.type_fault("a function that `np.vectorize` calls gives one number")
    return manipulation.reshaped(found, shape)


# --- element after element


def ndenumerate(tape: Tape, arr: Any) -> Iterator[Any]:
    """`np.ndenumerate`: indices and elements, on the host."""
    a = array_of(tape, "np.ndenumerate", arr)
    return ((at, get(a, at)) for at in product(*map(range, a.shape)))


def nditer(tape: Tape, op: Any, order: Any = "K") -> Iterator[Any]:
    """`np.nditer` of arrays to be read: their elements in order, together."""
    several = isinstance(op, (list, tuple)) and any(hasattr(part, "shape") for part in op)
    parts = broadcast_arrays(tape, *op) if several else (array_of(tape, "np.nditer", op),)
    if order != "C" and parts[0].ndim > 1:
        raise tape.type_fault(f"`np.nditer(..., order={order!r})` goes as elements lie in memory", "give `order='C'`")
    if not prod(parts[0].shape):
        raise tape.fault(RoseValueError, "Iteration of zero-sized operands is not enabled")
    places = product(*map(range, parts[0].shape))
    return (tuple(get(part, at) for part in parts) if several else get(parts[0], at) for at in places)


class FlatElements:
    """`a.flat`: the elements of an array in their order."""

    __slots__ = ("_array", "_put")

    def __init__(self, a: Any, put: Make) -> None:
        if has_open(a.shape):
            refuse(a.tape, "`.flat`")
        self._array = a
        self._put = put

    def __getitem__(self, index: Any) -> Any:
        found = get(self._elements(), index)
        return found if found.__class__ is not Array else found.copy()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._put(self._array, index, value)

    def __len__(self) -> int:
        return prod(self._array.shape)

    def __iter__(self) -> Iterator[Any]:
        return (get(self._array, at) for at in product(*map(range, self._array.shape)))

    def _elements(self) -> Array:
        return manipulation.reshaped(self._array, (prod(self._array.shape),))

    def copy(self) -> Array:
        """The elements in a new array."""
        return self._elements()
