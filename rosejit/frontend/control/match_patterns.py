"""Takes the subjects of `match` statements apart. Whether they have the form of a pattern is known while staging; of
one of several values of the host only running tells."""

# Values of users are of any type: what they are is asked while staging.

import enum
from collections.abc import Callable, Mapping
from types import FunctionType, NoneType
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.control.chosen import Chosen, asked, compared, of_those
from rosejit.frontend.control.optional import Optional, held_in, is_none, known_flag, single
from rosejit.frontend.control.short_circuit import negate
from rosejit.frontend.control.undefined import Poison, require_single_value
from rosejit.frontend.lists.list_steps import refuse
from rosejit.frontend.scalar_ops.origins import ask_truth
from rosejit.frontend.soa.struct_of_arrays import StructOfArrays
from rosejit.frontend.values.argument_identity import ask_same
from rosejit.frontend.values.pytree import is_staged_deep
from rosejit.frontend.values.scalars import NUMBERS, Bool, type_of
from rosejit.frontend.values.tape import Tape
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""The classes whose one positional pattern is for the value itself."""

_SEQUENCE = 1 << 5
"""`Py_TPFLAGS_SEQUENCE`."""


@dataclass(slots=True)
class Patterns:
    """The hooks of patterns. Each says first whether the form fits, and then gives the parts, or as many None."""

    tape: Tape
    call: Callable[..., Any]
    getitem: Callable[..., Any]

    def sequence(self, value: Any, before: int, starred: bool, after: int) -> tuple[Any, ...]:
        """The parts of `[a, b, *rest, c]`."""
        if hasattr(value, "__rose_dynamic__"):
            refuse(self.tape, "a pattern is matched by")
        count = self.call(len, value) if _is_sequence(single(value)) else -1
        if count < before + after or (count > before + after and not starred):
            return (False, *[None] * (before + starred + after))
        items = [self.getitem(value, k) for k in range(count)]
        rest = [items[before : count - after]] if starred else []
        return (True, *items[:before], *rest, *items[count - after :])

    def mapping(self, value: Any, keys: tuple[Any, ...], rest: bool) -> tuple[Any, ...]:
        """The parts of `{key: a, **rest}`."""
        if hasattr(value, "__rose_dynamic__"):
            refuse(self.tape, "a pattern is matched by")
        if not isinstance(single(value), Mapping) or any(key not in value for key in keys):
            return (False, *[None] * (len(keys) + rest))
        others = {key: part for key, part in value.items() if key not in keys}
        return (True, *(self.getitem(value, key) for key in keys), *([others] if rest else []))

    def instance(self, value: Any, cls: Any, count: int, names: tuple[str, ...]) -> tuple[Any, ...]:
        """The parts of `Class(a, b, name=c)`."""
        unfit = (False, *[None] * (count + len(names)))
        if not isinstance(cls, type):
            raise TypeError("called match pattern must be a class")
        if value.__class__ is Chosen:
            return self._of_several(
                value, [self.instance(option, cls, count, names) for option in value.__rose_options__]
            )
        if not self.call(isinstance, value, cls):
            return unfit
        if count == 1 and issubclass(cls, _WHOLE) and not hasattr(cls, "__match_args__"):
            parts, places = [value], ()
        else:
            known: tuple[str, ...] = getattr(cls, "__match_args__", ())
            if len(known) < count:
                raise TypeError(f"{cls.__name__}() accepts {len(known)} positional sub-patterns ({count} given)")
            parts, places = [], known[:count]
        for name in (*places, *names):
            if not hasattr(value, name):
                return unfit
            parts.append(getattr(value, name))
        return (True, *parts)

    def _of_several(self, value: Chosen, each: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        """What fits of several values, and the parts of those that do."""
        fits = [found[0] for found in each]
        if not any(fits):
            return each[0]
        parts = [*zip(*[found[1:] for found in each], strict=True)]
        return (asked(value, fits), *[of_those(value, known, fits) for known in parts])

    def decided(self, value: Any) -> Any:
        """The subject of a `match` that stays with Python."""
        if is_staged_deep(value):
            raise self.tape.fault(
                UnsupportedSyntax,
                "a `match` of a staged value has a pattern that binds names on the sides of `|`",
                help="write one `case` for each side",
            )
        return value

    def same(self, a: Any, b: Any, negated: bool) -> Any:
        """`a is b`: truth values are themselves, staged ones too, and what may be None is asked."""
        for value, other in ((a, b), (b, a)):
            if value.__class__ is Optional and other is None:
                found = is_none(value)
                return negate(self.tape, found) if negated else found
        if Optional in (a.__class__, b.__class__) and all([_is_unique(held_in(value)) for value in (a, b)]):
            found = self._same_or_none(a, b)
            return negate(self.tape, found) if negated else found
        for value, other in ((a, b), (b, a)):
            if value.__class__ is Chosen and (other.__class__ is Chosen or not isinstance(other, Poison)):
                found = compared(value, lambda option, other=other: self.same(option, other, False))
                return negate(self.tape, found) if negated else found
        if any(x.__class__ in NUMBERS and isinstance(y, enum.Enum) for x, y in ((a, b), (b, a))):
            raise self.tape.type_fault(
                "`is` asks whether a staged number is the member of an enum, which is a number too",
                "compare with `==`",
            )
        bools = [require_single_value(value).__class__ is Bool or value is True or value is False for value in (a, b)]
        if not all(bools) or not (a.__class__ in NUMBERS or b.__class__ in NUMBERS):
            if a.__class__ in NUMBERS or b.__class__ in NUMBERS:
                self._check_numbers(a, b)
            self._check_identity(a, b)
            if a is not b:
                ask_same(self.tape, a, b, "`is`")
            return (a is not b) if negated else (a is b)
        ask_truth(self.tape, a, b)
        return a != b if negated else a == b

    def _same_or_none(self, a: Any, b: Any) -> Any:
        """`a is b` of two of which one may be None."""
        flags = [known_flag(value) if value.__class__ is Optional else True for value in (a, b)]
        held = self.same(held_in(a), held_in(b), False)
        there = flags[0] & flags[1] & held if held is not False else False
        return there | (negate(self.tape, flags[0]) & negate(self.tape, flags[1]))

    def _check_numbers(self, a: Any, b: Any) -> None:
        """Refuse to say whether two numbers of one kind are one object: staged ones have none."""
        if a is not b and type_of(a) is not None and type_of(a) is type_of(b):
            raise self.tape.type_fault("`is` asks whether two numbers are one object", "compare them with `==`")

    def _check_identity(self, a: Any, b: Any) -> None:
        """Refuse to say whether these are one object where only running tells which they are."""
        merged = self.tape.merged
        if a is b or not merged or a is None or b is None:
            return
        held = _identified(a), _identified(b)
        if any(merged.get(id(each)) is each for each in held) and not any(each.__class__ in _VALUES for each in held):
            raise self.tape.type_fault(
                "`is` asks whether two names are one object, and which object one of them is only running tells",
                "keep a truth value of your own beside the object, and ask that",
                "a staged `if` or loop binds the name to one of several objects",
            )


_VALUES = NUMBERS | {int, float, bool, str, bytes, NoneType}


def _is_unique(value: Any) -> bool:
    """Whether a value is one of those of which Python has one each: members of an `Enum`, classes, functions."""
    options = value.__rose_options__ if value.__class__ is Chosen else (value,)
    return all([isinstance(option, (enum.Enum, type, FunctionType, NoneType)) for option in options])


def _identified(value: Any) -> Any:
    return value.box if value.__class__ is Array else value


def _is_sequence(value: Any) -> bool:
    """Whether `[...]` fits values of that class: by CPython's own flag. NumPy's arrays have it from 2.5 on."""
    if value.__class__ is StructOfArrays:
        return True
    kind: type = np.ndarray if value.__class__ is Array else type(value)
    return bool(kind.__flags__ & _SEQUENCE)
