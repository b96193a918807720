"""Comparisons of staged numbers: exact, as Python's are, where an Int meets a Real or a host int is no Real."""

# Values of users are of any type: what they are is asked while staging.

import math
from collections.abc import Callable
from typing import Any

from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.scalars import Bool, Int, P, Real, bool_atom, int_atom, real_atom, to_real, type_of
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Atom
from rosejit.ir.types import REAL, TAN

Method = Callable[[Any, Any], Any]
Other = Callable[[Any, str, Any], Any]

_EXACT = 2**53
"""Up to here all ints are Reals."""
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_BELOW = {"lt": "le", "le": "le", "gt": "gt", "ge": "gt"}
_ABOVE = {"lt": "lt", "le": "lt", "gt": "ge", "ge": "ge"}
"""How a Real compares with an int between two Reals, said of the one below it and of the one above."""


def of_real(symbol: str, name: str, refused: Other) -> Method:
    """A comparison of a Real and any number."""

    def method(self: Real, other: Any) -> Any:
        tape = self.tape
        if type(other) is Int:
            return _mixed(tape, _MIRRORED[name], other.atom, self)
        if type(other) is not float and number_kind(other) == "int" and abs(int(other)) > _EXACT:
            return _with_large(self, name, int(other))
        atom = real_atom(tape, other)
        return refused(self, symbol, other) if atom is None else Bool(tape, tape.apply(P[name], self.atom, atom))

    return method


def of_int(symbol: str, name: str, refused: Other) -> Method:
    """A comparison of an Int and any number."""

    def method(self: Int, other: Any) -> Any:
        tape = self.tape
        kind = type_of(other)
        if kind is None or kind is TAN:
            return refused(self, symbol, other)
        if kind is REAL:
            return _mixed(tape, name, self.atom, other)
        right = int_atom(tape, other)
        assert right is not None
        return Bool(tape, tape.apply(P[f"i{name}"], self.atom, right))

    return method


def of_bool(symbol: str, name: str, refused: Other) -> Method:
    """A comparison of a Bool, which is 0 or 1 beside numbers, and any number."""
    dunder = f"__{name}__"

    def method(self: Bool, other: Any) -> Any:
        tape = self.tape
        right = bool_atom(tape, other) if name in ("eq", "ne") else None
        if right is not None:
            return Bool(tape, tape.apply(P[f"b{name}"], self.atom, right))
        kind = type_of(other)
        if kind is None:
            return refused(self, symbol, other)
        whole = tape.apply(P["bool_to_int"], self.atom)
        as_number = Real(tape, to_real(tape, whole)) if kind is REAL else Int(tape, whole, 0)
        return getattr(as_number, dunder)(other)

    return method


def _mixed(tape: Tape, name: str, whole: Atom, x: Any) -> Bool:
    """An Int and a Real. What a Real constant below 2**53 is compared with may be rounded."""
    atom = real_atom(tape, x)
    assert atom is not None
    if type(x) is not Real and not _EXACT <= abs(float(x)) < math.inf:
        return Bool(tape, tape.apply(P[name], to_real(tape, whole), atom))
    return Bool(tape, tape.apply(P[f"r{name}"], whole, atom))


def _with_large(x: Real, name: str, number: int) -> Any:
    """A Real and a host int, which may be no Real."""
    try:
        nearest = float(number)
    except OverflowError:
        nearest = math.inf if number > 0 else -math.inf
    if nearest != number:
        if name in ("eq", "ne"):
            return name == "ne"
        name = (_ABOVE if nearest > number else _BELOW)[name]
    tape = x.tape
    return Bool(tape, tape.apply(P[name], x.atom, tape.literal(nearest)))
