"""Takes Python structures apart and puts them together again, with other values at their leaves."""

# Values of users are of any type: what they are is asked while staging.

import abc
import functools
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rosejit.abi import Leaf, Node, Static, Tree
from rosejit.containers import CHOSEN, COMPLEX, DATACLASS, NARROW, derived, is_complex, of_class, of_node
from rosejit.frontend.syntax.user_code import is_users_class
from rosejit.frontend.values.host_scalars import narrow_dtype
from rosejit.frontend.values.host_values import attributes_of
from rosejit.frontend.values.reachable_state import structural_key
from rosejit.ir.types import TAN
from rosejit.lazy_dataclass import dataclass
from rosejit.made_anew import renewed
from rosejit.narrow_values import NarrowValue


@dataclass(slots=True, frozen=True)
class FieldProxy:
    """An attribute of an element of a list of structures whose parts are in arrays: it is read and written there."""

    read: Callable[[], Any]
    write: Callable[[Any, bool], None]
    """Takes the value, and whether another object takes the place of the one whose attribute it is."""
    key: Any
    """The identity of the array, and the index."""
    share: Callable[[], None]
    """Called when the object will be known in another place too."""


def staged_leaf(value: Any) -> Leaf | None:
    """The leaf of a staged value; None of any other. Users' objects may answer to any name: their class is asked."""
    cls = type(value)
    if not hasattr(cls, "leaf") and (not hasattr(cls, "__getattr__") or is_users_class(cls)):
        return None
    leaf = getattr(value, "leaf", None)
    return leaf if isinstance(leaf, Leaf) else None


def attribute(owner: Any, name: str) -> Any:
    """The value of an attribute."""
    found = getattr(owner, name)
    return found.read() if found.__class__ is FieldProxy else found


def parts(value: Any) -> list[Any] | None:
    """The values inside a structure, in order; None for what is none."""
    kind = of_class(value.__class__)
    return None if kind is None else kind.parts(value, attribute)


def parts_as(node: Node, value: Any) -> list[Any] | None:
    """The parts of a structure in the order of `node`; None where it has others."""
    kind = of_class(value.__class__)
    if node.kind in ("complex", "conjugate"):
        is_one = isinstance(value, COMPLEX.accepts) or is_complex(value)
        return of_node(node).picked(value, ()) if is_one else None
    if node.kind == NARROW.name:
        return [value.wide if isinstance(value, NarrowValue) else value]
    if kind is None:
        kind = derived(value.__class__)
        if kind is None or kind.name != node.kind:
            return None
    if kind.of_any_keys and node.keys:
        return kind.picked(value, node.keys) if {*kind.keys(value)} == {*node.keys} else None
    inside = kind.parts(value, attribute)
    return inside if len(inside) == len(node.children) else None


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
            inside, kind = parts(item), derived(item.__class__)
            if inside is None and kind is not None:
                inside = kind.parts(item)
            elif inside is None and is_object(item):
                inside = list(attributes(item, read=True).values())
            if inside is not None and (is_mutable(item) or (kind is not None and kind.changes)):
                yield item
            pending += inside or ()


def is_object(value: Any) -> bool:
    """Whether a value is an object of the user's that is known by its attributes and by nothing else."""
    return is_open(value.__class__) and staged_leaf(value) is None


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
    found = attributes_of(value)
    return {name: v.read() if v.__class__ is FieldProxy else v for name, v in found.items()} if read else found


def is_row(value: Any) -> bool:
    """Whether a value is an element of a list of structures whose parts are in arrays."""
    pending, seen = [value], set[int]()
    while pending:
        item = pending.pop()
        if item.__class__ is FieldProxy:
            return True
        if id(item) not in seen and _has_attributes(item):
            seen.add(id(item))  # objects may hold each other
            pending += attributes(item).values()
    return False


def _has_attributes(value: Any) -> bool:
    return of_class(value.__class__) is DATACLASS or is_object(value)


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


_NOTHING_INSIDE = frozenset({float, int, bool, str, type(None), types.FunctionType, types.ModuleType, type})


def is_staged_deep(value: Any) -> bool:
    """Whether a staged number or array is in `value`, itself or inside structures."""
    return any(True for _ in staged_inside(value))


def staged_inside(value: Any) -> Iterator[Any]:
    """The staged numbers and arrays in `value`, itself or inside structures."""
    pending, seen = [value], set[int]()
    while pending:
        item = pending.pop()
        if item.__class__ in _NOTHING_INSIDE:
            continue
        if staged_leaf(item) is not None:
            yield item
        elif id(item) not in seen:  # objects of the host may hold each other
            seen.add(id(item))
            pending += parts(item) or ()


def has_tangent(value: Any) -> bool:
    """Whether a tangent, or an array of them, is in `value`, itself or inside structures."""
    return any(getattr(item, "type", None) is TAN for item in staged_inside(value))


def is_record(cls: Any) -> bool:
    """Whether a class is one of named tuples or a dataclass: its constructor keeps what it is given."""
    kind = of_class(cls)
    return kind is not None and kind.type is None


def is_alike(a: Any, b: Any) -> bool:
    """Whether two structures have the same class and the same parts by name."""
    kind = of_class(a.__class__)
    if a.__class__ is not b.__class__ and not (kind in (COMPLEX, NARROW) and of_class(b.__class__) is kind):
        return False
    if kind is not None:
        return kind.layout(a) == kind.layout(b)
    return not is_object(a) or list(attributes(a)) == list(attributes(b))


def is_mutable(value: Any) -> bool:
    """Whether a structure has an identity that writes can show."""
    kind = of_class(value.__class__)
    return is_object(value) if kind is None else kind.is_mutable(value.__class__)


def with_parts(like: Any, values: Sequence[Any]) -> Any:
    """A structure as `like`, with other values inside."""
    kind = NARROW if narrow_dtype(like) is not None else of_class(like.__class__)
    if kind is not None:
        return kind.like(like, values)
    return DATACLASS.make(Node("dataclass", keys=tuple(attributes(like)), cls=like.__class__), [*values])


def flatten(value: Any, found: list[Any], statics: list[Any]) -> Tree:
    """The tree of `value`; staged leaves go to `found`, in order, and what the host keeps to `statics`."""
    if value is None:
        return Node("none")
    leaf = staged_leaf(value)
    if isinstance(leaf, Leaf):
        found.append(value)
        return leaf
    kind = of_class(value.__class__)
    if kind is None:
        statics.append(told(value))
        return Static(structural_key(value))
    inside = kind.parts(value, attribute)
    if kind is CHOSEN:
        inside += value.__rose_options__
    return kind.node(value, tuple([flatten(part, found, statics) for part in inside]))


def told(value: Any) -> Any:
    """A value that the host keeps, unless only running tells which it is."""
    use = getattr(type(value), "__rose_use__", None)
    if use is not None:
        use(value)
    return value


def paths(tree: Tree, name: str) -> list[tuple[Leaf, str]]:
    """The leaves of a tree, each with a name for people."""
    if isinstance(tree, Leaf):
        return [(tree, name)]
    if not isinstance(tree, Node):
        return []
    if tree.kind in (COMPLEX.name, NARROW.name):
        return [found for child in tree.children for found in paths(child, name)]
    keys = tree.keys or tuple(range(len(tree.children)))
    return [found for key, child in zip(keys, tree.children, strict=True) for found in paths(child, f"{name}_{key}")]


def host_places(tree: Tree) -> list[Static]:
    """Where a tree has values of the host, in order."""
    if isinstance(tree, Node):
        return [found for child in tree.children for found in host_places(child)]
    return [tree] if isinstance(tree, Static) else []


def build(tree: Tree, leaves: "Supply", statics: "Supply") -> Any:
    """The structure of `tree`, its leaves taken from `leaves` and its host values from `statics`."""
    if isinstance(tree, Leaf):
        return leaves.next()
    if isinstance(tree, Static):
        return statics.next()
    values = [build(child, leaves, statics) for child in tree.children]
    return of_node(tree).make(tree, values) if tree.kind != "none" else None


class Supply:
    """Values that are handed out one by one."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = iter(renewed(values))

    def next(self) -> Any:
        """The next value."""
        return next(self._values)
