"""A hint and the structure of an argument to the numbers in it whose kind comes from the value, not from the hint."""

from collections.abc import Iterator

from rosejit.abi import Leaf, Node, Tree
from rosejit.frontend.hints.hints import (
    ArrayOf,
    Description,
    Hints,
    Inferred,
    OneOf,
    Repeated,
    Scalar,
    Structure,
    Validated,
    parts_of,
)


def exact(description: Description, tree: Tree) -> Iterator[bool]:
    """For each leaf of `tree` whether code for it takes that kind only: an int is no float where nobody has said so."""
    if isinstance(description, Validated):
        yield from exact(description.base, tree)
    elif isinstance(tree, Leaf):
        yield isinstance(description, Inferred) or _has_own(description, tree)
    elif isinstance(tree, Node):
        for part, child in zip(_parts(description, tree), tree.children, strict=True):
            yield from exact(part, child)


def _has_own(description: Description, leaf: Leaf) -> bool:
    """Whether a union has a place of its own for the ints that a Real takes, or a hint of arrays leaves open of which
    kind, or of how many bits, the elements are."""
    if isinstance(description, ArrayOf):
        return description.element in (None, "int")
    return isinstance(description, OneOf) and leaf.kind == "real" and Scalar("int") in description.parts


def _parts(description: Description, tree: Node) -> list[Description]:
    """What describes the parts of a structure; nothing certain inside a union."""
    count = len(tree.children)
    if isinstance(description, Repeated):
        return [description.item] * count
    if tree.cls is not None and isinstance(description, (Inferred, Structure)):
        found = Hints().of_structure(tree.cls)
        return list(parts_of(found)) if isinstance(found, Structure) else [Scalar("real")] * count
    if isinstance(description, Structure):
        return list(parts_of(description))
    return [description if isinstance(description, Inferred) else Scalar("real")] * count
