"""What a function that staged code has made reads around it: whether a later call would be staged the same way.

What a function of a module reads is guarded by name (`guards.py`), and looked at again when compiled code runs. What
one inside a staging reads lives as long as that, and changes between two of its calls: `s = s + 1` binds a variable
of its closure anew. The whole of it is compared, so that nothing depends on which names are read.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import functools
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

from rosejit.frontend.by_code import names_in
from rosejit.frontend.content import Same, content_key, data_of, has_data
from rosejit.frontend.guards import Chain, Guard
from rosejit.frontend.rewrite import TRANSLATIONS
from rosejit.frontend.structures import attributes, is_open
from rosejit.frontend.tape import Cell
from rosejit.frontend.values import NUMBERS
from rosejit.ir.syntax import Lit
from rosejit.numeric import np

_EXACT = frozenset({int, bool, str, bytes, type(None)})
_ATOMS = _EXACT | {float, complex}
_NUMBERS = _ATOMS | NUMBERS


class Around(Guard):
    """What `function`, which staged code has made, read around it when it was staged; or what a value holds that has
    such functions in it."""

    __slots__ = ("codes", "value")

    def __init__(self, value: Any, name: str) -> None:
        super().__init__(Chain({}, (name,)), _read(value), identical=False)
        self.value = value
        found = [each for each in self.expected if each.__class__ is CodeType]
        self.codes: list[CodeType] = [value.__code__] if isinstance(value, FunctionType) and found else found

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return Around, id(self.value)

    def holds(self) -> bool:
        """Whether it would read the same now."""
        return _read(self.value) == self.expected


def arounds(function: FunctionType, statics: Iterable[Any]) -> list[Around]:
    """Guards for what a function, given these values, reaches of the staging around it."""
    found = [Around(function, function.__name__)] if TRANSLATIONS.made(function.__code__) else []
    given = [Around(value, function.__name__) for value in statics if value.__class__ not in _NUMBERS]
    return found + [guard for guard in given if guard.codes]


def lasting(guards: Iterable[Guard], codes: Iterable[CodeType]) -> list[Guard]:
    """Those of `guards` that mean something after the end of a function that ran `codes`: what was made in it is of
    the past."""
    ran = set(map(id, codes))
    return [guard for guard in guards if not isinstance(guard, Around) or not _is_inside(guard, ran)]


def _is_inside(guard: Around, ran: set[int]) -> bool:
    return all([not ran.isdisjoint(map(id, TRANSLATIONS.around(code))) for code in guard.codes])


def numbers_around(function: FunctionType) -> list[Any]:
    """The numbers that `function` reads around it, if staged code has made it; texts and the like count as such."""
    if not TRANSLATIONS.made(function.__code__):
        return []
    held = map(_content, function.__closure__ or ())
    return [_number(value) if value.__class__ in _NUMBERS else None for value in held]


def _number(value: Any) -> Any:
    if value.__class__ in _EXACT:
        return (value.__class__, value)
    if value.__class__ in _ATOMS:
        return content_key(value)
    atom = value.atom
    return (value.__class__, content_key(atom.value)) if atom.__class__ is Lit else Same(atom)


def _read(value: Any) -> list[Any]:
    """All that a value can reach, one thing after the other: what can change by content, the rest by which it is."""
    found: list[Any] = []
    pending = [value]
    seen = set[int]()
    while pending:
        value = pending.pop()
        kind = value.__class__
        if kind in _NUMBERS:
            found.append(_number(value))
        elif id(value) in seen:
            found.append(Same(value))
        else:
            seen.add(id(value))
            what, inside = _rule(kind)(value)
            found += kind, what, len(inside)
            if _NUMBERS.issuperset(map(type, inside)):
                found += map(_number, inside)
            else:
                pending += inside
    return found


Opened = tuple[Any, list[Any]]
"""What a thing is, and what is in it."""


def _function(value: FunctionType) -> Opened:
    if not TRANSLATIONS.made(value.__code__):
        return Same(value), []  # if it runs, it has guards of its own
    held: list[Any] = [*map(_content, value.__closure__ or ())]
    variables = value.__globals__
    for name in names_in(value.__code__):
        if name in variables and _rule(type(variables[name])) in _CHANGED:
            held.append(variables[name])
    return value.__code__, [*held, value.__defaults__, value.__kwdefaults__]


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet
        return cell


def _cell(value: Cell) -> Opened:
    return None, [value.tape.content(value)]


def _decorated(value: Any) -> Opened:
    made = getattr(value, "__wrapped__", None)
    return Same(value), [made] if isinstance(made, FunctionType) else []


def _object(value: Any) -> Opened:
    named, kind = attributes(value), type(value)
    return Same(value), [*named, *named.values(), *((kind,) if has_data(kind) else ())]


def _class(value: Any) -> Opened:
    held = data_of(value) if has_data(value) else {}
    return Same(value), [*held, *held.values()]


def _array(value: Any) -> Opened:
    return Same(value), [*value.flat] if value.dtype == object else [value.tobytes()]


def _itself(value: Any) -> Opened:
    return Same(value), []


def _mapping(value: Any) -> Opened:
    return None, [*value, *value.values()]


def _many(value: Any) -> Opened:
    return None, list(value)


def _variable(value: ContextVar[Any]) -> Opened:
    return Same(value), [value.get(None)]


_CHANGED = (_mapping, _many, _object, _class, _variable)
"""How what globals hold is opened, where that can change in a staging."""
_RULES: tuple[tuple[Any, Callable[[Any], Opened]], ...] = (
    (FunctionType, _function),
    (type, _class),
    (Cell, _cell),
    (ContextVar, _variable),
    (dict, _mapping),
    ((list, tuple, set, frozenset, deque), _many),
    (MethodType, lambda value: (None, [value.__func__, value.__self__])),
    (functools.partial, lambda value: (None, [value.func, value.args, value.keywords])),
)


@functools.lru_cache(maxsize=1024)
def _rule(kind: type) -> Callable[[Any], Opened]:
    """How values of a type are opened; of most counts which object it is."""
    for kinds, rule in _RULES:
        if issubclass(kind, kinds):
            return rule
    if hasattr(kind, "__rose_stage__"):
        return _decorated
    if issubclass(kind, np.ndarray):
        return _array
    return _object if is_open(kind) else _itself
