"""The Python functions that users call: their errors show the user's lines and none of our files."""

import ast
import builtins
import functools
import os
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, Protocol, TypeVar

from rosejit.errors import missing_frame, trimmed
from rosejit.runtime.marshalling.marshal import Mismatch
from rosejit.span import PACKAGE

_SOURCE = """
def entry(*args, **kwargs):
    _calls[0] += 1
    try:
        return _self.latest(*args, **kwargs) if kwargs else _self.latest(*args)
    except _Mismatch:
        pass
    except Exception as found:
        raise _trimmed(found)
    _result, _error = _self.other(args, kwargs)
    if _error is None:
        return _result
    _error = _trimmed(_error)
    _raise = _missing_frame(_error, _frame(1))
    if _raise is not None:
        _raise(_error)
    raise _error
"""


class Called(Protocol):
    """What an entry calls: the latest compiled code, and what to do where that does not fit."""

    latest: Callable[..., Any]

    def other(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Exception | None]:
        """The result, or what is to be raised."""
        ...


Function = TypeVar("Function", bound=Callable[..., Any])

_PUBLIC = """
def public(*args, **kwargs):
    _result, _error = _caught(args, kwargs)
    if _error is None:
        return _result
    _error = _trimmed(_error)
    _raise = _missing_frame(_error, _frame(1))
    if _raise is not None:
        _raise(_error)
    raise _error
"""


def public(function: Function) -> Function:
    """`function`, whose errors show none of our files either."""

    def caught(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Exception | None]:
        try:
            return function(*args, **kwargs), None
        except Exception as error:
            return None, error

    scope: dict[str, Any] = {
        "_caught": caught,
        "_trimmed": trimmed,
        "_missing_frame": missing_frame,
        "_frame": sys._getframe,
    }
    made: Any = FunctionType(_code_at(function.__name__, None, _public_code), scope)
    functools.update_wrapper(made, function)
    return made


@functools.cache
def _public_code() -> CodeType:
    return _code_in(compile(_PUBLIC, "<rosejit>", "exec"))


_OURS = PACKAGE + os.sep


def entry(called: Called, function: Any, calls: list[int]) -> Callable[..., Any]:
    """A function that runs `called`, counts with `calls`, and stands where `function` is defined."""
    code = getattr(function, "__code__", None)
    name = function.__name__ if function.__name__.isidentifier() else "function"
    scope: dict[str, Any] = {
        "_calls": calls,
        "_self": called,
        "_Mismatch": Mismatch,
        "_trimmed": trimmed,
        "_missing_frame": missing_frame,
        "_frame": sys._getframe,
        "__builtins__": builtins,
    }
    written = code is not None and not code.co_filename.startswith(_OURS)
    place = (code.co_filename, code.co_firstlineno) if code is not None and written else None
    return FunctionType(_code_at(name, place, _entry_code), scope, name)


@functools.lru_cache(maxsize=1024)
def _code_at(name: str, place: tuple[str, int] | None, of: Callable[[], CodeType]) -> CodeType:
    """The code of an entry, or of a public function, of that name, at a line of a file."""
    known: dict[str, Any] = {"co_qualname": name} if sys.version_info >= (3, 11) else {}
    if place is not None:
        known |= {"co_filename": place[0], "co_firstlineno": place[1]}
    return of().replace(co_name=name, **known)


@functools.cache
def _entry_code() -> CodeType:
    """The code of an entry, all of it in line 1: lines are counted from the first."""
    tree = ast.parse(_SOURCE)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = 1  # type: ignore[attr-defined]  # it has one
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]  # as above
    return _code_in(compile(tree, "<rosejit>", "exec"))


def _code_in(whole: CodeType) -> CodeType:
    """The code of the one function that is defined in `whole`."""
    return next(constant for constant in whole.co_consts if isinstance(constant, CodeType))
