"""Affine dependence analysis: which elements the iterations of a loop read and write, and in which iterations two of
these accesses can meet. Loop fusion, unroll-and-jam, loops that fill arrays, sums in place and the vectoriser ask it.

A subscript is affine if it is the index of the loop, plus a variable from outside, plus a constant. Two accesses to one
array with affine subscripts of one start at one place of their paths meet at the distance of the constants, and nowhere
else. Aliases: arrays are values, so different ones never meet; places may, unless one of them was opened here.
"""

from collections.abc import Callable
from typing import Literal

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import captures, forms, operands
from rosejit.ir.types import Ref, Scalar, is_boxed
from rosejit.ir.typing import path_type
from rosejit.lazy_dataclass import dataclass
from rosejit.transforms.analysis.effects import bases


@dataclass(frozen=True, slots=True)
class Affine:
    """The index of a loop plus `start`, a variable from outside, if there is one, plus a constant."""

    start: ir.Var | None = None
    constant: int = 0


@dataclass(frozen=True, slots=True)
class Access:
    """An element, or a part, that an iteration reads or writes: of an array that the loop carries, or of a place."""

    root: ir.Atom
    path: ir.Path
    writes: bool
    let: ir.Let | None = None

    @property
    def is_number(self) -> bool:
        """Whether it has no parts."""
        t = self.root.type
        return isinstance(path_type(t.target if isinstance(t, Ref) else t, self.path) if self.path else t, Scalar)


Distance = int | Literal["none", "unknown"]
"""By how many iterations the second of two accesses comes before the first, if they meet at all."""


Disjoint = Callable[[ir.Atom, ir.Atom], bool]


class Iterations:
    """Of one loop: `affine` has what grows with its index, `bound` what is bound inside, `arrays` the carried arrays by
    all their names, `accesses` those that are to be compared."""

    def __init__(self, e: ir.Loop) -> None:
        self.loop = e
        self.affine: dict[ir.Atom, Affine] = {e.index: Affine()}
        self.bound: set[ir.Atom] = {e.index, *e.carries, *[scan.param for scan in e.scans]}
        self.arrays: dict[ir.Atom, ir.Var] = {}
        self.accesses: list[Access] = []

    def sum_of(self, e: ir.Apply) -> Affine | None:
        """What is affine plus a constant, or plus a variable from outside; None for all else."""
        if e.op.adds != (1, 1) or e.op.failure:
            return None
        one, other = e.args if e.args[0] in self.affine else e.args[::-1]
        known = self.affine.get(one)
        if known is None:
            return None
        if isinstance(other, ir.Lit):
            assert isinstance(other.value, int)
            return Affine(known.start, known.constant + other.value)
        return Affine(other, known.constant) if known.start is None and other not in self.bound else None

    def carries_dependence(self, disjoint: Disjoint, but_itself: bool = False) -> bool:
        """Whether an iteration may touch what another one writes; `but_itself`: by another access."""
        return any(
            self.distance(one, other, disjoint) not in (0, "none")
            for k, one in enumerate(self.accesses)
            for other in self.accesses[k + but_itself :]
            if one.writes or other.writes
        )

    def distance(self, one: Access, other: Access, disjoint: Disjoint) -> Distance:
        """Where two accesses meet; `disjoint` tells of two places whether they have nothing in common."""
        pairs = list(zip(one.path, other.path, strict=False))
        if one.root is not other.root:
            if one.root in self.arrays or other.root in self.arrays or disjoint(one.root, other.root):
                return "none"
            if not pairs or not (one.is_number and other.is_number):
                return "unknown"  # one place may be a part of the other
            if len(one.path) != len(other.path):
                pairs = [(one.path[-1], other.path[-1])]  # numbers agree from the end on
        if any([self._differ(a, b) for a, b in pairs]):
            return "none"
        for a, b in pairs:
            mine, others = (None if isinstance(step, ir.Field) else self.affine.get(step) for step in (a, b))
            if mine is not None and others is not None and mine.start is others.start:
                return mine.constant - others.constant
        return "unknown"

    def _differ(self, a: ir.Atom | ir.Field, b: ir.Atom | ir.Field) -> bool:
        """Whether two subscripts are never equal, whichever iterations they are of."""
        if isinstance(a, ir.Field) or isinstance(b, ir.Field):
            return isinstance(a, ir.Field) and isinstance(b, ir.Field) and a.number != b.number
        if isinstance(a, ir.Lit) and isinstance(b, ir.Lit):
            return a.value != b.value
        if b in self.affine:
            a, b = b, a
        if self.affine.get(a) != Affine():
            return False
        trips = self.loop.constant_trips  # the index stays below them
        return b is self.loop.trips or (isinstance(b, ir.Lit) and trips is not None and int(b.value or 0) >= trips)


def uses(e: ir.Loop) -> dict[ir.Atom, list[Access]]:
    """What the body of a loop does with each array that it carries, by all names, in order: the elements that it reads
    and writes; what takes all of it, and is not the next carry, or becomes that in its place, has no path."""
    found: dict[ir.Atom, list[Access]] = {c: [] for c in e.carries if is_boxed(c.type)}
    names: dict[ir.Atom, ir.Atom] = {c: c for c in found}
    for let in e.body.lets if found else ():
        x = let.expr
        base = x.base if isinstance(x, ir.Index | ir.Update) else None
        read = list(operands(x)) if isinstance(x, ir.Simple) else [*operands(x), *captures(x)]
        if base in names and isinstance(x, ir.Index | ir.Update):
            read.remove(base)
            found[names[base]].append(Access(names[base], x.path, isinstance(x, ir.Update), let))
            if isinstance(x, ir.Update):
                names[let.binders[0]] = names[base]
        for a in read:
            if a in names:
                found[names[a]].append(Access(names[a], (), True, let))
    latest = {root: name for name, root in names.items()}
    for k, a in enumerate(e.body.results):
        if a in names and not (k < len(e.carries) and e.carries[k] is names[a] and latest[names[a]] is a):
            found[names[a]].append(Access(names[a], (), True))
    for c, a in zip(e.carries, e.body.results, strict=False):
        if c in found and names.get(a) is not c:  # another array takes its place
            found[c].append(Access(c, (), True))
    return found


def reads_back(e: ir.Expr, update: ir.Update) -> bool:
    """Whether `e` reads the element that `update` writes, as it was."""
    return isinstance(e, ir.Index) and e.base is update.base and e.path == update.path


# --- places


AccumulatorPart = tuple[ir.Atom | None, tuple[ir.Lit | ir.Field, ...]]
"""A place that the function has opened, or None for all that it was given, and the way to a part of it, as far as that
is constant."""


class AccumulatorAliases:
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

    def part(self, place: ir.Atom) -> AccumulatorPart:
        """Where `place` is."""
        root, steps = self._way(place)
        constant: list[ir.Lit | ir.Field] = []
        for step in steps:
            if isinstance(step, ir.Var):
                break
            constant.append(step)
        return root if root in self._opened else None, tuple(constant)

    def access(self, place: ir.Atom) -> Access:
        """To add to `place`, by the way from the place that it is a view of."""
        root, steps = self._way(place)
        return Access(root, steps, writes=True)

    def disjoint(self, one: ir.Atom, other: ir.Atom) -> bool:
        """Whether two places that are no views have nothing in common."""
        return one is not other and (one in self._opened or other in self._opened)

    def _way(self, place: ir.Atom) -> tuple[ir.Atom, ir.Path]:
        """The place that `place` is a view of, and the steps from there."""
        steps: ir.Path = ()
        while place in self._bases:
            view = self._views.get(place)
            steps = (*view.path, *steps) if view is not None else ()  # the payload of a case is no view
            place = self._bases[place]
        return place, steps


def may_overlap(some: set[AccumulatorPart], others: set[AccumulatorPart]) -> bool:
    """Whether one of the places may have something in common with one of the others."""
    return any(
        a is b and all(x == y for x, y in zip(way, other, strict=False)) for a, way in some for b, other in others
    )
