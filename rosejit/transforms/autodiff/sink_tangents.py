"""A block of a derivative into one in which what only one side of a branch reads is computed in that side.

`length = math.sqrt(v @ v)` stands in front of the `if` that keeps zeros away from it, and so does its tangent. On the
way back the side that does not read it leaves a cotangent of zero, which the infinite slope at 0 would make NaN.
"""

from collections import Counter

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import captures, free, operands, scopes, within
from rosejit.ir.types import is_linear


def sunk(block: ir.Block) -> ir.Block:
    """The block with such lets moved, also in the blocks inside; the same object where nothing moves."""
    lets = _sunk(block) if any([let.expr.__class__ is ir.If for let in block.lets]) else block.lets
    made = [within(let, sunk) if scopes(let.expr) else let for let in lets]
    same = len(made) == len(block.lets) and all([a.expr is b.expr for a, b in zip(made, block.lets, strict=True)])
    return block if same else ir.Block(made, block.results)


def _sunk(block: ir.Block) -> list[ir.Let]:
    lets = list(block.lets)
    definitions: dict[ir.Atom, int] = {x: at for at, let in enumerate(lets) for x in let.binders}
    readers: Counter[ir.Atom] = Counter(block.results)
    for let in lets:
        e = let.expr
        readers.update({*operands(e), *captures(e)} if scopes(e) else {*operands(e)})
    gone: set[int] = set()
    for at in reversed(range(len(lets))):
        e = lets[at].expr
        if isinstance(e, ir.If):
            sides = [free(side) for side in (e.then, e.orelse)]
            for side, other in ((0, 1), (1, 0)):
                only = [a for a in sides[side] if a not in sides[other] and a is not e.condition]
                moved = _read_only_by(only, lets, definitions, readers)
                if any([is_linear(lets[k].binders[0].type) for k in moved]):
                    lets[at] = _with(lets[at], side, [lets[k] for k in sorted(moved)])
                    gone |= moved
    return [let for at, let in enumerate(lets) if at not in gone]


def _read_only_by(
    only: list[ir.Var], lets: list[ir.Let], definitions: dict[ir.Atom, int], readers: Counter[ir.Atom]
) -> set[int]:
    """The lets whose results nobody reads but one side of a branch, which reads `only`, and lets of this set."""
    moved: set[int] = set()
    waiting: dict[ir.Atom, int] = {}
    pending: list[ir.Atom] = list(only)
    while pending:
        a = pending.pop()
        waiting[a] = waiting.get(a, readers[a]) - 1
        k = definitions.get(a)
        if waiting[a] or k is None:
            continue
        e = lets[k].expr
        if isinstance(e, ir.Apply) and not e.op.failure:
            moved.add(k)
            pending += {*operands(e)}
    return moved


def _with(let: ir.Let, side: int, moved: list[ir.Let]) -> ir.Let:
    """A branch with `moved` in front of one of its sides."""
    e = let.expr
    assert isinstance(e, ir.If)
    sides = [e.then, e.orelse]
    sides[side] = ir.Block([*moved, *sides[side].lets], sides[side].results)
    return ir.Let(let.binders, ir.If(e.condition, *sides), let.span)
