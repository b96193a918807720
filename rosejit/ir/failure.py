"""Turns a `Failure` and the values it was reported with into the exception a user sees; for every way of running."""

import copy
from collections.abc import Sequence

from rosejit.errors import (
    RoseAssertionError,
    RoseError,
    RoseFloatingPointError,
    RoseIndexError,
    RoseMemoryError,
    RoseOverflowError,
    RoseRecursionError,
    RoseZeroDivisionError,
    ShapeError,
    UnboundStagedName,
    WasmTrap,
)
from rosejit.ir.primitive import Primitive
from rosejit.ir.syntax import Failure
from rosejit.span import Span

KINDS: dict[str, type[RoseError]] = {
    "index": RoseIndexError,
    "overflow": RoseOverflowError,
    "zero division": RoseZeroDivisionError,
    "assertion": RoseAssertionError,
    "unbound": UnboundStagedName,
    "shape": ShapeError,
    "nan": RoseFloatingPointError,
    "recursion": RoseRecursionError,
    "memory": RoseMemoryError,
    "trap": WasmTrap,
}
"""The class of every kind of failure but "raise", which is the user's own exception."""

MESSAGES = {
    "overflow": "the result of `{op}` does not fit 64 bits",
    "zero division": "`{op}` by zero",
}
RECURSION = Failure("recursion", "the calls are nested too deeply")


def index_failure(span: Span | None = None) -> Failure:
    """What a checked index ends in; its values are the index and the length."""
    return Failure("index", "index {0} is out of range for length {1}", span)


def primitive_failure(op: Primitive, span: Span | None = None, fault: int = 1) -> Failure:
    """What the primitive `op`, which has a `failure`, ends in; `fault` numbers its kinds. Without values."""
    kind = op.failure.split("|")[fault - 1]
    template = MESSAGES.get(kind, "`{op}` failed")
    return Failure(kind, template.replace("{op}", op.word), span)


def fault_of(op: Primitive, error: ArithmeticError) -> int:
    """The number of the kind that `error`, raised by `op.evaluate`, belongs to."""
    kinds = op.failure.split("|")
    return next(n for n, kind in enumerate(kinds, 1) if issubclass(KINDS[kind], type(error)))


def failure_error(failure: Failure, values: Sequence[float | int | bool] = ()) -> BaseException:
    """The exception of `failure`; `{0}`, `{1}`, ... in its message stand for `values`.

    A user's `raise` (kind "raise") holds an exception, of which a copy is given, a class, which gets the message, or
    a callable that makes one from the values.
    """
    made = failure.exception
    if made is not None:
        if isinstance(made, BaseException):
            return copy.copy(made).with_traceback(None)
        words = (failure.message,) if isinstance(made, type) and failure.message else values
        return made(*words).with_traceback(None)
    message = failure.message
    for number, value in enumerate(values):
        message = message.replace(f"{{{number}}}", repr(value))
    return KINDS.get(failure.kind, WasmTrap)(message, failure.span, help=failure.help)
