"""Turns a running frame of rewritten code into a place in the user's source, found out only when somebody asks."""

import dis
import linecache
import os
import sys
from opcode import opmap
from types import CodeType, FrameType, TracebackType
from typing import Any

from rosejit.errors import RoseError
from rosejit.span import PACKAGE, Span

_OURS = PACKAGE + os.sep
frame_at = sys._getframe  # the one fast way to the line that is running
_set = object.__setattr__


class Place(Span):
    """A `Span` known as an instruction; its line and columns are computed at the first question."""

    __slots__ = ("code", "instruction")
    code: CodeType
    instruction: int

    def __init__(self, code: CodeType, instruction: int) -> None:  # filled in lazily
        _set(self, "code", code)
        _set(self, "instruction", instruction)

    def __getattr__(self, name: str) -> Any:
        """Called for the fields of `Span` while they are unset."""
        if name.startswith("_") or name not in _FIELDS:
            raise AttributeError(name)
        for field, value in zip(_FIELDS, _position(self.code, self.instruction), strict=True):
            _set(self, field, value)
        return getattr(self, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Span, tuple(getattr(self, field) for field in _FIELDS))


_FIELDS = ("file", "line", "col", "end_line", "end_col", "function")


def _position(code: CodeType, instruction: int) -> tuple[str, int, int, int, int, str]:
    name = getattr(code, "co_qualname", code.co_name)
    line, end_line, col, end_col = _columns(code, instruction)
    if line is None:
        line = code.co_firstlineno
    if col is None or end_col is None or end_line is None:
        text = linecache.getline(code.co_filename, line)
        return (code.co_filename, line, len(text) - len(text.lstrip()), line, len(text.rstrip()), name)
    return (code.co_filename, line, col, end_line, end_col, name)


def _columns(code: CodeType, instruction: int) -> tuple[int | None, int | None, int | None, int | None]:
    """Line, last line, first and last column of an instruction; before 3.11 only the line is known."""
    if sys.version_info >= (3, 11):
        for number, position in enumerate(code.co_positions()):
            if number == instruction >> 1:
                return position
        return (None, None, None, None)
    line = next((ln for start, end, ln in code.co_lines() if start <= instruction < end), None)
    return (line, line, None, None)


class _Table(dict[int, Place]):
    """The places of the instructions of one code object, made when they are asked for."""

    __slots__ = ("code",)

    def __init__(self, code: CodeType) -> None:
        self.code = code

    def __missing__(self, instruction: int) -> Place:
        self[instruction] = place = Place(self.code, instruction)
        return place


class Places:
    """The places of all instructions that have staged something; one object for each, however often it runs."""

    __slots__ = ("tables",)

    def __init__(self) -> None:
        self.tables: dict[int, _Table] = {}

    def enter(self, code: CodeType) -> None:
        """Make the instructions of `code` (and of functions inside it) places, if it is the user's."""
        if id(code) in self.tables or code.co_filename.startswith(_OURS):
            return
        self.tables[id(code)] = _Table(code)
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                self.enter(inner)

    def of(self, frame: FrameType | None) -> Place | None:
        """Where `frame` stands, or the innermost frame below it that is the user's."""
        get = self.tables.get
        while frame is not None:
            entry = get(id(frame.f_code))
            if entry is not None:
                return entry[frame.f_lasti]
            frame = frame.f_back
        return None

    def of_traceback(self, traceback: TracebackType | None) -> Place | None:
        """The innermost place of the user's in a traceback."""
        found: Place | None = None
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if id(code) in self.tables and (found is None or _has_begun(code, traceback.tb_lasti)):
                found = Place(code, traceback.tb_lasti)
            traceback = traceback.tb_next
        return found

    def chain(self, frame: FrameType | None) -> tuple[Place, ...]:
        """The calls in the user's code that led to `frame`, outermost first, its own place last."""
        found: list[Place] = []
        while frame is not None:
            entry = self.tables.get(id(frame.f_code))
            if entry is not None:
                found.append(Place(entry.code, frame.f_lasti))
            frame = frame.f_back
        return tuple(reversed(found))

    def chained(self, error: RoseError, frame: FrameType | None) -> RoseError:
        """`error` of a call in staged code that names the parameter it is about, with the calls that led there."""
        if not error.chain and not isinstance(error.span, Place):
            error.chain = self.chain(frame)
        return error


_RESUME = opmap.get("RESUME")
"""The first instruction of a function, since Python 3.11."""


def last_return(code: CodeType) -> Place | None:
    """The last `return` of a function of the user's."""
    found = [step.offset for step in dis.get_instructions(code) if step.opname.startswith("RETURN_")]
    return Place(code, found[-1]) if found else None


def _has_begun(code: CodeType, at: int) -> bool:
    """Whether an error is one of the code: a profile function may fail before it, where there is no depth left."""
    return at >= 0 and code.co_code[at] != _RESUME
