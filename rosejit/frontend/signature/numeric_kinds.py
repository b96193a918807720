"""A hint and the structure of an argument to what its numbers and arrays, one by one, are taken from by a caller."""

from collections.abc import Iterator
from typing import Any

from rosejit import containers
from rosejit.abi import Leaf, Node, Static, Tree
from rosejit.frontend.hints import hints
from rosejit.frontend.hints.hints import (
    ArrayOf,
    Description,
    Inferred,
    Kind,
    Numbers,
    OneOf,
    Repeated,
    Scalar,
    Structure,
    Validated,
)
from rosejit.frontend.hints.read_hints import Hints, parts_of
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Var

EXACT, OWN = 1, 2
"""From the same kind of number only, since another asks for other code; an array from an array, and from no list."""


def note_class(tape: Tape, var: Var, cls: Any, flag: int) -> None:
    """Let the program be told what class an argument has, or that no hint settles it."""
    if cls is not None:
        tape.given[var] = cls
    elif flag & EXACT:
        tape.unclassed.add(var)


def exact(description: Description, tree: Tree) -> Iterator[int]:
    """How strict code is about each leaf of `tree`: an int is no float where nobody has said so."""
    if isinstance(description, Validated):
        yield from exact(description.base, tree)
    elif isinstance(description, OneOf):
        yield from _of_union(description, tree)
    elif isinstance(description, (Inferred, Numbers)):
        yield from [EXACT | OWN] if isinstance(tree, Leaf) else _of_node(Inferred(), tree)
    elif isinstance(tree, Leaf):
        yield EXACT if isinstance(description, ArrayOf) and description.element in (None, "int") else 0
    else:
        yield from _of_node(description, tree)


def _of_node(description: Description, tree: Tree) -> Iterator[int]:
    if isinstance(tree, Node):
        for part, child in zip(_parts(description, tree), tree.children, strict=True):
            yield from exact(part, child)


def _of_union(union: OneOf, tree: Tree) -> Iterator[int]:
    """As the one part that gives such a tree says; an array is no list where another part takes lists."""
    is_array = isinstance(tree, Leaf) and tree.kind == "array"
    for flag in exact(chosen(union, tree), tree):
        yield flag | OWN if is_array and any(map(hints.takes_lists, union.parts)) else flag


def chosen(union: OneOf, tree: Tree) -> Description:
    """The part of a union that says of a tree which numbers are in it; where several may, the value does."""
    is_number = tree.kind == "complex" if isinstance(tree, Node) else isinstance(tree, Leaf) and tree.kind != "array"
    found = [part for part in (union.of_numbers if is_number else union.parts) if _may_give(part, tree)]
    if len({getattr(part, "item", part) for part in found}) == 1:
        return found[0]
    if isinstance(tree, Leaf):
        elements: set[Kind | None] = {part.element if isinstance(part, ArrayOf) else None for part in found}
        return ArrayOf(None, elements.pop() if len(elements) == 1 else None)
    return Inferred()


def _may_give(part: Description, tree: Tree) -> bool:
    match part:
        case Validated(base):
            return _may_give(base, tree)
        case OneOf(parts):
            return any(_may_give(each, tree) for each in parts)
        case Inferred() | Numbers():
            return not isinstance(tree, Static)
        case Scalar(kind):
            return isinstance(tree, Leaf) and tree.kind == kind
        case ArrayOf():
            return isinstance(tree, Leaf) or (isinstance(tree, Node) and tree.kind == "narrow")
        case Repeated(kind):
            given = containers.KINDS.get(tree.kind) if isinstance(tree, Node) else None
            cls: Any = (tree.cls if isinstance(tree, Node) else None) or getattr(given, "type", None)
            return isinstance(cls, type) and issubclass(cls, containers.KINDS[kind].accepts)
        case Structure(kind, cls=of):
            return isinstance(tree, Node) and tree.kind == kind and (of is None or issubclass(tree.cls or of, of))
        case hints.Static():
            return isinstance(tree, Static)
        case _:
            return False


def _parts(description: Description, tree: Node) -> list[Description]:
    """What describes the parts of a structure."""
    count = len(tree.children)
    record = None if tree.cls is None else Hints().of_structure(tree.cls)
    if isinstance(record, Structure) and isinstance(description, (Inferred, Structure, Repeated)):
        return list(parts_of(record))
    if isinstance(description, Repeated):
        return [description.item] * count
    if isinstance(description, Structure):
        parts = parts_of(description)
        named: dict[Any, Description] = dict(zip(description.keys, parts, strict=False))
        return [named[key] for key in tree.keys] if named else list(parts)
    return [description if isinstance(description, Inferred) else Scalar("real")] * count
