"""What is known of the result of a helper, a plain function of the user's, in a loop that may be rolled."""

# Values of users are of any type: what they are is asked while staging.

import builtins
import inspect
from collections.abc import Callable, Set
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from rosejit.frontend.rolling.abstract_memo import remembered
from rosejit.frontend.rolling.abstract_numbers import CannotRoll, Constant, unroll
from rosejit.frontend.rolling.abstract_records import AbstractStructure, leaves
from rosejit.frontend.syntax.loop_plan import Plan, bound_names, parts_in
from rosejit.frontend.syntax.translate import TRANSLATIONS, inlined_plan
from rosejit.frontend.syntax.user_code import is_users_code
from rosejit.frontend.values.tape import UNDEFINED
from rosejit.lazy_dataclass import dataclass

_DEEPEST = 8
"""So deep helpers may call helpers."""


@dataclass(slots=True, frozen=True, eq=False)
class AbstractClosure:
    """A function that is written in the loop, or in a helper that the loop calls. `at` is the walk whose names it
    reads, as they are when it is called."""

    params: tuple[str, ...]
    defaults: dict[str, Any]
    statements: Plan
    result: Plan
    at: Any
    __rose_abstract__ = True


def of_closure(at: Any, closure: AbstractClosure, given: list[Any], named: dict[str, Any]) -> Any:
    """The result of a function that is written in the loop, called in the walk `at`."""
    around = closure.at
    around.made.clear()  # it may hand on the lists that it reads
    own = frozenset((*closure.params, *bound_names(closure.statements)))
    inside = _inside(at, lambda name: UNDEFINED if name in own else around.reader(name))
    inside.names = {name: value for name, value in around.names.items() if name not in own}
    inside.widening = around.widening - own
    values = {**closure.defaults, **dict(zip(closure.params, given, strict=False)), **named}
    if len(given) > len(closure.params) or values.keys() != {*closure.params}:
        unroll("arguments that do not fit")
    inside.names |= values
    return _result(at, inside, closure.statements, closure.result, "a function that is written in the loop")


def _inside(at: Any, reader: Callable[[str], Any]) -> Any:
    """A walk through a function that is called in the walk `at`."""
    if at.depth >= _DEEPEST:
        unroll("helpers call helpers very deeply")
    inside = at.__class__(
        at.tape,
        reader,
        contents=at.contents,
        origins=at.origins,
        reached=at.reached,
        steps=at.steps,
        bound=at.bound,
        tables=at.tables,
        growing=at.growing,
        picked=at.picked,
        same=at.same,
        memo=at.memo,
    )
    inside.around, inside.depth = at.around, at.depth + 1
    return inside


def _result(at: Any, inside: Any, statements: Plan, made: Plan, what: str) -> Any:
    before = set(at.contents)
    inside.block(statements)
    found = inside.value(made)
    if not before.isdisjoint(inside.written):
        unroll(f"{what} writes an array that it is given")
    at.contents, at.steps = _left(inside.contents, before | at.origins.keys(), found), inside.steps
    return found


def _left(contents: dict[Any, Any], known: Set[Any], found: Any) -> dict[Any, Any]:
    """What is in arrays after a call: those that it has made for itself are gone. (Thousands would be looked through
    at each `if`.)"""
    parts = list(leaves(found))
    if any(part.__class__ is AbstractClosure for part in parts):
        return contents
    given = {part.place for part in parts if hasattr(part, "place")}
    return {place: held for place, held in contents.items() if place in known or place in given}


def cells_of(function: Any) -> tuple[str, ...]:
    """The variables of functions around that a plain function reads."""
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    return () if code is None else code.co_freevars


def is_helper(called: Any) -> bool:
    """Whether staged code goes into what is called, line by line."""
    if called.__class__ is not Constant or type(called.value) is not FunctionType:
        return False
    return TRANSLATIONS.is_translated(called.value.__code__) or is_users_code(called.value.__code__)


_parts: WeakKeyDictionary[CodeType, int] = WeakKeyDictionary()


def parts_of(called: Any) -> int:
    """About how many parts the plan of a helper has, those that it calls among them; 0 of all else."""
    if type(called) is not FunctionType:
        return 0
    code, around = called.__code__, called.__globals__
    if code not in _parts:
        _parts[code] = 0  # it may call itself
        plan = inlined_plan(called) if is_helper(Constant(called)) else ""
        _parts[code] = 0 if isinstance(plan, str) else parts_in(plan[1:], around.get, parts_of)
    return _parts[code]


def result(at: Any, function: FunctionType, given: list[Any], named: dict[str, Any]) -> Any:
    """The result of a helper: its statements are followed in the walk `at`, with names of their own."""
    return remembered(at, function, given, named, lambda: _followed(at, function, given, named))


def _followed(at: Any, function: FunctionType, given: list[Any], named: dict[str, Any]) -> Any:
    plan = inlined_plan(function)
    if isinstance(plan, str):
        return unroll(f"`{function.__name__}` is called, and {plan}")
    own, statements, made = plan
    inside = _inside(at, _reader(function, own, at.bound))
    inside.names |= _bound(at, function, given, named)
    try:
        return _result(at, inside, statements, made, f"`{function.__name__}`")
    except CannotRoll as refusal:
        refusal.file = refusal.file or function.__code__.co_filename
        raise


def _bound(at: Any, function: FunctionType, given: list[Any], named: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a helper, with what they are."""
    try:
        bound = inspect.signature(function).bind(*given, **named)
    except TypeError:
        unroll("arguments that do not fit")
    found: dict[str, Any] = {}
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            found[name] = AbstractStructure([*bound.arguments.get(name, ())], tuple)
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            unroll("a helper of any keywords")
        is_given = name in bound.arguments
        found[name] = bound.arguments[name] if is_given else at.classified(parameter.default, "*")
    return found


def _reader(function: FunctionType, own: frozenset[str], rebound: frozenset[str]) -> Callable[[str], Any]:
    """What a name is bound to in a helper; nothing yet for its variables."""
    code, cells = function.__code__, function.__closure__ or ()
    outside = dict(zip(code.co_freevars, cells, strict=True))
    if TRANSLATIONS.is_translated(code) and not rebound.isdisjoint(outside):
        unroll(f"`{function.__name__}` reads variables that the loop binds")

    def read(name: str) -> Any:
        if name in own:
            return UNDEFINED
        if name in outside:
            try:
                return outside[name].cell_contents
            except ValueError:
                return UNDEFINED
        for scope in (function.__globals__, vars(builtins)):
            if name in scope:
                return scope[name]
        return unroll(f"`{name}` is not bound")

    return read
