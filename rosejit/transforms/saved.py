"""What the linear half of a block needs of the primal half: what is saved, and what is recomputed (RULES, section 5)."""

from dataclasses import dataclass, field

from rosejit.ir import syntax as ir
from rosejit.ir.types import REAL, Nominal, Ref, is_heavy
from rosejit.ir.walk import operands

Needs = dict[ir.Var, None]
"""Nonlinear variables that the linear half reads and does not bind, in the order of the first read."""


@dataclass(slots=True)
class Split:
    """A block in two: the lets and results of each half, and what the linear half needs."""

    primal: list[ir.Let]
    linear: list[ir.Let]
    primal_results: tuple[ir.Atom, ...]
    linear_results: tuple[ir.Atom, ...]
    needs: Needs = field(default_factory=dict[ir.Var, None])


@dataclass(slots=True)
class Kept:
    """Variables that a block saves, lets that are repeated to give others, and needs that the block does not bind."""

    saved: list[ir.Var]
    repeated: list[ir.Let]
    rest: Needs


class Memory:
    """Where the primal variables of one function come from."""

    def __init__(self, f: ir.Function) -> None:
        self.definitions: dict[ir.Var, ir.Let] = {}
        self.rows: dict[ir.Var, ir.Atom] = {}
        """Payloads of cases and rows of scans: views of the value they come from."""
        self.borrowed = {p for p in f.params if p not in f.own and is_heavy(p.type)}

    def keep(self, split: Split, params: set[ir.Var], given: set[ir.Var]) -> Kept:
        """What becomes of the needs of `split`. Its form binds `params`, which must be saved, and `given`, which the
        linear half has anyway."""
        return _Block(self, split, params, given).kept()

    def root(self, a: ir.Atom) -> ir.Atom:
        """The variable of which `a` is a view, through any number of views."""
        while isinstance(a, ir.Var) and is_heavy(a.type):
            if a in self.rows:
                a = self.rows[a]
                continue
            let = self.definitions.get(a)
            if let is None or not isinstance(let.expr, ir.Index):
                break
            a = let.expr.base
        return a

    def is_residual(self, a: ir.Atom) -> bool:
        """Whether `a` is (a view of) residuals passed to this function: reading them again costs nothing."""
        root = self.root(a)
        return root in self.borrowed and isinstance(root.type, Nominal)


class _Block:
    """The needs of one block in the making."""

    def __init__(self, memory: Memory, split: Split, params: set[ir.Var], given: set[ir.Var]) -> None:
        self.memory = memory
        self.split = split
        self.params = params
        self.given = given
        self.lets = {b: let for let in split.primal for b in let.binders}
        self.known = dict.fromkeys(given, True)
        self.pending = list(split.needs)
        self.wanted = set(self.pending)

    def kept(self) -> Kept:
        saved: Needs = {}
        rest: Needs = {}
        repeated: dict[int, ir.Let] = {}
        while self.pending:
            v = self.pending.pop()
            let = self.lets.get(v)
            if let is None:
                if v not in self.given:
                    (saved if v in self.params and v not in self.memory.borrowed else rest)[v] = None
                continue
            if not self.is_cheap(v, let):
                saved[v] = None
                continue
            repeated[id(let)] = let
            sources = [a for a in operands(let.expr) if isinstance(a, ir.Var) and a not in self.wanted]
            self.wanted.update(sources)
            self.pending += sources
        order = {b: k for k, let in enumerate(self.split.primal) for b in let.binders}
        lets = sorted(repeated.values(), key=lambda let: order[let.binders[0]])
        return Kept(sorted(saved, key=lambda v: order.get(v, -1)), [_again(let) for let in lets], rest)

    def is_cheap(self, v: ir.Var, let: ir.Let) -> bool:
        """Whether repeating `let` in the linear half costs less than saving its result."""
        e = let.expr
        if isinstance(e, ir.Index):
            if is_heavy(v.type):
                return self.memory.root(e.base) in self.memory.borrowed
            return self.memory.is_residual(e.base) and not any(isinstance(step, ir.Var) for step in e.path)
        if not isinstance(e, ir.Apply) or not e.op.cheap:
            return False
        return self.follows(v) or all(self.is_at_hand(a) for a in e.args)

    def is_at_hand(self, a: ir.Atom) -> bool:
        return isinstance(a, ir.Lit) or a in self.wanted or (a not in self.lets and a not in self.params)

    def follows(self, v: ir.Var) -> bool:
        """Whether `v` comes by integer arithmetic from the index and light values of enclosing blocks."""
        if v in self.known:
            return self.known[v]
        let = self.lets.get(v)
        if let is None:
            known = v not in self.params and not is_heavy(v.type) and not isinstance(v.type, Ref)
        elif isinstance(let.expr, ir.Apply) and let.expr.op.cheap and v.type is not REAL:
            known = all(isinstance(a, ir.Lit) or self.follows(a) for a in let.expr.args)
        else:
            known = False
        self.known[v] = known
        return known


def _again(let: ir.Let) -> ir.Let:
    """`let` for the linear half; the primal half has checked its indices."""
    e = let.expr
    return ir.Let(let.binders, ir.Index(e.base, e.path, checked=False), let.span) if isinstance(e, ir.Index) else let


def reads(split: Split, kept: Kept, v: ir.Var) -> bool:
    """Whether the linear half of `split` reads `v`."""
    return v in split.needs or any(v in operands(let.expr) for let in kept.repeated)
