"""Finds the arrays that may be one in some iteration of a staged loop, since names were bound to others in iterations
before.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import field
from itertools import combinations, product
from typing import Any

from rosejit.frontend.arrays.array import Array, Box, placed
from rosejit.frontend.arrays.row_aliases import showing
from rosejit.frontend.values.pytree import is_alike
from rosejit.ir.syntax import Var
from rosejit.lazy_dataclass import dataclass


@dataclass(slots=True, eq=False)
class Handle:
    """A name of an array in the body of a loop, which is bound to another array after an iteration."""

    box: Box
    """What stands for the array in the body."""
    start: set[Box]
    """The arrays that it may be in the first iteration."""
    end: set[Box]
    """Those that the name may be bound to after an iteration: from outside, new ones, or boxes of handles."""
    written: bool
    used: bool
    """Whether it is read or written in the body."""
    arrays: set[Box] = field(default_factory=set[Box])
    """The arrays from outside of the loop that it may be in any iteration, found by `follow`."""
    peers: set[Box] = field(default_factory=set[Box])
    """The arrays that the one which comes out of the loop may be."""


def roots(box: Box) -> set[Box]:
    """The arrays that a name bound to `box` may be bound to."""
    same = set(box.sources or box.linked or ()) | {box}
    return same | showing(same)


def follow(handles: list[Handle], is_outside: Callable[[Box], bool]) -> list[tuple[Handle, Handle]]:
    """Fill in `arrays`; the pairs of handles that may be one array in the same iteration."""
    by_box = {handle.box: handle for handle in handles}
    for handle in handles:
        handle.arrays = {box for box in handle.start | handle.end if is_outside(box)}
    changed = True
    while changed:
        changed = False
        for handle in handles:
            known = len(handle.arrays)
            for box in handle.end & by_box.keys():
                handle.arrays |= by_box[box].arrays
            changed = changed or len(handle.arrays) > known
    return _pairs(handles, by_box)


def after_an_iteration(handle: Handle, handles: list[Handle]) -> set[Box]:
    """The arrays from outside that the name may be bound to once the loop has made an iteration."""
    by_box = {other.box: other for other in handles}
    found = handle.arrays & handle.end
    for box in handle.end & by_box.keys():
        found = found | by_box[box].arrays
    return found


def _pairs(handles: list[Handle], by_box: dict[Box, Handle]) -> list[tuple[Handle, Handle]]:
    starts: defaultdict[Box, list[Handle]] = defaultdict(list)
    ends: defaultdict[Box, list[Handle]] = defaultdict(list)
    for handle in handles:
        for boxes, places in ((handle.start, starts), (handle.end, ends)):
            for box in boxes:
                places[box].append(handle)
    found: dict[frozenset[Handle], tuple[Handle, Handle]] = {}
    queue = [pair for bucket in (*starts.values(), *ends.values()) for pair in combinations(bucket, 2)]
    for handle in handles:  # the name was bound to that of another, which may be the array that a third is bound to
        boxes = {box for end in handle.end & by_box.keys() for box in by_box[end].arrays}
        queue += [(handle, other) for box in boxes for other in ends.get(box, ())]
    while queue:
        pair = queue.pop()
        if pair[0] is not pair[1] and found.setdefault(frozenset(pair), pair) is pair:
            queue += product(ends.get(pair[0].box, ()), ends.get(pair[1].box, ()))
    return list(found.values())


def is_formed(p: Any, new: Any, inside: Any) -> bool:
    """Whether what stood for a value without a beginning has the form that it turns out to have."""
    return is_alike(p, new) if inside else p is new or (isinstance(p, (str, bytes)) and p == new)


def moves(a: Array) -> bool:
    """Whether a view may show another part in each iteration."""
    return any(isinstance(placed(entry), Var) for entry in a.axes or ())
