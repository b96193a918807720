"""Takes Python structures apart and puts them together again, with other values at their leaves."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

import abc
import copy
import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rosejit.abi import Leaf, Node, Static, Tree
from rosejit.frontend.content import content_key
from rosejit.frontend.users import is_users_class
from rosejit.ir.types import TAN


@dataclasses.dataclass(slots=True, frozen=True)
class Entry:
    """An attribute of an element of a list of structures whose parts are in arrays: it is read and written there."""

    read: Callable[[], Any]
    write: Callable[[Any, bool], None]
    """Takes the value, and whether another object takes the place of the one whose attribute it is."""
    key: Any
    """The identity of the array, and the index."""
    share: Callable[[], None]
    """Called when the object will be known in another place too."""


def attribute(owner: Any, name: str) -> Any:
    """The value of an attribute."""
    found = getattr(owner, name)
    return found.read() if found.__class__ is Entry else found


def parts(value: Any) -> list[Any] | None:
    """The values inside a structure, in order; None for what is none."""
    cls: Any = value.__class__
    if cls is tuple or cls is list:
        return list(value)
    if cls is dict:
        return list(value.values())
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return list(value)  # a named tuple
    if hasattr(cls, "__dataclass_fields__") and not isinstance(value, type):
        return [attribute(value, name) for name in _fields(cls) if hasattr(value, name)]
    return None


def members(value: Any) -> list[Any] | None:
    """The values inside a structure, or in the attributes of an object of a class of the user's, in order.

    An element of a list whose parts are in arrays has none: it is known by its place in the list.
    """
    if is_row(value):
        return None
    inside = parts(value)
    if inside is not None or not is_object(value) or _is_knotted(value):
        return inside
    return list(attributes(value, read=True).values())


def objects(value: Any, but: tuple[Any, ...] = ()) -> Iterator[Any]:
    """The structures that writes can show in `value`, itself included, less those in `but`."""
    pending, seen = [value], {id(item) for other in but for item in objects(other)}
    while pending:
        item = pending.pop()
        if id(item) not in seen:
            seen.add(id(item))
            inside = parts(item)
            if inside is None and is_object(item):
                inside = list(attributes(item, read=True).values())
            if inside is not None and is_mutable(item):
                yield item
            pending += inside or ()


def is_object(value: Any) -> bool:
    """Whether a value is an object of the user's that is known by its attributes and by nothing else."""
    return is_open(value.__class__) and not isinstance(getattr(value, "leaf", None), Leaf)


@functools.lru_cache(maxsize=1024)
def is_open(cls: Any) -> bool:
    """Whether the objects of a class are known by their attributes."""
    if cls is types.SimpleNamespace:
        return True
    bases: Any = cls.__mro__[:-1]
    return (
        is_users_class(cls)
        and not hasattr(cls, "__rose_stage__")
        and all(is_users_class(base) or base in (abc.ABC, typing.Generic, typing.Protocol) for base in bases)
    )


def attributes(value: Any, read: bool = False) -> dict[str, Any]:
    """What an object has in its slots and in its dictionary; with `read` what the entries in it stand for."""
    found: dict[str, Any] = {}
    for cls in reversed(value.__class__.__mro__):
        for name, inside in vars(cls).items():
            if type(inside) is types.MemberDescriptorType and hasattr(value, name) and not name.startswith("__"):
                found[name] = getattr(value, name)
    found |= getattr(value, "__dict__", {})
    return {name: v.read() if v.__class__ is Entry else v for name, v in found.items()} if read else found


def is_row(value: Any) -> bool:
    """Whether a value is an element of a list of structures whose parts are in arrays."""
    pending, seen = [value], set[int]()
    while pending:
        item = pending.pop()
        if item.__class__ is Entry:
            return True
        if id(item) not in seen and _has_attributes(item):
            seen.add(id(item))  # objects may hold each other
            pending += attributes(item).values()
    return False


def _has_attributes(value: Any) -> bool:
    return not isinstance(value, type) and (hasattr(value.__class__, "__dataclass_fields__") or is_object(value))


def detached(value: Any) -> Any:
    """An element of a list as a structure of its own, with the values that it has now."""
    if not is_row(value):
        return value
    return with_parts(value, [detached(item) for item in attributes(value, read=True).values()])


def _is_knotted(value: Any, around: frozenset[int] = frozenset(), known: set[int] | None = None) -> bool:
    """Whether an object contains itself, or is in one of those `around`; `known` are those that do not."""
    known = set() if known is None else known
    if id(value) in around:
        return True
    inside = parts(value)
    if inside is None and is_object(value):
        inside = list(attributes(value, read=True).values())
    if not inside or id(value) in known:
        return False
    around |= {id(value)}
    if any(_is_knotted(item, around, known) for item in inside):
        return True
    known.add(id(value))
    return False


def _fields(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


_NOTHING_INSIDE = frozenset({float, int, bool, str, type(None), types.FunctionType, types.ModuleType, type})


def is_staged_deep(value: Any) -> bool:
    """Whether a staged number or array is in `value`, itself or inside structures."""
    return any(True for _ in _staged_inside(value))


def _staged_inside(value: Any) -> Iterator[Any]:
    pending, seen = [value], set[int]()
    while pending:
        item = pending.pop()
        if item.__class__ in _NOTHING_INSIDE:
            continue
        if isinstance(getattr(item, "leaf", None), Leaf):
            yield item
        elif id(item) not in seen:  # objects of the host may hold each other
            seen.add(id(item))
            pending += parts(item) or ()


def has_tangent(value: Any) -> bool:
    """Whether a tangent, or an array of them, is in `value`, itself or inside structures."""
    return any(getattr(item, "type", None) is TAN for item in _staged_inside(value))


def is_record(cls: Any) -> bool:
    """Whether a class is one of named tuples or a dataclass: its constructor keeps what it is given."""
    return hasattr(cls, "__dataclass_fields__") or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


def is_alike(a: Any, b: Any) -> bool:
    """Whether two structures have the same class and the same parts by name."""
    if a.__class__ is not b.__class__:
        return False
    if a.__class__ is dict:
        return list(a) == list(b)
    if is_object(a) and parts(a) is None:
        return list(attributes(a)) == list(attributes(b))
    return len(parts(a) or ()) == len(parts(b) or ())


def is_mutable(value: Any) -> bool:
    """Whether a structure has an identity that writes can show."""
    cls: Any = value.__class__
    frozen = getattr(cls, "__dataclass_params__", None)
    return cls is list or cls is dict or (not frozen.frozen if frozen is not None else is_object(value))


def with_parts(like: Any, values: Sequence[Any]) -> Any:
    """A structure as `like`, with other values inside."""
    cls: Any = like.__class__
    if cls is tuple or cls is list:
        return cls(values)
    if cls is dict:
        return dict(zip(like, values, strict=True))
    if isinstance(like, tuple):
        return cls._make(values)
    if hasattr(cls, "__dataclass_fields__"):
        made, names = copy.copy(like), [name for name in _fields(cls) if hasattr(like, name)]
    else:
        made, names = object.__new__(cls), list(attributes(like))
    for name, value in zip(names, values, strict=True):
        object.__setattr__(made, name, value)
    return made


def flatten(value: Any, found: list[Any], statics: list[Any]) -> Tree:
    """The tree of `value`; staged leaves go to `found`, in order, and what the host keeps to `statics`."""
    if value is None:
        return Node("none")
    leaf = getattr(value, "leaf", None)
    if isinstance(leaf, Leaf):
        found.append(value)
        return leaf
    inside = parts(value)
    if inside is None:
        statics.append(value)
        return Static(content_key(value))
    children = tuple(flatten(part, found, statics) for part in inside)
    cls: Any = value.__class__
    if cls is tuple or cls is list:
        return Node("tuple" if cls is tuple else "list", children)
    if cls is dict:
        return Node("dict", children, tuple(value))
    if isinstance(value, tuple):
        return Node("namedtuple", children, cls._fields, cls)
    return Node("dataclass", children, tuple(n for n in _fields(cls) if hasattr(value, n)), cls)


def paths(tree: Tree, name: str) -> list[tuple[Leaf, str]]:
    """The leaves of a tree, each with a name for people."""
    if isinstance(tree, Leaf):
        return [(tree, name)]
    if not isinstance(tree, Node):
        return []
    keys = tree.keys or tuple(range(len(tree.children)))
    return [found for key, child in zip(keys, tree.children, strict=True) for found in paths(child, f"{name}_{key}")]


def build(tree: Tree, leaves: "Supply", statics: "Supply") -> Any:
    """The structure of `tree`, its leaves taken from `leaves` and its host values from `statics`."""
    if isinstance(tree, Leaf):
        return leaves.next()
    if isinstance(tree, Static):
        return statics.next()
    values = [build(child, leaves, statics) for child in tree.children]
    match tree.kind:
        case "none":
            return None
        case "tuple":
            return tuple(values)
        case "list":
            return values
        case "dict":
            return dict(zip(tree.keys, values, strict=True))
        case "namedtuple":
            cls: Any = tree.cls
            return cls._make(values)
        case "dataclass":
            assert tree.cls is not None
            made = object.__new__(tree.cls)
            for name, value in zip(tree.keys, values, strict=True):
                object.__setattr__(made, name, value)
            return made


class Supply:
    """Values that are handed out one by one."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = iter(values)

    def next(self) -> Any:
        """The next value."""
        return next(self._values)
