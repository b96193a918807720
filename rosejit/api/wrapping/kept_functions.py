"""Plain functions as functions of `rose`, made once: `rose.jvp(f, ...)` may be called a million times.

What was made of a function is kept in the function, so that both live equally long, and made again where anything has
changed that is looked at when a function is decorated: its code, defaults, hints and attributes. What it reads is
guarded, as that of decorated functions is.
"""

from collections.abc import Callable
from operator import is_
from types import FunctionType
from typing import Any

from rosejit.api.function import Function
from rosejit.frontend.signature import binding
from rosejit.frontend.values.host_values import KEPT, named_by_users
from rosejit.lazy_dataclass import dataclass


@dataclass(slots=True, eq=False)
class _Kept:
    """What was made of `plain`, and what that was then."""

    plain: FunctionType
    looked_at: list[Any]
    made: Function

    def __reduce__(self) -> Any:
        """Not with the function: another process makes its own."""
        return str, ()


def kept(plain: FunctionType, make: Callable[[FunctionType], Function]) -> Function:
    """What `make` makes of `plain`, where nothing is being staged."""
    found: Any = vars(plain).get(KEPT)
    now = looked_at(plain)
    if found.__class__ is _Kept and found.plain is plain and _is_same(found, now):  # `functools.wraps` copies it
        return found.made
    made = make(plain)
    vars(plain)[KEPT] = _Kept(plain, now, made)
    return made


def _is_same(found: _Kept, now: list[Any]) -> bool:
    then = found.looked_at
    if len(then) != len(now) or not all(map(is_, then, now)):
        return False
    if not any([hint.__class__ is str for hint in found.plain.__annotations__.values()]):
        return True
    bound, known = binding.signature(found.plain), found.made.binding  # what hints in quotes mean now
    return (bound.parameters, bound.result) == (known.parameters, known.result)


def looked_at(plain: FunctionType) -> list[Any]:
    """What is looked at of a function when it is decorated."""
    seen: list[Any] = [plain.__code__, plain.__defaults__, plain.__name__, plain.__qualname__, plain.__module__]
    for named in (plain.__kwdefaults__ or {}, plain.__annotations__, named_by_users(plain)):
        seen += [len(named), *named, *named.values()]
    return seen
