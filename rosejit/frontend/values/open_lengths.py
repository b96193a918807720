"""Lengths that stay open, in a staging: what numbers do not do with them a staged Int does, which they are then."""

# Values of users are of any type: what they are is asked while staging.

import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from rosejit.frontend.values.host_scalars import SMALLEST, register_whole
from rosejit.frontend.values.scalars import Int
from rosejit.frontend.values.tape import Tape
from rosejit.ir.lengths import HELP, ORDERS, Length
from rosejit.ir.syntax import Lit
from rosejit.ir.types import INT


class OpenLength(Length):
    """A length that a staged function finds in the shape of an array."""

    __slots__ = ("tape",)

    def __init__(self, terms: Any, tape: Tape) -> None:
        super().__init__(terms)
        self.tape = tape

    def made(self, terms: Any) -> "OpenLength":
        """Another one of the same staging."""
        return OpenLength(terms, self.tape)

    def __str__(self) -> str:
        raise self.unknown()

    def __format__(self, spec: str) -> str:
        raise self.unknown()

    def unknown(self) -> Exception:
        """The error, at the user's line, for a question that only the run answers."""
        return self.tape.type_fault(str(super().unknown()).splitlines()[0], HELP)

    def staged(self, op: Callable[..., Any], *others: Any, first: bool = True) -> Any:
        """What a staged Int gives that has the value."""
        return op(as_staged(self), *map(as_staged, others)) if first else op(as_staged(others[0]), as_staged(self))

    def __eq__(self, other: object) -> Any:
        """With a number a staged Bool where only the run knows."""
        if isinstance(other, Length):
            return self.terms == other.terms
        found = self.decided_equal(other) if isinstance(other, int) else None
        return self.staged(operator.eq, other) if found is None else found

    def __ne__(self, other: object) -> Any:
        found = self == other
        return not found if found.__class__ is bool else self.staged(operator.ne, other)

    __hash__ = Length.__hash__


register_whole(OpenLength)


def opened(tape: Tape, shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """A shape in this staging."""
    if any([isinstance(n, Length) for n in shape]):
        tape.has_open = True
    return tuple([OpenLength(n.terms, tape) if isinstance(n, Length) else n for n in shape])


def as_staged(value: Any) -> Any:
    """An open length as a staged Int; any other value itself."""
    if value.__class__ is not OpenLength:
        return value
    return Int(value.tape, Lit(value, INT), SMALLEST if value.low is None else value.low)


def refuse(tape: Tape, what: str) -> NoReturn:
    """Raise for what is not staged where the length of an array is open."""
    raise tape.type_fault(f"{what} of an array whose length stays open is not staged", HELP)


def has_open(shape: Sequence[Any]) -> bool:
    """Whether a length of a shape is open."""
    return any([n.__class__ is OpenLength for n in shape])


def is_of_open_length(value: Any) -> bool:
    """Whether it is such a length, an array of one, or a list of these."""
    parts = value if isinstance(value, (list, tuple)) else (value,)
    return any([part.__class__ is OpenLength or has_open(getattr(part, "shape", ())) for part in parts])


def is_one(length: Any) -> bool:
    """Whether a length is known to be 1, so that it fits any other."""
    return length.__class__ is not OpenLength and length == 1


_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift")


def _operator(name: str, first: bool) -> Callable[[Any, Any], Any]:
    """Of lengths and numbers a length where there is one, else a staged number."""
    known = getattr(Length, f"__{'' if first else 'r'}{name.rstrip('_')}__", None)
    op = getattr(operator, name)

    def method(self: OpenLength, other: Any) -> Any:
        found = NotImplemented if known is None else known(self, other)
        return self.staged(op, other, first=first) if found is NotImplemented else found

    return method


def _comparison(name: str) -> Callable[[Any, Any], Any]:
    op, order = getattr(operator, name), ORDERS[name]

    def method(self: OpenLength, other: Any) -> Any:
        found = self.decided(other, *order) if isinstance(other, (int, Length)) else None
        return self.staged(op, other) if found is None else found

    return method


def _alone(name: str) -> Callable[[Any], Any]:
    return lambda self: self.staged(getattr(operator, name))


for _name in _ARITHMETIC:
    setattr(OpenLength, f"__{_name.rstrip('_')}__", _operator(_name, first=True))
    setattr(OpenLength, f"__r{_name.rstrip('_')}__", _operator(_name, first=False))
for _name in ORDERS:
    setattr(OpenLength, f"__{_name}__", _comparison(_name))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(OpenLength, f"__{_name}__", _alone(_name))
