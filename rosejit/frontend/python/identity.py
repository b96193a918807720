"""Builtins that ask which objects are one: of arguments this is asked when the code is called."""

# Values of users are of any type: what they are is asked while staging.

import copy
import operator
from collections.abc import Callable
from typing import Any

from rosejit.frontend.values.argument_identity import ask_copies, ask_identity

Handler = Callable[..., Any]


def _identity(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`id`."""
    ask_identity(session.tape, args[0], "`id`")
    return function(*args)


def _is(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`operator.is_`, `operator.is_not`."""
    return session.hooks.same(*args, function is operator.is_not)


def _copied(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`copy.deepcopy`, which makes one copy of what is there twice."""
    ask_copies(session.tape, args[0], "`copy.deepcopy`")
    return session.plain(function, args, kwargs)


IDENTITIES: dict[Any, tuple[Handler, str]] = {
    id: (_identity, "obj, /"), operator.is_: (_is, "a, b, /"), operator.is_not: (_is, "a, b, /"),
    copy.deepcopy: (_copied, "x, memo=None, _nil=[]"),
}  # fmt: skip
"""What they do in staged code, and their signatures."""
