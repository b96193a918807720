"""What `fastmath` means: a function whose arithmetic need not keep to the last bit, nor to infinities and NaN; which of
its sums have no order is settled before any pass."""

from collections.abc import Mapping

from rosejit.ir import syntax as ir
from rosejit.ir.lane_sums import FEWEST, in_lanes
from rosejit.ir.traversal import forms, reachable, rebuild, scopes
from rosejit.ir.types import REAL
from rosejit.ops import PRIMITIVES
from rosejit.transforms.analysis import rule_templates
from rosejit.transforms.passes.inline import inline

MINUS, TIMES = PRIMITIVES["sub"], PRIMITIVES["mul"]
TADD, TFADD = PRIMITIVES["tadd"], PRIMITIVES["tfadd"]


def apply_fastmath(f: ir.Function) -> ir.Function:
    """`f` with the primitives that have a relaxed twin replaced, `x - x` and `x * 0` being zero. Functions that it
    calls stay as they are; what is derived of it is as relaxed, since the twins have derivatives of their own."""
    if f.body is None:
        return f
    return f.with_body(_FastmathRewrite().block(f.body))


class _FastmathRewrite:
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
                (self.atoms[let.binders[0]],) = rule_templates.relaxed(e.op)(
                    new, let.span, let.binders[0].hint, *e.args
                )
            else:
                new.append(ir.Let(let.binders, e, let.span))
        return ir.Block(new, tuple(map(self.atom, block.results)))


def _is_zero(e: ir.Apply) -> bool:
    """Whether it is 0 for all finite operands."""
    if e.op is TIMES:
        return any([isinstance(a, ir.Lit) and a.value == 0.0 and a.type is REAL for a in e.args])
    return e.op is MINUS and e.args[0] is e.args[1]


IN_ORDER = {
    PRIMITIVES[f"{tangent}f{name}"]: PRIMITIVES[f"{tangent}{name}"]
    for tangent, name in (("", "add"), ("", "sub"), ("t", "add"))
}


def keep_order(loop: ir.Loop, before: list[bool]) -> None:
    """Sums that are in lanes only now are made such as have an order; `before` says which carries were in lanes."""
    new = {c for c, was, now in zip(loop.carries, before, in_lanes(loop), strict=True) if now and not was}
    for k, let in _with(IN_ORDER, loop, new).items():
        loop.body.lets[k] = let


def _with(primitives: Mapping[ir.Primitive, ir.Primitive], loop: ir.Loop, carries: set[ir.Var]) -> dict[int, ir.Let]:
    """The lets of the body, by number, that add to one of `carries`, with other primitives."""
    found: dict[int, ir.Let] = {}
    for k, (let, e) in _adding(loop, carries).items():
        if e.op in primitives:
            found[k] = ir.Let(let.binders, ir.Apply(primitives[e.op], e.args), let.span)
    return found


def _adding(loop: ir.Loop, carries: set[ir.Var]) -> dict[int, tuple[ir.Let, ir.Apply]]:
    """The lets of the body, by number, that add to one of `carries`."""
    running: set[ir.Atom] = {*carries}
    found: dict[int, tuple[ir.Let, ir.Apply]] = {}
    for k, let in enumerate(loop.body.lets if carries else ()):
        if isinstance(let.expr, ir.Apply) and let.expr.op.gathers and not running.isdisjoint(let.expr.args):
            running.update(let.binders)
            found[k] = let, let.expr
    return found


LONGEST = 16
"""Lets of a loop up to which cotangents of what all iterations read are added up in lanes: of longer ones the sums
would take the registers."""


def sums_in_lanes(loop: ir.Loop, carries: set[ir.Var]) -> None:
    """Puts sums of cotangents, which no program has given an order, in lanes, if the loop is short and has no loops
    and branches inside."""
    lets = loop.body.lets
    few = loop.constant_trips is not None and loop.constant_trips < FEWEST
    if few or len(lets) > LONGEST or any([isinstance(let.expr, ir.Call) or scopes(let.expr) for let in lets]):
        return
    running: dict[ir.Atom, ir.Var] = {c: c for c in carries}
    added: dict[ir.Var, list[int]] = {}
    for k, let in enumerate(lets):
        if isinstance(let.expr, ir.Apply) and let.expr.op is TADD:
            for a in let.expr.args:
                if a in running:
                    running[let.binders[0]] = running[a]
                    added.setdefault(running[a], []).append(k)
    old = list(lets)
    for k in {k for numbers in added.values() for k in numbers}:
        e = lets[k].expr
        assert isinstance(e, ir.Apply)
        lets[k] = ir.Let(lets[k].binders, ir.Apply(TFADD, e.args), lets[k].span)
    on = {c for c, lanes in zip(loop.carries, in_lanes(loop), strict=True) if lanes}
    for c, numbers in added.items():
        if c not in on:
            for k in numbers:
                lets[k] = old[k]


def fix_sum_order(f: ir.Function) -> ir.Function:
    """A program whose running sums that are not in lanes say so: no pass can drop what keeps them from it, and so give
    them other bits. The same object where there are none."""
    if f.body is None:
        return f
    body, made = f.derived.get("settled", (None, f))
    if body is not f.body:
        made = f
        if any([g.body is not None and any(map(_undecided, forms(g.body))) for g in reachable(f)]):
            program = inline((f,), set(reachable(f)), small=0, once=0)  # new functions, as they are
            for g in program.values():
                if g.body is not None:
                    g.body = _fix_in_block(g.body)
            made = program[f]
        f.derived["settled"] = (f.body, made)
    return made


def _undecided(let: ir.Let) -> dict[int, ir.Let]:
    """What a let that is a loop has in its iterations to be changed."""
    e = let.expr
    if not isinstance(e, ir.Loop):
        return {}
    lanes = in_lanes(e)
    summed, ordered = ({c for c, lane in zip(e.carries, lanes, strict=True) if lane is on} for on in (True, False))
    terms = _adding(e, summed)  # one may be what another carry has become
    return {k: changed for k, changed in _with(IN_ORDER, e, ordered).items() if k not in terms}


def _fix_in_block(block: ir.Block) -> ir.Block:
    lets: list[ir.Let] = []
    for let in block.lets:
        if not scopes(let.expr):
            lets.append(let)
            continue
        changed = _undecided(let)
        e = rebuild(let.expr, lambda a: a, block=_fix_in_block)
        if isinstance(e, ir.Loop):
            for k, inner in changed.items():
                e.body.lets[k] = inner
        lets.append(ir.Let(let.binders, e, let.span))
    return ir.Block(lets, block.results)
