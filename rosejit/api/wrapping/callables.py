"""Callables that are no plain Python functions (`math.sin`, `np.sum`, methods, partials, objects that can be called)
into functions that call them, which can be staged."""

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from rosejit.api import sessions
from rosejit.frontend.control.special_methods import member_of
from rosejit.frontend.session.dispatch import is_staged_itself
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature import binding
from rosejit.frontend.syntax.translate import TRANSLATIONS
from rosejit.frontend.syntax.user_code import PASSES_ON_TO, is_users_code
from rosejit.frontend.values.host_scalars import Bound
from rosejit.frontend.values.pytree import is_row, staged_leaf
from rosejit.frontend.values.reachable_state import reachable


def is_plain(function: Any) -> bool:
    """Whether `function` is staged from its own source."""
    return isinstance(function, types.FunctionType) and not is_staged_itself(function)


def caller(function: Callable[..., Any], static: tuple[str, ...]) -> tuple[types.FunctionType, binding.Signature]:
    """A Python function that passes all on to `function`, and how arguments are bound to it: as the user's function
    underneath is written, or one by one where there is none."""
    target, first, named = _peeled(function)
    at = sessions.current()
    make = at.rewritten(passing_on) if at is not None and _is_of_staging(at, (target, first, named)) else passing_on
    plain: Any = make(*_halves(function))
    plain.__name__ = getattr(target, "__name__", type(target).__name__)
    plain.__qualname__ = getattr(target, "__qualname__", plain.__name__)
    plain.__module__, plain.__doc__ = getattr(target, "__module__", None), getattr(target, "__doc__", None)
    written: Any = target if is_staged_itself(target) else inspect.unwrap(target)
    setattr(plain, PASSES_ON_TO, written if is_plain(written) and is_users_code(written.__code__) else None)
    if not is_plain(written):
        return plain, binding.signature(plain, static)
    found = inspect.signature(functools.partial(target, *first, **named))
    bound = [p.replace(default=Bound(p.default)) if n in named else p for n, p in found.parameters.items()]
    plain.__signature__ = found.replace(parameters=bound)
    names = {*plain.__signature__.parameters, "return"}
    plain.__annotations__ = {name: hint for name, hint in written.__annotations__.items() if name in names}
    return plain, binding.signature(plain, static, written.__globals__)


def _is_of_staging(at: Session, held: tuple[Any, ...]) -> bool:
    """Whether there is something in values that the staging has made: numbers, objects, functions."""
    frames = at.tape.frames
    return any([
        staged_leaf(value) is not None
        or is_row(value)
        or (isinstance(value, types.FunctionType) and TRANSLATIONS.is_translated(value.__code__))
        or any([frame.allocated.get(id(value)) is value for frame in frames])
        for value in reachable(held)
    ])  # fmt: skip


def _halves(function: Any) -> tuple[Any, Any]:
    """A method, or an object that can be called, as its object and the function; any other callable behind None."""
    if isinstance(function, types.MethodType):
        return function.__self__, function.__func__
    own = member_of(type(function), "__call__")
    return (function, own) if isinstance(own, types.FunctionType) else (None, function)


def passing_on(self: Any, function: Any) -> Callable[..., Any]:
    """A function that calls `function`, of `self` unless that is None. What it closes over is guarded: an object may
    change, and messages name it. With something in that which staging has made, staged code makes it, as it makes
    inner functions."""

    def method(*args, **kwargs):
        return function(self, *args, **{name: value for name, value in kwargs.items() if value.__class__ is not Bound})

    def whole(*args, **kwargs):
        return function(*args, **{name: value for name, value in kwargs.items() if value.__class__ is not Bound})

    return whole if self is None else method


def _peeled(function: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The function that is called in the end, and the arguments that come with it."""
    target, first, named = function, (), {}
    while True:
        if isinstance(target, functools.partial):
            whole: Any = target
            target, first, named = whole.func, (*whole.args, *first), {**whole.keywords, **named}
        elif isinstance(target, types.MethodType):
            target, first = target.__func__, (target.__self__, *first)
        elif isinstance(own := member_of(type(target), "__call__"), types.FunctionType):
            target, first = own, (target, *first)
        else:
            return target, first, named
