"""Finds the arrays that may be one in some turn of a staged loop, since names were bound to others in turns before."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations

from rosejit.frontend.arrays import Box


@dataclass(slots=True, eq=False)
class Handle:
    """A name of an array in the body of a loop, which is bound to another array after a turn."""

    box: Box
    """What stands for the array in the body."""
    start: set[Box]
    """The arrays that it may be in the first turn."""
    end: set[Box]
    """Those that the name may be bound to after a turn: from outside, new ones, or boxes of handles."""
    written: bool
    used: bool
    """Whether it is read or written in the body."""
    arrays: set[Box] = field(default_factory=set[Box])
    """The arrays from outside of the loop that it may be in any turn, found by `follow`."""
    peers: set[Box] = field(default_factory=set[Box])
    """The arrays that the one which comes out of the loop may be."""


def roots(box: Box) -> set[Box]:
    """The arrays that a name bound to `box` may be bound to."""
    return set(box.sources or box.linked or ()) | {box}


def follow(handles: list[Handle], is_outside: Callable[[Box], bool]) -> set[tuple[Handle, Handle]]:
    """Fill in `arrays`; the pairs of handles that may be one array in the same turn."""
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
    pairs = list(combinations(handles, 2))
    same = {pair for pair in pairs if pair[0].start & pair[1].start}
    changed = True
    while changed:
        found = {pair for pair in pairs if pair not in same and _meet(*pair, by_box, same)}
        same |= found
        changed = bool(found)
    return same


def _meet(a: Handle, b: Handle, by_box: dict[Box, Handle], same: set[tuple[Handle, Handle]]) -> bool:
    """Whether the names of two handles may be bound to one array after a turn."""
    if a.end & b.end:
        return True
    for one in a.end:
        for other in b.end:
            x, y = by_box.get(one), by_box.get(other)
            if x is not None and y is not None:
                if (x, y) in same or (y, x) in same:
                    return True
            elif (x is not None and other in x.arrays) or (y is not None and one in y.arrays):
                return True
    return False
