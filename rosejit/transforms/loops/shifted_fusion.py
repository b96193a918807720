"""Loop fusion at constant offsets: a loop that reads y[i - 1] joins those that make y, or walk other parts of it.

Iterations that only some of the loops have are peeled, loops that read ahead are shifted behind what they read, and
what an iteration reads of one before it is carried in a number. Each element is made by the same operations: the same
bits. Only loops of short arithmetic, and only where an array need not be made at all: else memory gains nothing.
"""

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
        stages = {let: stage for let in lets if (stage := stage_of(let)) is not None}
        at = 0
        while len(stages) > 1 and at < len(lets):
            group = self.group(lets, at, stages) if lets[at] in stages else None
            made = None if group is None else self.written(group, lets, block.results)
            if group is not None and made is not None:
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

    def group(self, lets: list[ir.Let], at: int, stages: dict[ir.Let, Stage]) -> _Group | None:
        """The loops that can be joined with the one at `at`."""
        stage = stages[lets[at]]
        stage.delay = 0
        found = _Group([stage], [], [], at)
        between: list[ir.Let] = []
        for k in range(at + 1, len(lets)):
            next_ = stages.get(lets[k])
            if next_ is None or not _fits(found.stages, next_):
                between.append(lets[k])
                continue
            order = self.order(found, between, lets[k])
            if order is None:
                between.append(lets[k])
                continue
            found = _Group([*found.stages, next_], *order, k)
            between = []
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

    def written(self, group: _Group, lets: list[ir.Let], results: tuple[ir.Atom, ...]) -> list[ir.Let] | None:
        """The lets of the joined loop; None where it gains nothing."""
        loops = {stage.let for stage in group.stages}
        read = set(results).union(*[self.facts(let).reads for let in lets if let not in loops])
        if all([o.array in read for stage in group.stages for o in stage.outputs]) or not _is_shifted(group.stages):
            return None
        defined: dict[ir.Atom, ir.Let] = {v: let for let in lets for v in let.binders}
        made = ShiftedPipeline(group.stages, read, defined).run()
        return None if any([isinstance(let.expr, ir.Loop) and any(in_lanes(let.expr)) for let in made]) else made


def _is_shifted(stages: list[Stage]) -> bool:
    """Whether not all loops walk the same elements."""
    made = {o.array for stage in stages for o in stage.outputs}
    spread = {(stage.begin, stage.end) for stage in stages}
    return len(spread) > 1 or any([a in made and at != 0 for stage in stages for a, at in stage.reads()])


def _fits(stages: list[Stage], new: Stage) -> bool:
    """Whether a loop reads what the others make, at constant distances; it is then shifted so far behind them."""
    made = {o.array: stage for stage in stages for o in stage.outputs}
    starts = {o.start for o in new.outputs if o.start is not None}
    reads = [(made[a], at) for a, at in new.reads() if a in made]
    theirs = [at for stage in stages for a, at in stage.reads() if a in starts]
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
