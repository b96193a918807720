"""Powers of staged numbers: by repeated multiplication where the exponent is a constant."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false

from typing import Any

from rosejit.frontend.host import number_kind
from rosejit.frontend.values import Int, P, Real, int_atom, real_atom, type_of
from rosejit.ir.syntax import Failure, Lit
from rosejit.ir.types import BOOL, INT


def power(base: Any, exponent: Any) -> Any:
    """`base ** exponent`, one of them staged."""
    if number_kind(exponent) is not None:
        return _constant_power(base, exponent)
    tape = exponent.tape
    if type_of(base) in (INT, BOOL) and type_of(exponent) in (INT, BOOL):
        atom = int_atom(tape, exponent)
        natural(exponent, atom, "a negative exponent of an Int: use a float as base")
        whole = int_atom(tape, base)
        assert whole is not None
        assert atom is not None
        return Int(tape, tape.apply(P["ipow"], whole, atom))
    left, right = real_atom(tape, base), real_atom(tape, exponent)
    if left is None or right is None:
        return NotImplemented
    return Real(tape, tape.apply(P["pow"], left, right))


def _constant_power(base: Any, exponent: Any) -> Any:
    """An integral exponent is repeated multiplication, whose derivatives exist everywhere."""
    tape = base.tape
    whole = number_kind(exponent) != "real" or float(exponent).is_integer()
    if base.__class__ is not Real and number_kind(exponent) == "real":
        base = Real(tape, real_atom(tape, base) or base.atom)
    if not whole or abs(exponent) > 2**16:
        return Real(tape, tape.apply(P["pow"], real_atom(tape, base) or base.atom, tape.literal(float(exponent))))
    k = int(exponent)
    if k < 0:
        return 1.0 / _raised(Real(tape, real_atom(tape, base) or base.atom), -k)
    if k == 0:
        return Real(tape, tape.literal(1.0)) if base.__class__ is Real else Int(tape, Lit(1, INT), 1)
    return _raised(+base, k)  # a Bool is an Int here


def _raised(x: Any, k: int) -> Any:
    if k == 1:
        return x
    half = _raised(x, k // 2)
    square = half * half
    return square * x if k % 2 else square


def natural(value: Any, atom: Any, message: str) -> None:
    """See to it that an Int is not negative: now if it is known, else at run time."""
    staged = value if value.__class__ is Int else None
    if staged is None:
        if number_kind(value) is not None and value < 0:
            raise ValueError(message)
    elif staged.low < 0:
        tape = staged.tape
        held = tape.apply(P["ige"], atom, Lit(0, INT))
        tape.check(held, Failure("raise", message, tape.here(), exception=ValueError(message)))
