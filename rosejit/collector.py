"""What Python does while we compile: its garbage collector waits, and calls may nest deeply."""

import gc
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

DEEPEST = 10_000
"""Frames: blocks nest as deeply as `elif` chains are long, expressions as sums have terms; each takes several."""

_lock = threading.Lock()
_before: list[int] = []
"""For each `deep_recursion` that is open, the limit that was there before the first of them."""


@contextmanager
def paused() -> Generator[None, None, None]:
    """No collection inside: of 10,000 ops one would find no cycle in a million objects, again and again."""
    enabled = gc.isenabled()
    if enabled:
        _full.when_due()
    gc.disable()
    before = gc.get_count()[0]
    try:
        yield
    finally:
        if enabled:
            _full.pending += max(gc.get_count()[0] - before, 0)
            _promote()
            gc.enable()


class _Full:
    """Full collections. Python does not count what we move among the old objects, and would never begin one: functions
    and their programs are cycles, and would never go. One is due when pauses have left `SHARE` times as many objects as
    the last one found alive, so that memory is bounded by what lives, and the time too; it comes in front of a pause,
    when what was made before may be garbage."""

    SHARE = 0.5
    LEAST = 200_000

    def __init__(self) -> None:
        self.pending = 0
        """Objects that pauses have left since the last one."""
        self._due = self.LEAST

    def when_due(self) -> None:
        """Collect, if it is time for that."""
        if self.pending > self._due:
            self.pending = 0
            gc.collect()
            self._due = max(self.SHARE * len(gc.get_objects()), self.LEAST)


_full = _Full()


class _Promotion:
    """Moves all young objects among the old ones without looking at them, or the next allocation would look at all that
    was made. What the user has frozen would thaw: then nothing is moved. Python counts what is frozen one by one, so
    while something is, it is asked seldom."""

    SHARE = 100
    OF_PYTHON = 1000
    """Python 3.12 begins with 375 objects frozen; who freezes a heap freezes thousands."""

    def __init__(self) -> None:
        self._next = 0.0
        """When to ask again."""

    def __call__(self) -> None:
        started = time.perf_counter()
        if started < self._next:
            return
        if gc.get_freeze_count() > self.OF_PYTHON:
            now = time.perf_counter()
            self._next = now + self.SHARE * (now - started)
        else:
            gc.freeze()
            gc.unfreeze()


_promote = _Promotion()


@contextmanager
def deep_recursion() -> Generator[None, None, None]:
    """More frames than Python allows of itself. The limit is one for all threads: the last that needs more of them puts
    it back."""
    with _lock:
        _before.append(_before[-1] if _before else sys.getrecursionlimit())
        sys.setrecursionlimit(max(_before[-1], DEEPEST))
    try:
        yield
    finally:
        with _lock:
            limit = _before.pop()
            if not _before:
                sys.setrecursionlimit(limit)
