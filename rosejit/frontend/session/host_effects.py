"""Lets staged branches and loops call only what has no effect on the host, or changes what they have made themselves.

Staging runs a branch once, taken or not, and a loop's body once, however often it runs: what a call does to the host
would happen at another time, and another number of times, than the program says. `pure_calls` is the white list.
"""

# Values of users are of any type: what they are is asked while staging.

import functools
from collections.abc import Iterable
from typing import Any

from rosejit.errors import RoseError, UnsupportedSyntax
from rosejit.frontend.control.exception_handlers import watched
from rosejit.frontend.guards.answers import is_asked_again
from rosejit.frontend.python.pure_calls import Effect, effect_of, name_of, owns_content
from rosejit.frontend.syntax.user_code import is_users_class
from rosejit.frontend.values.pytree import is_staged_deep
from rosejit.frontend.values.scalars import NUMBERS
from rosejit.frontend.values.tape import Tape, refuse_outer_iterator

_NUMERIC = NUMBERS | {float, int, bool, str}


_LRU_CACHE = type(functools.lru_cache(lambda: None))


def _put(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a method puts in a list, a set or a dict, if that is one item."""
    if name in ("append", "appendleft", "insert", "add"):
        return args[-1:]
    return (args,) if name == "setdefault" and len(args) == len(("key", "default")) else ()


class HostEffects:
    """The effects that calls of one session have on the host."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._tape: Tape = session.tape

    def check(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Effect | None:
        """What a call that Python makes does to the host; refused where it is not known, or not right."""
        effect = effect_of(function, args)
        if effect is None and function.__class__ is not _LRU_CACHE and is_asked_again(function, args):
            effect = Effect()
        if effect is not None and effect.changes is not None:
            items = _put(function.__name__, args)
            if isinstance(effect.changes, (dict, set)) and is_staged_deep(args):
                self._tape.sites.opens(self._tape, effect.changes, *items)
            self._session.hooks.written(effect.changes, *items)
        if effect is None and self._tape.is_staged:
            raise self._unknown(function)
        if effect is None:
            self._tape.tries.acts()
            here = self._tape.here()
            for each in (getattr(function, "__self__", None), *args):
                self._tape.undo.may_change(each, here)
        if getattr(function, "__name__", "") == "cache_clear" and isinstance(function.__self__, _LRU_CACHE):
            raise self._tape.fault(
                UnsupportedSyntax,
                "a cache is cleared while the function is staged: once, and what it gave is kept for later calls",
                help="clear it before the function is called, or in a function of your own with `rose.opaque`",
            )
        changes = None if effect is None else effect.changes
        self.check_iterators(value for value in (*args, *kwargs.values()) if value is not changes)
        return effect

    def check_iterators(self, values: Iterable[Any]) -> None:
        """Refuse to hand an iterator from outside to what may use it up in a staged block."""
        for value in values:
            if value.__class__ not in _NUMERIC and hasattr(type(value), "__next__"):
                refuse_outer_iterator(self._tape, value)

    def _unknown(self, function: Any) -> RoseError:
        name = name_of(function)
        return self._tape.fault(
            UnsupportedSyntax,
            f"`{name}` may have an effect, and is called in a staged branch or loop",
            facts=("staging calls it once, whether the branch is taken or not, and however often the loop runs",),
            help="call it before the branch or loop, call it through a function of your own with `rose.opaque`, or "
            "say `rose.pure(f)` of the function `f` if it has no effect",
        )

    def made(self, found: Any) -> Any:
        """Note an object that a class has made; a view of what others hold is not the block's own."""
        self._tape.undo.made(found)
        return self._session.hooks.record_allocation(found) if owns_content(type(found)) else found

    def entered(self, manager: Any) -> Any:
        """The object of a `with`: what it does at its ends must not be an effect."""
        cls = type(manager)
        if not self._tape.is_staged or is_users_class(cls) or f"{cls.__module__}.{cls.__qualname__}" in _HARMLESS:
            return watched(self._tape, manager)
        raise self._unknown(cls)


_HARMLESS = frozenset({
    "rosejit.frontend.control.exception_handlers.Suppressed", "contextlib.suppress", "contextlib.nullcontext",
    "contextlib._GeneratorContextManager", "numpy.errstate",
    "numpy.ufunc_config.errstate", "numpy._core._ufunc_config.errstate", "numpy.core._ufunc_config.errstate",
    "warnings.catch_warnings", "decimal._ContextManager", "_decimal.ContextManager", "decimal.ContextManager",
})  # fmt: skip
"""Classes of objects of a `with` that do nothing, or put back what they have done."""
