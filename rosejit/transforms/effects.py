"""Whether an expression does more than give its results: such a let is never dropped, doubled or moved."""

from rosejit.ir import syntax as ir
from rosejit.ir.types import Ref, is_heavy
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


def windows(body: ir.Block) -> dict[ir.Atom, ir.Atom]:
    """Of each view of a value, what it is a view of."""
    found: dict[ir.Atom, ir.Atom] = {}
    for let in forms(body):
        e = let.expr
        if isinstance(e, ir.Index) and is_heavy(let.binders[0].type):
            found[let.binders[0]] = e.base
        elif isinstance(e, ir.Case):
            for side in (e.left, e.right):
                pairs = zip(side.params, e.scrutinees, strict=True)
                found.update({p: s for p, s in pairs if is_heavy(p.type)})
        elif isinstance(e, ir.Loop):
            found.update({s.param: s.array for s in e.scans if not s.consumes and is_heavy(s.param.type)})
    return found


Part = tuple[ir.Atom | None, tuple[ir.Lit | ir.Field, ...]]
"""A place that the function has opened, or None for all that it was given, and the way to a part of it, as far as that
is constant."""


class Places:
    """The places of a function: those that it opens are apart from all others, those that it is given may be one."""

    def __init__(self, body: ir.Block) -> None:
        self._views: dict[ir.Atom, ir.View] = {}
        self._bases = bases(body)
        self._opened: set[ir.Atom] = set()
        for let in forms(body):
            if isinstance(let.expr, ir.View):
                self._views[let.binders[0]] = let.expr
            elif isinstance(let.expr, ir.Accum):
                self._opened.add(let.binders[0])

    def note(self, let: ir.Let) -> None:
        """A view that a pass has made."""
        assert isinstance(let.expr, ir.View)
        self._views[let.binders[0]] = let.expr
        self._bases[let.binders[0]] = let.expr.place

    def part(self, place: ir.Atom) -> Part:
        """Where `place` is."""
        root, steps = self._way(place)
        constant: list[ir.Lit | ir.Field] = []
        for step in steps:
            if isinstance(step, ir.Var):
                break
            constant.append(step)
        return root, tuple(constant)

    def row(self, place: ir.Atom, index: ir.Var) -> Part | None:
        """The array of which `place` is within the row `index`, if the way to it is constant."""
        root, steps = self._way(place)
        constant: list[ir.Lit | ir.Field] = []
        for step in steps:
            if step is index:
                return root, tuple(constant)
            if isinstance(step, ir.Var):
                break
            constant.append(step)
        return None

    def _way(self, place: ir.Atom) -> tuple[ir.Atom | None, tuple[ir.Atom | ir.Field, ...]]:
        """What the function has opened, or None, and the steps from there to `place`."""
        steps: tuple[ir.Atom | ir.Field, ...] = ()
        while place in self._bases:
            view = self._views.get(place)
            steps = (*view.path, *steps) if view is not None else ()  # the payload of a case is no view
            place = self._bases[place]
        return (place, steps) if place in self._opened else (None, ())


def meet(some: set[Part], others: set[Part]) -> bool:
    """Whether one of the places may have something in common with one of the others."""
    return any(
        a is b and all(x == y for x, y in zip(way, other, strict=False)) for a, way in some for b, other in others
    )
