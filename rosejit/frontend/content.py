"""Turns host values into hashable keys by content, so that equal static arguments share one specialisation."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import builtins
import dataclasses
import enum
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from types import (
    BuiltinFunctionType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from rosejit.frontend.users import is_users_class
from rosejit.numeric import np

Key = tuple[Any, ...]

_ATOMS = frozenset((int, float, complex, bool, str, bytes, type(None)))


def content_key(value: Any, inside: frozenset[int] = frozenset()) -> Key:
    """A hashable that is equal for values of equal type and content; an object is itself, with its attributes.

    `inside` are the objects around: one that contains itself has no end else.
    """
    kind: Any = type(value)
    if kind is float:
        return ("float", value.hex())  # tells -0.0 from 0.0, and nan is itself
    if kind in _ATOMS:
        return (kind, value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (kind, value.shape, value.dtype.str, value.tobytes())
    if id(value) in inside:
        return (kind, "again")
    inside |= {id(value)}
    if isinstance(value, _CONTAINERS):
        named = named_beside(value)
        key = (kind, *_items_key(value, inside))
        return (*key, content_key(named, inside)) if named else key
    if isinstance(value, np.ndarray):
        return (kind, value.shape, *(content_key(item, inside) for item in value.flat))
    if dataclasses.is_dataclass(kind):
        fields = dataclasses.fields(kind)
        return (kind, *(content_key(getattr(value, f.name), inside) for f in fields if hasattr(value, f.name)))
    return _object_key(value, kind, inside)


def _items_key(value: Any, inside: frozenset[int]) -> Iterator[Any]:
    """The keys of what is in a container."""
    if isinstance(value, (dict, MappingProxyType)):
        pairs: Any = value
        yield from [(content_key(k, inside), content_key(v, inside)) for k, v in pairs.items()]
    elif isinstance(value, (set, frozenset)):
        members: Any = value
        yield frozenset([content_key(member, inside) for member in members])
    else:
        yield from [content_key(item, inside) for item in value]


_CONTAINERS = (list, tuple, deque, dict, MappingProxyType, set, frozenset)


def named_beside(container: Any) -> dict[str, Any]:
    """The attributes of a container that is of a class of the user's."""
    kind: type = type(container)
    return attributes_of(container) if is_users_class(kind) and not hasattr(kind, "_fields") else {}


def content_of_bytes(value: Any) -> bytes | None:
    """What is in memory that can be written as an array of numbers can; None for other values."""
    if type(value).__hash__ is not None and not isinstance(value, memoryview):
        return None
    try:
        return memoryview(value).tobytes()
    except TypeError:
        return None


def _object_key(value: Any, kind: Any, inside: frozenset[int]) -> Key:
    """An object that compares by content without a hash is its attributes; one that compares by identity is itself as
    long as they stay; others say themselves what they are equal to."""
    if isinstance(value, type) and has_data(value):
        return (kind, value, content_key(data_of(value), inside))
    if isinstance(value, MethodType):
        return (kind, value.__func__, content_key(value.__self__, inside))
    if is_identity(value):
        return (kind, value)
    held = content_of_bytes(value)
    if held is not None:
        return (kind, held)
    attributes = attributes_of(value)
    if kind.__hash__ is None:
        return (kind, content_key(attributes, inside) if attributes else Same(value))
    if kind.__eq__ is object.__eq__ and attributes:
        return (kind, Same(value), content_key(attributes, inside))
    try:
        hash(value)
    except TypeError:  # it is made of something that has none
        return (kind, Same(value))
    return (kind, value)


_IDENTICAL = (ModuleType, FunctionType, BuiltinFunctionType, MethodType, type)


def is_identity(value: Any) -> bool:
    """Whether a value counts as the object that it is: functions, decorated ones too, classes and modules."""
    return isinstance(value, _IDENTICAL) or counts_as_itself(type(value))


@lru_cache(maxsize=1024)
def counts_as_itself(kind: type) -> bool:
    """Whether the values of a type count as the objects that they are."""
    return issubclass(kind, _IDENTICAL) or hasattr(kind, "__rose_stage__") or _is_numpys(kind)


def _is_numpys(kind: type) -> bool:
    """Whether a type is that of functions of NumPy's, which need not be loaded for that."""
    return kind.__module__ == "numpy" and kind.__name__ in ("ufunc", "_ArrayFunctionDispatcher")


def attributes_of(value: Any) -> dict[str, Any]:
    """The data that an instance of a class of the user's holds, and its classes: methods and properties are none."""
    kind: Any = type(value)
    if getattr(builtins, kind.__name__, None) is kind:
        return {}
    found = data_of(kind)
    for cls in reversed(kind.__mro__[:-1]):
        for name, held in vars(cls).items():
            if type(held) is MemberDescriptorType and not name.startswith("__") and hasattr(value, name):
                found[name] = getattr(value, name)
    found |= getattr(value, "__dict__", {})
    if isinstance(value, enum.Enum):  # which notes under such names what it makes on demand, as `A | B`
        found = {name: held for name, held in found.items() if name[0] != "_" or name[-1] != "_" or name == "_value_"}
    return found


def data_of(cls: type) -> dict[str, Any]:
    """The data that a class holds itself, or one above it."""
    found: dict[str, Any] = {}
    for each in reversed(cls.__mro__[:-1]):
        for name, held in vars(each).items():
            if not name.startswith("__") and not hasattr(held, "__get__"):
                found[name] = held
    return found


def has_data(cls: type) -> bool:
    """Whether a class of the user's holds what can be set: that of an enumeration cannot."""
    return is_users_class(cls) and not issubclass(cls, enum.Enum) and bool(data_of(cls))


_FIXED = _ATOMS | {FunctionType, BuiltinFunctionType, ModuleType, type}
_FROZEN = frozenset((tuple, frozenset))
_SURE = _FIXED | _FROZEN


def is_frozen(value: Any) -> bool:
    """Whether nobody can change a value, down to its parts; those that count as the objects that they are stay so."""
    if type(value) in _FIXED:
        return True
    level: list[Any] = [value]
    while level:  # tables are long: all that is equally deep is asked at once
        kinds = set(map(type, level))
        if not kinds <= _SURE and not all([counts_as_itself(kind) for kind in kinds - _SURE]):
            return False
        if kinds.isdisjoint(_FROZEN):
            return True
        level = level if kinds <= _FROZEN else [item for item in level if type(item) in _FROZEN]
        level = list(chain.from_iterable(level))
    return True


class Same:
    """Equal to another stand-in for the same object, which it keeps alive."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)
