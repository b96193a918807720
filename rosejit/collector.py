"""What Python does while we compile: its garbage collector waits, and calls may nest deeply."""

import gc
import sys
import threading
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
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            _promote()
            gc.enable()


def _promote() -> None:
    """Move all young objects among the old ones without looking at them, or the next allocation would look at all that
    was made. (What the user has frozen would thaw: then nothing is moved.)"""
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


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
