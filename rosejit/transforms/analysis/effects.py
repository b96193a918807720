"""Whether an expression does more than give its results: such a let is never dropped, doubled or moved."""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import fails, forms, lets, reachable, views
from rosejit.ir.types import Ref, is_boxed


def fails_or_acts(e: ir.Expr) -> bool:
    """Whether `e` itself, nested blocks left out, may fail or calls something with effects. Adding to a place is not
    counted: that matters as much as the place does."""
    return has_effects(e.function) if isinstance(e, ir.Call) else fails(e)


def has_effects(f: ir.Function) -> bool:
    """Whether a call of `f` may fail or reaches a host function; memorised on `f`."""
    if "effects" not in f.derived:
        component = reachable(f)
        for g in component:  # callees first; what a cycle reaches is settled by the sweep below
            g.derived.setdefault("effects", g.body is None and not g.pure)
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


def bases(body: ir.Block) -> dict[ir.Atom, ir.Atom]:
    """Of each view of a place, what it is a view of."""
    return {v: of for let in forms(body) for v, of in views(let) if isinstance(v.type, Ref)}


def windows(body: ir.Block) -> dict[ir.Atom, ir.Atom]:
    """Of each view of a value, what it is a view of."""
    return {v: of for let in forms(body) for v, of in views(let) if is_boxed(v.type)}
