"""Arrays in the memory of compiled code to arrays of the caller's own, in memory that earlier results have left.

The allocator of C gives what is large back to the system and gets it again page by page, cleared: copying 600 MB into
that takes two to five times as long as into memory that is there. So what a large result was in is kept, once nothing
refers to the result or to any view of it, and the next one of the same size is put there.
"""

import functools
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from rosejit.numeric import is_at_hand, np

LEAST = 1 << 19
"""Bytes of an array from which a copy costs more than to do without."""

_LIMIT = 1 << 30


class _Block:
    """What a result has as its base, and so has every view of it: goes with the last of them."""

    __slots__ = ("__array_interface__", "_bytes", "_spare")

    def __init__(self, spare: "Spare", taken: Any, view: Any) -> None:
        self._spare = spare
        self._bytes = taken
        at = (taken.ctypes.data, False)
        self.__array_interface__ = {"shape": view.shape, "typestr": view.dtype.str, "data": at, "version": 3}

    def __del__(self) -> None:
        self._spare.keep(self._bytes)


class Spare:
    """Memory that nobody uses, at most `limit` bytes of it; what was left last is used first.

    A finalizer may run anywhere, also in the middle of `take`: so nobody waits for the lock. Who does not get it takes
    fresh memory, or lets the old go.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._blocks: list[Any] = []
        self._lock = threading.Lock()

    def take(self, size: int) -> Any:
        """`size` bytes that are the caller's alone."""
        if self._lock.acquire(blocking=False):
            try:
                for k in reversed(range(len(self._blocks))):
                    if self._blocks[k].nbytes == size:
                        return self._blocks.pop(k)
            finally:
                self._lock.release()
        try:
            return np.empty(size, np.uint8)
        except MemoryError:
            self.clear()
            return np.empty(size, np.uint8)

    def keep(self, block: Any) -> None:
        """Use these bytes again; the oldest go where there are too many."""
        dropped: list[Any] = []  # let go of behind the lock
        if self._lock.acquire(blocking=False):
            try:
                self._blocks.append(block)
                while sum([kept.nbytes for kept in self._blocks]) > self._limit:
                    dropped.append(self._blocks.pop(0))
            finally:
                self._lock.release()

    def clear(self) -> None:
        """Let go of everything."""
        if self._lock.acquire(blocking=False):
            dropped, self._blocks = self._blocks, []
            self._lock.release()
            del dropped

    def copy(self, view: Any) -> Any:
        """A copy of the array `view` that refers to nothing else and is referred to by nothing else."""
        array = np.asarray(_Block(self, self.take(view.nbytes), view))
        array[...] = view
        return array


@functools.cache
def spare() -> Spare:
    """That of this process."""
    return Spare(int(os.environ.get("ROSE_SPARE_BYTES") or _LIMIT))


def copier(view: Any) -> Callable[[], Any]:
    """What gives a copy of the array `view`, which stays where it is, at each call."""
    return functools.partial(spare().copy, view) if is_worthwhile(view.nbytes) else view.copy


def is_worthwhile(size: int) -> bool:
    """Whether arrays of so many bytes are to be copied by `spare`: not without NumPy, nor in the page, where memory is
    scarce and is never given back."""
    return size >= LEAST and sys.platform != "emscripten" and is_at_hand(worth_loading=True)
