"""Loop fusion at constant offsets: a loop that reads y[i - 1] joins those that make y, or walk other parts of it.

Iterations that only some of the loops have are peeled, loops that read ahead are shifted behind what they read, and
what an iteration reads of one before it is carried in a number. Each element is made by the same operations: the same
bits. Only loops of short arithmetic, and only where an array need not be made at all: else memory gains nothing.
"""

from collections.abc import Callable
from heapq import heapify, heappop, heappush

from rosejit.ir import syntax as ir
from rosejit.ir.lane_sums import in_lanes
from rosejit.ir.traversal import forms, within
from rosejit.lazy_dataclass import dataclass
from rosejit.transforms.analysis.affine_dependence import AccumulatorAliases, may_overlap
from rosejit.transforms.analysis.effects import windows
from rosejit.transforms.loops.fusion import LetEffects, NestedEffects, let_effects
from rosejit.transforms.loops.loop_stages import FEWEST, Stage, stage_of
from rosejit.transforms.loops.shifted_pipeline import ShiftedPipeline
from rosejit.transforms.passes.range_checks import has_loops

MOST = 96
"""Lets of an iteration up to which loops are joined: more values at once than registers hold are no gain."""
PEELED = 3
"""Iterations in front of the loop, and behind it."""


def fuse_shifted_loops(f: ir.Function) -> ir.Function:
    """`f` with such loops joined; the same object where there are none."""
    if f.body is None or not has_loops(f.body):
        return f
    sweep = _ShiftedFusion(f.body)
    body = sweep.block(f.body)
    return f.with_body(body) if sweep.joined else f


@dataclass(slots=True)
class _Group:
    """Loops to be joined; of the lets between them those that must come before, and those that must come behind."""

    stages: list[Stage]
    before: list[ir.Let]
    after: list[ir.Let]
    last: int
    """Where the last of the loops stands."""


class _ShiftedFusion:
    """Goes through all blocks; `joined` counts."""

    def __init__(self, body: ir.Block) -> None:
        self.places = AccumulatorAliases(body)
        self.windows = windows(body)
        self.joined = 0
        self.known: dict[ir.Let, LetEffects] = {}
        self.nested = NestedEffects({let.expr.index for let in forms(body) if isinstance(let.expr, ir.Loop)})

    def block(self, block: ir.Block) -> ir.Block:
        """The block with its loops joined, those of inner blocks first."""
        lets = [within(let, self.block) for let in block.lets]
        found = _Loops(lets, block.results, self.facts)
        at = 0
        while len(found.stages) > 1 and at < len(lets):
            group = self.group(lets, at, found) if lets[at] in found.stages else None
            made = None if group is None else _written(group, found)
            if group is not None and made is not None:
                found.replace(at, group, made)
                lets[at : group.last + 1] = [*group.before, *made, *group.after]
                self.joined += 1
                at += len(group.before) + len(made)
            else:
                at += 1
        return ir.Block(lets, block.results)

    def facts(self, let: ir.Let) -> LetEffects:
        found = self.known.get(let)
        if found is None:
            found = self.known[let] = let_effects(let, self.places, self.windows, self.nested)
        return found

    def group(self, lets: list[ir.Let], at: int, loops: "_Loops") -> _Group | None:
        """The loops that can be joined with the one at `at`: only those that read what others of them make."""
        stage = loops.stages[lets[at]]
        stage.delay = 0
        found, last = _Group([stage], [], [], at), at
        later = loops.readers_of(stage)
        heapify(later)
        while later:
            k = heappop(later)
            if k <= last:
                continue
            last = k
            next_ = loops.stages[lets[k]]
            if not _fits(found.stages, next_):
                continue
            order = self.order(found, lets[found.last + 1 : k], lets[k])
            if order is None:
                continue
            found = _Group([*found.stages, next_], *order, k)
            for place in loops.readers_of(next_):
                heappush(later, place)
        return found if len(found.stages) > 1 else None

    def order(self, group: _Group, between: list[ir.Let], second: ir.Let) -> tuple[list[ir.Let], list[ir.Let]] | None:
        """The lets before and behind all loops once another one has joined; None where a let would then see or do
        something else."""
        before, after = list(group.before), list(group.after)
        behind = [self.facts(let) for let in after]
        made = {v for stage in group.stages for v in stage.let.binders}
        made.update([v for let in after for v in let.binders])
        needed = set[ir.Atom]().union(
            *[self.facts(stage.let).needs | self.facts(stage.let).reads for stage in group.stages]
        )
        for let in between:
            known = self.facts(let)
            clash = any([(known.acts and other.acts) or may_overlap(known.places, other.places) for other in behind])
            held = needed.union(*[other.needs | other.reads for other in behind])
            if clash or not made.isdisjoint(known.reads) or not held.isdisjoint(known.consumes):
                after.append(let)
                behind.append(known)
                made.update(let.binders)
            else:
                before.append(let)
        two = self.facts(second)
        if two.trusts and any([known.acts for known in behind]):
            return None
        later = {v for let in after for v in let.binders}
        if not later.isdisjoint(two.reads) or any([not two.consumes.isdisjoint(o.needs | o.reads) for o in behind]):
            return None
        return before, after


class _Loops:
    """The loops of a block that can be joined, and who reads what they make."""

    def __init__(self, lets: list[ir.Let], results: tuple[ir.Atom, ...], facts: Callable[[ir.Let], LetEffects]) -> None:
        self.stages = {let: stage for let in lets if (stage := stage_of(let)) is not None}
        self.facts = facts
        self.results = set(results)
        self.defined: dict[ir.Atom, ir.Let] = {}
        self.readers: dict[ir.Atom, dict[ir.Let, None]] = {}
        """The lets that read what loops make, in order."""
        self._places: dict[ir.Let, int] = {}
        """Where a loop stands, but for those in front of it that have become fewer or more lets since."""
        self._moved = 0
        if len(self.stages) > 1:
            self.defined = {v: let for let in lets for v in let.binders}
            self.readers = {o.array: {} for stage in self.stages.values() for o in stage.outputs}
            self._places = {let: k for k, let in enumerate(lets) if let in self.stages}
            for let in lets:
                self._note(let)

    def _note(self, let: ir.Let) -> None:
        for a in self.facts(let).reads & self.readers.keys():
            self.readers[a][let] = None

    def readers_of(self, stage: Stage) -> list[int]:
        """Where the loops stand that read what this one makes."""
        return [
            self._places[let] + self._moved
            for o in stage.outputs
            for let in self.readers[o.array]
            if let in self._places
        ]

    def replace(self, at: int, group: _Group, made: list[ir.Let]) -> None:
        """The loops of a group, the first one at `at`, have become the lets in `made`."""
        for let in [stage.let for stage in group.stages]:
            del self._places[let]
            for a in self.facts(let).reads & self.readers.keys():
                del self.readers[a][let]
        for let in made:
            self._note(let)
            self.defined.update(dict.fromkeys(let.binders, let))
        behind = at + len(group.before) + len(made)
        self._moved += behind + len(group.after) - group.last - 1
        self._places.update({let: behind + k - self._moved for k, let in enumerate(group.after) if let in self._places})


def _written(group: _Group, loops: _Loops) -> list[ir.Let] | None:
    """The lets of the joined loop; None where it gains nothing."""
    own, made = {stage.let for stage in group.stages}, [o.array for stage in group.stages for o in stage.outputs]
    read: set[ir.Atom] = {a for a in made if a in loops.results or not loops.readers[a].keys() <= own}
    if len(read) == len(made) or not _is_shifted(group.stages):
        return None
    lets = ShiftedPipeline(group.stages, read, loops.defined).run()
    return None if any([isinstance(let.expr, ir.Loop) and any(in_lanes(let.expr)) for let in lets]) else lets


def _is_shifted(stages: list[Stage]) -> bool:
    """Whether not all loops walk the same elements."""
    made = {o.array for stage in stages for o in stage.outputs}
    spread = {(stage.begin, stage.end) for stage in stages}
    return len(spread) > 1 or any([a in made and at != 0 for stage in stages for a, at in stage.reads])


def _fits(stages: list[Stage], new: Stage) -> bool:
    """Whether a loop reads what the others make, at constant distances; it is then shifted so far behind them."""
    made = {o.array: stage for stage in stages for o in stage.outputs}
    starts = {o.start for o in new.outputs if o.start is not None}
    reads = [(made[a], at) for a, at in new.reads if a in made]
    theirs = [at for stage in stages for a, at in stage.reads if a in starts]
    if not reads or None in theirs or not starts.isdisjoint(made):
        return False
    delay = 0
    for stage, at in reads:
        if at is None:
            return False
        delay = max(delay, stage.delay + at)
    new.delay = delay
    together = [*stages, new]
    begins, ends = [s.begin for s in together], [s.end for s in together]
    if max(begins) - min(begins) > PEELED or max(ends) - min(ends) > PEELED or min(ends) - max(begins) < FEWEST:
        return False
    return sum([len(s.loop.body.lets) for s in together]) <= MOST
