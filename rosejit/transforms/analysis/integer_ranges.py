"""Integer range analysis: the least and the largest value of an Int.

Of results, of induction variables, and of loop-carried Ints, whose growth in one iteration is found in one walk over
the body. Says where an index is proven to be in range, so that no check is made.
"""

from collections.abc import Sequence

from rosejit.ir import syntax as ir
from rosejit.ir.types import INT, Array, Ref, Type, fields_of
from rosejit.ops.integer import LARGEST, SMALLEST

Range = tuple[int, int]
"""The least and the largest value that a variable can have, wherever it is in scope."""

ANY = (SMALLEST, LARGEST)


def range_of(a: ir.Atom | ir.Field, known: dict[ir.Atom, Range]) -> Range:
    """What an Int can be."""
    if isinstance(a, ir.Lit):
        return (a.value, a.value) if isinstance(a.value, int) else ANY
    return ANY if isinstance(a, ir.Field) else known.get(a, ANY)


def result_range(op: ir.Primitive, args: tuple[ir.Atom, ...], known: dict[ir.Atom, Range]) -> Range | None:
    """What `op` gives, if that is sure to fit 64 bits; None else."""
    given = [range_of(a, known) for a in args]
    if op.adds:
        pairs = [(low, high) if sign > 0 else (-high, -low) for sign, (low, high) in zip(op.adds, given, strict=True)]
        found = sum(low for low, _ in pairs), sum(high for _, high in pairs)
    else:
        found = op.bounds(*given) if op.bounds is not None else None
    return found if found is not None and found[0] >= SMALLEST and found[1] <= LARGEST else None


def index_range(trips: ir.Atom, known: dict[ir.Atom, Range]) -> Range:
    """The numbers of the iterations of a loop; no iteration at all has any number."""
    return 0, max(range_of(trips, known)[1] - 1, 0)


def in_range(base: Type, path: ir.Path, known: dict[ir.Atom, Range]) -> bool:
    """Whether a path is sure to lead somewhere."""
    t = base.target if isinstance(base, Ref) else base
    for step in path:
        if isinstance(step, ir.Field):
            t = fields_of(t)[step.number]
            continue
        assert isinstance(t, Array)
        low, high = range_of(step, known)
        if t.length is None or low < 0 or high >= t.length:
            return False
        t = t.element
    return True


Known = dict[ir.Atom, Range]
Ahead = tuple[ir.Var, int, int]
"""A carry, and the least and the largest that has been added to it."""

MOST = 2**53
"""Up to here sums of a few overflow nowhere."""


def growth(e: ir.Loop, known: Known) -> dict[ir.Var, Range]:
    """What each iteration adds to carries, the least and the largest; `known` has the ranges of what is outside.

    No sum on the way overflows as long as the carry itself stays within `MOST`.
    """
    carries = [c for c in e.carries if c.type is INT]
    if not carries:
        return {}
    inside = _Inside({**known, e.index: index_range(e.trips, known)}, {c: (c, 0, 0) for c in carries})
    inside.block(e.body)
    found: dict[ir.Var, Range] = {}
    for c, after in zip(e.carries, e.body.results, strict=False):
        ahead = inside.ahead.get(after)
        if ahead is not None and ahead[0] is c:
            found[c] = ahead[1:]
    return found


def after(start: Range, added: Range, trips: int) -> Range | None:
    """What a carry can be after at most so many iterations; None where it may become too large."""
    low, high = start[0] + min(trips * added[0], 0), start[1] + max(trips * added[1], 0)
    return (low, high) if low >= -MOST and high <= MOST else None


class _Inside:
    """The body of a loop: ranges of what does not depend on the carries, and what is so much more than one."""

    def __init__(self, known: Known, ahead: dict[ir.Atom, Ahead]) -> None:
        self.known = known
        self.ahead = ahead

    def block(self, block: ir.Block) -> None:
        for let in block.lets:
            e = let.expr
            if isinstance(e, ir.Apply):
                if e.op.result is INT:
                    self.integer(let.binders[0], e)
            elif isinstance(e, ir.Loop):
                self.loop(let.binders, e)
            elif isinstance(e, ir.If):
                self.block(e.then)
                self.block(e.orelse)
                self.joined(let.binders, e.then.results, e.orelse.results)

    def integer(self, v: ir.Var, e: ir.Apply) -> None:
        found = result_range(e.op, e.args, self.known)
        if found is not None:
            self.known[v] = found
        if len(e.op.adds) != 2:
            return
        for (one, sign), (other, last) in (tuple(zip(e.args, e.op.adds, strict=True))[::step] for step in (1, -1)):
            ahead, more = self.ahead.get(one), range_of(other, self.known)
            if ahead is not None and sign > 0 and more != ANY:
                low, high = more if last > 0 else (-more[1], -more[0])
                if ahead[1] + low >= -MOST and ahead[2] + high <= MOST:
                    self.ahead[v] = ahead[0], ahead[1] + low, ahead[2] + high
                return

    def loop(self, binders: Sequence[ir.Var], e: ir.Loop) -> None:
        """A loop inside: what its carries are ahead of those outside, behind it."""
        self.known[e.index] = index_range(e.trips, self.known)
        most_trips = max(range_of(e.trips, self.known)[1], 0)
        for c, added in growth(e, self.known).items():
            k = e.carries.index(c)
            ahead = self.ahead.get(e.inits[k])
            grown = after(ahead[1:], added, most_trips) if ahead is not None else None
            if ahead is not None and grown is not None:
                self.ahead[binders[k]] = ahead[0], *grown
            found = after(range_of(e.inits[k], self.known), added, most_trips)
            if found is not None:
                self.known[binders[k]] = found

    def joined(self, binders: Sequence[ir.Var], one: Sequence[ir.Atom], other: Sequence[ir.Atom]) -> None:
        """What comes from either side of a branch."""
        for v, a, b in zip(binders, one, other, strict=True):
            here, there = self.ahead.get(a), self.ahead.get(b)
            if here is not None and there is not None and here[0] is there[0]:
                self.ahead[v] = (here[0], min(here[1], there[1]), max(here[2], there[2]))
            mine, others = range_of(a, self.known), range_of(b, self.known)
            if v.type is INT and ANY not in (mine, others):
                self.known[v] = min(mine[0], others[0]), max(mine[1], others[1])
