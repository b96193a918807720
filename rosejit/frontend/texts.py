"""Makes texts of values: what staging knows as Python does, what only running knows in messages, and nowhere else."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections.abc import Callable
from typing import Any

from rosejit.frontend.arrays import Array, host_data
from rosejit.frontend.structures import parts
from rosejit.frontend.tape import Tape
from rosejit.frontend.values import NUMBERS

_DEEPEST = 6
"""How far down a structure is looked into: those of users may contain themselves."""
_CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "a": ascii, "s": str}


def formatted(tape: Tape, value: Any, conversion: str) -> Any:
    """A value of an f-string, converted; a staged number says itself what becomes of it."""
    if value.__class__ in NUMBERS:
        return value
    known = shown(tape, value)
    return _CONVERSIONS[conversion](known) if conversion else known


def shown(tape: Tape, value: Any, depth: int = 0) -> Any:
    """`value` as Python shows it; raises where staged values are in it."""
    if value.__class__ is Array:
        data = host_data(value)
        if data is None:
            _refuse(tape, "array")
        return data
    if value.__class__ in NUMBERS:
        _refuse(tape, value.__class__.__name__)
    for item in (parts(value) or ()) if depth < _DEEPEST else ():
        shown(tape, item, depth + 1)
    return value


def _refuse(tape: Tape, what: str) -> None:
    raise tape.type_fault(
        f"text needs the value of a staged {what}, which only running tells",
        "pass the value itself to `print`, which prints when the code runs; messages quote single numbers",
    )
