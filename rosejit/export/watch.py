"""Polls the Python files of a folder, and forgets the modules that were made of them when one has changed."""

import linecache
import sys
import time
from collections.abc import Iterator
from pathlib import Path

INTERVAL = 0.2
"""Seconds between two looks."""


def changes(folder: Path) -> Iterator[None]:
    """Now, and after each change of a Python file in `folder` or of a module from below it that was imported since:
    imported again, they are as they are written by then."""
    before = set(sys.modules)
    while True:
        earlier = _stamps(folder, before)
        yield
        seen = _stamps(folder, before) | earlier  # a file that changed meanwhile has changed
        while _stamps(folder, before) == seen:
            time.sleep(INTERVAL)
        for name in _modules(folder, before):
            del sys.modules[name]
        linecache.checkcache()


def _modules(folder: Path, before: set[str]) -> dict[str, Path]:
    """The modules from below `folder`, other than installed ones, with their files."""
    found: dict[str, Path] = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name not in before and file and Path(file).resolve().is_relative_to(folder) and "site-packages" not in file:
            found[name] = Path(file)
    return found


def _stamps(folder: Path, before: set[str]) -> dict[Path, tuple[int, int]]:
    found: dict[Path, tuple[int, int]] = {}
    for path in {*folder.glob("*.py"), *_modules(folder, before).values()}:
        try:
            status = path.stat()
        except FileNotFoundError:  # an editor is about to put another one there
            continue
        found[path] = status.st_mtime_ns, status.st_size
    return found
