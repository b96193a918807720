"""Which arrays cross the border of an entry in a dtype of NumPy's of fewer than 64 bits, read off its signature."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from rosejit.abi import Border, Node, Tree, leaves
from rosejit.containers import NARROW
from rosejit.runtime.marshalling.marshal import Signature

Borders = Mapping[str, Border]
"""By the name of the entry; entries without one take and give numbers of 64 bits."""
NO_BORDERS: Borders = MappingProxyType({})


def borders_of(entries: Mapping[str, Signature]) -> Borders:
    """The borders of entries with these signatures: of those where an array of few bits crosses."""
    found = {name: border_of(signature) for name, signature in entries.items()}
    return {name: border for name, border in found.items() if any(border.params) or any(border.results)}


def border_of(signature: Signature) -> Border:
    """The border of an entry with this signature."""
    outside = [read.tree for read in signature.reads if read.tree is not None]
    return Border(_dtypes([*signature.trees, *outside]), _dtypes((signature.result,)))


def _dtypes(trees: Iterable[Tree]) -> tuple[str, ...]:
    found: list[str] = []
    pending = [*trees][::-1]
    while pending:
        tree = pending.pop()
        if isinstance(tree, Node) and tree.kind != NARROW.name:
            pending += reversed(tree.children)
        else:
            name = tree.state if isinstance(tree, Node) else ""
            found += [name * (leaf.kind in ("array", "dyn")) for leaf in leaves(tree)]
    return tuple(found)
