"""Classes of the user's, their objects, and hints, by content: what belongs to them in a walk (`world.py`)."""

# Values of users are of any type: what they are is asked while walking.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import abc
import collections
import enum
import re
import sys
import types
import typing
from collections.abc import Iterator
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any

from rosejit.frontend.codes import Open
from rosejit.frontend.users import is_users_class, is_users_code
from rosejit.frontend.world import World

_METACLASSES = frozenset({type, abc.ABCMeta})
_DATA = (tuple, list, dict, str, bytes, int, float)
"""Builtin classes that users derive from."""
_ABOVE = frozenset({object, abc.ABC, typing.Generic, typing.Protocol, *_DATA})
_SKIPPED = frozenset({
    "__dict__", "__weakref__", "__doc__", "__dataclass_params__", "__abstractmethods__", "_abc_impl", "__parameters__",
    "__orig_bases__", "__type_params__", "__firstlineno__", "__static_attributes__", "_is_protocol", "__slotnames__",
    "__protocol_attrs__", "__non_callable_proto_members__", "_is_runtime_protocol", "__callable_proto_members_only__",
})  # fmt: skip
"""Members of a class that staged code, which may have few names with two underscores, cannot ask for."""
_UNSEEN = frozenset({
    "__hash__", "__getattribute__", "__del__", "__class_getitem__", "__instancecheck__", "__subclasscheck__",
    "__subclasshook__",
})  # fmt: skip
"""Methods that Python calls without anybody's seeing it."""
_FIELD = type(vars(collections.namedtuple("Field", "one"))["one"])


def of_class(world: World, cls: type) -> Any:
    """A class of the user's: where it comes from, and all that is in it."""
    world.classes.append(cls)
    if issubclass(cls, enum.Enum):
        return _of_enum(cls)
    if type(cls) not in _METACLASSES:
        raise Open(f"`{cls.__qualname__}` has a metaclass")
    above = [base for base in cls.__mro__ if not (is_users_class(base) or base in _ABOVE or _is_pythons(base))]
    if above:
        raise Open(f"`{cls.__qualname__}` is derived from `{above[0].__qualname__}`")
    return "class", cls.__module__, cls.__qualname__, cls.__bases__, list(_members(world, cls))


def _is_pythons(base: type) -> bool:
    return issubclass(base, BaseException) and base.__module__ == "builtins"


def _members(world: World, cls: type) -> Iterator[tuple[str, Any]]:
    held: dict[str, Any] = dict(vars(cls))
    for name, member in held.items():
        if name in _SKIPPED:
            continue
        if name in _UNSEEN and type(member) is FunctionType and is_users_code(member.__code__):
            raise Open(f"`{cls.__qualname__}` has a `{name}`")
        if type(member) in (GetSetDescriptorType, MemberDescriptorType):
            yield name, "slot"
        elif type(member) is _FIELD:
            yield name, ("field", member.__reduce__()[1][0])
        elif name == "__dataclass_fields__":
            yield name, [_field(field) for field in member.values()]
        else:
            if name == "__annotations__":
                _read_texts(world, cls, [*cls.__annotations__.values()])
            yield name, member


def _field(field: Any) -> Any:
    flags = (field.init, field.repr, field.compare, field.kw_only, field.hash)
    return field.name, field.default, field.default_factory, flags, field._field_type.name


def _read_texts(world: World, cls: type, hints: list[Any]) -> None:
    """Hints in quotes name what is in the module."""
    texts = [hint for hint in hints if isinstance(hint, str)]
    module = sys.modules.get(cls.__module__)
    if texts and module is not None:
        world.names.update(re.findall(r"[A-Za-z_]\w*", " ".join(texts)))
        world.module(module)


def _of_enum(cls: Any) -> Any:
    if type(cls) is not enum.EnumMeta or any(base not in _ABOVE for base in cls.__mro__ if not _is_enum(base)):
        raise Open(f"`{cls.__qualname__}` is no plain enum")
    every: dict[str, Any] = dict(cls.__members__)
    members = [(name, member._value_, _own(member)) for name, member in every.items()]
    rest = [(k, v) for k, v in vars(cls).items() if type(v) in (FunctionType, property, staticmethod, classmethod)]
    rest = [(k, v) for k, v in rest if type(v) is not FunctionType or is_users_code(v.__code__)]
    return "enum", cls.__module__, cls.__qualname__, cls.__bases__, members, rest


def _is_enum(base: type) -> bool:
    return isinstance(base, enum.EnumMeta) and (is_users_class(base) or base.__module__ == "enum")


def _own(member: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(member).items() if not name.startswith("_")}


def of_object(value: Any, kind: type) -> Any:
    """An object of a class of the user's: its class and its state."""
    if isinstance(value, enum.Enum):
        return "member", kind, value._name_
    if isinstance(value, BaseException):
        raise Open("an exception")
    inside: list[Any] = [_inside(value, base) for base in _DATA if issubclass(kind, base)]
    try:
        state = object.__getattribute__(value, "__dict__")
    except AttributeError:
        state = None
    slots: list[tuple[str, Any]] = []
    for cls in kind.__mro__:
        for name, member in vars(cls).items():
            if type(member) is MemberDescriptorType and is_users_class(cls):
                try:
                    slots.append((name, member.__get__(value)))
                except AttributeError:
                    slots.append((name, Ellipsis))
    return "object", kind, inside, state, slots


def _inside(value: Any, base: Any) -> Any:
    """What a class derived from a builtin one holds as such, whatever the user has it say."""
    if base in (tuple, list):
        return [*base.__iter__(value)]
    if base is dict:
        return [*dict.items(value)]
    return {str: str.__str__, bytes: lambda held: bytes.__getitem__(held, slice(None)), int: int.__int__,
            float: float.__float__}[base](value)  # fmt: skip


_HINTS = (types.GenericAlias, types.UnionType, typing.TypeVar)


def of_hint(world: World, value: Any) -> Any:
    """A hint such as `list[float]`. Raises `Open` for anything else."""
    kind: Any = type(value)
    if isinstance(value, typing.TypeVar):
        return "type variable", value.__name__
    if isinstance(value, _HINTS) or kind.__module__ == "typing":
        if isinstance(value, typing.ForwardRef):
            raise Open("a hint in quotes")
        arguments = typing.get_args(value)
        return ("hint", typing.get_origin(value), list(arguments)) if arguments else ("hint", repr(value))
    raise Open(f"a {kind.__module__}.{kind.__qualname__}")
