"""Carries that are what an iteration before has made, and no recurrence: two iterations side by side have them in one
vector, half of it from the two before (a first-order recurrence in the dependence graph without a cycle).
"""

from rosejit.ir.syntax import Apply, Atom, Call, Field, Index, Let, Loop, Var
from rosejit.ir.traversal import operands
from rosejit.ir.types import REAL, TAN

_PURE = (Apply, Call, Index)
"""What may be done in another order, in a loop that is vectorised."""

LONGEST = 128
"""Lets of a body up to which it is looked for: what makes a value is followed by recursion."""


def shifted_carries(x: Loop) -> dict[Var, Var]:
    """The carries that do not depend on themselves, nor on carries that do, with what they become."""
    ends = dict(zip(x.carries, x.body.results, strict=False))
    if len(x.body.lets) > LONGEST or all([c.type not in (REAL, TAN) for c in ends]):
        return {}
    made: dict[Atom, tuple[Atom | Field, ...]] = {scan.param: () for scan in x.scans}
    opaque: set[Atom | Field] = set()
    for let in x.body.lets:
        if isinstance(let.expr, _PURE):
            read = let.expr.path if isinstance(let.expr, Index) else let.expr.args
            made |= dict.fromkeys(let.binders, read)
        else:
            opaque.update(let.binders)
    known: dict[Atom | Field, bool] = dict.fromkeys(opaque, False)

    def is_free(a: Atom | Field) -> bool:
        """Whether nothing that makes an atom is a carry of another kind, or the atom itself."""
        if a not in known:
            known[a] = False  # until all that makes it is seen: a cycle meets itself here
            if a in ends:
                new = ends[a]
                known[a] = new.type in (REAL, TAN) and (new in made or new in ends) and is_free(new)
            else:
                known[a] = isinstance(a, Field) or all([is_free(b) for b in made.get(a, ())])
        return known[a]

    return {c: new for c, new in ends.items() if isinstance(new, Var) and is_free(c)}


def schedule(x: Loop, shifted: dict[Var, Var]) -> list[Let | Var]:
    """The lets of an iteration, each shifted carry behind what makes its next value; in order otherwise."""
    if not shifted:
        return [*x.body.lets]
    made = {b: let for let in x.body.lets for b in let.binders}
    done: set[Let | Var] = set()
    order: list[Let | Var] = []

    def visit(item: Let | Var) -> None:
        if item in done:
            return
        done.add(item)
        for a in operands(item.expr) if isinstance(item, Let) else (shifted[item],):
            if a in shifted:
                visit(a)
            elif a in made and isinstance(made[a].expr, _PURE):
                visit(made[a])
        order.append(item)

    for item in (*x.body.lets, *shifted):
        visit(item)
    return order
