"""Resolves `a[...]` as NumPy does: to an element, to a view, to new elements, or to an error at the user's line."""

# Values of users are of any type: what they are is asked while staging.

from typing import Any

from rosejit.errors import RoseIndexError
from rosejit.frontend.arrays import boolean_indexing
from rosejit.frontend.arrays.access import check_writable, is_prefix, number, put, store
from rosejit.frontend.arrays.array import Array, Fixed, Host, atom_of, content, host_data, of_host
from rosejit.frontend.arrays.asarray import in_64_bits
from rosejit.frontend.arrays.basic_indexing import (
    check,
    expanded,
    is_direct,
    may_never_run,
    part_of,
    single,
    steps_of,
    view,
)
from rosejit.frontend.arrays.integer_indexing import Combine, as_picks, gather, is_list, scatter
from rosejit.frontend.arrays.setitem_cast import assigned
from rosejit.frontend.arrays.zero_dimensional import mark
from rosejit.frontend.values.open_lengths import has_open, refuse
from rosejit.frontend.values.pytree import staged_leaf
from rosejit.frontend.values.scalars import Int, Real
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Index, Var
from rosejit.numeric import np


def get(a: Array, index: Any) -> Any:
    """`a[index]`."""
    indices: Any = index if index.__class__ is tuple else (index,)
    if a.axes is None and len(indices) == len(a.shape) and _NUMBERS.issuperset(map(type, indices)):
        return _element_of(a, indices)
    found = _indexed(a, index)
    if found.__class__ is Array and found.box is a.box and not any(map(_may_change, indices)):
        found.origin = (a, index)
    if found.__class__ is not Array and _has_ellipsis(index):
        return mark(a.tape, found, "x[..., k]", a.box)
    return found


def _indexed(a: Array, index: Any) -> Any:
    """What an index picks that is more than numbers for all dimensions."""
    index = in_64_bits(index)
    known = host_data(a) if is_known(index) else None
    if known is not None and _is_host_index(a, known, index):
        return _host_get(a, known, index)
    items, advanced = _items(a, index)
    if advanced and has_open(a.shape):
        refuse(a.tape, "an index that is an array")
    if any(map(boolean_indexing.is_mask, items)):
        return boolean_indexing.select(a, items)
    if advanced:
        return gather(a, items)
    steps, shape = steps_of(a, items)
    return view(a, steps, shape)


def _has_ellipsis(index: Any) -> bool:
    return any(item is Ellipsis for item in index) if index.__class__ is tuple else index is Ellipsis


_STORED = frozenset({Real, Array, Int, float, int, bool})
"""Classes of what is stored most often."""


def _may_change(item: Any) -> bool:
    """Whether an item of an index may pick something else later, being an array itself."""
    return item.__class__ is Array or (isinstance(item, slice) and any(map(_may_change, (item.start, item.stop))))


_NUMBERS = frozenset({int, Int})


def _items(a: Array, index: Any) -> tuple[list[Any], bool]:
    """One item for each dimension, and whether arrays are among them."""
    advanced = any(map(is_list, index if isinstance(index, tuple) else (index,)))
    return expanded(a, as_picks(a.tape, index) if advanced else index), advanced


def _element_of(a: Array, indices: tuple[Any, ...]) -> Any:
    """One element of a whole array: the most frequent access."""
    held = content(a.tape, a.box)
    if held.__class__ is Host:
        known = None if Int in map(type, indices) else host_data(a)
        if known is not None and _is_host_index(a, known, indices):
            return _host_get(a, known, indices)
        held = atom_of(a.tape, a.box)
    at = tuple([single(a, k, dimension) for dimension, k in enumerate(indices)])
    if not at:
        return number(a.tape, held)
    checked = Int in map(type, indices) or Var in map(type, at)
    return number(a.tape, a.tape.bind(Index(held, at, checked=checked), a.type))


def set_(a: Array, index: Any, value: Any, combine: Combine | None = None, in_place: bool = True) -> None:
    """`a[index] = value`; with `combine` what that makes of each element there and the one of `value`, in turn."""
    tape = a.tape
    if index.__class__ is not int and index.__class__ is not Int:
        index = in_64_bits(index)
    if value.__class__ not in _STORED:
        value = in_64_bits(value)
    in_place = in_place and not (a.box.held and a.axes is None and index.__class__ is not tuple)
    if in_place or a.box.readonly:
        check_writable(a)
    if value.__class__ is Array and value.origin is not None and value.origin[0] is a and value.origin[1] is index:
        return  # `a[i] += v` ends with `a[i] = a[i]` when `a[i]` is a view: there is nothing left to do
    held = content(tape, a.box)
    if held.__class__ is Host and tape.frame.contents.get(a.box) is held and is_known(index) and is_known(value):
        data = held.data if a.axes is None and combine is None else None
        if data is not None and _is_host_index(a, data, index):
            _host_set(a, held, index, value)
            return
    items, advanced = _items(a, index)
    if advanced or combine is not None or any(map(boolean_indexing.is_mask, items)):
        _set_chosen(a, items, value, combine, advanced)
        return
    steps, shape = steps_of(a, items)
    target = part_of(a, steps, shape)
    staged = any(isinstance(step, Fixed) and isinstance(step.at, Var) for step in steps)
    checks = staged and is_direct(a) and is_prefix(target) is not None
    if staged and not checks:
        check(a, steps)
    store(target, assigned(target, value), checks, in_place)


def _set_chosen(a: Array, items: list[Any], value: Any, combine: Combine | None, advanced: bool) -> None:
    """`a[items] = value` where arrays among the items, or masks, choose the elements."""
    if (advanced or combine is not None) and has_open(a.shape):
        refuse(a.tape, "an index that is an array")
    if any(map(boolean_indexing.is_mask, items)):
        boolean_indexing.replace(a, items, value)
    else:
        scatter(a, items, value, combine)


def is_known(value: Any) -> bool:
    """Whether an index or a value has nothing staged in it."""
    if isinstance(value, (tuple, list)):
        items: Any = value
        return all(is_known(item) for item in items)
    if isinstance(value, slice):
        return all(is_known(part) for part in (value.start, value.stop, value.step))
    if value.__class__ is Array:
        return host_data(value) is not None
    return staged_leaf(value) is None and value.__class__ is not boolean_indexing.MaskedArray


def _plain(value: Any) -> Any:
    """An index or value with arrays as NumPy's."""
    if isinstance(value, (tuple, list)):
        items: Any = value
        return type(value)(_plain(item) for item in items)
    return host_data(value) if value.__class__ is Array else value


def _is_host_index(a: Array, data: Any, index: Any) -> bool:
    """Whether the host can use the index: one that is wrong fails at run time, where the code may never run."""
    if not may_never_run(a.tape):
        return True
    try:
        data[_plain(index)]
    except IndexError:
        return False
    return True


def _host_get(a: Array, data: Any, index: Any) -> Any:
    try:
        found = data[_plain(index)]
    except IndexError as error:
        raise a.tape.fault(RoseIndexError, str(error)) from None
    if isinstance(found, np.ndarray):
        simple = not any(map(is_list, index if isinstance(index, tuple) else (index,)))
        if simple:
            steps, shape = steps_of(a, expanded(a, index))
            return view(a, steps, shape)
        return of_host(a.tape, found.copy())
    return found


def _host_set(a: Array, held: Host, index: Any, value: Any) -> None:
    if held.is_shared:
        held = a.tape.frame.contents[a.box] = Host(held.data.copy(), held.captured)
    data = held.data
    new = _plain(value)
    if data.dtype.kind != "f" and np.asarray(new).dtype.kind not in (data.dtype.kind, "b"):
        _refuse_kind(a.tape, a, new)
    try:
        data[_plain(index)] = new
    except IndexError as error:
        raise a.tape.fault(RoseIndexError, str(error)) from None
    put(a, content(a.tape, a.box))


def _refuse_kind(tape: Tape, a: Array, value: Any) -> None:
    raise tape.type_fault(f"an array of {a.type}s cannot hold {value!r}", "make the array one of floats")
