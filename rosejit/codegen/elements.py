"""Elements of arrays in several turns of a loop: the address for the first turn, and how far apart the others are."""

from dataclasses import dataclass

from rosejit.codegen.emitter import Emitter
from rosejit.codegen.paths import ADD, Way, behind, kept_offset, scaled
from rosejit.codegen.turns import Turns
from rosejit.ir.syntax import Atom, Field, Lit, Path, Var
from rosejit.wasm.instructions import i32_const


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
    way = Way(e, base)
    stride = 0
    for step in path:
        rows = way.rows(step)
        if rows is None or isinstance(step, Field):
            continue
        way.data(rows)
        if isinstance(step, Lit):
            assert isinstance(step.value, int)
            way.offset += behind(rows, step.value)
            continue
        if step in t.own:
            way.offset, stride = way.offset + behind(rows, t.own[step]), rows.stride
            way.items += (e.read(offset_of(e, t.x.index, stride)), ADD)
        else:
            way.items += (_scaled(e, step, rows.stride), ADD)
    code = [item if isinstance(item, bytes) else e.read(base) for item in way.items]  # all but the base is code
    return Element(b"".join(code), way.offset, stride)


def offset_of(e: Emitter, index: Var, stride: int) -> Var:
    """The variable that holds the index of a loop that is written by turns, times `stride`."""
    kept = kept_offset(e, index, stride)
    assert kept is not None
    return kept


def _scaled(e: Emitter, step: Var, stride: int) -> bytes:
    """An index from outside, in bytes."""
    kept = kept_offset(e, step, stride)
    if kept is not None:
        return e.read(kept)
    return e.read(step) + scaled(stride) if stride else i32_const[0]
