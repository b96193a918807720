"""Lists of structures that are arrays inside, to the lists of structures that a page gives and gets."""

from collections.abc import Sequence
from dataclasses import replace

from rosejit.abi import Leaf, Node, Slot, Tree, leaf_of, leaves
from rosejit.errors import StagingTypeError


def listed(tree: Tree, slots: Sequence[Slot]) -> tuple[Tree, tuple[Slot, ...]]:
    """A tree in which such a list is one of structures, and where their parts are."""
    if not isinstance(tree, Node):
        return tree, tuple(slots)
    if hasattr(tree.cls, "__rose_dynamic__"):
        raise StagingTypeError(
            "a list, a dict or a set whose length only running tells is not exported",
            help="give the items in an array of a known length, and how many there are",
        )
    if hasattr(tree.cls, "__rose_host__"):
        return _list(tree.children[0], slots)
    rest = iter(slots)
    parts = [listed(child, [next(rest) for _ in leaves(child)]) for child in tree.children]
    children = tuple(child for child, _ in parts)
    return replace(tree, children=children), tuple(slot for _, some in parts for slot in some)


def _list(columns: Tree, slots: Sequence[Slot]) -> tuple[Tree, tuple[Slot, ...]]:
    if any(slot.kind == "dyn" for slot in slots):
        raise StagingTypeError(
            "a list of structures whose length stays open is not exported",
            help="give arrays, one for each part of the structures, or export for one length: `rose.ShapeOf(10)`",
        )
    count = slots[0].shape[0] if slots else 0
    rows = [[_element(slot, k) for slot in slots] for k in range(count)]
    return Node("list", (_row(columns),) * count), tuple(slot for row in rows for slot in row)


def _element(slot: Slot, k: int) -> Slot:
    shape = slot.shape[1:]
    part = replace(slot, shape=shape) if shape else replace(slot, kind=slot.element, shape=(), element="real")
    return replace(part, offset=slot.offset + k * slot.bytes // slot.shape[0])


def _row(tree: Tree) -> Tree:
    match tree:
        case Leaf(shape=shape, element=element):
            return leaf_of(shape[1:], element)
        case Node(children=children):
            return replace(tree, children=tuple(map(_row, children)))
        case _:
            return tree
