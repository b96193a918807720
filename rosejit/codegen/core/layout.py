"""Types to memory: how many bytes a value takes, and what lies where inside it.

A boxed variable is the address of a *block* that holds its value. Inside a block lie *cells*: scalars, small structures
themselves, and addresses of blocks that are owned. Elements of arrays are never behind an address (but for nominals and
`[*]`, whose sizes only the run knows); boxed fields of a nominal record always are, so that they move in and out
without being copied.
"""

from typing import Literal

from rosejit.abi import SCALAR_BYTES, Block, Either, Elements, Inside, Owned
from rosejit.abi import Rows as Repeated
from rosejit.codegen.core.address_type import NARROW, AddressType
from rosejit.errors import RoseMemoryError
from rosejit.ir.types import BOOL, INT, REAL, STORED, TAN, UNIT, Array, Nominal, Ref, Scalar, Stored, Sum, Tuple, Type
from rosejit.lazy_dataclass import dataclass

INLINE_LIMIT = 512
"""A structure larger than this lies behind an address where it is a field of a tuple or the value of a sum."""

Kind = Literal["real", "int", "bool", "address", "inline", "nothing"] | Stored


@dataclass(slots=True, frozen=True, eq=False)
class Cell:
    """What a value of `type` is inside a block."""

    type: Type
    kind: Kind
    bytes: int
    align: int
    flat: bool = True
    """Whether copying the bytes copies the value."""


_SCALARS: dict[Type, Cell] = {
    REAL: Cell(REAL, "real", 8, 8),
    TAN: Cell(TAN, "real", 8, 8),
    INT: Cell(INT, "int", 8, 8),
    BOOL: Cell(BOOL, "bool", 1, 1),
    UNIT: Cell(UNIT, "nothing", 0, 1),
    **{t: Cell(t, name, SCALAR_BYTES[name], SCALAR_BYTES[name]) for name, t in STORED.items()},
}


@dataclass(slots=True, frozen=True, eq=False)
class Record:
    """Tuples and nominals."""

    cells: tuple[Cell, ...]
    offsets: tuple[int, ...]


@dataclass(slots=True, frozen=True, eq=False)
class Rows:
    """`[n]T`: elements `stride` bytes apart."""

    cell: Cell
    stride: int
    length: int


DATA = 0


@dataclass(slots=True, frozen=True, eq=False)
class Column:
    """`[*]T`: a record of the address of its elements (at offset `DATA`), their number, and the bytes that were
    allocated for them (see `AddressType`)."""

    cell: Cell
    stride: int


@dataclass(slots=True, frozen=True, eq=False)
class Union:
    """`T|U`: one of two cells at offset 0, and which at offset `tag`, a byte."""

    cells: tuple[Cell, Cell]
    tag: int


@dataclass(slots=True, frozen=True, eq=False)
class Layout:
    """The block of a boxed type."""

    type: Type
    bytes: int
    align: int
    flat: bool
    """Whether no address lies inside."""
    parts: Record | Rows | Column | Union


class Layouts:
    """The layouts of all types that a program uses, each made once, in memory with addresses of one type."""

    def __init__(self, address: AddressType = NARROW) -> None:
        self._address = address
        self._made: dict[Type, Layout] = {}
        self._seen: dict[int, tuple[Type, Layout]] = {}  # by identity: hashing a nested type takes microseconds

    def of(self, t: Type) -> Layout:
        """The layout of the boxed type `t`."""
        known = self._seen.get(id(t))
        if known is None:
            layout = self._made.get(t)
            if layout is None:
                layout = self._made[t] = self._make(t)
            known = self._seen[id(t)] = (t, layout)
        return known[1]

    def cell(self, t: Type, *, boxed: bool = False, element: bool = False) -> Cell:
        """What `t` is inside a block: `boxed` in a nominal record, `element` in an array."""
        if isinstance(t, Scalar):
            return _SCALARS[t]
        assert not isinstance(t, Ref), "a place lies in no block"
        size = self._address.bytes
        if isinstance(t, Nominal) or (isinstance(t, Array) and t.length is None) or boxed:
            return Cell(t, "address", size, size, flat=False)
        layout = self.of(t)
        if layout.bytes > INLINE_LIMIT and not element:
            return Cell(t, "address", size, size, flat=False)
        return Cell(t, "inline", layout.bytes, layout.align, layout.flat)

    def _make(self, t: Type) -> Layout:
        match t:
            case Tuple(items=items):
                return self._record(t, [self.cell(item) for item in items])
            case Nominal():
                return self._record(t, [self.cell(field, boxed=True) for field in t.fields])
            case Array(length=None, element=element):
                cell = self.cell(element, element=True)
                return Layout(t, self._address.record, self._address.bytes, False, Column(cell, _stride(cell)))
            case Array(length=length, element=element):
                cell = self.cell(element, element=True)
                assert length is not None
                stride = _stride(cell)
                return Layout(t, self._checked(stride * length, t), cell.align, cell.flat, Rows(cell, stride, length))
            case Sum(left=left, right=right):
                cells = (self.cell(left), self.cell(right))
                align, tag = max(c.align for c in cells), max(c.bytes for c in cells)
                size = _rounded(tag + 1, align)
                return Layout(t, size, align, all(c.flat for c in cells), Union(cells, tag))
            case _:
                raise AssertionError(f"{t} is not boxed")

    def _record(self, t: Type, cells: list[Cell]) -> Layout:
        """Cells of large alignment first, so that there are no gaps between them."""
        offsets = [0] * len(cells)
        at = 0
        for k in sorted(range(len(cells)), key=lambda k: -cells[k].align):
            at = _rounded(at, cells[k].align)
            offsets[k] = at
            at += cells[k].bytes
        align = max((c.align for c in cells), default=1)
        flat = all(c.flat for c in cells)
        return Layout(t, self._checked(_rounded(at, align), t), align, flat, Record(tuple(cells), tuple(offsets)))

    def _checked(self, size: int, t: Type) -> int:
        largest = self._address.largest
        if size > largest:
            raise RoseMemoryError(
                f"{_words(t)} takes {size:,} bytes, more than the {largest:,} that compiled code can address",
                help="keep the rows that are needed; of a loop a derivative keeps less over "
                "`rose.range(n, checkpoint=True)`, and `.cost().loops` says how much",
            )
        return size


def _rounded(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple


def _stride(cell: Cell) -> int:
    return _rounded(cell.bytes, cell.align)


def _words(t: Type) -> str:
    """What users call a value of the type."""
    shape: list[str] = []
    while isinstance(t, Array):
        shape.append("any" if t.length is None else str(t.length))
        t = t.element
    return f"an array of shape ({', '.join(shape)}{',' * (len(shape) == 1)})" if shape else "a value"


def record_of(layout: Layout) -> Record:
    """The parts of a tuple or nominal."""
    assert isinstance(layout.parts, Record)
    return layout.parts


def union_of(layout: Layout) -> Union:
    """The parts of a sum."""
    assert isinstance(layout.parts, Union)
    return layout.parts


def blocks_of(layouts: Layouts, named: dict[Type, str]) -> dict[str, Block]:
    """The blocks of types by their names, as the host sees them, and those that they own."""
    names = dict(named)
    found: dict[str, Block] = {}
    pending = list(names)
    while pending:
        t = pending.pop()
        layout = layouts.of(t)
        found[names[t]] = Block(layout.bytes, _inside(layouts, layout, 0, names, pending))
    return found


def _inside(
    layouts: Layouts, layout: Layout, at: int, names: dict[Type, str], pending: list[Type]
) -> tuple[Inside, ...]:
    """What is not plain in a block, which lies at an offset of another one; types without a name get one."""

    def of_cell(cell: Cell, offset: int) -> tuple[Inside, ...]:
        if cell.flat:
            return ()
        if cell.kind == "inline":
            return _inside(layouts, layouts.of(cell.type), offset, names, pending)
        if cell.type not in names:
            names[cell.type] = f"block_{len(names)}"
            pending.append(cell.type)
        return (Owned(offset, names[cell.type]),)

    if layout.flat:
        return ()
    match layout.parts:
        case Record(cells, offsets):
            return tuple(
                [one for cell, offset in zip(cells, offsets, strict=True) for one in of_cell(cell, at + offset)]
            )
        case Union((first, second), tag):
            return (Either(at + tag, of_cell(first, at), of_cell(second, at)),)
        case Column(cell, stride):
            return (Elements(stride, of_cell(cell, 0)),)
        case Rows(cell, stride, length):
            return (Repeated(at, stride, length, of_cell(cell, 0)),)


def elements_of(layout: Layout) -> Rows | Column:
    """The parts of an array."""
    assert isinstance(layout.parts, Rows | Column)
    return layout.parts
