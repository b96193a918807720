"""Backward slices of loops: one stacked output made again from others that are there.

`h[i] = o[i] * t[i]` where `o` and `t` are kept anyway: the reverse pass multiplies once more and keeps no `h`. A slice
(Weiser, "Program slicing", 1981) holds the cheap operations that the output needs, and reads other outputs.
"""

from collections.abc import Container, Set

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import Renaming, operands
from rosejit.ir.types import Scalar

LIMIT = 12
"""Operations of an iteration at most; to keep the number takes less than more of them."""


def output_slice(let: ir.Let, output: ir.Var, there: Container[ir.Var]) -> ir.Let | None:
    """A loop that makes one stacked output of the loop `let`, a number an iteration, from those that are `there`, from
    what the loop walks and from enclosing blocks. None where that takes more than `LIMIT` cheap operations."""
    e = let.expr
    assert isinstance(e, ir.Loop)
    made = list(zip(let.binders, e.body.results, strict=True))[len(e.carries) :]
    target = e.body.results[let.binders.index(output)]
    if not isinstance(target.type, Scalar):
        return None
    # no slice of the target itself, stacked twice: each would be made of the other
    stacks = {a: stack for stack, a in made if a is not target and stack in there and isinstance(a.type, Scalar)}
    walked = [s.param for s in e.scans if not s.consumes]
    carried = {*e.carries, *[s.param for s in e.scans if s.consumes]}
    needed = _needed(e.body, target, {*stacks, *walked, e.index}, carried)
    if needed is None:
        return None
    read = {target, *[a for each in needed for a in operands(each.expr)]}
    copy = Renaming()
    index = copy.fresh(e.index)
    scans = [ir.Scan(copy.fresh(s.param), s.array) for s in e.scans if s.param in read]
    scans += [ir.Scan(copy.fresh(a), stack) for a, stack in stacks.items() if a in read and isinstance(a, ir.Var)]
    lets = [copy.let(each) for each in e.body.lets if each in needed]
    body = ir.Block(lets, (copy.atom(target),))
    return ir.Let((output,), ir.Loop(e.trips, index, (), (), tuple(scans), body, e.down), let.span)


def made_at(let: ir.Let, output: ir.Var) -> int:
    """Where in an iteration of the loop `let` an output is made: its slice reads outputs that are made before it."""
    assert isinstance(let.expr, ir.Loop)
    target = let.expr.body.results[let.binders.index(output)]
    return next((k for k, each in enumerate(let.expr.body.lets) if target in each.binders), -1)


def _needed(body: ir.Block, target: ir.Atom, given: Set[ir.Atom], carried: Set[ir.Atom]) -> set[ir.Let] | None:
    """The operations of a body that make `target` of what is `given` or bound outside; None where something else does,
    or what is `carried` is read."""
    definitions = {b: let for let in body.lets for b in let.binders}
    found: set[ir.Let] = set()
    pending = [target]
    while pending:
        a = pending.pop()
        let = definitions.get(a) if isinstance(a, ir.Var) else None
        if a in given or let in found or (let is None and a not in carried and found):
            continue
        if let is None or not isinstance(let.expr, ir.Apply) or not let.expr.op.cheap or len(found) == LIMIT:
            return None
        found.add(let)
        pending += let.expr.args
    return found
