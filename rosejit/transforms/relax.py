"""What `fastmath` means: a function whose arithmetic need not keep to the last bit, nor to infinities and NaN."""

from rosejit.ir import syntax as ir
from rosejit.ir.sums import in_lanes
from rosejit.ir.types import REAL
from rosejit.ir.walk import rebuild
from rosejit.ops import PRIMITIVES
from rosejit.transforms import templates

MINUS, TIMES = PRIMITIVES["sub"], PRIMITIVES["mul"]


def relax(f: ir.Function) -> ir.Function:
    """`f` with the primitives that have a relaxed twin replaced, `x - x` and `x * 0` being zero. Functions that it
    calls stay as they are; what is derived of it is as relaxed, since the twins have derivatives of their own."""
    if f.body is None:
        return f
    body = _Sweep().block(f.body)
    return ir.Function(f.name, f.params, f.results, body, f.own, f.host, f.rule, f.checkpoint, f.span)


class _Sweep:
    """`atoms` maps variables to what they are equal to now."""

    def __init__(self) -> None:
        self.atoms: dict[ir.Atom, ir.Atom] = {}

    def atom(self, a: ir.Atom) -> ir.Atom:
        return self.atoms.get(a, a)

    def block(self, block: ir.Block) -> ir.Block:
        new: list[ir.Let] = []
        for let in block.lets:
            e = rebuild(let.expr, self.atom, block=self.block)
            if isinstance(e, ir.Apply) and _is_zero(e):
                self.atoms[let.binders[0]] = ir.real(0.0)
            elif isinstance(e, ir.Apply) and e.op.relaxed is not None:
                (self.atoms[let.binders[0]],) = templates.relaxed(e.op)(new, let.span, let.binders[0].hint, *e.args)
            else:
                new.append(ir.Let(let.binders, e, let.span))
        return ir.Block(new, tuple(map(self.atom, block.results)))


def _is_zero(e: ir.Apply) -> bool:
    """Whether it is 0 for all finite operands."""
    if e.op is TIMES:
        return any([isinstance(a, ir.Lit) and a.value == 0.0 and a.type is REAL for a in e.args])
    return e.op is MINUS and e.args[0] is e.args[1]


def keep_order(loop: ir.Loop, before: list[bool]) -> None:
    """Sums that are in lanes only now are made such as have an order; `before` says which carries were in lanes."""
    new = {c for c, was, now in zip(loop.carries, before, in_lanes(loop), strict=True) if now and not was}
    running: set[ir.Atom] = {*new}
    for k, let in enumerate(loop.body.lets if new else ()):
        if isinstance(let.expr, ir.Apply) and let.expr.op.gathers and not running.isdisjoint(let.expr.args):
            running.update(let.binders)
            in_order = PRIMITIVES[let.expr.op.name.replace("f", "", 1)]
            loop.body.lets[k] = ir.Let(let.binders, ir.Apply(in_order, let.expr.args), let.span)
