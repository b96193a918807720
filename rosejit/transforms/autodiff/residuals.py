"""What the linear half of a block needs of the primal half: what is saved, what is recomputed (RULES, section 5).

To save a number takes a store in one loop and a load in the other, and eight bytes an iteration; cheap operations on
what the linear half has anyway give it again. What is saved and what is repeated is chosen together, at the least cost,
as a minimum cut (`minimum_cut.py`) of the graph of operations: a variable that is there is saved, or repeated with all
its operands there. That costs of both kinds are a cut is Picard, "Maximal closure of a graph and applications to
combinatorial problems", 1976; that what a reverse pass caches is chosen by one is Moses et al., "Reverse-mode automatic
differentiation and optimization of GPU kernels via Enzyme", 2021.
"""

from collections.abc import Iterable
from dataclasses import field
from math import prod

from rosejit.ir import syntax as ir
from rosejit.ir.primitive import Primitive
from rosejit.ir.traversal import captures, operands
from rosejit.ir.types import REAL, Array, Nominal, Ref, Scalar, Type, is_boxed
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES
from rosejit.transforms.autodiff.minimum_cut import UNBOUNDED, Edge, sink_side
from rosejit.transforms.autodiff.output_slices import made_at, output_slice

NEAR = 4
"""Cheap operations that take as long as to save a number and to read it, while the caches hold what a loop saves."""
FAR = 12
"""The same where they do not, or where only the run knows."""
CACHES = 1 << 22
"""Bytes from which what the iterations of a loop save leaves the caches before it is read."""
SLOPE = 4
"""What it takes to make the slope of a function of what the function gave (`Primitive.sharing`)."""
LONG = 64
"""Elements that an array is taken to have of which only the run knows how many."""

_SLOPES = frozenset([op.sharing[1] for op in PRIMITIVES.values() if op.sharing[1]])
_SOURCE, _SINK = 0, 1

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
        self.lengths: list[int | None] = []
        """The same; None for those that only the run knows."""
        self.depths: dict[ir.Atom, int] = {}
        """In how many of them boxed variables are bound, if in any."""
        self.read_again: set[ir.Atom] = set()
        """Arrays that are kept once, since a view of theirs is read again."""

    def bind(self, binders: Iterable[ir.Var]) -> None:
        """Note where variables are bound."""
        if self.trips:
            self.depths.update({b: len(self.trips) for b in binders if is_boxed(b.type)})

    def keep(self, split: SplitBlock, params: set[ir.Var], given: set[ir.Var], side: bool = False) -> Residuals:
        """What becomes of the needs of `split`. Its form binds `params`, which must be saved, and `given`, which the
        linear half has anyway. `side` says that it is one side of a branch: the enclosing block may
        have to save what is read of it."""
        return _Block(self, split, params, given, side).kept()

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

    def saving(self, numbers: int) -> int:
        """What it costs to save one of the numbers that each iteration needs."""
        volume = 8 * numbers
        for length in self.lengths:
            if length is None:
                return FAR
            volume *= length
        return NEAR if volume < CACHES else FAR

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

    def __init__(
        self, planner: ResidualPlanner, split: SplitBlock, params: set[ir.Var], given: set[ir.Var], side: bool
    ) -> None:
        self.planner = planner
        self.split = split
        self.params = params
        self.given = given
        self.side = side
        self.places = {b: k for k, let in enumerate(split.primal) for b in let.binders}
        self.known = dict.fromkeys(given, True)
        self.store = planner.saving(len(split.needs))
        self.again: dict[ir.Var, ir.Let] = {}
        """Of what can be made again, the let that does it."""
        self.made: dict[tuple[Primitive, tuple[ir.Atom, ...]], ir.Var] | None = None

    def kept(self) -> Residuals:
        reached = self.reached()
        saved, repeated = self.cut(reached) if self.again else (reached, [])
        rest: Needs = {}
        read = [*self.split.needs, *[a for v in repeated for a in _read(self.again[v])]]
        for v in read:
            if self.is_from_outside(v):
                rest[v] = None
        own = [v for v in saved if not self.is_from_outside(v) and v not in self.given]
        in_order = sorted(own, key=lambda v: self.places.get(v, -1))
        return Residuals(in_order, [self.again[v] for v in sorted(repeated, key=self.order)], rest)

    def order(self, v: ir.Var) -> tuple[int, int]:
        """Where `v` is made, and where among the outputs of one loop."""
        let = self.split.primal[self.places[v]]
        return self.places[v], made_at(let, v) if isinstance(let.expr, ir.Loop) else 0

    def reached(self) -> list[ir.Var]:
        """The needs, and what they can be made of, through any number of operations."""
        found = self.split.needs.copy()
        pending = list(found)
        while pending:
            v = pending.pop()
            let = self.repeated(v)
            if let is not None:
                self.again[v] = let
                sources = [a for a in _read(let) if a not in found]
                found.update(dict.fromkeys(sources))
                pending += sources
        return list(found)

    def cut(self, reached: list[ir.Var]) -> tuple[list[ir.Var], list[ir.Var]]:
        """What of `reached` is saved, and what is made again.

        Two nodes a variable: what it is made of is there, and it is there. Which are on the sink's side says what the
        linear half has; an edge that leads there is what that costs."""
        numbers = {v: 2 * k + 2 for k, v in enumerate(reached)}
        edges: list[Edge] = []
        for v, made in numbers.items():
            let = self.again.get(v)
            edges.append((made, made + 1, self.storing(v)))
            edges.append((_SOURCE, made, UNBOUNDED if let is None else self.repeating(v, let)))
            if let is not None:
                edges += [(numbers[a] + 1, made, UNBOUNDED) for a in _read(let)]
            if v in self.split.needs:
                edges.append((made + 1, _SINK, UNBOUNDED))
        there = sink_side(2 * len(numbers) + 2, edges, _SOURCE, _SINK)
        both = {v: made in there for v, made in numbers.items() if made + 1 in there}
        return [v for v, again in both.items() if not again], [v for v, again in both.items() if again]

    def is_from_outside(self, v: ir.Var) -> bool:
        """Whether an enclosing block hands `v` to the linear half."""
        if v in self.places or v in self.given:
            return False
        return v not in self.params or v in self.planner.borrowed

    def storing(self, v: ir.Var) -> int:
        """What it costs that the linear half has `v` without making it again."""
        if self.is_from_outside(v):
            return self.store // 3 if self.side and v.type is REAL and v not in self.split.needs else 0
        if v in self.given:
            return 0
        elements = _elements(v.type)
        return self.store * (LONG if elements is None else elements)

    def repeating(self, v: ir.Var, let: ir.Let) -> int:
        """What it costs to make `v` again of what is there."""
        if isinstance(let.expr, ir.Loop):
            return (len(let.expr.body.lets) + 2) * (_elements(v.type) or LONG)  # it is stored, and read, but in a cache
        if is_boxed(v.type) or self.follows(v):
            return 0
        return SLOPE if isinstance(let.expr, ir.Apply) and let.expr.op.name in _SLOPES else 1

    def repeated(self, v: ir.Var) -> ir.Let | None:
        """The let that gives `v` in the linear half; None where it is not made again."""
        place = self.places.get(v)
        if place is None:
            return None
        let = self.split.primal[place]
        e = let.expr
        if isinstance(e, ir.Index):
            return _again(let) if self.is_read_again(v, e) else None
        if isinstance(e, ir.Loop) and self.planner.trips and v not in let.binders[: len(e.carries)]:
            return output_slice(let, v, self.split.needs)
        if not isinstance(e, ir.Apply):
            return None
        if e.op.cheap or e.op.name in _SLOPES:
            return _again(let)
        return self.shared(let, e) if e.op.sharing[0] else None

    def shared(self, let: ir.Let, e: ir.Apply) -> ir.Let | None:
        """A slope from what the block has of the function that it is the slope of."""
        if self.made is None:
            self.made = {
                (each.expr.op, each.expr.args): each.binders[0]
                for each in self.split.primal
                if isinstance(each.expr, ir.Apply)
            }
        y = self.made.get((PRIMITIVES[e.op.sharing[0]], e.args))
        return (
            None
            if y is None or isinstance(e.args[0], ir.Lit)
            else ir.Let(let.binders, ir.Apply(PRIMITIVES[e.op.sharing[1]], (*e.args, y)), let.span)
        )

    def is_read_again(self, v: ir.Var, e: ir.Index) -> bool:
        """Whether the linear half may read an element or a view once more."""
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
        """Whether an array of an enclosing block may be read once more."""
        base = e.base
        if base in self.params or (base in self.places and self.planner.root(base) not in self.planner.borrowed):
            return False
        return self.planner.costs_nothing_more(base)

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
            known = self.is_at_hand_again(e) and all(self.follows(a) for a in e.path if isinstance(a, ir.Var))
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


def _read(let: ir.Let) -> list[ir.Var]:
    """The variables that a let reads, those in its blocks too."""
    read = (*operands(let.expr), *captures(let.expr)) if isinstance(let.expr, ir.Loop) else operands(let.expr)
    return [a for a in read if isinstance(a, ir.Var)]


def reads(split: SplitBlock, kept: Residuals, v: ir.Var) -> bool:
    """Whether the linear half of `split` reads `v`."""
    return v in split.needs or any(v in _read(let) for let in kept.repeated)
