"""Classes of the user's, their objects, and hints, by content: what belongs to them in a walk (`world.py`)."""

# Values of users are of any type: what they are is asked while walking.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import abc
import collections
import enum
import functools
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
    "__subclasshook__", "keys",
})  # fmt: skip
"""Methods that Python calls without anybody's seeing it."""
_OF_C = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
_OPERATORS = (FunctionType, type(None), str, tuple, list, dict, property, bool)
"""What members with two underscores may be: nothing that Python would call without staging it."""
_FIELD = type(vars(collections.namedtuple("Field", "one"))["one"])


def of_class(world: World, cls: type) -> Any:
    """A class of the user's: where it comes from, and all that is in it."""
    world.classes.append(cls)
    if issubclass(cls, enum.Enum):
        return _of_enum(cls)
    if type(cls) not in _METACLASSES:
        raise Open(f"`{cls.__qualname__}` has a metaclass")
    if any(map(functools.partial(_is_of_c, cls), vars(cls).items())):
        raise Open(f"`{cls.__qualname__}`, which is written in C,")
    above = [base for base in cls.__mro__ if not (is_users_class(base) or base in _ABOVE or _is_pythons(base))]
    if above:
        raise Open(f"`{cls.__qualname__}` is derived from `{above[0].__qualname__}`")
    if issubclass(cls, BaseException) and {"__init__", "__str__", "__new__"} & vars(cls).keys():
        raise Open(f"`{cls.__qualname__}`, which Python makes,")
    names = (cls.__module__, cls.__qualname__, cls.__name__)
    return "class", names, cls.__bases__, sorted(vars(cls).get("__abstractmethods__", ())), list(_members(world, cls))


def _is_of_c(cls: type, held: tuple[str, Any]) -> bool:
    """Whether a member is of a class that no `class` statement made: its objects may hold what nobody sees."""
    name, member = held
    if type(member) is GetSetDescriptorType:
        return name not in ("__dict__", "__weakref__")
    return (isinstance(member, _OF_C) and member.__objclass__ is cls) or name == "__dict__"


def _is_pythons(base: type) -> bool:
    return issubclass(base, BaseException) and base.__module__ == "builtins"


def _members(world: World, cls: type) -> Iterator[tuple[str, Any]]:
    held: dict[str, Any] = dict(vars(cls))
    for name, member in held.items():
        if name in _SKIPPED:
            continue
        if name in _UNSEEN and not _is_made(member):
            raise Open(f"`{cls.__qualname__}` has a `{name}`")
        if not _is_staged(cls, name, member):
            raise Open(f"`{cls.__qualname__}` has a `{name}` that Python calls")
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


_HARMLESS = frozenset({"__new__", "__init_subclass__", "__slots__", "__dataclass_fields__", "__orig_class__"})


_GENERATED = frozenset({
    "__init__", "__repr__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__setattr__", "__delattr__",
    "__getnewargs__", "__replace__", "__getstate__", "__setstate__", "__annotate_func__",
})  # fmt: skip
"""Methods of dataclasses and named tuples, and those of `functools.total_ordering`."""


def _is_staged(cls: type, name: str, member: Any) -> bool:
    """Whether a member is data, or what Python calls of it is the user's and rewritten, or made by the library."""
    if type(member) is property:
        return all(function is None or _is_users(function) for function in (member.fget, member.fset, member.fdel))
    if type(member) is functools.cached_property:
        return _is_users(member.func)
    if not name.startswith("__") or name in _HARMLESS:
        return True
    if type(member) is FunctionType and not is_users_code(member.__code__):
        return name in _GENERATED
    return type(member) in _OPERATORS


def _is_made(member: Any) -> bool:
    """Whether a method was made by the standard library, such as the hash of a dataclass, or is there to say no."""
    return member is None or (type(member) is FunctionType and not is_users_code(member.__code__))


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
    rest = [(k, v) for k, v in vars(cls).items() if k not in every and (k not in _OF_ENUMS or _is_users(v))]
    return "enum", cls.__module__, cls.__qualname__, cls.__name__, cls.__bases__, members, rest


_OF_ENUMS = frozenset({*vars(enum.Enum("One", "A")), *vars(enum.Flag("Two", "A"))})


def _is_users(member: Any) -> bool:
    function = getattr(member, "__func__", member)
    return type(function) is FunctionType and is_users_code(function.__code__)


def _is_enum(base: type) -> bool:
    return isinstance(base, enum.EnumMeta) and (is_users_class(base) or base.__module__ == "enum")


def _own(member: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(member).items() if name not in _OF_MEMBERS}


_OF_MEMBERS = frozenset(vars(next(iter(enum.Enum("One", "A")))))


def of_object(value: Any, kind: type) -> Any:
    """An object of a class of the user's: its class and its state."""
    if issubclass(kind, enum.Enum):
        return "member", kind, value._name_
    if issubclass(kind, BaseException):
        raise Open("an exception")
    inside: list[Any] = [_inside(value, base) for base in _DATA if issubclass(kind, base)]
    try:
        state = object.__getattribute__(value, "__dict__")
    except AttributeError:
        state = None
    if state is not None and "keys" in state:
        raise Open("an object that has its own `keys`")
    slots: list[tuple[Any, ...]] = []
    for cls in kind.__mro__:
        for name, member in vars(cls).items():
            if type(member) is MemberDescriptorType and is_users_class(cls):
                try:
                    slots.append((name, member.__get__(value)))
                except AttributeError:
                    slots.append((name,))
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
        return "type variable", value.__name__, value.__bound__, value.__constraints__
    if isinstance(value, _HINTS) or kind.__module__ == "typing":
        if isinstance(value, typing.ForwardRef):
            raise Open("a hint in quotes")
        arguments = typing.get_args(value)
        if any(type(argument) is str for argument in arguments) and typing.get_origin(value) is not typing.Literal:
            raise Open("a hint in quotes")
        return ("hint", typing.get_origin(value), list(arguments)) if arguments else ("hint", repr(value))
    raise Open(f"a {kind.__module__}.{kind.__qualname__}")
