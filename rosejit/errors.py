"""Every error a user can cause, and the one format of their messages (API.md section 6)."""

import os
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, NoReturn

from rosejit.span import PACKAGE, Span, quote


def with_article(noun: str) -> str:
    """A noun as a sentence says it: `an int`, `a list`."""
    return f"{'an' if noun[:1].lower() in tuple('aeio') else 'a'} {noun}"


class RoseError(Exception):
    """The base of all errors of rosejit.

    `message` is one line in the user's words; `span` the place in their source; `facts` further lines
    (what was needed, what was found, where a value came from); `help` the edit that mends it; `chain` the
    calls in user files that led here, outermost first. A traceback closes with the command that tells more of its
    class, as a note (PEP 678, from Python 3.11 on).
    """

    blames_call = False
    """Whether a call is at fault, and not the code that it would have run."""

    def __init__(
        self,
        message: str = "",
        span: Span | None = None,
        *,
        facts: tuple[str, ...] = (),
        help: str | None = None,
        chain: tuple[Span, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.facts = facts
        self.help = help
        self.chain = chain
        self.__notes__ = [f"  more: python -m rosejit explain {type(self).__name__}"]

    def __str__(self) -> str:
        lines = [self.message]
        for call in self.chain:
            lines += [f"  called from {call}", *quote(call)]
        if self.span is not None:
            lines += [f"  {self.span}", *quote(self.span)]
        lines += [f"  {fact}" for fact in self.facts]
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(lines)


class _RoseSyntaxError(RoseError, SyntaxError):
    """Carries the place in the fields that `traceback` and editors read from a `SyntaxError`."""

    def __init__(self, message: str = "", span: Span | None = None, **details: object) -> None:
        super().__init__(message, span, **details)  # type: ignore[arg-type]  # passed on unchanged
        self.msg = str(self)


class UnsupportedSyntax(_RoseSyntaxError):
    """Python that cannot be staged."""


class ParseError(_RoseSyntaxError):
    """The text of an IR program is not in its grammar."""


class StagingTypeError(RoseError, TypeError):
    """Types disagree: an argument, the sides of a branch, a carried value, the annotated result."""


class ShapeError(RoseError, ValueError):
    """Shapes or dimension names disagree."""


class NotDifferentiable(RoseError, TypeError):
    """There is no derivative of this function with respect to this argument."""


class UnboundStagedName(RoseError, UnboundLocalError):
    """A name was read on a path that did not set it."""


class RoseAttributeError(RoseError, AttributeError):
    """An attribute is read on a path that did not set it."""


class UnrollLimit(RoseError, RuntimeError):
    """A host loop or host recursion staged too many operations."""


class RoseIndexError(RoseError, IndexError):
    """An index is out of range."""


class RoseAssertionError(RoseError, AssertionError):
    """A staged `assert` failed."""


class RoseOverflowError(RoseError, OverflowError):
    """The result of staged integer arithmetic does not fit 64 bits."""


class RoseValueError(RoseError, ValueError):
    """NaN where an integer is asked for."""


class RoseZeroDivisionError(RoseError, ZeroDivisionError):
    """A staged integer was divided by zero."""


class RoseFloatingPointError(RoseError, FloatingPointError):
    """An operation gave nan, and `ROSE_DEBUG_NANS` asks to hear of it."""


class RoseRecursionError(RoseError, RecursionError):
    """The stack of the compiled code is exhausted."""


class RoseMemoryError(RoseError, MemoryError):
    """The linear memory of the compiled code is exhausted."""


class WasmTrap(RoseError, RuntimeError):
    """Anything else the engine reports."""


class CacheError(RoseError, OSError, Warning):
    """The disk cache cannot be used, which is only ever a warning; or a saved program cannot be loaded."""


class StagingWarning(RoseError, UserWarning):
    """The host is changed while a function is staged: once for each staging, or the function is staged at each call."""


class UnrollWarning(RoseError, RuntimeWarning):
    """A loop of the host is being unrolled to very many operations; only ever a warning."""


class VerifyError(AssertionError):
    """A pass broke an invariant of the IR: always our fault, never the user's."""


def raiser(span: Span) -> Callable[[BaseException], NoReturn]:
    """A function that stands at `span` and raises what it is given: a traceback then ends in the user's line."""
    source = "\n" * (span.line - 1) + "def raising(e): raise e"
    scope: dict[str, Any] = {}
    exec(compile(source, span.file, "exec"), scope)  # the text above is ours: only its place is the user's
    made = scope["raising"]
    made.__code__ = made.__code__.replace(co_name=span.function.rpartition(".")[2] or "_staged")
    return made


def raise_in_user_code(error: BaseException, span: Span | None) -> NoReturn:
    """Raise `error` from a frame that stands at `span`."""
    if span is None:
        raise error
    raiser(span)(error)
    raise AssertionError


def missing_frame(error: BaseException, caller: FrameType) -> Callable[[BaseException], NoReturn] | None:
    """What raises `error` where the user has to look: in the line that calls, if no staged code has run, else at the
    place of the error. None where its traceback ends there."""
    if getattr(error, "blames_call", False):
        code = caller.f_code
        return raiser(Span(code.co_filename, caller.f_lineno, 0, caller.f_lineno, 0, code.co_name))
    span = getattr(error, "span", None)
    if span is None:
        return None
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is not None and (last.tb_frame.f_code.co_filename, last.tb_lineno) == (span.file, span.line):
        return None
    return raiser(span)


def trimmed(error: BaseException) -> BaseException:
    """`error`, and those in whose handling it was raised, less the frames of this package in their tracebacks, unless
    `ROSE_FULL_TRACEBACK` asks for them."""
    pending: list[BaseException | None] = [] if os.environ.get("ROSE_FULL_TRACEBACK") else [error]
    seen: list[BaseException] = []
    while pending:
        one = pending.pop()
        if one is not None and not any(one is other for other in seen):
            seen.append(one)
            one.__traceback__ = _without_internal_frames(one.__traceback__)
            pending += [one.__context__, one.__cause__]
    return error


def _without_internal_frames(traceback: TracebackType | None) -> TracebackType | None:
    ours = PACKAGE + os.sep
    frames: list[TracebackType] = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(ours):
            frames.append(traceback)
        traceback = traceback.tb_next
    kept: TracebackType | None = None
    for frame in reversed(frames):
        kept = TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept
