"""Moves out of loops what is the same in every iteration: arithmetic, and reads that cannot fail wherever they
stand.
"""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import operands, rebuild, scopes
from rosejit.ir.types import INT
from rosejit.transforms.analysis.integer_ranges import Range, in_range, index_range, result_range
from rosejit.transforms.passes.range_checks import has_loops


def licm(f: ir.Function, reads: bool = False) -> ir.Function:
    """`f` with invariants in front of its loops, as far out as they go; the same object where there are none. Only
    `reads` and arithmetic on Ints before derivatives are taken: in front of a loop of no iterations the slope of a
    function may be infinite, and times zero poison a gradient.

    What may fail stays, and so does what a branch guards. A read moves only if the ranges of loops prove its indices:
    that another read has tested the same index says nothing about iterations that never come.
    """
    if f.body is None or not has_loops(f.body):
        return f
    sweep = _InvariantMotion(reads)
    body = sweep.block(f.body)
    if not sweep.moved:
        return f
    return f.with_body(body)


class _InvariantMotion:
    """`known` are the ranges of Ints; `moved` counts. With `reads` nothing moves that has a derivative of its own."""

    def __init__(self, reads: bool) -> None:
        self.reads = reads
        self.known: dict[ir.Atom, Range] = {}
        self.moved = 0

    def block(self, block: ir.Block) -> ir.Block:
        """The block, with what came out of its loops in front of them."""
        new: list[ir.Let] = []
        for let in block.lets:
            e = let.expr
            if isinstance(e, ir.Apply):
                if e.op.result is INT and (found := result_range(e.op, e.args, self.known)) is not None:
                    self.known[let.binders[0]] = found
                new.append(let)
                continue
            if isinstance(e, ir.Loop):
                self.known[e.index] = index_range(e.trips, self.known)
            changed = rebuild(e, lambda a: a, block=self.block)
            if isinstance(changed, ir.Looping):
                for bound, body in scopes(changed):
                    new += self.invariants(body, {*bound})
            new.append(ir.Let(let.binders, changed, let.span))
        return ir.Block(new, block.results)

    def invariants(self, body: ir.Block, bound: set[ir.Var]) -> list[ir.Let]:
        """What `body` does not do anew in each iteration, taken out of it; `bound` are the variables of the
        iteration.
        """
        found: list[ir.Let] = []
        kept: list[ir.Let] = []
        for let in body.lets:
            if self.may_move(let.expr) and bound.isdisjoint(operands(let.expr)):
                found.append(let)
            else:
                bound.update(let.binders)
                kept.append(let)
        self.moved += len(found)
        body.lets[:] = kept
        return found

    def may_move(self, e: ir.Expr) -> bool:
        """Whether `e` gives the same wherever its operands are known."""
        match e:
            case ir.Apply(op=op):
                return not op.failure and not (self.reads and op.differentiable)
            case ir.Index(base=base, path=path, checked=False):
                return in_range(base.type, path, self.known)
            case _:
                return False
