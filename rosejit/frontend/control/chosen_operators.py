"""Operators and builtins of one of several values of the host: what is computed of texts the host computes for each;
of objects there is a branch for each."""

# Values of users are of any type: what they are is asked while staging.

import copy
import enum
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rosejit.frontend.control.chosen import Chosen, selected
from rosejit.frontend.control.if_for import branched
from rosejit.frontend.control.truth import truth
from rosejit.frontend.control.undefined import Poison
from rosejit.frontend.syntax.user_code import is_users_class
from rosejit.frontend.values.tape import Tape, unfailing

_MOST = 256
"""So many texts are computed at most for one that only running tells."""
_PLAIN = (str, bytes)
_KNOWN = frozenset({str, bytes, int, bool, tuple, type(None), slice})
_BRANCHED: frozenset[Any] = frozenset({
    abs, float, int, bool, complex, getattr, copy.copy, tuple, list, sum, any, all, min, max, sorted, print, round,
})  # fmt: skip
"""Builtins that are called for each of several objects."""
_OF_TEXTS: frozenset[Any] = frozenset({str, repr, ascii, float, int, bool, ord, len, tuple, list, sorted, min, max})
"""Builtins that the host asks of each text."""


def is_text(value: Any) -> bool:
    """Whether a value is one of several texts."""
    return value.__class__ is Chosen and all([isinstance(option, _PLAIN) for option in value.__rose_options__])


def of_texts(values: Sequence[Any], use: Callable[..., Any]) -> Any:
    """What the host computes of values, of which some are one of several: for all that these may be together."""
    several = [value for value in values if value.__class__ is Chosen]
    tape = several[0].__rose_tape__
    position: Any = 0
    rows: list[tuple[Any, ...]] = [()]
    with unfailing(tape):
        for value in {id(value): value for value in several}.values():
            rows = [(*row, option) for row in rows for option in value.__rose_options__]
            position = value.__rose_position__ + position * len(value.__rose_options__)
            if len(rows) > _MOST:
                why = f"what is computed of texts is one of more than {_MOST}, which only running tells"
                raise tape.type_fault(why, "keep the parts in a list, or as numbers, and join them outside")
    order = {key: k for k, key in enumerate(dict.fromkeys(map(id, several)))}
    found = [use(*[row[order[id(v)]] if v.__class__ is Chosen else v for v in values]) for row in rows]
    made = selected(tape, position, found)
    if made.__class__ is Chosen:
        made.__rose_computed__ = True
    return made


def _applied(use: Callable[..., Any], *values: Any) -> Any:
    """What an operator gives."""
    chosen = next(value for value in values if value.__class__ is Chosen)
    if all([is_text(value) or value.__class__ in _KNOWN for value in values]):
        return of_texts(values, use)
    read = chosen.__rose_tape__.session.hooks.read_outer
    if use is not tuple and not all([is_users_class(type(option)) for option in chosen.__rose_options__]):
        chosen.__rose_use__()
    return branched(chosen, lambda option: use(*[read(option) if value is chosen else value for value in values]))


def _binary(use: Callable[..., Any]) -> Any:
    return lambda self, other: _applied(use, self, other)


def _reflected(use: Callable[..., Any]) -> Any:
    return lambda self, other: _applied(use, other, self)


def _unary(use: Callable[..., Any]) -> Any:
    return lambda self: _applied(use, self)


for _name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift",
):  # fmt: skip
    _plain = _name.rstrip("_")
    setattr(Chosen, f"__{_plain}__", _binary(getattr(operator, _name)))
    setattr(Chosen, f"__r{_plain}__", _reflected(getattr(operator, _name)))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Chosen, f"__{_name}__", _binary(getattr(operator, _name)))
for _name in ("neg", "pos", "invert", "abs"):
    setattr(Chosen, f"__{_name}__", _unary(getattr(operator, _name)))


def _gone_through(self: Chosen) -> Iterator[Any]:
    """The items, where all of them have as many."""
    found = _applied(tuple, self)
    if isinstance(found, Poison):  # of several lengths
        self.__rose_use__()
    return iter(found)


setattr(Chosen, "__iter__", _gone_through)  # noqa: B010  # as the operators


def decided(tape: Tape, value: Chosen) -> Any:
    """The truth of one of several values."""
    if is_text(value):
        return of_texts([value], bool)
    read = tape.session.hooks.read_outer
    return branched(value, lambda option: truth(tape, read(option)))


Chosen.__rose_decided__ = staticmethod(decided)


def is_asked(function: Any, untold: Sequence[Any]) -> bool:
    """Whether a class makes something of one of several values."""
    return function in (str, tuple, list) and all([value.__class__ is Chosen for value in untold])


def called(call: Callable[..., Any], function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A builtin that is given some of several values; NotImplemented if it is asked of none."""
    first = next((value for value in args if value.__class__ is Chosen), None)
    others = [v for v in (*args, *kwargs.values()) if isinstance(v, Poison) and v.__class__ is not Chosen]
    if first is None or others or not (function in _BRANCHED or function in _OF_TEXTS):
        return NotImplemented
    if function is getattr and len(args) == 2 and not kwargs and args[1].__class__ is str:
        return first.__rose_attribute__(args[1])
    if function in _OF_TEXTS and not kwargs and all([is_text(v) or v.__class__ in _KNOWN for v in args]):
        return of_texts(args, function)
    if function not in _BRANCHED:
        return NotImplemented
    found = branched(first, lambda option: call(function, *[option if v is first else v for v in args], **kwargs))
    if isinstance(found, Poison) and found.__class__ is not Chosen:
        first.__rose_use__()
    return found


def member(container: Chosen, item: Any, ask: Callable[[Any], Any]) -> Any:
    """Whether an item is in one of several containers."""
    if is_text(container):
        return of_texts([container], lambda option: item in option)
    return branched(container, ask)


def shown(items: Sequence[Any], made: Callable[..., Any]) -> Any:
    """An f-string, in which one of several texts is each of them."""
    values = [item[0] if item.__class__ is tuple else item for item in items]
    if not any(map(_is_shown, values)):
        return made(*items)

    def each(*known: Any) -> Any:
        pairs = zip(known, items, strict=True)
        return made(*[(value, *item[1:]) if item.__class__ is tuple else item for value, item in pairs])

    return of_texts(values, each)


def filled(pattern: Any, values: Any, made: Callable[..., Any]) -> Any:
    """`pattern % values`, of a text."""
    given = values if values.__class__ is tuple else (values,)
    if not any(map(_is_shown, (pattern, *given))):
        return made(pattern, values)
    return of_texts(
        [pattern, *given], lambda text, *known: made(text, known if values.__class__ is tuple else known[0])
    )


def method(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A method of a text that is given one of several texts; NotImplemented if it is not."""
    if kwargs:
        return NotImplemented
    if any(map(_is_shown, args)):
        return of_texts(args, function)
    joins = function.__name__ == "join" and len(args) == 1 and args[0].__class__ in (list, tuple)
    return (
        of_texts(args[0], lambda *items: function(items)) if joins and any(map(_is_shown, args[0])) else NotImplemented
    )


def _is_shown(value: Any) -> bool:
    if value.__class__ is not Chosen:
        return False
    return all([isinstance(option, (*_PLAIN, enum.Enum)) for option in value.__rose_options__])
