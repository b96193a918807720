"""Which running sums of a loop take their terms in lanes: the meaning of sums whose order is free.

A carry that an iteration does nothing with but add terms to it, by primitives that gather, is a sum in lanes where the
loop runs many iterations: iteration t (in the order in which they run) adds to lane t mod 4. The first lane begins with
what the carry begins with, the others with -0.0, which adds nothing; in the end they are added up crosswise.
"""

from collections.abc import Sequence

from rosejit.ir.syntax import Apply, Atom, Loop, Var
from rosejit.ir.traversal import captures, operands
from rosejit.ir.types import REAL, TAN

LANES = 4
EMPTY = -0.0
"""What the other lanes begin with."""

FEWEST = 16
"""Loops that run fewer iterations add in order, whether their number is a constant or not."""


def total(lanes: Sequence[float]) -> float:
    """The sum of all lanes; whichever of them comes first."""
    one, two, three, four = lanes
    return (one + three) + (two + four)


def in_lanes(e: Loop) -> list[bool]:
    """For each carry whether it is a sum in lanes, if there are iterations enough."""
    if e.constant_trips is not None and e.constant_trips < FEWEST:
        return [False] * len(e.carries)
    if not any([type(let.expr) is Apply and let.expr.op.gathers for let in e.body.lets]):
        return [False] * len(e.carries)
    sums: dict[Atom, Var] = {c: c for c in e.carries if c.type is REAL or c.type is TAN}
    latest = dict(sums)  # by carry: what it has become
    ends = _ends(e)
    for let in e.body.lets:
        read = operands(let.expr) if type(let.expr) is Apply else (*operands(let.expr), *captures(let.expr))
        for a in [a for a in read if a in sums]:
            carry = sums[a]
            grows = a is latest.get(carry) and read.count(a) == 1 and _gathers(let.expr, a)
            if grows and ends.get(let.binders[0]) is carry:
                latest[carry] = let.binders[0]
                sums[let.binders[0]] = carry
            else:
                latest.pop(carry, None)
    given = [sums[r] for r in e.body.results if r in sums]
    return [
        c in latest and latest[c] is r and r is not c and given.count(c) == 1
        for c, r in zip(e.carries, e.body.results, strict=False)
    ]


def _ends(e: Loop) -> dict[Atom, Var]:
    """Which carry a running sum becomes: a term of it may be another carry."""
    found: dict[Atom, Var] = dict(zip(e.body.results, e.carries, strict=False))
    for let in reversed(e.body.lets):
        carry = found.get(let.binders[0]) if let.binders else None
        if carry is not None and isinstance(let.expr, Apply):
            found.update({let.expr.args[k]: carry for k in let.expr.op.gathers if let.expr.args[k] not in found})
    return found


def _gathers(e: object, running: Atom) -> bool:
    return isinstance(e, Apply) and any([e.args[k] is running for k in e.op.gathers])
