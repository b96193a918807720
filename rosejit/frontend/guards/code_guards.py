"""Guards for what ran: functions may be given other code or other defaults, and classes other methods."""

# Values of users are of any type: what they are is asked while staging.

import functools
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

from rosejit.frontend.control.special_methods import member_of, special_names
from rosejit.frontend.guards.guards import AccessPath, Guard, Outside, is_ours
from rosejit.frontend.syntax.user_code import is_users_class
from rosejit.frontend.values.reachable_state import Look


class _AttributeGuard(Guard):
    """What `owner`, a function or a class, holds under a name."""

    __slots__ = ("owner",)

    def __init__(self, owner: Any, names: tuple[str, ...], expected: Any, view: Outside | None = None) -> None:
        super().__init__(_chain(owner, names), expected, None if view is None else Look(expected, view))
        self.owner = owner

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return _AttributeGuard, id(self.owner), self.chain.names


class _SpecialMethodGuard(Guard):
    """A method of `cls` that Python calls by itself: while it is staged, in any thread, the class has a stand-in."""

    __slots__ = ("cls",)
    can_be_still = False

    def __init__(self, cls: type, name: str, expected: Any) -> None:
        super().__init__(_chain(cls, (name,)), expected)
        self.cls = cls

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return _SpecialMethodGuard, id(self.cls), self.chain.names

    def holds(self) -> bool:
        """Whether it still is."""
        return _function_of(member_of(self.cls, self.chain.names[1])) is self.expected


class AdditionGuard(Guard):
    """The special methods that a class of the user's has not: Python asks for them, and `__len__` decides a branch once
    there is one. Others are found by their names, which are looked up again."""

    __slots__ = ("cls", "count")
    can_be_still = False

    def __init__(self, cls: type) -> None:
        super().__init__(_chain(cls, ("__dict__",)), special_names(cls))
        self.cls = cls
        self.count = len(vars(cls))

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return AdditionGuard, id(self.cls)

    def holds(self) -> bool:
        """Whether there is none that there was not."""
        count = len(vars(self.cls))
        if count != self.count and not special_names(self.cls) <= self.expected:
            return False
        self.count = count
        return True


def _chain(owner: Any, names: tuple[str, ...]) -> AccessPath:
    return AccessPath({owner.__name__: owner}, (owner.__name__, *names))


def of_functions(functions: Iterable[FunctionType], view: Outside) -> Iterator[Guard]:
    """Guards for the code of functions that ran, and for their defaults. Nobody changes ours."""
    for function in functions:
        if is_ours(function.__module__):
            continue
        yield _AttributeGuard(function, ("__code__",), function.__code__)
        yield from _of_defaults(function, view)


def _of_defaults(function: FunctionType, view: Outside) -> Iterator[Guard]:
    if function.__defaults__:
        yield _AttributeGuard(function, ("__defaults__",), function.__defaults__, view)
    if function.__kwdefaults__:
        yield _AttributeGuard(function, ("__kwdefaults__",), function.__kwdefaults__, view)


def of_classes(classes: Iterable[type], ran: Iterable[FunctionType], view: Outside) -> Iterator[Guard]:
    """Guards for those methods of classes that are among the functions that ran, for all of metaclasses, and against
    special methods that are new; for the defaults of constructors that Python wrote, as dataclasses have."""
    known = set(map(id, ran))
    for cls in filter(is_users_class, classes):
        if is_ours(cls.__module__):
            continue
        yield AdditionGuard(cls)
        for name in {name for each in cls.__mro__[:-1] for name in vars(each)}:
            member = member_of(cls, name)
            function = _function_of(member)
            if id(function) not in known and name in _CONSTRUCTORS and isinstance(function, FunctionType):
                yield from _of_defaults(function, view)
            if id(function) not in known and not (issubclass(cls, type) and isinstance(function, FunctionType)):
                continue
            if type(member) in _BY_ATTRIBUTE or (name.startswith("__") and name != "__init__"):
                yield _SpecialMethodGuard(cls, name, function)
            else:
                yield _AttributeGuard(cls, (name, "__func__") if type(member) is classmethod else (name,), function)


_CONSTRUCTORS = ("__init__", "__new__")
_BY_ATTRIBUTE = (property, functools.cached_property)


def _function_of(member: Any) -> Any:
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
