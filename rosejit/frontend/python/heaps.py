"""`heapq` of items that only running compares: the same comparisons as CPython's, so the same heaps.

Equal items and nan are where CPython has them. An item sinks to one of the nodes below it; each is given what it holds
where the path goes through it.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

import functools
import heapq
from collections.abc import Callable
from typing import Any

from rosejit.frontend.control.truth import truth
from rosejit.frontend.python.ordering import both, choose, compared, differs, either, is_staged, ordered
from rosejit.frontend.values.tape import Tape

_MOST = 64
"""So many items a staged heap has at most: its operations look at all of them."""


def _less(tape: Tape, a: Any, b: Any) -> Any:
    return truth(tape, compared(tape, "lt", a, b))


def _sink(tape: Tape, heap: list[Any], start: int) -> None:
    """`heapq._siftup`: the lesser children move up from `start` to a leaf, where the item goes, and up again."""
    old, item = list(heap), heap[start]
    passes: dict[int, Any] = {start: True}  # by node, from the top: whether the path goes through it
    moved: dict[int, Any] = {}
    for node in range(start, len(heap)):
        left, right = 2 * node + 1, 2 * node + 2
        if node not in passes or left >= len(heap):
            continue
        moved[node], passes[left] = old[left], passes[node]
        if right < len(heap):
            goes_left = _less(tape, old[left], old[right])
            passes[left] = both(tape, passes[node], goes_left)
            passes[right] = both(tape, passes[node], differs(tape, goes_left))
            moved[node] = choose(tape, goes_left, old[left], old[right], "heapq")
    rises: dict[int, Any] = {}  # whether the item comes to a node from below, and goes on
    for node in reversed(passes):
        children = [child for child in (2 * node + 1, 2 * node + 2) if child in passes]
        comes = (
            passes[node] if not children else functools.reduce(lambda a, c: either(tape, a, rises[c]), children, False)
        )
        goes_on = False if node == start else _less(tape, item, old[node])
        rises[node] = both(tape, comes, goes_on)
        here = choose(tape, goes_on, old[node], item, "heapq")
        stays = moved.get(node, old[node])
        found = choose(tape, comes, here, stays, "heapq")
        heap[node] = choose(tape, passes[node], found, old[node], "heapq")


def _rise(tape: Tape, heap: list[Any]) -> None:
    """`heapq._siftdown` of the last item: those above it that are greater come down, until one is not."""
    item, node, going = heap[-1], len(heap) - 1, True
    while node > 0:
        above = (node - 1) >> 1
        was_going, going = going, both(tape, going, _less(tape, item, heap[above]))
        here = choose(tape, going, heap[above], item, "heapq")
        heap[node] = choose(tape, was_going, here, heap[node], "heapq")
        node = above
    heap[0] = choose(tape, going, item, heap[0], "heapq")


def _heapify(tape: Tape, heap: list[Any]) -> None:
    for node in reversed(range(len(heap) // 2)):
        _sink(tape, heap, node)


def _push(tape: Tape, heap: list[Any], item: Any) -> None:
    heap.append(item)
    _rise(tape, heap)


def _pop(tape: Tape, heap: list[Any]) -> Any:
    last = heap.pop()
    return _replace(tape, heap, last) if heap else last


def _replace(tape: Tape, heap: list[Any], item: Any) -> Any:
    first, heap[0] = heap[0], item
    _sink(tape, heap, 0)
    return first


def _push_and_pop(tape: Tape, heap: list[Any], item: Any) -> Any:
    less = _less(tape, heap[0], item)
    other = list(heap)
    first = _replace(tape, other, item)
    heap[:] = [choose(tape, less, a, b, "heapq") for a, b in zip(other, heap, strict=True)]
    return choose(tape, less, first, item, "heapq")


_STEPS: dict[Any, Callable[..., Any]] = {
    heapq.heapify: _heapify, heapq.heappush: _push, heapq.heappop: _pop, heapq.heapreplace: _replace,
    heapq.heappushpop: _push_and_pop,
}  # fmt: skip


def of_heap(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of `heapq` that changes a list."""
    heap: Any = args[0] if args else None
    if heap.__class__ is not list or not heap or kwargs or not any(map(is_staged, (*heap, *args[1:]))):
        if heap.__class__ is list and function is heapq.heappush and not heap and len(args) == 2:
            session.hooks.append(*args)
            return None
        return session.plain(function, args, kwargs)
    if len(heap) > _MOST:
        session.tape.sites.opens(session.tape, heap, *args[1:])
        raise session.tape.type_fault(
            f"a heap of {len(heap)} items is changed whose order only running tells: at most {_MOST} are",
            "put the keys in an array, and use `np.sort`, `np.argsort` or `np.argmin`",
        )
    session.hooks.written(heap)
    return _STEPS[function](session.tape, heap, *args[1:])


def first_of_order(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`heapq.nsmallest` and `heapq.nlargest`, which are what `sorted` begins with."""
    count, items = args[0], list(args[1])
    key = args[2] if len(args) > 2 else kwargs.get("key")
    by = None if key is None else functools.partial(session.hooks.call, key)
    made = ordered(session.tape, items, by, function is heapq.nlargest)
    return session.hooks.record_allocation(made[: max(count, 0)])


HEAPS: dict[Any, tuple[Callable[..., Any], str]] = {
    **{function: (of_heap, "heap, item=..., /") for function in (heapq.heappush, heapq.heapreplace, heapq.heappushpop)},
    heapq.heappop: (of_heap, "heap, /"), heapq.heapify: (of_heap, "heap, /"),
    heapq.nsmallest: (first_of_order, "n, iterable, key=None"),
    heapq.nlargest: (first_of_order, "n, iterable, key=None"),
}  # fmt: skip
"""What `heapq` does with staged values, and the signatures."""
