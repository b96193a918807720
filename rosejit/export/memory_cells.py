"""Trees and slots to the places of values in memory, and to loops where many parts of a structure are alike."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rosejit.abi import SCALAR_BYTES, Element, Leaf, Node, Slot, Static, Tree, leaves
from rosejit.containers import of_node
from rosejit.lazy_dataclass import dataclass

LEAST = 4
"""So many parts that are alike are written as a loop."""


VIEWS: dict[Element, str] = {"real": "$f", "int": "$q", "bool": "$u"}
"""The memory as numbers of one kind, in JavaScript."""


def element_of(slot: Slot) -> Element:
    """The kind of a number, or of the numbers in an array."""
    kind = slot.kind
    if kind == "array" or kind == "dyn" or kind == "handle":
        return slot.element
    return kind


@dataclass(slots=True, frozen=True)
class Cell:
    """Where a value is: at `offset`, and so many bytes further for each iteration of the loops `terms`."""

    slot: Slot
    offset: int
    terms: tuple[tuple[int, str], ...] = ()

    @property
    def element(self) -> Element:
        """The kind of the number, or of the numbers in the array."""
        return element_of(self.slot)

    @property
    def size(self) -> int:
        """The bytes of one number."""
        return SCALAR_BYTES[self.element]

    def index(self, further: int = 0) -> str:
        """The place as JavaScript, counted in numbers of the cell's kind, or so many `further`."""
        terms = [
            f"{step // self.size} * {iteration}" if step != self.size else iteration for step, iteration in self.terms
        ]
        return " + ".join([str(self.offset // self.size + further), *terms])

    @property
    def number(self) -> str:
        """What the memory holds there."""
        return f"{VIEWS[self.element]}[{self.index()}]"


@dataclass(slots=True, frozen=True)
class Passed:
    """A value that the module passes to an import: the number itself, or the address of an array."""

    slot: Slot
    variable: str

    @property
    def element(self) -> Element:
        """As for a cell."""
        return element_of(self.slot)

    @property
    def size(self) -> int:
        """As for a cell."""
        return SCALAR_BYTES[self.element]

    def index(self, further: int = 0) -> str:
        """As for a cell."""
        start = f"({self.variable} >>> 0) / {self.size}"
        return f"{start} + {further}" if further else start

    @property
    def number(self) -> str:
        """As for a cell."""
        return self.variable


Place = Cell | Passed


def cells_of(slots: Sequence[Slot]) -> list[Cell]:
    """The cells of the slots of an entry."""
    return [Cell(slot, slot.offset) for slot in slots]


def shape_name(shape: Sequence[int]) -> str:
    """The constant that holds a shape: an array that stood in a call would be made anew by every call."""
    return f"$d{'x'.join(map(str, shape))}"


def shapes(text: str) -> Iterator[str]:
    """The definitions of the shapes that `text` uses."""
    for name in sorted(set(re.findall(r"\$d[\dx]+\b", text))):
        yield f"const {name} = [{name[2:].replace('x', ', ')}];"


def divided(tree: Node, cells: Sequence[Place]) -> list[list[Place]]:
    """The cells of each child."""
    found: list[list[Place]] = []
    start = 0
    for child in tree.children:
        count = len(leaves(child))
        found.append(list(cells[start : start + count]))
        start += count
    return found


def looped(tree: Node, cells: Sequence[Place], iteration: str) -> list[Cell] | None:
    """The cells of every child of a list at once, as the iterations of a loop; None where the children are not
    alike.
    """
    parts = [[cell for cell in part if isinstance(cell, Cell)] for part in divided(tree, cells)]
    if len(parts) < LEAST or not parts[0] or any(child != tree.children[0] for child in tree.children):
        return None
    if of_node(tree).is_named or _has_static(tree):
        return None
    found: list[Cell] = []
    for column in zip(*parts, strict=True):
        first, second = column[0], column[1]
        step = second.offset - first.offset
        for k, cell in enumerate(column):
            if cell.offset != first.offset + k * step or cell.terms != first.terms or cell.slot.kind == "dyn":
                return None
        found.append(replace(first, terms=(*first.terms, (step, iteration))))
    return found


def _has_static(tree: Tree) -> bool:
    match tree:
        case Static():
            return True
        case Node(children=children):
            return any(map(_has_static, children))
        case Leaf():
            return False
