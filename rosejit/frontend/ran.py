"""Guards for what ran: functions may be given other code or other defaults, and classes other methods."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import functools
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

from rosejit.frontend.content import is_frozen
from rosejit.frontend.guards import Chain, Guard, outside_key
from rosejit.frontend.methods import member_of
from rosejit.frontend.users import is_users_class


class _Held(Guard):
    """What `owner`, a function or a class, holds under a name."""

    __slots__ = ("owner",)

    def __init__(self, owner: Any, names: tuple[str, ...], expected: Any) -> None:
        frozen = is_frozen(expected) or names[0] == "__code__"
        kept = expected if frozen else outside_key(expected)
        super().__init__(_chain(owner, names), kept, identical=False, frozen=frozen)
        self.owner = owner

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return _Held, id(self.owner), self.chain.names


class _Special(Guard):
    """A method of `cls` that Python calls by itself: while it is staged, in any thread, the class has a stand-in."""

    __slots__ = ("cls",)

    def __init__(self, cls: type, name: str, expected: Any) -> None:
        super().__init__(_chain(cls, (name,)), expected, identical=False)
        self.cls = cls

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return _Special, id(self.cls), self.chain.names

    def holds(self) -> bool:
        """Whether it still is."""
        return _function(member_of(self.cls, self.chain.names[1])) is self.expected


def _chain(owner: Any, names: tuple[str, ...]) -> Chain:
    return Chain({owner.__name__: owner}, (owner.__name__, *names))


def of_functions(functions: Iterable[FunctionType]) -> Iterator[Guard]:
    """Guards for the code of functions that ran, and for their defaults."""
    for function in functions:
        yield _Held(function, ("__code__",), function.__code__)
        if function.__defaults__:
            yield _Held(function, ("__defaults__",), function.__defaults__)
        if function.__kwdefaults__:
            yield _Held(function, ("__kwdefaults__",), function.__kwdefaults__)


def of_classes(classes: Iterable[type], ran: Iterable[FunctionType]) -> Iterator[Guard]:
    """Guards for those methods of classes that are among the functions that ran."""
    known = set(map(id, ran))
    for cls in filter(is_users_class, classes):
        for name in {name for each in cls.__mro__[:-1] for name in vars(each)}:
            member = member_of(cls, name)
            function = _function(member)
            if id(function) not in known:
                continue
            if type(member) in _BY_ATTRIBUTE or (name.startswith("__") and name != "__init__"):
                yield _Special(cls, name, function)
            else:
                yield _Held(cls, (name, "__func__") if type(member) is classmethod else (name,), function)


_BY_ATTRIBUTE = (property, functools.cached_property)


def _function(member: Any) -> Any:
    """The function that a member of a class runs."""
    match member:
        case property():
            return member.fget
        case functools.cached_property():
            return member.func
        case staticmethod() | classmethod():
            return member.__func__
        case _:
            return member
