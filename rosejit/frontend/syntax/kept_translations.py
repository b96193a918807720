"""Rewritten code of rosejit's own functions, kept for later processes.

Solvers, draws and linear algebra are written as users write, and rewriting them was a fifth of a fit's first call.
"""

import functools
import os
from types import CodeType, FunctionType
from typing import NamedTuple

from rosejit.beside_bytecode import Kept, kept
from rosejit.span import PACKAGE, Span


class Made(NamedTuple):
    """What is kept of a translation: the arguments of `translate.Translation`."""

    code: CodeType
    chains: tuple[tuple[str, ...], ...]
    span: Span


def is_kept(function: FunctionType) -> bool:
    """Whether the translation of `function` is: of ours, but for lambdas, which may share a line."""
    code = function.__code__
    return code.co_filename.startswith(PACKAGE + os.sep) and code.co_name != "<lambda>"


def recalled(function: FunctionType) -> Made | None:
    """The translation of one of our functions, if an earlier process has made it of the same code."""
    code = function.__code__
    found = _of_file(code.co_filename).get((function.__qualname__, code.co_firstlineno))
    if found is None:
        return None
    compiled, variables, rewritten, chains, span = found
    if (compiled, variables, rewritten.co_filename) != (code.co_code, code.co_freevars, code.co_filename):
        return None
    return Made(rewritten, chains, Span(*span))


def keep(function: FunctionType, made: Made) -> None:
    """Leave a translation for later processes."""
    code, span = function.__code__, made.span
    place = (span.file, span.line, span.col, span.end_line, span.end_col, span.function)
    found = (code.co_code, code.co_freevars, made.code, made.chains, place)
    _of_file(code.co_filename).add((function.__qualname__, code.co_firstlineno), found)


def _of_file(file: str) -> Kept:
    return kept(file, *_rewriters())


@functools.cache
def _rewriters() -> tuple[str, ...]:
    """The modules that make a translation what it is: those of this folder."""
    folder = os.path.dirname(__file__)
    return tuple(sorted([os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".py")]))
