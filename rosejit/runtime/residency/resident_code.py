"""All native code of the process, within a budget: what was not used for long goes, and is compiled again when called.

Each instance takes two of the 65,530 mappings that Linux gives to a process, and its code two more. Nothing is counted
when a function is called: free instances are put aside, all at once, and the first call that misses one takes it back
(the second chance of the clock algorithm). What is still aside the next time was not used.
"""

import os
import threading
import weakref
from collections.abc import Callable
from typing import Protocol, TypeVar

from rosejit.errors import RoseMemoryError, WasmTrap

_T = TypeVar("_T")


class Keeper(Protocol):
    """Who keeps instances for later calls."""

    @property
    def count(self) -> int:
        """How many instances are free."""
        ...

    def renew(self) -> None:
        """Keep none of the instances that there are, those of running calls neither."""
        ...

    def cool(self) -> None:
        """Put the free instances aside: who takes one says that the code is warm."""
        ...


class Evictable(Protocol):
    """Native code, and those who keep its instances."""

    warm: bool
    """Whether it was used since this was set to False."""

    def kept(self) -> list[Keeper]:
        """Those who keep its instances."""
        ...

    def unload(self) -> None:
        """Drop the native code and the free instances; the next call compiles it again."""
        ...


def free_instances(code: Evictable) -> int:
    """How many instances of it are free."""
    return sum([keeper.count for keeper in code.kept()])


class Resident:
    """The native code of the process."""

    MOST = 640
    """So many instances are kept; there may be a quarter more before that is looked at."""

    def __init__(self) -> None:
        self._codes: weakref.WeakSet[Evictable] = weakref.WeakSet()
        self._made = 0
        self.begin()

    def begin(self) -> None:
        """With no thread inside: in the child of a fork."""
        self._lock = threading.RLock()

    def add(self, code: Evictable) -> None:
        """It has native code."""
        with self._lock:
            self._codes.add(code)

    def made(self, code: Evictable) -> None:
        """An instance of it is made."""
        code.warm = True
        self.add(code)
        self._made += 1
        if self._made > self.MOST and self._lock.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._lock.release()

    def _look(self) -> None:
        codes = list(self._codes)
        count = sum(map(free_instances, codes))
        if count > 3 * self.MOST // 4:
            for code in codes:
                if code.warm:
                    code.warm = False
                    for keeper in code.kept():
                        keeper.cool()
                else:
                    count -= free_instances(code)
                    self._unload(code)
        self._made = min(count, 3 * self.MOST // 4)

    def with_room(self, make: Callable[[], _T]) -> _T:
        """What `make` gives; where the system has no more memory or mappings for it, once all that is free has gone."""
        try:
            return make()
        except (RoseMemoryError, WasmTrap) as error:
            if "memory" not in str(error):
                raise
        with self._lock:
            for code in list(self._codes):
                self._unload(code)
        return make()

    def _unload(self, code: Evictable) -> None:
        self._codes.discard(code)
        code.unload()


resident = Resident()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=resident.begin)
