"""Keeps Python's garbage collector from looking at a compilation: nothing of it is garbage before its end."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


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
