"""Says which code, and which classes, are the user's: not the standard library's, an installed package's or ours."""

import functools
import linecache
import os
import sys
import sysconfig
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from rosejit.frontend.syntax.ast_build import RUNTIME
from rosejit.frontend.syntax.code_table import names_in
from rosejit.frontend.syntax.source import is_written
from rosejit.span import PACKAGE

_OUTSIDE = tuple(
    os.path.realpath(path) + os.sep
    for path in {
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("platstdlib"),
        os.path.dirname(os.__file__),  # a zip file in Pyodide
        PACKAGE,
    }
    if path
)
_OURS = os.path.realpath(PACKAGE)
_LIKE_USERS = (
    *(os.path.join(_OURS, folder) + os.sep for folder in ("optim", "solvers", "pages")),
    os.path.join(_OURS, "api", "vectors.py"),
    os.path.join(_OURS, "frontend", "lists", "dynamic_"),
)
"""Solvers, lists, and the examples that `python -m rosejit demo` brings along: staged as a user's code."""


PASSES_ON_TO = "__rose_passes_on_to__"
"""The attribute of a function of ours that passes all on to another: the one that the user wrote, or None."""


def is_users(file: str) -> bool:
    """Whether a file is the user's, and no generated code without text."""
    return bool(linecache.getlines(file)) if file.startswith("<") else _is_users(file)


_ORDERS: Any = vars(functools).get("_convert", {})
_OF_ORDERS = frozenset([function.__code__ for pairs in _ORDERS.values() for _, function in pairs])
"""What `functools.total_ordering` makes of one comparison the others by: staged as if their users had written them."""


def is_users_code(code: CodeType) -> bool:
    """Whether code is the user's. `<string>` is where much generated code says it comes from, and `python -c` too."""
    if code in _OF_ORDERS:
        return True
    return is_users(code.co_filename) and (not code.co_filename.startswith("<") or is_written(code))


@functools.lru_cache(maxsize=4096)
def _is_users(file: str) -> bool:
    path = os.path.realpath(file)
    if path.startswith(_LIKE_USERS):
        return True
    return not path.startswith(_OUTSIDE) and f"{os.sep}site-packages{os.sep}" not in path


@functools.lru_cache(maxsize=1024)
def is_users_class(cls: type) -> bool:
    """Whether a `class` statement of the user's made a class."""
    module: Any = cls.__module__  # a descriptor in Cython's classes of functions
    if not cls.__flags__ & _HEAP_TYPE or not isinstance(module, str):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    return module not in _OF_C if file is None else _is_users(file)


_OF_C = frozenset(sys.builtin_module_names) - {"builtins"}
"""Modules without a file that are made in C; what has no module says `builtins`."""
_HEAP_TYPE = 1 << 9
"""The flag of classes that a `class` statement made."""


def users_variables(function: FunctionType) -> Iterator[tuple[str, CellType]]:
    """The variables around a function that the user has written, where it is rewritten too."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if not name.startswith(RUNTIME):
            yield name, cell


def outside_names(function: FunctionType) -> list[str]:
    """The names from outside that a function that runs as it is reads."""
    variables = [name for name, _ in users_variables(function)]
    return [*variables, *[name for name in names_in(function.__code__) if name in function.__globals__]]
