"""`bisect` in numbers that only running compares: CPython's comparisons, in lists that are not sorted too."""

# Values of users are of any type: what they are is asked while staging.

import bisect
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.control.truth import truth
from rosejit.frontend.python.ordering import both, choose, compared, differs
from rosejit.frontend.values.open_lengths import has_open
from rosejit.frontend.values.pytree import is_staged_deep


def of_bisect(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The place of a number among numbers."""
    items, x, *others = args
    if not is_staged_deep(args):
        return session.plain(function, args, kwargs)
    tape = session.tape
    numbers = as_array(tape, items) if items.__class__ in (list, tuple, Array) else None
    if numbers is None or numbers.ndim != 1 or has_open(numbers.shape) or others or kwargs:
        raise tape.type_fault(
            f"`bisect.{function.__name__}` is staged of a list or an array of numbers whose length is known, alone",
            "give it no `lo`, `hi` and `key`, or use `np.searchsorted(array, x)`",
        )
    count: Any = numbers.shape[0]
    low, high = 0, count
    for _ in range(count.bit_length()):
        middle = (low + high) // 2
        item: Any = session.hooks.getitem(numbers, session.hooks.call(min, middle, count - 1))
        before = _is_before(tape, function, item, x)
        going = truth(tape, compared(tape, "lt", low, high))
        low = choose(tape, both(tape, going, before), middle + 1, low, "bisect")
        high = choose(tape, both(tape, going, differs(tape, before)), middle, high, "bisect")
    return low


def of_insort(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """A number put into a list, before the first that is greater, or that is not less."""
    items, x, *others = args
    if not is_staged_deep(args):
        session.plain(function, args, kwargs)
        return
    tape, find = session.tape, bisect.bisect_left if function is bisect.insort_left else bisect.bisect_right
    if items.__class__ is not list:
        raise tape.type_fault("`bisect.insort` is staged of a list", "make it one before: `items = list(items)`")
    at = of_bisect(session, find, (items, x, *others), kwargs) if items else 0
    grown = [*items, x]
    made = [choose(tape, at > k, each, x, "insort") for k, each in enumerate(grown)]
    for k in range(1, len(grown)):
        made[k] = choose(tape, at < k, items[k - 1], made[k], "insort")
    session.hooks.append(items, x)
    items[:] = made


def _is_before(tape: Any, function: Any, item: Any, x: Any) -> Any:
    if function is bisect.bisect_left:
        return truth(tape, compared(tape, "lt", item, x))
    return differs(tape, truth(tape, compared(tape, "lt", x, item)))


_SIGNATURE = "a, x, lo=0, hi=None, *, key=None"
BISECTIONS: dict[Any, tuple[Any, str]] = {
    **dict.fromkeys((bisect.bisect_left, bisect.bisect_right), (of_bisect, _SIGNATURE)),
    **dict.fromkeys((bisect.insort_left, bisect.insort_right), (of_insort, _SIGNATURE)),
}
"""What `bisect` does with staged values, and the signatures."""
