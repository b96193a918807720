"""What stands between the brackets of a plain array to the elements that it picks: a view, or places one by one."""

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rosejit.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from rosejit.plain.ndarray import ndarray


@dataclass(slots=True, frozen=True)
class View:
    """Elements at even distances."""

    shape: tuple[int, ...]
    start: int
    steps: tuple[int, ...]
    whole: bool
    """Whether `...` was asked for: without axes that is an array still, not a number."""


@dataclass(slots=True, frozen=True)
class Places:
    """Elements anywhere."""

    shape: tuple[int, ...]
    places: list[int]


def wrapped(index: int, length: int) -> int:
    """An index from the start. Raises IndexError."""
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of bounds for axis 0 with size {length}")
    return index + length if index < 0 else index


def picked(a: "ndarray", index: Any) -> View | Places:
    """The elements `a[index]`."""
    items = _complete(a, index if type(index) is tuple else (index,))
    if any(_is_list(item) for item in items):
        return _gathered(a, items)
    shape: list[int] = []
    steps: list[int] = []
    start, axis = a.start, 0
    for item in items:
        if item is None:
            shape.append(1)
            steps.append(0)
            continue
        length, step = a.shape[axis], a.steps[axis]
        axis += 1
        if isinstance(item, slice):
            run = range(length)[item]
            start += (run.start if len(run) else 0) * step
            shape.append(len(run))
            steps.append(run.step * step)
        else:
            start += wrapped(operator.index(item), length) * step
    return View(tuple(shape), start, tuple(steps), Ellipsis in [i for i in _tuple(index) if not _is_list(i)])


def _tuple(index: Any) -> tuple[Any, ...]:
    return index if type(index) is tuple else (index,)


def _is_list(item: Any) -> bool:
    return isinstance(item, (list, bool)) or (hasattr(item, "cells") and bool(item.shape or item.dtype.kind == "b"))


def _complete(a: "ndarray", items: tuple[Any, ...]) -> list[Any]:
    """As many items as axes, masks as lists of indices, no `...`."""
    found: list[Any] = []
    for item in items:
        found += _masked(a, item) if _is_list(item) else [item]
    taken = sum(item is not None and item is not Ellipsis for item in found)
    if taken > a.ndim:
        raise IndexError(f"too many indices for array: array is {a.ndim}-dimensional, but {taken} were indexed")
    at = next((k for k, item in enumerate(found) if item is Ellipsis), len(found))
    return [*found[:at], *[slice(None)] * (a.ndim - taken), *found[at + 1 :]]


def _masked(a: "ndarray", item: Any) -> list[Any]:
    picks = _array(item)
    if picks.dtype.kind != "b":
        return [picks]
    at = [k for k, on in enumerate(picks.values) if on]
    columns: list[Any] = []
    for length in reversed(picks.shape):
        columns.append(_array([k % length for k in at]))
        at = [k // length for k in at]
    return columns[::-1]


def _array(item: Any) -> "ndarray":
    from rosejit.plain.ndarray import array_of

    made = array_of(item)
    return made if made.size else made.astype("b" if made.dtype.kind == "b" else "i")


def _gathered(a: "ndarray", items: Sequence[Any]) -> Places:
    """Where some items are lists: those go through their common shape together."""
    from rosejit.plain.ndarray import broadcast_shapes, every, stretched

    lists = [k for k, item in enumerate(items) if _is_list(item)]
    shape = broadcast_shapes(*(items[k].shape for k in lists))
    together = dict(zip(lists, (stretched(items[k], shape).values for k in lists), strict=True))
    numbered = [k for k, item in enumerate(items) if item is not None and not isinstance(item, slice)]
    first = numbered[0] if numbered == list(range(numbered[0], numbered[-1] + 1)) else 0
    before, after, kept = [], [], {}
    axis = 0
    for k, item in enumerate(items):
        side = before if k < first else after
        if item is None:
            side.append((k, 1))
            continue
        if isinstance(item, slice):
            kept[k] = range(a.shape[axis])[item]
            side.append((k, len(kept[k])))
        axis += 1
    lengths = [n for _, n in before], [n for _, n in after]
    places = [
        _place(a, items, together, kept, dict(zip([k for k, _ in (*before, *after)], (*left, *right), strict=True)), n)
        for left in every(*lengths[0])
        for n in range(_count(shape))
        for right in every(*lengths[1])
    ]
    return Places((*lengths[0], *shape, *lengths[1]), places)


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count


def _place(
    a: "ndarray",
    items: Sequence[Any],
    together: dict[int, list[int]],
    kept: dict[int, range],
    at: dict[int, int],
    number: int,
) -> int:
    place, axis = a.start, 0
    for k, item in enumerate(items):
        if item is None:
            continue
        if k in together:
            index = wrapped(int(together[k][number]), a.shape[axis])
        elif k in kept:
            index = kept[k][at[k]]
        else:
            index = wrapped(operator.index(item), a.shape[axis])
        place += index * a.steps[axis]
        axis += 1
    return place
