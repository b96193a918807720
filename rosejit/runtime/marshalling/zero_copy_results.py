"""Arrays in the memory of an instance to results of a call, without a copy: it is lent, until nobody has them.

A copy of large results takes as long as making them. An instance of whose memory results are a good part takes little
more than such a copy and itself would, so it is left to the caller, and the next call takes another one. Two of a
function are lent at a time, for the result that there is and the one that will take its place; then results are copied.
"""

from collections.abc import Sequence
from typing import Any

from rosejit.abi import Slot
from rosejit.numeric import np
from rosejit.runtime.marshalling.result_buffers import copier, is_worthwhile

MOST = 2
"""So many instances of a function are lent at a time."""
MUCH = 4
"""Times the bytes of results that the memory of a lent instance has at most: an argument, what a gradient keeps of it
and the gradient are three, and two such instances take 6/5 of one and two copies."""


def is_lendable(results: Sequence[Slot]) -> bool:
    """Whether an instance may be lent for these arrays."""
    return any(is_worthwhile(slot.bytes) for slot in results)


class Loan:
    """An instance that is not free: `give_back` makes it so, with the last array that lies in it."""

    __slots__ = ("_bound", "_free", "_left")

    def __init__(self, free: list[Any], bound: Any, left: list[None]) -> None:
        self._free, self._bound, self._left = free, bound, left

    def __del__(self) -> None:
        self._free.append(self._bound)
        self._left.append(None)


class _Part:
    """What an array of a loan has as its base, and so has every view of it."""

    __slots__ = ("__array_interface__", "_loan")

    def __init__(self, loan: Loan, view: Any) -> None:
        self._loan = loan
        self.__array_interface__ = view.__array_interface__


class Lender:
    """Lends instances of one function whose result arrays have `size` bytes."""

    __slots__ = ("_left", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._left: list[None] = [None] * MOST

    def lend(self, free: list[Any], bound: Any) -> Loan | None:
        """A loan of an instance, which has run and which is to be in `free` again; None where results are to be
        copied."""
        if MUCH * self._size < bound[0].memory.size() or type(free) is not list:
            return None  # there is more in it than results; or it is timed how long it is used
        try:
            self._left.pop()
        except IndexError:
            return None
        return Loan(free, bound, self._left)


def result(loan: Loan | None, view: Any) -> Any:
    """The array `view` of an instance as a result."""
    if loan is None or not is_worthwhile(view.nbytes):
        return copier(view)()
    return np.asarray(_Part(loan, view))
