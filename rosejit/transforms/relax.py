"""What `fastmath` means: a function whose arithmetic need not keep to the last bit, nor to infinities and NaN; which of
its sums have no order is settled before any pass."""

from rosejit.ir import syntax as ir
from rosejit.ir.sums import in_lanes
from rosejit.ir.types import REAL
from rosejit.ir.walk import forms, reachable, rebuild, scopes
from rosejit.ops import PRIMITIVES
from rosejit.transforms import templates
from rosejit.transforms.inline import inline

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
    for k, let in _in_order(loop, new).items():
        loop.body.lets[k] = let


def _in_order(loop: ir.Loop, carries: set[ir.Var]) -> dict[int, ir.Let]:
    """The lets of the body, by number, that add to one of `carries`, with primitives that have an order."""
    running: set[ir.Atom] = {*carries}
    found: dict[int, ir.Let] = {}
    for k, let in enumerate(loop.body.lets if carries else ()):
        if isinstance(let.expr, ir.Apply) and let.expr.op.gathers and not running.isdisjoint(let.expr.args):
            running.update(let.binders)
            in_order = PRIMITIVES[let.expr.op.name.replace("f", "", 1)]
            found[k] = ir.Let(let.binders, ir.Apply(in_order, let.expr.args), let.span)
    return found


def settled(f: ir.Function) -> ir.Function:
    """A program whose running sums that are not in lanes have an order: no pass can drop what keeps them from it, and
    so give them other bits. The same object where there are none."""
    if f.body is None:
        return f
    body, made = f.derived.get("settled", (None, f))
    if body is not f.body:
        made = f
        if any([g.body is not None and any(map(_unsettled, forms(g.body))) for g in reachable(f)]):
            program = inline((f,), small=0, once=0)
            for g in program.values():
                if g.body is not None:
                    g.body = _settled(g.body)
            made = program[f]
        f.derived["settled"] = (f.body, made)
    return made


def _unsettled(let: ir.Let) -> dict[int, ir.Let]:
    """What a let that is a loop has in its turns to be changed."""
    e = let.expr
    if not isinstance(e, ir.Loop):
        return {}
    return _in_order(e, {c for c, on in zip(e.carries, in_lanes(e), strict=True) if not on})


def _settled(block: ir.Block) -> ir.Block:
    lets: list[ir.Let] = []
    for let in block.lets:
        if not scopes(let.expr):
            lets.append(let)
            continue
        changed = _unsettled(let)
        e = rebuild(let.expr, lambda a: a, block=_settled)
        if isinstance(e, ir.Loop):
            for k, inner in changed.items():
                e.body.lets[k] = inner
        lets.append(ir.Let(let.binders, e, let.span))
    return ir.Block(lets, block.results)
