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


def trimmed(found: BaseException) -> BaseException:
    """`found`, and those in whose handling it was raised, less the frames of this package in their tracebacks, unless
    `ROSE_FULL_TRACEBACK` asks for them. Of an object that cannot be looked at, our own error."""
    error = _unseen(found) or found
    pending: list[BaseException | None] = [] if os.environ.get("ROSE_FULL_TRACEBACK") else [error]
    seen: list[BaseException] = []
    while pending:
        one = pending.pop()
        if one is not None and not any(one is other for other in seen):
            seen.append(one)
            one.__traceback__ = _without_internal_frames(one.__traceback__)
            pending += [one.__context__, one.__cause__]
    return error


_LOOKED_AT = frozenset({
    "__getattribute__", "__getattr__", "__class__", "__module__", "__hash__", "__eq__", "__dict__", "__mro__",
    "__name__", "__qualname__", "__bases__", "__len__", "__iter__", "__array__", "__subclasscheck__",
    "__instancecheck__", "dtype", "shape",
})  # fmt: skip
"""Members of a class of the user's that are asked what an object is."""
_FOR_PYTHON = tuple([os.path.join("frontend", each) for each in ("session", "control", "python")])
"""Where we ask an object on behalf of Python, which would ask as well."""


def _unseen(error: BaseException) -> "RoseError | None":
    """What to say of an error that an object raises where we, and not the user's code, ask what it is."""
    at = error.__traceback__
    before: TracebackType | None = None
    while at is not None and at.tb_next is not None:
        before, at = at, at.tb_next
    if isinstance(error, RoseError) or at is None or before is None or not isinstance(error, Exception):
        return None
    code, asking = at.tb_frame.f_code, before.tb_frame.f_code.co_filename
    is_ours = asking.startswith(PACKAGE + os.sep) and not any(each in asking for each in _FOR_PYTHON)
    if not is_ours or code.co_filename.startswith(PACKAGE + os.sep) or code.co_name not in _LOOKED_AT:
        return None
    made = StagingTypeError(
        f"an object cannot be looked at: its `{code.co_name}` raises {type(error).__name__}: {error}",
        Span(code.co_filename, at.tb_lineno, 0, at.tb_lineno, 0, code.co_name),
        facts=("what staged code is given, and what it reads, is looked at, to tell later what has changed",),
        help=f"let `{code.co_name}` answer, or raise AttributeError; or leave the object out, and pass its numbers",
    )
    made.__cause__ = error
    return made.with_traceback(error.__traceback__)


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
