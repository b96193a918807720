"""Which arrays of a function are so small that they become numbers, and which loops over them become straight-line
code.
"""

from collections.abc import Iterable
from itertools import product

from rosejit.ir import syntax as ir
from rosejit.ir.lane_sums import in_lanes
from rosejit.ir.traversal import callees, forms, scopes
from rosejit.ir.types import BOOL, INT, REAL, Array, Scalar, Type, is_boxed
from rosejit.transforms.passes.range_checks import has_loops

Atoms = tuple[ir.Atom, ...]

SMALL = 9
"""Numbers of an array up to which they fare better apart: a matrix of 3 x 3."""

LONGEST = 64
"""Lets of all iterations up to which a loop becomes straight-line code."""


def numbers(t: Type, most: int = SMALL) -> int:
    """How many numbers an array of at most so many holds; 0 for all other types."""
    count = 1
    while isinstance(t, Array):
        if t.length is None or not 0 < t.length * count <= most:
            return 0
        count *= t.length
        t = t.element
        if t is REAL or t is INT or t is BOOL:
            return count
    return 0


def leaf(t: Type) -> Scalar:
    """The type of the numbers of an array."""
    while isinstance(t, Array):
        t = t.element
    assert isinstance(t, Scalar)
    return t


def types(t: Type) -> tuple[Type, ...]:
    """The types of the numbers of a small array; of all else the type itself."""
    count = numbers(t)
    return (leaf(t),) * count if count else (t,)


def apart(v: ir.Var) -> tuple[ir.Var, ...]:
    """Variables for the numbers of a small array; for all else the variable itself."""
    return tuple([ir.Var(t, v.hint) for t in types(v.type)]) if numbers(v.type) else (v,)


def paths(t: Type) -> list[Atoms]:
    """The indices of each number of an array, in order."""
    lengths: list[int] = []
    while isinstance(t, Array):
        assert t.length is not None
        lengths.append(t.length)
        t = t.element
    return [tuple(map(ir.integer, at)) for at in product(*map(range, lengths))]


def has_small(f: ir.Function) -> bool:
    """Whether a small array occurs in `f` itself."""
    if _is_any_small(f.params):
        return True
    for let in () if f.body is None else forms(f.body):
        if _is_any_small(let.binders) or any([_is_any_small(bound) for bound, _ in scopes(let.expr)]):
            return True
    return False


def _is_any_small(variables: tuple[ir.Var, ...]) -> bool:
    return any([type(v.type) is Array and numbers(v.type) for v in variables])


def unchanged(program: list[ir.Function], small: set[ir.Function]) -> set[ir.Function]:
    """Functions of `program`, callees first, that are not `small` and have no loops, and call only such functions."""
    found: set[ir.Function] = set()
    for f in program:
        if f not in small and not (f.body and has_loops(f.body)) and found.issuperset(callees(f)):
            found.add(f)
    return found


def is_unrolled(let: ir.Let, e: ir.Loop) -> bool:
    """Whether a loop becomes straight-line code."""
    trips = e.constant_trips or 0
    if not 0 < trips <= SMALL:
        return False
    if any([s.consumes and is_boxed(s.param.type) and not numbers(s.param.type) for s in e.scans]):
        return False  # it owns rows that are too large to be made again
    if _has_unknown_length(let) or any(map(_has_unknown_length, forms(e.body))):
        return False  # a length that became known would change the type
    if any(in_lanes(e)):
        return False  # its sums have another order
    if any(map(_sums_in_lanes, forms(e.body))):
        return False  # a number of iterations that became known, and small, would change the order of the sum
    return trips * _weight(e.body, LONGEST // trips) <= LONGEST


def _sums_in_lanes(let: ir.Let) -> bool:
    """Whether a loop of iterations that only the run counts has a sum in lanes."""
    e = let.expr
    return isinstance(e, ir.Loop) and e.constant_trips is None and any(in_lanes(e))


def _has_unknown_length(let: ir.Let) -> bool:
    """Whether a loop gives arrays of a length that only the run knows."""
    return isinstance(let.expr, ir.Loop) and any(
        [isinstance(b.type, Array) and b.type.length is None for b in let.binders]
    )


def _weight(block: ir.Block, limit: int) -> int:
    """The lets of a block when the loops in it are unrolled; no more is counted than passes `limit`."""
    total = 0
    for let in block.lets:
        trips = (let.expr.constant_trips if isinstance(let.expr, ir.Loop) else None) or 1
        trips = trips if trips <= SMALL else 1
        total += 1 + trips * sum([_weight(inner, limit) for _, inner in scopes(let.expr)])
        if total > limit:
            break
    return total


class KeptInMemory:
    """The small arrays of a function that stay arrays: something reads or writes them at an index that only the run
    knows. What flows from one variable into another stays with it."""

    def __init__(self, f: ir.Function) -> None:
        self.parents: dict[ir.Atom, ir.Atom] = {}
        self.known: set[ir.Atom] = set()
        """Integers that are constants once loops are unrolled."""
        self.marked: list[ir.Atom] = []
        if f.body is not None:
            self._block(f.body)
        self.roots = {self._root(a) for a in self.marked}

    def __contains__(self, a: ir.Atom) -> bool:
        return bool(self.roots) and self._root(a) in self.roots

    def _root(self, a: ir.Atom) -> ir.Atom:
        while a in self.parents:
            a = self.parents[a]
        return a

    def _unite(self, pairs: Iterable[tuple[ir.Var, ir.Atom]]) -> None:
        for b, a in pairs:
            if numbers(b.type) and isinstance(a, ir.Var):
                one, other = self._root(b), self._root(a)
                if one is not other:
                    self.parents[one] = other

    def _constant(self, a: ir.Atom | ir.Field) -> bool:
        return isinstance(a, ir.Lit) or a in self.known

    def _block(self, block: ir.Block) -> None:
        for let in block.lets:
            e = let.expr
            match e:
                case ir.Apply():
                    if e.op.result is INT and all([self._constant(a) for a in e.args]):
                        self.known.add(let.binders[0])
                case ir.Index(base=base, path=path) | ir.Update(base=base, path=path):
                    if numbers(base.type) and not all([self._constant(step) for step in path]):
                        self.marked.append(base)
                    if isinstance(e, ir.Update):
                        self._unite([(let.binders[0], base)])
                case ir.If(then=then, orelse=orelse):
                    self._sides(let, then, orelse)
                case ir.Case(left=left, right=right):
                    self._sides(let, left.block, right.block)
                case ir.Loop():
                    self._loop(let, e)
                case ir.While():
                    finals = let.binders[1 : 1 + len(e.carries)]
                    self._iterations(e.carries, e.inits, finals, e.body)
                    self._block(e.condition)
                case ir.MakeTuple() | ir.Untuple() | ir.MakeArray() | ir.Inject() | ir.Extract() | ir.Copy():
                    pass
                case ir.Zero() | ir.Call() | ir.Accum() | ir.Add() | ir.View() | ir.Resolve() | ir.Check():
                    pass
                case _:
                    ir.assert_never(e)

    def _sides(self, let: ir.Let, *sides: ir.Block) -> None:
        for side in sides:
            self._block(side)
            self._unite(zip(let.binders, side.results, strict=True))

    def _loop(self, let: ir.Let, e: ir.Loop) -> None:
        if is_unrolled(let, e):
            self.known.add(e.index)
        self._iterations(e.carries, e.inits, let.binders, e.body)

    def _iterations(
        self, carries: tuple[ir.Var, ...], inits: tuple[ir.Atom, ...], finals: tuple[ir.Var, ...], body: ir.Block
    ) -> None:
        self._block(body)
        for others in (inits, body.results, finals):
            self._unite(zip(carries, others, strict=False))
