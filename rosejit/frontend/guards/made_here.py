"""Tells which host values of a result a staged function has made itself, and lets each call have its own."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable, Iterable, Sequence
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

from rosejit.errors import StagingTypeError
from rosejit.frontend.guards.change_guards import Snapshot
from rosejit.frontend.signature.describe import parameter_span
from rosejit.frontend.signature.value_words import described
from rosejit.frontend.syntax.user_code import users_variables
from rosejit.frontend.values.host_values import ATOMS, is_identity, itself, kind_of
from rosejit.frontend.values.reachable_state import reachable
from rosejit.made_anew import anew, renewed


def fresh_each_call(
    function: Callable[..., Any], statics: Sequence[Any], given: Iterable[Any], snapshots: Iterable[Snapshot]
) -> list[Any]:
    """The host values of a result; those that the function has made of what can be changed are made anew for each call.
    What it was given, and what the names lead to that it reads, is from outside. Raises StagingTypeError for what
    cannot be copied."""
    changing = [k for k, value in enumerate(statics) if _can_change(value)]
    if not changing:
        return list(statics)
    outside = {id(each): each for each in reachable([*given, *[snapshot.now() for snapshot in snapshots]])}
    chosen = [k for k in changing if id(statics[k]) not in outside]
    for each in reachable([statics[k] for k in chosen]):
        if id(each) not in outside and any(id(held) not in outside and _can_change(held) for held in _remembered(each)):
            raise _refused(function, each, "a function that keeps nothing")
    made = anew(statics, chosen, outside)
    try:
        renewed(made)
    except Exception as error:  # whatever a class says that cannot be copied
        raise _refused(function, statics[chosen[0]], "a value that each call can make anew", str(error)) from None
    return made


def _refused(function: Callable[..., Any], value: Any, wanted: str, *facts: str) -> StagingTypeError:
    return StagingTypeError(
        f"`{function.__name__}` should return {wanted}, and returns {described(value)}",
        parameter_span(function, "return"),
        facts=facts,
        help="return what it is made of, or make it outside of the function",
    )


def _can_change(value: Any) -> bool:
    return any(map(_changes, reachable([value])))


def _changes(value: Any) -> bool:
    cls = type(value)
    if cls in ATOMS or (is_identity(value) and not isinstance(value, MethodType)):
        return any(map(_can_change, _remembered(value)))
    kind = kind_of(cls)
    return kind.change != "never" or (kind.open is itself and cls.__hash__ is object.__hash__)


def _remembered(value: Any) -> list[Any]:
    """What a function keeps that is no copy of what a copy of the function keeps."""
    if isinstance(value, BuiltinFunctionType):
        return [] if isinstance(value.__self__, ModuleType) else [value.__self__]
    variables = users_variables(value) if isinstance(value, FunctionType) else ()
    return [cell.cell_contents for _, cell in variables if cell != CellType()]
