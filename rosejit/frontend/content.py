"""Turns host values into hashable keys by content, so that equal static arguments share one specialisation."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import dataclasses
from typing import Any

from rosejit.numeric import np

Key = tuple[Any, ...]

_ATOMS = frozenset((int, float, complex, bool, str, bytes, type(None)))


def content_key(value: Any) -> Key:
    """A hashable that is equal for values of equal type and content; an object without content stands for itself."""
    kind: Any = type(value)
    if kind is float:
        return ("float", value.hex())  # tells -0.0 from 0.0, and nan is itself
    if isinstance(value, (list, tuple)):
        items: Any = value
        return (kind, *(content_key(item) for item in items))
    if isinstance(value, dict):
        pairs: Any = value
        return (kind, *((content_key(k), content_key(v)) for k, v in pairs.items()))
    if isinstance(value, (set, frozenset)):
        members: Any = value
        return (kind, frozenset(content_key(member) for member in members))
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (kind, value.shape, value.dtype.str, value.tobytes())
    if dataclasses.is_dataclass(kind):
        return (kind, *(content_key(getattr(value, field.name)) for field in dataclasses.fields(kind)))
    try:
        hash(value)
    except TypeError:
        return _unhashable(value)
    return (kind, value)


def is_frozen(value: Any) -> bool:
    """Whether nobody can change a value, down to its parts."""
    kind: Any = type(value)
    return kind in _ATOMS or (kind in (tuple, frozenset) and all(map(is_frozen, value)))


def _unhashable(value: Any) -> Key:
    """An object that compares by content without a hash: its attributes, if that is all it is, else its identity."""
    attributes = getattr(value, "__dict__", None)
    if attributes is None:
        return (type(value), _Same(value))
    return (type(value), content_key(attributes))


class _Same:
    """Equal to another stand-in for the same object, which it keeps alive."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)
