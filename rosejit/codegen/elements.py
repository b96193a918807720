"""Elements of arrays in several turns of a loop: the address for the first turn, and how far apart the others are."""

from dataclasses import dataclass

from rosejit.codegen.emitter import Emitter
from rosejit.codegen.layout import DATA, Column, elements_of, record_of
from rosejit.codegen.paths import ADD, behind, scaled
from rosejit.codegen.turns import Turns
from rosejit.ir.syntax import Atom, Field, Lit, Path, Var
from rosejit.ir.types import BOOL, Ref, Type
from rosejit.wasm.instructions import i32_const, i32_load


@dataclass(slots=True)
class Element:
    """`code` leaves an address; the element of turn k lies `offset + k * stride` bytes behind it."""

    code: bytes
    offset: int
    stride: int

    def at(self, turn: int) -> int:
        """The static part of the address in one of the turns."""
        return self.offset + turn * self.stride


def element(e: Emitter, t: Turns, base: Atom, path: Path) -> Element:
    """Where `path` leads from `base`, a heavy value or a place."""
    assert isinstance(base, Var)
    code = [e.read(base)]
    kind: Type = base.type.target if isinstance(base.type, Ref) else base.type
    offset = stride = 0
    cell = None
    for step in path:
        if cell is not None:
            kind = cell.type
            if cell.kind == "address":
                code.append(i32_load[offset])
                offset = 0
        layout = e.module.layouts.of(kind)
        if isinstance(step, Field):
            record = record_of(layout)
            cell, offset = record.cells[step.number], offset + record.offsets[step.number]
            continue
        rows = elements_of(layout)
        cell = rows.cell
        if isinstance(rows, Column):
            code.append(i32_load[offset + DATA])
            offset = 0
        if isinstance(step, Lit):
            offset += behind(rows, int(step.value or 0))
        elif step in t.own:
            offset, stride = offset + behind(rows, t.own[step]), rows.stride
            code += (e.read(offset_of(e, t.x.index, stride)), ADD)
        else:
            code += (_scaled(e, step, rows.stride), ADD)
    return Element(b"".join(code), offset, stride)


def offset_of(e: Emitter, index: Var, stride: int) -> Var:
    """The variable that holds the index of a loop times `stride`."""
    known = e.offsets[index]
    if stride not in known:
        v = known[stride] = Var(BOOL, "offset")
        e.where[v] = e.body.fresh("i32")  # it lives through the whole loop, part of which is written already
    return known[stride]


def _scaled(e: Emitter, step: Var, stride: int) -> bytes:
    """An index from outside, in bytes."""
    if step in e.offsets:
        return e.read(offset_of(e, step, stride))
    return e.read(step) + scaled(stride) if stride else i32_const[0]
