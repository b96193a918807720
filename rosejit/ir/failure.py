"""Turns a `Failure` and the values it was reported with into the exception a user sees; for every way of running."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rosejit.errors import (
    RoseAssertionError,
    RoseAttributeError,
    RoseError,
    RoseFloatingPointError,
    RoseIndexError,
    RoseMemoryError,
    RoseOverflowError,
    RoseRecursionError,
    RoseValueError,
    RoseZeroDivisionError,
    ShapeError,
    StagingTypeError,
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
    "no integer": RoseValueError,
    "assertion": RoseAssertionError,
    "attribute": RoseAttributeError,
    "none": StagingTypeError,
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
    "no integer": "NaN cannot be made an integer",
}
_FIELD = re.compile(r"\{(\d)(?:!([rsa]))?(?::([^{}]*))?\}")
"""Where a value goes in a message, as in `str.format`."""
RECURSION = Failure("recursion", "the calls are nested too deeply")


def index_failure(span: Span | None = None) -> Failure:
    """What a checked index ends in; its values are the index and the length."""
    return Failure("index", "index {0} is out of range for length {1}", span)


def primitive_failure(op: Primitive, span: Span | None = None, fault: int = 1) -> Failure:
    """What the primitive `op`, which has a `failure`, ends in; `fault` numbers its kinds. Without values."""
    kind = op.failure.split("|")[fault - 1]
    template = MESSAGES.get(kind, "`{op}` failed")
    return Failure(kind, template.replace("{op}", op.word), span)


FAULTS = (ArithmeticError, ValueError)
"""What a primitive with a `failure` raises where it is evaluated."""


def fault_of(op: Primitive, error: Exception) -> int:
    """The number of the kind that `error`, raised by `op.evaluate`, belongs to."""
    kinds = op.failure.split("|")
    return next(n for n, kind in enumerate(kinds, 1) if issubclass(KINDS[kind], type(error)))


def failure_error(failure: Failure, values: Sequence[float | int | bool] = ()) -> BaseException:
    """The exception of `failure`; `{0}`, `{1:.3f}`, ... in its message stand for `values`.

    A user's `raise` (kind "raise") holds an exception, of which a copy is given, a class, which gets the message, or
    a callable that makes one from the values.
    """
    made = failure.exception
    if made is not None:
        if isinstance(made, BaseException):
            return renewed(type(made), made.args, vars(made))
        words = (failure.message,) if isinstance(made, type) and failure.message else values
        return made(*words).with_traceback(None)
    message = _FIELD.sub(lambda field: _formatted(field, values), failure.message) if values else failure.message
    return KINDS.get(failure.kind, WasmTrap)(message, failure.span, help=failure.help)


def _formatted(field: re.Match[str], values: Sequence[float | int | bool]) -> str:
    number, conversion, spec = field.groups(default="")
    if int(number) >= len(values):
        return field[0]
    value = values[int(number)]
    return format(repr(value) if conversion in ("r", "a") else str(value) if conversion else value, spec)


def raised_by(failure: Failure) -> tuple[type[BaseException], ...]:
    """The class of the exception of `failure`; none where the values decide."""
    made = failure.exception
    if isinstance(made, BaseException):
        return (type(made),)
    if isinstance(made, type):
        return (made,)
    return () if made is not None else (KINDS.get(failure.kind, WasmTrap),)


def renewed(cls: type[BaseException], args: Sequence[Any], attributes: Mapping[str, Any]) -> BaseException:
    """An exception with these arguments and attributes. Its constructor is not asked: it may want others."""
    made = cls.__new__(cls, *args)
    made.args = tuple(args)
    made.__dict__.update(attributes)
    return made
