"""A linear block into one in which what only a selection reads is a side of a branch, and not walked in vain."""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import captures, consumed, lets, operands, scopes
from rosejit.ir.types import Scalar, is_boxed

SHORT = 32
"""Lets up to which to walk them in vain is worth no branch: that keeps loops from doing several iterations at a
time.
"""

DEEPEST = 64
"""Blocks within each other up to which branches are made: all passes walk the program as deep as it is, and a chain of
selections, as the maximum of a list, would have a branch in a branch for each.
"""

_OUTSIDE = -1
"""Who reads the results of a block."""


def selected(block: ir.Block) -> ir.Block:
    """The block with such branches; the same object where there is nothing to select."""
    if len(block.lets) <= SHORT or not any([_selects(let.expr) for let in block.lets]):
        return block
    grouping = _Grouping(block)
    for at in reversed(range(len(block.lets))):
        e = grouping.lets[at].expr
        if isinstance(e, ir.Apply) and _selects(e):
            for side in (1, 2):
                grouping.group(at, side)
    return ir.Block(grouping.run(), block.results)


def _selects(e: ir.Expr) -> bool:
    return isinstance(e, ir.Apply) and e.op.selects


def _is_plain(let: ir.Let) -> bool:
    """Whether a let may be left undone: numbers from numbers, and from elements of arrays."""
    e = let.expr
    if isinstance(e, ir.Index):
        return not e.checked and isinstance(let.binders[0].type, Scalar)
    return isinstance(e, ir.Apply) and not e.op.failure


def _is_linear(let: ir.Let) -> bool:
    return isinstance(let.expr, ir.Apply) and let.expr.op.erased != ""


class _Grouping:
    """`users` tells the lets, by number, that read a variable, `definitions` the one that binds it, `groups` the
    selection in front of which a let moves."""

    def __init__(self, block: ir.Block) -> None:
        self.lets = list(block.lets)
        self.users: dict[ir.Atom, set[int]] = {}
        self.definitions: dict[ir.Atom, int] = {x: at for at, let in enumerate(block.lets) for x in let.binders}
        self.groups: dict[int, int] = {}
        self.branches: dict[int, list[ir.Let]] = {}
        self.consumed = {a for let in lets(block) for a in consumed(let.expr) if is_boxed(a.type)}
        """What somebody consumes: nothing of it, and of views that may look into it, is read later than it was."""
        self.views: set[ir.Atom] = set()
        for at, let in enumerate(block.lets):
            e = let.expr
            if isinstance(e, ir.Index) and not isinstance(let.binders[0].type, Scalar):
                self.views.update(let.binders)
            read = operands(e) if isinstance(e, ir.Apply) or not scopes(e) else (*operands(e), *captures(e))
            for a in read:
                self.users.setdefault(a, set()).add(at)
        for a in block.results:
            self.users.setdefault(a, set()).add(_OUTSIDE)

    def group(self, at: int, side: int) -> None:
        """Put what only one side of the selection at `at` reads into a branch in front of it."""
        e = self.lets[at].expr
        assert isinstance(e, ir.Apply)
        value = e.args[side]
        if not isinstance(value, ir.Var) or self.users[value] != {at} or e.args[1] is e.args[2]:
            return
        moved = self.read_only_by(value)
        if sum([_is_linear(self.lets[k]) for k in moved]) <= SHORT:
            return
        inside = ir.Block([self.lets[k] for k in sorted(moved)], (value,))
        nothing = ir.Block([], (ir.ZERO,))
        sides = (inside, nothing) if side == 1 else (nothing, inside)
        made = ir.Var(value.type, value.hint)
        args = tuple([made if k == side else a for k, a in enumerate(e.args)])
        self.branches.setdefault(at, []).append(ir.Let((made,), ir.If(e.args[0], *sides), self.lets[at].span))
        self.lets[at] = ir.Let(self.lets[at].binders, ir.Apply(e.op, args), self.lets[at].span)
        self.users[made] = {at}
        self.groups.update(dict.fromkeys(moved, at))

    def read_only_by(self, value: ir.Var) -> set[int]:
        """The let of `value`, which one let reads, and those that only lets of this set read, if they may be left
        undone: all the way up from there, and nothing besides is looked at."""
        moved: set[int] = set()
        waiting: dict[ir.Atom, int] = {value: 1}
        """Of what lets in `moved` read, how many lets outside of it still read it."""
        pending: list[ir.Atom] = [value]
        while pending:
            a = pending.pop()
            waiting[a] = waiting.get(a, len(self.users[a])) - 1
            k = self.definitions.get(a)
            if waiting[a] or k is None or k in self.groups:
                continue
            let = self.lets[k]
            if _is_plain(let) and not self.may_be_consumed(let.expr):
                moved.add(k)
                pending += set(operands(let.expr))
        return moved

    def may_be_consumed(self, e: ir.Expr) -> bool:
        """Whether the array that `e` reads may be gone at the selection."""
        return isinstance(e, ir.Index) and (e.base in self.consumed or (bool(self.consumed) and e.base in self.views))

    def run(self) -> list[ir.Let]:
        """The lets in their new order."""
        new: list[ir.Let] = []
        for at, let in enumerate(self.lets):
            if at not in self.groups:
                new += (*self.branches.get(at, ()), let)
        return new
