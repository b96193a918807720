"""Structures of many parts that are alike, such as lists of dataclasses: a loop in the caller, and one `struct` for all
their numbers.
"""

from collections import namedtuple
from collections.abc import Sequence
from itertools import starmap
from marshal import dumps
from struct import Struct
from typing import Any

from rosejit.abi import Leaf, Node, Slot, Static, Tree
from rosejit.containers import DATACLASS, NAMED_TUPLE, Constant, of_node
from rosejit.numeric import is_at_hand, np

MANY = 4
"""So many scalars in a row are packed at once, into memory and out of it; and so many rows are a loop."""
_WIDEST = 32
"""A row of more numbers is written out: it is packed at once itself."""
_FLOATS = 256
_new_tuple: Any = vars(tuple)["__new__"]
_LETTER = {"real": "d", "int": "q", "bool": "?"}
"""The kinds as `struct` names them."""


def row_of(tree: Node) -> tuple[Node, int] | None:
    """What every part of `tree` is, and how many numbers are in it; None where parts differ, or hold other things."""
    first = tree.children[0] if len(tree.children) >= MANY else None
    if not isinstance(first, Node):
        return None
    width = _numbers(first)
    return (first, width) if 0 < width <= _WIDEST and tree.children.count(first) == len(tree.children) else None


def _numbers(tree: Tree) -> int:
    """How many numbers are in a tree; so many that it is no row, where there is anything else."""
    match tree:
        case Leaf(kind=kind):
            return 1 if kind in _LETTER else _WIDEST + 1
        case Static():
            return _WIDEST + 1
        case Node(cls=cls) if hasattr(cls, "__rose_host__") or (tree.kind != "none" and of_node(tree).is_derived):
            return _WIDEST + 1
        case Node(children=children):
            return sum(map(_numbers, children))


def columns_of(row: Node, values: str, names: Sequence[str]) -> list[str]:
    """The lines that name, for each number of records as `row`, the list of that number of all `values`; none where the
    records are taken apart one by one."""
    kind = of_node(row)
    if kind not in (DATACLASS, NAMED_TUPLE) or not all([isinstance(child, Leaf) for child in row.children]):
        return []
    if kind is NAMED_TUPLE:
        return [f"{', '.join(names)}, = $py_zip(*{values}, strict=True)"]
    return [f"{name} = [$one.{key} for $one in {values}]" for name, key in zip(names, row.keys, strict=True)]


def tuples_of(row: Node, count: int, numbers: str, constant: Constant) -> str | None:
    """The expression of a list of so many named tuples as `row` of the iterator `numbers`, made in C as their own
    `_make` does; None where that is the user's, or `row` is another thing."""
    cls: Any = row.cls
    is_flat = of_node(row) is NAMED_TUPLE and all([isinstance(child, Leaf) for child in row.children])
    if not is_flat or cls._make.__func__.__code__ not in namedtuple.__code__.co_consts:
        return None
    rows = f"$py_zip({', '.join([numbers] * len(row.children))})"
    return f"[*$py_map({constant(_new_tuple)}, {constant([cls] * count)}, {rows})]"


def blanks_of(row: Node, count: int, constant: Constant) -> str | None:
    """The expression of a list of so many records as `row` without attributes, made at once in C: the lines of `put`
    but for the first fill one. None where there is no such thing."""
    if of_node(row) is not DATACLASS:
        return None
    cls: Any = row.cls
    return f"[*{constant(starmap)}({constant(cls.__new__)}, {constant([(cls,)] * count)})]"


def is_floats(slots: list[Slot]) -> bool:
    """Whether these are so many Reals, side by side, that `floats` is the faster way: it starts at 3 µs."""
    is_many = len(slots) >= _FLOATS and slots[-1].offset == slots[0].offset + 8 * (len(slots) - 1)
    return is_many and {slot.kind for slot in slots} == {"real"} and is_at_hand(worth_loading=False)


def floats(columns: list[list[Any]]) -> Any:
    """The numbers of lists of one length as rows, in one array; None where one is no float, or of another class.

    One pass of C looks at the types and copies: `marshal` writes an exact float as the letter g and its 8 bytes.
    """
    count = len(columns[0])
    try:
        data = dumps(columns, 2)
    except ValueError:  # something that marshal does not know
        return None
    step = 5 + 9 * count
    if len(data) != 5 + step * len(columns):
        return None
    numbers = np.empty(count * len(columns))
    for k, start in enumerate(range(10, len(data), step)):
        if data[start : start + step - 5 : 9].count(b"g") != count:
            return None
        numbers[k :: len(columns)] = np.ndarray(count, "<f8", data, start + 1, 9)
    return numbers


def packing(slots: list[Slot]) -> Struct:
    """How numbers lie in memory, from the first on."""
    text, at = list[str](), slots[0].offset
    for slot in slots:
        assert slot.offset >= at, "slots stand in the order of their offsets"
        text += [f"{slot.offset - at}x"] * (slot.offset > at) + [_LETTER[slot.kind]]
        at = slot.offset + slot.bytes
    is_plain = len(text) == len(slots) and "?" not in text  # then Python's own layout is the same, and faster
    return Struct("".join(text if is_plain else ["=", *text]))
