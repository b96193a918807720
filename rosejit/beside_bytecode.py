"""Code that we make of ours while programs run, kept beside the bytecode of the module that it belongs to.

`ivp.py` has its rewritten functions in `__pycache__/ivp.cpython-312-rosejit.pyc`: found, trusted and switched off
(`-B`, `PYTHONDONTWRITEBYTECODE`, `PYTHONPYCACHEPREFIX`) as bytecode is, and good while Python and the sizes and times
of the modules that it depends on stay what they were. Where files cannot be read or written, it is made anew.
"""

import atexit
import functools
import marshal
import os
import sys
from importlib.util import MAGIC_NUMBER, cache_from_source
from typing import Any


class Kept(dict[Any, Any]):
    """What is kept of a module: of such values as `marshal` knows. What is new is written when Python ends."""

    def __init__(self, file: str, makers: tuple[str, ...]) -> None:
        super().__init__()
        self.file, self.makers = file, makers
        self._is_new = False
        data = self._read()
        stamp = self._stamp()
        if stamp and data.startswith(stamp):
            self.update(marshal.loads(data[len(stamp) :]))

    def add(self, key: Any, value: Any) -> None:
        """Keep `value`, also for later processes."""
        self[key] = value
        if not self._is_new and not sys.dont_write_bytecode:
            self._is_new = True
            atexit.register(self.write)

    def write(self) -> None:
        """All of the file at once, or nothing: other processes read and write here too."""
        stamp = self._stamp()
        if not stamp:
            return
        try:
            path = self.path()
            os.makedirs(os.path.dirname(path), exist_ok=True)
            unfinished = f"{path}.{os.getpid()}"
            with open(unfinished, "wb") as made:
                made.write(stamp + marshal.dumps({**self}))
            os.replace(unfinished, path)
        except OSError:  # read-only, or full, or there are no files
            return

    def path(self) -> str:
        """Where it is kept; empty where Python keeps no bytecode."""
        if not sys.implementation.cache_tag:
            return ""
        return cache_from_source(self.file).removesuffix(".pyc") + "-rosejit.pyc"

    def _read(self) -> bytes:
        try:
            with open(self.path(), "rb") as kept:
                return kept.read()
        except OSError:
            return b""

    def _stamp(self) -> bytes:
        """What all of it depends on; empty where modules are no files."""
        try:
            return MAGIC_NUMBER + repr([_facts(file) for file in (self.file, *self.makers)]).encode()
        except OSError:
            return b""


@functools.cache
def kept(file: str, *makers: str) -> Kept:
    """What is kept of the module in `file`, as those in `makers` made it."""
    return Kept(file, makers)


@functools.cache
def _facts(file: str) -> tuple[str, int, int]:
    found = os.stat(file)
    return os.path.basename(file), found.st_size, found.st_mtime_ns
