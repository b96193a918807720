"""Arrays that a loop fills, one element an iteration, into outputs of the loop: nobody reads what was there before."""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import rebuild
from rosejit.ir.types import INT, Array, is_boxed
from rosejit.transforms.analysis.affine_dependence import uses
from rosejit.transforms.passes.range_checks import has_loops


def updates_to_outputs(f: ir.Function) -> ir.Function:
    """`f` with loops that give their arrays, where they wrote all elements of an array; the same object without."""
    if f.body is None or not has_loops(f.body):
        return f
    sweep = _UpdateConversion()
    body = sweep.block(f.body)
    if not sweep.changed:
        return f
    return f.with_body(body)


class _UpdateConversion:
    """Goes through all blocks; `changed` counts."""

    def __init__(self) -> None:
        self.changed = 0

    def block(self, block: ir.Block) -> ir.Block:
        """The block with its loops changed, those inside first."""
        return ir.Block([self.let(let) for let in block.lets], block.results)

    def let(self, let: ir.Let) -> ir.Let:
        if isinstance(let.expr, ir.Apply):
            return let
        e = rebuild(let.expr, lambda a: a, block=self.block)
        return self.loop(let, e) if isinstance(e, ir.Loop) else ir.Let(let.binders, e, let.span)

    def loop(self, let: ir.Let, e: ir.Loop) -> ir.Let:
        """The loop with outputs for carries that are filled."""
        n = len(e.carries)
        updates = _filled(e)
        if not updates:
            return ir.Let(let.binders, e, let.span)
        self.changed += len(updates)
        on = [c not in updates for c in e.carries]
        kept = [k for k in range(n) if on[k]]
        gone = [k for k in range(n) if not on[k]]
        done = {update.binders[0] for update in updates.values()}
        lets = [inner for inner in e.body.lets if not done.intersection(inner.binders)]
        values = [_value(updates[e.carries[k]]) for k in gone]
        results = (*[e.body.results[k] for k in kept], *e.body.results[n:], *values)
        binders = (*[let.binders[k] for k in kept], *let.binders[n:], *[let.binders[k] for k in gone])
        carries, inits = tuple([e.carries[k] for k in kept]), tuple([e.inits[k] for k in kept])
        loop = ir.Loop(e.trips, e.index, carries, inits, e.scans, ir.Block(lets, results), e.down)
        return ir.Let(binders, loop, let.span)


def _value(update: ir.Let) -> ir.Atom:
    assert isinstance(update.expr, ir.Update)
    return update.expr.value


def _filled(e: ir.Loop) -> dict[ir.Atom, ir.Let]:
    """The carried arrays that each iteration does nothing with but write its own element, with the lets that do it."""
    found: dict[ir.Atom, ir.Let] = {}
    for c, touched in uses(e).items():
        if len(touched) == 1 and isinstance(c.type, Array) and ir.Lit(c.type.length, INT) == e.trips:
            let = touched[0].let
            if let is not None and isinstance(let.expr, ir.Update) and _is_plain(let.expr, e.index):
                found[c] = let
    return found


def _is_plain(x: ir.Update, index: ir.Var) -> bool:
    """Whether it writes a number at the index, and cannot fail."""
    return x.path == (index,) and not x.checked and not is_boxed(x.value.type)
