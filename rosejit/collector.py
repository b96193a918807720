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
            gc.enable()
