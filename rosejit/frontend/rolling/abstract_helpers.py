"""What is known of the result of a helper, a plain function of the user's, in a loop that may be rolled."""

# Values of users are of any type: what they are is asked while staging.

import builtins
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from rosejit.frontend.rolling.abstract_numbers import Constant, unroll
from rosejit.frontend.syntax.ast_build import RUNTIME
from rosejit.frontend.syntax.translate import TRANSLATIONS, inlined_plan
from rosejit.frontend.syntax.user_code import is_users_code
from rosejit.frontend.values.tape import UNDEFINED

_DEEPEST = 8
"""So deep helpers may call helpers."""


def is_helper(called: Any) -> bool:
    """Whether staged code goes into what is called, line by line."""
    if called.__class__ is not Constant or type(called.value) is not FunctionType:
        return False
    return TRANSLATIONS.is_translated(called.value.__code__) or is_users_code(called.value.__code__)


def result(at: Any, function: FunctionType, given: list[Any], named: dict[str, Any]) -> Any:
    """The result of a helper: its statements are followed in the walk `at`, with names of their own."""
    plan = inlined_plan(function)
    if isinstance(plan, str):
        return unroll(f"`{function.__name__}` is called, and {plan}")
    own, statements, made = plan
    if at.depth >= _DEEPEST:
        unroll("helpers call helpers very deeply")
    before = set(at.contents)
    inside = at.__class__(
        at.tape, _reader(function, own), contents=at.contents, origins=at.origins, reached=at.reached, steps=at.steps
    )
    inside.depth = at.depth + 1
    inside.names |= _bound(at, function, given, named)
    inside.block(statements)
    found = inside.value(made)
    if not before.isdisjoint(inside.written):
        unroll(f"`{function.__name__}` writes an array that it is given")
    at.contents, at.steps = inside.contents, inside.steps
    return found


def _bound(at: Any, function: FunctionType, given: list[Any], named: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a helper, with what they are."""
    try:
        bound = inspect.signature(function).bind(*given, **named)
    except TypeError:
        unroll("arguments that do not fit")
    found: dict[str, Any] = {}
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            unroll("a helper of any number of arguments")
        is_given = name in bound.arguments
        found[name] = bound.arguments[name] if is_given else at.classified(parameter.default, "*")
    return found


def _reader(function: FunctionType, own: frozenset[str]) -> Callable[[str], Any]:
    """What a name is bound to in a helper; nothing yet for its variables."""
    code, cells = function.__code__, function.__closure__ or ()
    outside = dict(zip(code.co_freevars, cells, strict=True))
    if TRANSLATIONS.is_translated(code) and outside.keys() - {RUNTIME}:
        unroll(f"`{function.__name__}` reads variables of the function that it stands in")

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
