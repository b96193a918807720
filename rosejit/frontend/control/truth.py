"""Asks for the truth of a value: a bool where it is known, a staged Bool where it is not."""

from typing import Any

from rosejit.errors import ShapeError
from rosejit.frontend.arrays.access import element, number
from rosejit.frontend.arrays.array import Array, host_data
from rosejit.frontend.control.chosen import Chosen
from rosejit.frontend.control.grown_lists import any_there, is_grown
from rosejit.frontend.control.optional import Optional, combined, is_there
from rosejit.frontend.control.special_methods import own
from rosejit.frontend.control.undefined import Poison
from rosejit.frontend.values.complexes import Complex
from rosejit.frontend.values.open_lengths import OpenLength, as_staged
from rosejit.frontend.values.scalars import Bool, Int, P, Real
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Lit
from rosejit.ir.types import INT
from rosejit.narrow_values import NarrowValue


def truth(tape: Tape, value: Any) -> Any:
    """`bool(value)`, staged if need be."""
    kind = value.__class__
    if kind is bool or kind is Bool:
        return value
    if kind is Real:
        return Bool(tape, tape.apply(P["ne"], value.atom, tape.literal(0.0)))
    if kind is Int:
        return Bool(tape, tape.apply(P["ine"], value.atom, Lit(0, INT)))
    if kind is OpenLength:
        return truth(tape, as_staged(value))
    if kind is Complex:
        nonzero: Any = value != 0.0
        return nonzero
    if kind is Array:
        return _of_array(tape, value)
    if kind is Optional:
        return _of_optional(tape, value)
    if isinstance(value, NarrowValue):
        return truth(tape, value.wide)
    if isinstance(value, Poison):
        return _of_untold(tape, value)
    return any_there(tape, value) if tape.has_grown and is_grown(value) else _asked(tape, value)


def _asked(tape: Tape, value: Any) -> Any:
    ask = own(value, "__bool__") or own(value, "__len__")
    return bool(value) if ask is None else truth(tape, ask())


def _of_untold(tape: Tape, value: Poison) -> Any:
    if value.__rose_truth__ is not None:
        return value.__rose_truth__
    return Chosen.__rose_decided__(tape, value) if isinstance(value, Chosen) else bool(value)


def _of_optional(tape: Tape, value: Optional) -> Any:
    there, held = is_there(value), truth(tape, value.__rose_held__)
    if there.__class__ is bool or held is False:
        return there and held
    if held is True:
        return there
    made = Bool(tape, tape.apply(P["and"], there.atom, held.atom))
    combined(there, held, made, is_or=False)
    return made


def _of_array(tape: Tape, value: Array) -> Any:
    if value.shape in ((), (1,)):
        zeros = tuple(Lit(0, INT) for _ in value.shape)
        return truth(tape, number(tape, element(value, zeros)))
    data = host_data(value)
    if data is not None and data.size < 2:
        return bool(data)
    raise tape.fault(
        ShapeError,
        f"the truth of an array of shape {value.shape} is ambiguous",
        help="use `np.all(x)` or `np.any(x)`, or compare one element",
    )
