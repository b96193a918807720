"""The Python functions that users call: their errors show the user's lines and none of our files."""

import ast
import functools
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, Protocol, TypeVar

from rosejit.errors import missing_frame, without_internal_frames
from rosejit.runtime.marshal import Mismatch

_SOURCE = """
def {name}(*args, **kwargs):
    _calls[0] += 1
    try:
        return _self.latest(*args, **kwargs)
    except _Mismatch:
        pass
    except Exception as found:
        raise found.with_traceback(_trimmed(found.__traceback__))
    _result, _error = _self.other(args, kwargs)
    if _error is None:
        return _result
    _error = _error.with_traceback(_trimmed(_error.__traceback__))
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
def {name}(*args, **kwargs):
    _result, _error = _caught(args, kwargs)
    if _error is None:
        return _result
    _error = _error.with_traceback(_trimmed(_error.__traceback__))
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
        "_trimmed": without_internal_frames,
        "_missing_frame": missing_frame,
        "_frame": sys._getframe,
    }
    exec(_public_code(function.__name__), scope)
    made = scope.pop(function.__name__)  # else it would keep itself, and what a pullback stands for, alive
    functools.update_wrapper(made, function)
    return made


@functools.cache
def _public_code(name: str) -> CodeType:
    return compile(_PUBLIC.format(name=name), "<rosejit>", "exec")


def entry(called: Called, function: Any, calls: list[int]) -> Callable[..., Any]:
    """A function that runs `called`, counts with `calls`, and stands where `function` is defined."""
    code = getattr(function, "__code__", None)
    name = function.__name__ if function.__name__.isidentifier() else "function"
    tree = ast.parse(_SOURCE.format(name=name))
    line = code.co_firstlineno if code is not None else 1
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]  # it has one
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]  # as above
    scope: dict[str, Any] = {
        "_calls": calls,
        "_self": called,
        "_Mismatch": Mismatch,
        "_trimmed": without_internal_frames,
        "_missing_frame": missing_frame,
        "_frame": sys._getframe,
    }
    exec(compile(tree, code.co_filename if code is not None else "<rosejit>", "exec"), scope)
    return scope[name]
