"""Places that begin as zeros, and that a loop adds to at each of its indices before anything else does, into outputs of
the loop: the zeros are not written, and not read again.

Reverse mode makes such places: the cotangent of an array opens as zeros, and the first sweep adds to each element. Each
element is `0.0 + x` as before, which is not `x` where that is `-0.0`.
"""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import captures, forms, operands, rebuild
from rosejit.ir.types import INT, REAL, Array
from rosejit.ops import PRIMITIVES


def accumulators_to_outputs(f: ir.Function) -> ir.Function:
    """`f` with loops that give what such places begin with; the same object without."""
    if f.body is None or not any([isinstance(let.expr, ir.Accum) for let in forms(f.body)]):
        return f
    sweep = _AccumulatorConversion()
    body = sweep.block(f.body)
    return f.with_body(body) if sweep.changed else f


class _AccumulatorConversion:
    """Goes through all blocks; `changed` counts."""

    def __init__(self) -> None:
        self.changed = 0

    def block(self, block: ir.Block) -> ir.Block:
        """The block with its places changed, those inside first."""
        lets = [self.inside(let) for let in block.lets]
        zeros = {let.binders[0]: let for let in lets if isinstance(let.expr, ir.Zero)}
        opened = [let for let in lets if isinstance(let.expr, ir.Accum) and let.expr.value in zeros]
        return (
            self.changed_block(ir.Block(lets, block.results), zeros, opened)
            if opened
            else ir.Block(lets, block.results)
        )

    def inside(self, let: ir.Let) -> ir.Let:
        if isinstance(let.expr, ir.Apply):
            return let
        return ir.Let(let.binders, rebuild(let.expr, lambda a: a, block=self.block), let.span)

    def changed_block(self, block: ir.Block, zeros: dict[ir.Var, ir.Let], opened: list[ir.Let]) -> ir.Block:
        """The block with the places that `opened` opens changed, as far as a loop fills them before all else."""
        readers = _readers(block.lets, {*zeros, *[let.binders[0] for let in opened]})
        loops: dict[ir.Let, ir.Let] = {}
        gone: set[ir.Let] = set()
        behind: dict[ir.Let, list[ir.Let]] = {}
        for let in opened:
            place, array = let.binders[0], operands(let.expr)[0]
            first = next(iter(readers[place]), None)
            if first is None or not isinstance(array, ir.Var) or readers[array] != [let]:
                continue
            loop = loops.get(first, first)
            made = _filled(loop, place, array)
            if made is not None:
                loops[first] = made
                gone |= {let, zeros[array]}
                behind.setdefault(first, []).append(let)
        self.changed += len(gone)
        found = [[loops.get(let, let), *behind.get(let, ())] for let in block.lets if let not in gone]
        return ir.Block([let for some in found for let in some], block.results)


def _readers(lets: list[ir.Let], wanted: set[ir.Var]) -> dict[ir.Atom, list[ir.Let]]:
    """The lets that read each of the wanted variables, at any depth, in order."""
    found: dict[ir.Atom, list[ir.Let]] = {v: [] for v in wanted}
    for let in lets:
        if not isinstance(let.expr, ir.Apply):
            for a in {*operands(let.expr), *captures(let.expr)} & found.keys():
                found[a].append(let)
    return found


def _filled(let: ir.Let, place: ir.Var, array: ir.Var) -> ir.Let | None:
    """The loop that gives `array` in place of what it adds to a place; None where it does not fill that."""
    e = let.expr
    if not isinstance(e, ir.Loop) or not _is_as_long(array, e):
        return None
    body = _filling(e, place)
    if body is None:
        return None
    return ir.Let((*let.binders, array), ir.Loop(e.trips, e.index, e.carries, e.inits, e.scans, body, e.down), let.span)


def _is_as_long(array: ir.Var, loop: ir.Loop) -> bool:
    t = array.type
    return isinstance(t, Array) and t.element is REAL and ir.Lit(t.length, INT) == loop.trips


def _filling(e: ir.Loop, place: ir.Var) -> ir.Block | None:
    """The body that gives what it has added at the index of each iteration to a place; None where it does anything else
    with that."""
    viewed = _readers(e.body.lets, {place})[place]
    if place in operands(e) or len(viewed) != 1 or not isinstance(viewed[0].expr, ir.View):
        return None
    view, at = viewed[0].expr, viewed[0].binders[0]
    added = _readers(e.body.lets, {at})[at]
    if view.checked or view.path != (e.index,) or len(added) != 1 or not isinstance(added[0].expr, ir.Add):
        return None
    found = ir.Var(REAL, "ct")
    total = ir.Apply(PRIMITIVES["add"], (ir.real(0.0), added[0].expr.value))
    lets = [
        ir.Let((found,), total, let.span) if let is added[0] else let for let in e.body.lets if let is not viewed[0]
    ]
    return ir.Block(lets, (*e.body.results, found))
