"""A value or None, which only running tells: the value, and the flag that says whether it is there (an option type).

Whoever uses it uses the value; where there is none the running code raises a TypeError, as Python would. `is None` asks
the flag. It is a container of the two, so that joins, loops and the border of functions take it as any structure.
"""

# Values of users are of any type: what they are is asked while staging.

import enum
import operator
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from rosejit import containers
from rosejit.frontend.arrays.array import Array, fresh
from rosejit.frontend.control.undefined import Flag, Poison, UninitialisedCarry, flag_atom, require_single_value
from rosejit.frontend.syntax.user_code import is_users_code
from rosejit.frontend.values.locations import frame_at
from rosejit.frontend.values.pytree import is_row, members, objects, with_parts
from rosejit.frontend.values.scalars import Bool, P, type_of
from rosejit.frontend.values.tape import UNDEFINED, MaybeBound, Tape
from rosejit.ir.syntax import Failure, Zero
from rosejit.ir.types import BOOL, INT, array


class Optional:
    """`__rose_held__` where `__rose_flag__` is true, and None elsewhere."""

    __slots__ = ("__rose_flag__", "__rose_held__", "__rose_tape__")  # no names that users give
    __rose_optional__ = True
    __array_ufunc__ = None  # NumPy leaves operators to us

    def __init__(self, tape: Tape, flag: Flag, held: Any) -> None:
        self.__rose_tape__ = tape
        self.__rose_flag__ = flag
        self.__rose_held__ = held

    def __repr__(self) -> str:
        return repr(self.__rose_held__)

    def __getattr__(self, name: str) -> Any:
        if (name.startswith("__") and name.endswith("__")) or not is_users_code(frame_at(1).f_code):
            raise AttributeError(name)  # what we ask of any value is no use of it
        held = required(self)
        ask = getattr(type(held), "__rose_attribute__", getattr)  # of one of several each is asked
        return ask(held, name)

    def __eq__(self, other: Any) -> Any:
        if type_of(self.__rose_held__) is None and not isinstance(self.__rose_held__, _COMPARED):
            single(self)  # an array is compared element by element, a structure by its class
        return is_none(self) if other is None else known_flag(self) & (self.__rose_held__ == required(other))

    def __ne__(self, other: Any) -> Any:
        return negation(self == other)

    __hash__ = None  # type: ignore[assignment]  # as a staged number has none


_COMPARED = (str, bytes, enum.Enum, Poison)
"""What compares itself: one of several values of the host asks each."""


def _using(apply: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *others: apply(required(self), *others)


def _reflected(apply: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: apply(other, required(self))


_ARITHMETIC = "add sub mul truediv floordiv mod pow matmul lshift rshift and or xor"
_OTHERS = "lt le gt ge getitem neg pos abs invert index contains setitem delitem"
for _name in _ARITHMETIC.split():
    _apply = getattr(operator, f"__{_name}__")
    setattr(Optional, f"__{_name}__", _using(_apply))
    setattr(Optional, f"__r{_name}__", _reflected(_apply))
for _name in _OTHERS.split():
    setattr(Optional, f"__{_name}__", _using(getattr(operator, f"__{_name}__")))
for _name, _apply in (("iter", iter), ("len", len)):
    setattr(Optional, f"__{_name}__", _using(_apply))


def is_none(value: Optional) -> Any:
    """`value is None`."""
    return negation(is_there(value))


def is_there(value: Optional) -> Any:
    """`value is not None`."""
    flag = known_flag(value)
    if isinstance(flag, Bool):
        for truth in (True, False):
            flag.tape.implied[flag.atom, truth] = {flag.atom: truth}
    return flag


def negation(condition: Any) -> Any:
    """`not condition`, of a truth value: it says of optional values what that says, the other way round."""
    if not isinstance(condition, Bool):
        return not condition
    made = Bool(condition.tape, condition.tape.apply(P["not"], condition.atom))
    implied = condition.tape.implied
    for truth in (True, False):
        if (condition.atom, truth) in implied:
            implied[made.atom, not truth] = implied[condition.atom, truth]
    return made


def combined(left: Any, right: Any, made: Any, is_or: bool) -> None:
    """`made` is `left and right`, or `left or right`: the one says something where it is true, the other where not."""
    if made.__class__ is Bool and made.tape.implied:
        implied, truth = made.tape.implied, not is_or
        found = [implied.get((side.atom, truth), {}) for side in (left, right) if side.__class__ is Bool]
        if any(found):
            implied[made.atom, truth] = {key: value for each in found for key, value in each.items()}


def assume(tape: Tape, condition: Bool, truth: bool) -> None:
    """The block that was just opened runs where `condition` is `truth`."""
    tape.frames[-1].known = tape.implied.get((condition.atom, truth))


def known_flag(value: Optional) -> Any:
    """The flag of a value, as far as it is known in the blocks that are open."""
    flag: Any = value.__rose_flag__
    if flag.__class__ is Bool:
        for frame in value.__rose_tape__.frames:
            if frame.known is not None and flag.atom in frame.known:
                return frame.known[flag.atom]
    return flag


def told(value: Any) -> Any:
    """A value, or None, where the blocks that are open tell which it is."""
    if value.__class__ is not Optional or value.__rose_flag__.__class__ is bool:  # what a loop begins with stays so
        return value
    flag = known_flag(value)
    return value if flag.__class__ is not bool else value.__rose_held__ if flag else None


def required(value: Any) -> Any:
    """The value of an `Optional`, and anything else itself; where there is none the running code raises."""
    if value.__class__ is not Optional:
        return value
    flag, tape = known_flag(value), value.__rose_tape__
    if flag is not True:
        words = "a value is needed, which is None on the path that was taken"
        tape.check(flag_atom(flag), Failure("none", words, tape.here(), "ask `is None` before it is used"))
    return value.__rose_held__


Optional.__rose_required__ = required  # pyright: ignore[reportAttributeAccessIssue]  # for indices, which are below


def alike(tape: Tape, a: Any, b: Any, side: Callable[[int], AbstractContextManager[Any]]) -> tuple[Any, Any]:
    """Two values, both optional where one of them may be None; `side` goes back to where the first or the other was
    made. What None stands for there has the form of the other value, and is never read."""
    pair = [a, b]
    if a is b or not any(map(_may_be_none, pair)) or not _NONE_YET.isdisjoint(map(type, pair)):
        return a, b
    for k, value in enumerate(pair):
        with side(k):
            pair[k] = told(value)
    if not any(map(_may_be_none, pair)):
        return pair[0], pair[1]
    held = next((held_in(value) for value in pair if value is not None and held_in(value) is not None), None)
    if held is None or is_row(held) or not all([value is None or _is_like(held_in(value), held) for value in pair]):
        return pair[0], pair[1]
    for k, value in enumerate(pair):
        if value is None:
            with side(k):
                nothing = nothing_like(tape, held)
                tape.record_allocation(*objects(nothing))
                tape.identities.absent |= {id(each): each for each in objects(nothing)}
            pair[k] = Optional(tape, False, nothing)
        elif value.__class__ is not Optional:
            pair[k] = Optional(tape, True, value)
    return pair[0], pair[1]


_NONE_YET = frozenset({type(UNDEFINED), MaybeBound, UninitialisedCarry, Poison})


def _may_be_none(value: Any) -> bool:
    return value is None or value.__class__ is Optional


def held_in(value: Any) -> Any:
    """The value of an `Optional`, there or not, and anything else itself."""
    return value.__rose_held__ if value.__class__ is Optional else value


def _is_like(value: Any, other: Any) -> bool:
    """Whether two values can be one: what differs otherwise is said in the words of the join."""
    return (type_of(value) is None) == (type_of(other) is None)


def holds_optional(value: Any) -> bool:
    """Whether a part of a structure may be None, which only running tells."""
    return value.__class__ is Optional or any(map(holds_optional, members(value) or ()))


def told_inside(value: Any) -> Any:
    """A structure with the values, or None, where the blocks that are open tell which it is."""
    if value.__class__ is Optional:
        return told(value)
    if not holds_optional(value):
        return value
    inside = members(value) or ()
    parts = [told_inside(part) for part in inside]
    return value if all(map(operator.is_, parts, inside)) else with_parts(value, parts)


def single(value: Any) -> Any:
    """`value`, unless it differs between paths, for who asks what it is and not what it holds."""
    if value.__class__ is Optional:
        raise value.__rose_tape__.type_fault(
            "what a value is that may be None only running tells", "ask `is None` before: `if q is not None: ...`"
        )
    return require_single_value(value)


def nothing_like(tape: Tape, like: Any) -> Any:
    """A value in the form of `like` that nobody reads."""
    kind = type_of(like)
    if kind is not None:
        return False if kind is BOOL else 0 if kind is INT else 0.0
    if like.__class__ is Array:
        return fresh(tape, tape.bind(Zero(), array(like.shape, like.type)), "nothing")
    inside = members(like)
    return with_parts(like, [nothing_like(tape, part) for part in inside]) if inside else like


def _made(flag: Any, held: Any) -> Any:
    if flag.__class__ is Bool:
        return Optional(flag.tape, flag, held)
    return held if flag else None


Optional.__name__ = "value or None:"  # what messages call it
type(containers.OPTIONAL).staged = staticmethod(_made)
