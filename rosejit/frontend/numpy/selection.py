"""Sets and selection: elements that are picked, and put back, by indices, conditions and order."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

from collections.abc import Callable
from math import prod
from typing import Any

from rosejit.errors import RoseValueError, ShapeError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.access import check_writable
from rosejit.frontend.arrays.array import Array, host_data, of_host
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.broadcast import an_array, broadcast_map, broadcast_shape, converted
from rosejit.frontend.arrays.getitem import get, set_
from rosejit.frontend.arrays.reductions import chosen
from rosejit.frontend.numpy import manipulation, sorting
from rosejit.frontend.numpy.array_methods import put_all
from rosejit.frontend.numpy.staged_numpy import array_of, calling, of, vector
from rosejit.frontend.values.scalars import type_of
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.numeric import np

Make = Callable[..., Any]
_FEW = 16
"""Among so many an element is looked for one by one; more are sorted first."""


# --- sets


def isin(tape: Tape, element: Any, test_elements: Any, invert: bool = False) -> Any:
    """`np.isin`."""
    xp = of(tape)
    a, b = (array_of(tape, "np.isin", v) for v in (element, test_elements))
    among = manipulation.reshape(b, -1)
    if (a.type is BOOL) is not (b.type is BOOL):
        raise tape.type_fault("`np.isin` of numbers among truth values, or the other way round", "convert them")
    if not among.shape[0]:
        found = broadcast_map(tape, lambda x: chosen(x == x, False, False), a)
    elif among.shape[0] <= _FEW:
        found = xp.any(xp.expand_dims(a, -1) == among, axis=-1)
    else:
        ranked = xp.sort(among)
        at = xp.minimum(xp.searchsorted(ranked, a), among.shape[0] - 1)
        found = ranked[at] == a
    return ~found if invert else found


# --- along an axis


def _picks(arr: Any, indices: Any, axis: int) -> tuple[Any, ...]:
    """The index of an array that takes `indices` along one axis, and stays where it is along the others."""
    if not hasattr(indices, "dtype"):
        raise arr.tape.type_fault(f"`indices` is an array of integers, given {type(indices).__name__}", "`np.array`")
    at = array_of(arr.tape, "an index", indices)
    if at.type is not INT:
        raise arr.tape.fault(ShapeError, "`indices` must be an integer array")
    if at.ndim != arr.ndim:
        raise arr.tape.fault(RoseValueError, "`indices` and `arr` must have the same number of dimensions")
    grid = [of_host(arr.tape, line) for line in np.ogrid[tuple(slice(n) for n in arr.shape)]]
    return tuple(at if k == axis else line for k, line in enumerate(grid))


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """`np.take_along_axis`."""
    if axis is None:
        arr, axis = manipulation.reshape(arr, -1), 0
    axis = reductions.one_axis(arr, axis)
    return get(arr, _picks(arr, indices, axis))


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """`np.put_along_axis`."""
    if axis is None:
        check_writable(arr)
        flat: Any = manipulation.reshaped(arr, (prod(arr.shape),))
        set_(flat, _picks(flat, indices, 0), values)
        put_all(arr, manipulation.reshaped(flat, arr.shape))
        return
    axis = reductions.one_axis(arr, axis)
    set_(arr, _picks(arr, indices, axis), values)


def lexsort(tape: Tape, keys: Any, axis: Any = -1) -> Any:
    """`np.lexsort`: by the last key; where it is equal, by those before."""
    xp = of(tape)
    rows = list(keys) if isinstance(keys, (list, tuple)) else list(array_of(tape, "np.lexsort", keys))
    rows = [array_of(tape, "np.lexsort", row) for row in rows]
    if axis is None:
        raise tape.type_fault("`np.lexsort` takes an axis")
    if not rows or any(row.shape != rows[0].shape or not row.shape for row in rows):
        raise tape.fault(ShapeError, "`np.lexsort` takes keys of one shape")
    order = sorting.argsort(rows[0], axis)
    for row in rows[1:]:
        order = xp.take_along_axis(order, sorting.argsort(xp.take_along_axis(row, order, axis), axis), axis)
    return order


def partition(a: Any, kth: Any, axis: Any = -1) -> Any:
    """`np.partition`: sorted, which is one of the orders that it may give."""
    _check_places(a, kth, axis)
    return sorting.sort(a, axis)


def argpartition(a: Any, kth: Any, axis: Any = -1) -> Any:
    """`np.argpartition`: the order of a sort."""
    _check_places(a, kth, axis)
    return sorting.argsort(a, axis)


def partition_in_place(a: Any, kth: Any, axis: Any = -1) -> None:
    """`x.partition(kth)`."""
    put_all(a, partition(a, kth, axis))


def _check_places(a: Any, kth: Any, axis: Any) -> None:
    places = array_of(a.tape, "kth", kth)
    count = prod(a.shape) if axis is None else a.shape[reductions.one_axis(a, axis)]
    if places.type is not INT:
        raise a.tape.fault(ShapeError, "Partition index must be integer")
    if prod(a.shape):
        inside = of(a.tape).all((places < count) & (places >= -count))
        reductions.require(a.tape, inside, ValueError("kth is out of bounds"))


# --- choices


def choose(a: Any, choices: Any, mode: str = "raise") -> Any:
    """`np.choose`: all choices are computed."""
    tape, xp = a.tape, of(a.tape)
    options = [v if type_of(v) is not None else array_of(tape, "np.choose", v) for v in list(choices)]
    count = len(options)
    if a.type is not INT or not count or mode not in ("raise", "wrap", "clip"):
        raise tape.type_fault("`np.choose` takes integers, and a list of choices")
    at: Any = xp.clip(a, 0, count - 1) if mode == "clip" else a % count if mode == "wrap" else a
    if mode == "raise":
        reductions.require(tape, xp.all((a >= 0) & (a < count)), ValueError("invalid entry in choice array"))
    at = an_array(tape, at)
    found: Any = options[-1]
    for k in range(count - 2, -1, -1):
        found = broadcast_map(tape, lambda i, x, y, k=k: chosen(i == k, x, y), at, options[k], found)
    return broadcast_map(tape, lambda i, x: x, at, found) if count == 1 else found


def select(tape: Tape, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """`np.select`: the first choice whose condition holds; all are computed."""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise tape.fault(RoseValueError, "list of cases must be same length as list of conditions")
    found = default
    for condition, choice in zip(reversed(list(condlist)), reversed(list(choicelist)), strict=True):
        operands = [v if type_of(v) is not None else as_array(tape, v) for v in (condition, choice, found)]
        if any(v is None for v in operands):
            raise tape.type_fault("`np.select` takes arrays and numbers")
        found = broadcast_map(tape, chosen, *operands)
    return found


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """`np.piecewise`: each function is called with what its condition picks, and runs only there."""
    tape, xp = x.tape, of(x.tape)
    functions = list(funclist)
    conditions = _conditions(x, condlist)
    at = x if x.shape else manipulation.reshaped(x, (1,))
    masks = [_mask_of(at, condition) for condition in conditions]
    if len(functions) == len(masks) + 1:
        rest = masks[0]
        for mask in masks[1:]:
            rest = rest | mask
        masks.append(~rest)
    if len(functions) != len(masks):
        raise tape.fault(
            RoseValueError, f"with {len(masks)} condition(s), {len(masks)} or {len(masks) + 1} functions are expected"
        )
    found: Any = xp.zeros(at.shape, {REAL: float, INT: int, BOOL: bool}.get(at.type))
    for mask, function in zip(masks, functions, strict=True):
        value = calling(tape, function)(get(at, mask), *args, **kw) if callable(function) else function
        set_(found, mask, value)
    return found if x.shape else found[0]


def _mask_of(x: Any, condition: Any) -> Any:
    mask = converted(array_of(x.tape, "np.piecewise", condition), BOOL)
    if mask.shape not in ((), x.shape):
        raise x.tape.fault(ShapeError, f"a condition of shape {mask.shape} does not fit the shape {x.shape}")
    return manipulation.broadcast(mask, x.shape)


def _conditions(x: Any, condlist: Any) -> list[Any]:
    """The conditions: a list of arrays, or one, as NumPy tells."""
    if type_of(condlist) is not None:
        return [condlist]
    items = list(condlist)
    if not items:
        raise x.tape.fault(RoseValueError, "`np.piecewise` takes one condition at least")
    return items if isinstance(items[0], (list, np.ndarray, Array)) or not x.ndim else [condlist]


# --- by conditions


def extract(tape: Tape, condition: Any, arr: Any) -> Any:
    """`np.extract`: what a staged condition picks has a length that only running tells."""
    mask = converted(manipulation.reshape(array_of(tape, "np.extract", condition), -1), BOOL)
    return get(manipulation.reshape(array_of(tape, "np.extract", arr), -1), mask)


def compress(tape: Tape, condition: Any, a: Any, axis: Any = None) -> Any:
    """`np.compress`."""
    return _compressed(array_of(tape, "np.compress", a), condition, axis)


def compress_method(a: Any, condition: Any, axis: Any = None) -> Any:
    """`x.compress(condition)`."""
    return _compressed(a, condition, axis)


def _compressed(a: Any, condition: Any, axis: Any) -> Any:
    mask = converted(vector(a.tape, "np.compress", condition), BOOL)
    if axis is None:
        a, axis = manipulation.reshape(a, -1), 0
    axis = reductions.one_axis(a, axis)
    length = mask.shape[0]
    known = host_data(mask)
    if known is not None and length > a.shape[axis]:
        known = np.nonzero(known)[0]
        return get(a, (*[slice(None)] * axis, known))
    part = get(a, (*[slice(None)] * axis, slice(0, length)))
    return get(part, (*[slice(None)] * axis, mask))


def place(arr: Any, mask: Any, vals: Any) -> None:
    """`np.place`: values in turn, wherever a mask holds."""
    xp = of(arr.tape)
    given: Any = manipulation.reshape(array_of(arr.tape, "np.place", vals), -1)
    check_writable(arr)
    where = converted(array_of(arr.tape, "np.place", mask), BOOL)
    if where.shape != arr.shape:
        raise arr.tape.fault(RoseValueError, "place: mask and data must be the same size")
    if not given.shape[0]:
        reductions.require(arr.tape, ~xp.any(where), ValueError("Cannot insert from an empty array!"))
        return
    counted: Any = manipulation.reshaped(xp.cumsum(where), arr.shape)
    rank = counted - 1
    put_all(arr, xp.where(where, given[xp.maximum(rank, 0) % given.shape[0]], arr))


def putmask(a: Any, mask: Any, values: Any) -> None:
    """`np.putmask`: values by their place, wherever a mask holds."""
    xp = of(a.tape)
    given: Any = manipulation.reshape(array_of(a.tape, "np.putmask", values), -1)
    check_writable(a)
    where = converted(array_of(a.tape, "np.putmask", mask), BOOL)
    if where.shape != a.shape:
        raise a.tape.fault(RoseValueError, "putmask: mask and data must be the same size")
    if given.shape[0]:
        at = np.arange(prod(a.shape)).reshape(a.shape) % given.shape[0]
        put_all(a, xp.where(where, given[at], a))


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """`np.put`: into the elements in their order; values are repeated."""
    xp = of(a.tape)
    given: Any = manipulation.reshape(array_of(a.tape, "np.put", v), -1)
    check_writable(a)
    at: Any = manipulation.reshape(array_of(a.tape, "np.put", ind), -1)
    size = prod(a.shape)
    if mode not in ("raise", "wrap", "clip"):
        raise a.tape.fault(RoseValueError, f"clipmode must be 'clip', 'raise' or 'wrap', given {mode!r}")
    at = at if mode == "raise" else xp.clip(at, 0, size - 1) if mode == "clip" else at % size
    values = given[np.arange(at.shape[0]) % given.shape[0]] if given.shape[0] else given
    put_flat(a, at, values)


def put_method(a: Any, indices: Any, values: Any, mode: str = "raise") -> None:
    """`x.put(indices, values)`."""
    put(a, indices, values, mode)


def fill_flat(a: Any, value: Any) -> None:
    """`a.flat = value`: values are repeated."""
    given = manipulation.reshape(array_of(a.tape, "a.flat", value), -1)
    put_flat(a, slice(None), get(given, np.arange(prod(a.shape)) % max(given.shape[0], 1)))


def put_flat(a: Any, index: Any, value: Any) -> None:
    """`a.flat[index] = value`."""
    if a.ndim == 1:
        set_(a, index, value)
        return
    check_writable(a)
    flat: Any = manipulation.reshaped(a, (prod(a.shape),))
    set_(flat, index, value)
    put_all(a, manipulation.reshaped(flat, a.shape))


def copy_to(dst: Any, src: Any, where: Any = True) -> None:
    """`np.copyto`."""
    if where is True:
        put_all(dst, src)
        return
    check_writable(dst)
    mask = reductions.as_mask(dst, where) if type_of(where) is None else where
    source = src if type_of(src) is not None else array_of(dst.tape, "np.copyto", src)
    if broadcast_shape(dst.tape, (mask, source), dst.shape) != dst.shape:
        raise dst.tape.fault(ShapeError, f"what is copied does not fit into the shape {dst.shape}")
    put_all(dst, broadcast_map(dst.tape, chosen, mask, source, dst))


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """`np.fill_diagonal`: values are repeated."""
    if a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) > 1):
        raise a.tape.fault(ShapeError, f"`np.fill_diagonal` of an array of shape {a.shape}, which has no diagonal")
    given = manipulation.reshape(array_of(a.tape, "np.fill_diagonal", val), -1)
    if not given.shape[0]:
        return
    strides = [prod(a.shape[k + 1 :]) for k in range(a.ndim)]
    end = prod(a.shape) if wrap or a.ndim > 2 else min(prod(a.shape), a.shape[1] * a.shape[1])
    places = range(0, end, sum(strides))
    if not places:
        return
    found = [np.array([at // step % n for at in places]) for step, n in zip(strides, a.shape, strict=True)]
    set_(a, tuple(found), get(given, np.array([k % given.shape[0] for k in range(len(places))])))


# --- indices


def unravel_index(tape: Tape, indices: Any, shape: Any, order: Any = "C") -> tuple[Any, ...]:
    """`np.unravel_index`."""
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    if order == "F":
        return unravel_index(tape, indices, lengths[::-1])[::-1]
    if order != "C":
        raise tape.fault(RoseValueError, "only 'C' or 'F' order is permitted")
    at: Any = indices if type_of(indices) is not None else array_of(tape, "np.unravel_index", indices)
    if getattr(at, "type", type_of(at)) is not INT:
        raise tape.type_fault("`np.unravel_index` takes integers")
    what = f"an index is out of bounds for array with size {prod(lengths)}"
    reductions.require(tape, of(tape).all((at >= 0) & (at < prod(lengths))), ValueError(what))
    found: list[Any] = []
    for length in reversed(lengths):
        found.insert(0, at % length)
        at = at // length
    return tuple(found)


def ravel_multi_index(tape: Tape, multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Any:
    """`np.ravel_multi_index`."""
    lengths = (dims,) if isinstance(dims, int) else tuple(dims)
    parts = list(multi_index)
    modes = [mode] * len(lengths) if isinstance(mode, str) else list(mode)
    if order not in ("C", "F"):
        raise tape.fault(RoseValueError, "only 'C' or 'F' order is permitted")
    if order == "F":
        lengths, parts, modes = lengths[::-1], parts[::-1], modes[::-1]
    if len(parts) != len(lengths) or len(modes) != len(lengths) or not set(modes) <= {"raise", "wrap", "clip"}:
        raise tape.fault(RoseValueError, "parameter multi_index must be a sequence of length of `dims`")
    xp = of(tape)
    found: Any = 0
    for part, length, how in zip(parts, lengths, modes, strict=True):
        at = part if type_of(part) is not None else array_of(tape, "np.ravel_multi_index", part)
        if getattr(at, "type", type_of(at)) is not INT:
            raise tape.type_fault("`np.ravel_multi_index` takes integers")
        if how == "raise":
            reductions.require(
                tape, xp.all((at >= 0) & (at < length)), ValueError("invalid entry in coordinates array")
            )
        found = found * length + (
            at if how == "raise" else at % length if how == "wrap" else xp.clip(at, 0, length - 1)
        )
    return found
