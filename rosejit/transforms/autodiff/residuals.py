"""What the linear half of a block needs of the primal half: what is saved, what is recomputed (RULES, section 5)."""

from collections.abc import Iterable
from dataclasses import field
from math import prod

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import operands
from rosejit.ir.types import REAL, Array, Nominal, Ref, Scalar, Type, is_boxed
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES

Needs = dict[ir.Var, None]
"""Nonlinear variables that the linear half reads and does not bind, in the order of the first read."""


@dataclass(slots=True)
class SplitBlock:
    """A block in two: the lets and results of each half, and what the linear half needs."""

    primal: list[ir.Let]
    linear: list[ir.Let]
    primal_results: tuple[ir.Atom, ...]
    linear_results: tuple[ir.Atom, ...]
    needs: Needs = field(default_factory=dict[ir.Var, None])


@dataclass(slots=True)
class Residuals:
    """Variables that a block saves, lets that are repeated to give others, and needs that the block does not bind."""

    saved: list[ir.Var]
    repeated: list[ir.Let]
    rest: Needs


class ResidualPlanner:
    """Where the primal variables of one function come from."""

    def __init__(self, f: ir.Function) -> None:
        self.definitions: dict[ir.Var, ir.Let] = {}
        """The lets of boxed variables."""
        self.rows: dict[ir.Var, ir.Atom] = {}
        """Payloads of cases and rows of scans: views of the value they come from."""
        self.borrowed = {p for p in f.params if p not in f.own and is_boxed(p.type)}
        self.trips: list[int] = []
        """Of the loops around what is being split, as far as they are known."""
        self.depths: dict[ir.Atom, int] = {}
        """In how many of them boxed variables are bound, if in any."""
        self.read_again: set[ir.Atom] = set()
        """Arrays that are kept once, since a view of theirs is read again."""

    def bind(self, binders: Iterable[ir.Var]) -> None:
        """Note where variables are bound."""
        if self.trips:
            self.depths.update({b: len(self.trips) for b in binders if is_boxed(b.type)})

    def keep(self, split: SplitBlock, params: set[ir.Var], given: set[ir.Var]) -> Residuals:
        """What becomes of the needs of `split`. Its form binds `params`, which must be saved, and `given`, which the
        linear half has anyway."""
        return _Block(self, split, params, given).kept()

    def root(self, a: ir.Atom) -> ir.Atom:
        """The variable of which `a` is a view, through any number of views."""
        while isinstance(a, ir.Var) and is_boxed(a.type):
            if a in self.rows:
                a = self.rows[a]
                continue
            let = self.definitions.get(a)
            if let is None or not isinstance(let.expr, ir.Index):
                break
            a = let.expr.base
        return a

    def costs_nothing_more(self, a: ir.Atom, each: int = 1) -> bool:
        """Whether an array, or one that it is a view of, has no more elements than its readers have iterations since it
        was bound, `each` elements an iteration: then to keep it once takes no more memory than to keep what each
        iteration reads of it. The views are taken once more."""
        viewed: list[ir.Atom] = []
        while True:
            viewed.append(a)
            size = _elements(a.type)
            if size is not None and size <= each * prod(self.trips[self.depth(a) :]):
                self.read_again.update(viewed)
                return True
            let = self.definitions.get(a) if isinstance(a, ir.Var) else None
            if a in self.rows:
                a = self.rows[a]
            elif let is not None and isinstance(let.expr, ir.Index):
                a = let.expr.base
            else:
                return False

    def depth(self, a: ir.Atom) -> int:
        """In how many of the loops around an array is bound; a view of what the caller hands in again is like that."""
        root = self.root(a)
        return 0 if root in self.borrowed else self.depths.get(a, 0)

    def is_residual(self, a: ir.Atom) -> bool:
        """Whether `a` is (a view of) residuals passed to this function: reading them again costs nothing."""
        root = self.root(a)
        return root in self.borrowed and isinstance(root.type, Nominal)


class _Block:
    """The needs of one block in the making."""

    def __init__(self, planner: ResidualPlanner, split: SplitBlock, params: set[ir.Var], given: set[ir.Var]) -> None:
        self.planner = planner
        self.split = split
        self.params = params
        self.given = given
        self.places = {b: k for k, let in enumerate(split.primal) for b in let.binders}
        self.known = dict.fromkeys(given, True)
        self.pending = list(split.needs)
        self.wanted = set(self.pending)

    def kept(self) -> Residuals:
        primal, places = self.split.primal, self.places
        saved: Needs = {}
        rest: Needs = {}
        repeated: set[int] = set()
        while self.pending:
            v = self.pending.pop()
            place = places.get(v)
            if place is None:
                if v not in self.given:
                    (saved if v in self.params and v not in self.planner.borrowed else rest)[v] = None
            elif self.is_cheap(v, primal[place]):
                repeated.add(place)
                sources = [a for a in operands(primal[place].expr) if isinstance(a, ir.Var) and a not in self.wanted]
                self.wanted.update(sources)
                self.pending += sources
            else:
                saved[v] = None
        in_order = sorted(saved, key=lambda v: places.get(v, -1))
        return Residuals(in_order, [_again(primal[k]) for k in sorted(repeated)], rest)

    def is_cheap(self, v: ir.Var, let: ir.Let) -> bool:
        """Whether repeating `let` in the linear half costs less than saving its result."""
        e = let.expr
        if isinstance(e, ir.Apply):
            return e.op.cheap and (all([self.is_at_hand(a) for a in e.args]) or self.follows(v))
        if not isinstance(e, ir.Index):
            return False
        if is_boxed(v.type):
            return self.is_view_again(v, e.base)
        if self.planner.is_residual(e.base) and not any(isinstance(step, ir.Var) for step in e.path):
            return True
        return self.is_at_hand_again(e)

    def is_view_again(self, v: ir.Var, base: ir.Atom) -> bool:
        """Whether a view is taken once more: of what is handed in again, or of what it costs no more to keep."""
        if self.planner.root(base) in self.planner.borrowed or base in self.planner.read_again:
            return True
        each = _elements(v.type)
        if each is None or base in self.params or base in self.places:
            return False
        return self.planner.costs_nothing_more(base, each)

    def is_at_hand_again(self, e: ir.Index) -> bool:
        """Whether the linear half can read an element of an array of an enclosing block once more."""
        base = e.base
        if base in self.params or (base in self.places and self.planner.root(base) not in self.planner.borrowed):
            return False
        known = all(a in self.wanted or self.follows(a) for a in e.path if isinstance(a, ir.Var))
        return known and self.planner.costs_nothing_more(base)

    def is_at_hand(self, a: ir.Atom) -> bool:
        if a in self.wanted or isinstance(a, ir.Lit):
            return True
        place = self.places.get(a)
        if place is None:
            return a not in self.params
        e = self.split.primal[place].expr
        return isinstance(e, ir.Index) and not is_boxed(a.type) and self.is_at_hand_again(e)

    def follows(self, v: ir.Var) -> bool:
        """Whether `v` comes by integer arithmetic from the index, tables and scalar values of enclosing blocks."""
        if v in self.known:
            return self.known[v]
        place = self.places.get(v)
        e = None if place is None else self.split.primal[place].expr
        if e is None:
            known = v not in self.params and not is_boxed(v.type) and not isinstance(v.type, Ref)
        elif isinstance(e, ir.Apply) and e.op.cheap and v.type is not REAL:
            known = all(isinstance(a, ir.Lit) or self.follows(a) for a in e.args)
        elif isinstance(e, ir.Index) and not is_boxed(v.type) and v.type is not REAL:
            known = self.is_at_hand_again(e)
        else:
            known = False
        self.known[v] = known
        return known


def _elements(t: Type) -> int | None:
    """How many numbers an array holds; None for what is no array of numbers, or of a length that only the run knows."""
    size = 1
    while isinstance(t, Array) and t.length is not None:
        size *= t.length
        t = t.element
    return size if isinstance(t, Scalar) else None


def _again(let: ir.Let) -> ir.Let:
    """`let` for the linear half; the primal half has checked what it checks."""
    e = let.expr
    if isinstance(e, ir.Index):
        return ir.Let(let.binders, ir.Index(e.base, e.path, checked=False), let.span)
    if isinstance(e, ir.Apply) and e.op.unchecked:
        return ir.Let(let.binders, ir.Apply(PRIMITIVES[e.op.unchecked], e.args), let.span)
    return let


def reads(split: SplitBlock, kept: Residuals, v: ir.Var) -> bool:
    """Whether the linear half of `split` reads `v`."""
    return v in split.needs or any(v in operands(let.expr) for let in kept.repeated)
