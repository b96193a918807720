"""Whether an expression does more than give its results: such a let is never dropped, doubled or moved."""

from rosejit.ir import syntax as ir
from rosejit.ir.types import Ref
from rosejit.ir.walk import lets, reachable


def fails_or_acts(e: ir.Expr) -> bool:
    """Whether `e` itself, nested blocks left out, may fail or calls something with effects. Adding to a place is not
    counted: that matters as much as the place does."""
    match e:
        case ir.Apply(op=op):
            return op.failure != ""
        case ir.Index(checked=checked) | ir.Update(checked=checked) | ir.View(checked=checked):
            return checked
        case ir.Check():
            return True
        case ir.Call(function=f):
            return has_effects(f)
        case _:
            return False


def has_effects(f: ir.Function) -> bool:
    """Whether a call of `f` may fail or reaches a host function; memorised on `f`."""
    if "effects" not in f.derived:
        component = reachable(f)
        for g in component:  # callees first; what a cycle reaches is settled by the sweep below
            g.derived.setdefault("effects", g.body is None)
        changed = True
        while changed:
            changed = False
            for g in component:
                if not g.derived["effects"] and g.body is not None and _body_acts(g.body):
                    g.derived["effects"] = changed = True
    return f.derived["effects"]


def _body_acts(body: ir.Block) -> bool:
    return any(
        let.expr.function.derived["effects"] if isinstance(let.expr, ir.Call) else fails_or_acts(let.expr)
        for let in lets(body)
    )


def writes_to(e: ir.Expr) -> tuple[ir.Atom, ...]:
    """The places that `e` itself adds to."""
    match e:
        case ir.Add(place=place):
            return (place,)
        case ir.Call(args=args):
            return tuple([a for a in args if isinstance(a.type, Ref)])
        case _:
            return ()
