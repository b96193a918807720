"""Whether an expression does more than give its results: such a let is never dropped, doubled or moved."""

from rosejit.ir import syntax as ir
from rosejit.ir.types import Ref
from rosejit.ir.walk import forms, lets, reachable


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


def bases(body: ir.Block) -> dict[ir.Atom, ir.Atom]:
    """Of each view of a place, what it is a view of."""
    found: dict[ir.Atom, ir.Atom] = {}
    for let in forms(body):
        e = let.expr
        if isinstance(e, ir.View):
            found[let.binders[0]] = e.place
        elif isinstance(e, ir.Case):
            for side in (e.left, e.right):
                pairs = zip(side.params, e.scrutinees, strict=True)
                found.update({p: s for p, s in pairs if isinstance(p.type, Ref)})
    return found


class Places:
    """The places of a function: those that it opens are apart from all others, those that it is given may be one."""

    def __init__(self, body: ir.Block) -> None:
        self._bases = bases(body)
        self._opened = {let.binders[0] for let in forms(body) if isinstance(let.expr, ir.Accum)}

    def root(self, place: ir.Atom) -> ir.Atom | None:
        """The place that `place` is a part of; None for all that were given."""
        while place in self._bases:
            place = self._bases[place]
        return place if place in self._opened else None
