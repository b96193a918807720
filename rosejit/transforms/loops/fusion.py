"""Joins a loop with the one that walks what it has stacked: what went through memory stays in the iteration.

Reverse mode makes such pairs: a loop that keeps residuals, and one that reads them; or a loop that makes cotangents,
and a sum that adds them to a place, which is a loop too. Where the second one iterations in the same direction, or the
iterations of the first may come in any order, one loop does both. Each iteration does what it did, so all results are
the same bits.
"""

from functools import cached_property

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import (
    captures,
    consumed,
    forms,
    lets,
    operands,
    rebuild,
    scopes,
    within,
    writes,
)
from rosejit.ir.types import INT, REAL, Array, Ref, Type, is_boxed
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES
from rosejit.transforms.analysis.affine_dependence import AccumulatorAliases, AccumulatorPart, Iterations, may_overlap
from rosejit.transforms.analysis.effects import fails_or_acts, windows


def fuse_loops(f: ir.Function) -> ir.Function:
    """`f` with its loops joined, outermost first; the same object where there is nothing to join. What has become
    equal in one iteration is for `simplify` to find; then inner loops may be joined."""
    if f.body is None:
        return f
    found = [let.expr for let in forms(f.body) if isinstance(let.expr, ir.Loop | ir.Add)]
    if len(found) < 2 or not any([isinstance(e, ir.Loop) for e in found]):
        return f
    sweep = _LoopFusion(f.body)
    body = sweep.block(f.body)
    if not sweep.joined:
        return f
    return f.with_body(body)


class _LoopFusion:
    """Goes through all blocks of a body; `joined` counts."""

    def __init__(self, body: ir.Block) -> None:
        self.body = body
        self.nested = NestedEffects({let.expr.index for let in forms(body) if isinstance(let.expr, ir.Loop)})
        self.joined = 0

    @cached_property
    def places(self) -> AccumulatorAliases:
        return AccumulatorAliases(self.body)

    @cached_property
    def windows(self) -> dict[ir.Atom, ir.Atom]:
        return windows(self.body)

    def block(self, block: ir.Block) -> ir.Block:
        """The block with its loops joined, and those of inner blocks."""
        loops = [let for let in block.lets if isinstance(let.expr, ir.Loop)]
        found = block.lets
        if _may_join(block, loops):
            joiner = _Joiner(block, loops, self)
            found = joiner.run()
            self.joined += joiner.joined
        return ir.Block([within(let, self.block) for let in found], block.results)


def _may_join(block: ir.Block, loops: list[ir.Let]) -> bool:
    """Whether a loop of a block stacks something, and there is another one of as many iterations, or a sum of it: only
    then what lies between them is looked at."""
    stacked: set[ir.Atom] = set()
    trips: list[ir.Atom] = []
    for let in loops:
        assert isinstance(let.expr, ir.Loop)
        stacked.update(let.binders[len(let.expr.carries) :])
        trips.append(let.expr.trips)
    if not stacked:
        return False
    sums = [let.expr.value for let in block.lets if isinstance(let.expr, ir.Add)]
    return len(set(trips)) < len(trips) or not stacked.isdisjoint(sums)


@dataclass(slots=True)
class LetEffects:
    """What a let reads, what it needs alive for that, what it consumes, the places that it touches, at any depth,
    whether it may fail or act, and whether it trusts what others have tested."""

    reads: set[ir.Atom]
    needs: set[ir.Atom]
    consumes: set[ir.Atom]
    places: set[AccumulatorPart]
    acts: bool
    trusts: bool


Inside = tuple[set[ir.Atom], set[ir.Atom], bool, bool]
"""What a block reads and consumes, whether it acts, and whether it trusts."""

_DIVIDING = {PRIMITIVES[name] for name in ("quot", "rem", "urem", "wfloordiv", "wmod")}


def _trusts(e: ir.Expr, indices: set[ir.Atom]) -> bool:
    """Whether `e` relies on a test that stands before it: of an index that is none of the `indices` of loops, of a
    divisor."""
    if isinstance(e, ir.Apply):
        return e.op in _DIVIDING and type(e.args[1]) is ir.Var
    if not isinstance(e, ir.Index | ir.Update | ir.View) or e.checked:
        return False
    return any([type(step) is ir.Var and step not in indices for step in e.path])


class NestedEffects:
    """What blocks read from outside of them, what they consume, whether something in them may fail or act, and whether
    they trust tests before them, at any depth. A block is looked at once, however many blocks are around it."""

    def __init__(self, indices: set[ir.Atom]) -> None:
        self.indices = indices
        self._known: dict[int, tuple[ir.Block, set[ir.Atom], set[ir.Atom], bool, bool]] = {}

    def of(self, params: tuple[ir.Var, ...], block: ir.Block) -> Inside:
        """Of a block that is given `params`."""
        known = self._known.get(id(block))
        if known is None:  # the block is kept, so that no other one gets its address
            known = self._known[id(block)] = (block, *self._looked_at(block, params))
        return known[1:]

    def _looked_at(self, block: ir.Block, params: tuple[ir.Var, ...]) -> Inside:
        reads, taken, bound = set(block.results), set(block.results), set[ir.Atom](params)
        acts = trusts = False
        for let in block.lets:
            e = let.expr
            bound.update(let.binders)
            acts = acts or fails_or_acts(e)
            trusts = trusts or _trusts(e, self.indices)
            if isinstance(e, ir.Apply):
                reads.update(e.args)
                continue
            reads.update(operands(e))
            taken.update(consumed(e))
            for inner_params, inner in scopes(e):
                inner_reads, inner_taken, inner_acts, inner_trusts = self.of(inner_params, inner)
                reads |= inner_reads
                taken |= inner_taken
                acts = acts or inner_acts
                trusts = trusts or inner_trusts
        return {a for a in reads if type(a) is ir.Var and a not in bound}, taken, acts, trusts


def let_effects(
    let: ir.Let, places: AccumulatorAliases, windows: dict[ir.Atom, ir.Atom], nested: NestedEffects
) -> LetEffects:
    """The effects of one let, all inside it counted; `windows` tells what views look into."""
    e = let.expr
    if isinstance(e, ir.Apply):
        return LetEffects(set(e.args), set(), set(), set(), fails_or_acts(e), _trusts(e, nested.indices))
    inside = [nested.of(params, block) for params, block in scopes(e)]
    reads: set[ir.Atom] = set(operands(e)).union(*[read for read, _, _, _ in inside])
    taken = set(consumed(e)).union(*[taken for _, taken, _, _ in inside])
    needs = set(reads)
    for a in reads:
        while a in windows:
            a = windows[a]
            needs.add(a)
    return LetEffects(
        reads,
        needs,
        {a for a in taken & reads if is_boxed(a.type) or isinstance(a.type, Ref)},
        {places.part(a) for a in reads if isinstance(a.type, Ref) and not isinstance(e, ir.View)},
        fails_or_acts(e) or any([acts for _, _, acts, _ in inside]),
        _trusts(e, nested.indices) or any([trusts for _, _, _, trusts in inside]),
    )


_FARTHEST = 256
"""So many lets may be between two loops that are joined: all of them are looked at for each pair."""
_LONGEST = 1200
"""Lets of an iteration up to which loops are joined: the code of longer ones is cut, and calls its parts."""
_LOOKS = 16
"""So often may the lets of a block be looked at for pairs that are farther from each other."""


class _Joiner:
    """Joins the loops of one block; `readers` are the lets that read an output of a loop, in order."""

    def __init__(self, block: ir.Block, loops: list[ir.Let], sweep: _LoopFusion) -> None:
        self.places = sweep.places
        self.windows = sweep.windows
        self.nested = sweep.nested
        self.lets = list(block.lets)
        self.results = set(block.results)
        self.loops = loops
        self.joined = 0
        self.lengths: dict[ir.Let, int] = {}
        self.far = 0
        """Lets between pairs that are far from each other, as often as they were looked at."""
        self.known: dict[ir.Let, LetEffects] = {}
        self.readers: dict[ir.Atom, list[ir.Let]] = {v: [] for let in loops for v in let.binders}
        for let in block.lets:
            if not isinstance(let.expr, ir.Apply):
                for a in self.facts(let).reads & self.readers.keys():
                    self.readers[a].append(let)
        self.sums: dict[ir.Let, ir.Let] = {}
        """Loops that stand for sums."""
        for let in block.lets:
            if isinstance(let.expr, ir.Add):
                self.as_loop(let, let.expr)
        self.loops = [let for let in self.lets if isinstance(let.expr, ir.Loop)]
        self.open = set(self.loops)
        """Those of `loops`, which shrink, for looking up."""

    def as_loop(self, let: ir.Let, e: ir.Add) -> None:
        """Put a loop in the place of a sum whose value a loop makes for it alone."""
        v = e.value
        if v in self.results or [*self.readers.get(v, ())] != [let]:
            return
        maker = next(other for other in self.loops if v in other.binders)
        if not isinstance(maker.expr, ir.Loop) or v in maker.binders[: len(maker.expr.carries)]:
            return
        if isinstance(v.type, Array) and v.type.length is not None and v.type.element is REAL:
            index, x, at = ir.Var(INT, "i"), ir.Var(REAL, "ct"), ir.Var(Ref(REAL), "at")
            iteration = [
                ir.Let((at,), ir.View(e.place, (index,), False), let.span),
                ir.Let((), ir.Add(at, x), let.span),
            ]
            scan, body = ir.Scan(x, v), ir.Block(iteration, ())
            loop = ir.Loop(ir.integer(v.type.length), index, (), (), (scan,), body, maker.expr.down)
            made = ir.Let((), loop, let.span)
            self.sums[made] = let
            self.lets[self.lets.index(let)] = made
            self.readers[v] = [made]

    def facts(self, let: ir.Let) -> LetEffects:
        found = self.known.get(let)
        if found is None:
            found = self.known[let] = let_effects(let, self.places, self.windows, self.nested)
        return found

    def run(self) -> list[ir.Let]:
        """The lets of the block, loops joined as far as possible."""
        while self.loops:
            first = self.loops.pop(0)
            self.open.discard(first)
            second = self.partner(first)
            if second is None:
                continue
            at = self.lets.index(first)
            where = self.lets.index(second, at)
            length = self.length(first) + self.length(second)
            may_join = length <= _LONGEST and self.may_look(where - at)
            order = self.order(self.lets[at + 1 : where], first, second) if may_join else None
            if order is not None:
                before, after = order
                made = self.join(first, second)
                self.lengths[made] = length
                self.lets[at : where + 1] = [*before, made, *after]
                self.loops[self.loops.index(second)] = made
                self.open.discard(second)
                self.open.add(made)
                self.joined += 1
        return [self.sums.get(let, let) for let in self.lets]

    def length(self, let: ir.Let) -> int:
        """The lets of an iteration of a loop, inner ones too."""
        if let not in self.lengths:
            assert isinstance(let.expr, ir.Loop)
            self.lengths[let] = sum([1 for _ in lets(let.expr.body)])
        return self.lengths[let]

    def may_look(self, distance: int) -> bool:
        """Whether what is between two loops is looked at; far pairs have a budget."""
        if distance > _FARTHEST:
            self.far += distance
        return distance <= _FARTHEST or self.far <= _LOOKS * len(self.lets)

    def partner(self, first: ir.Let) -> ir.Let | None:
        """The loop that walks all that `first` has stacked, if nothing but the order of the lets speaks against it."""
        e = first.expr
        assert isinstance(e, ir.Loop)
        outputs = first.binders[len(e.carries) :]
        readers = dict.fromkeys(let for v in outputs for let in self.readers[v])
        if not readers:
            return None
        found = [let for let in readers if let in self.open]
        second = next(let for let in self.loops if let in readers) if len(found) > 1 else found[0] if found else None
        other = None if second is None else second.expr
        if not isinstance(other, ir.Loop) or other.trips != e.trips:
            return None
        if e.down != other.down and not _in_any_order(e, self.places):
            return None
        read = {*captures(other), *operands(other)}
        if not read.isdisjoint(first.binders[: len(e.carries)]):
            return None
        if not set(outputs).isdisjoint(other.inits) or not _reads_own_rows(other, set(outputs)):
            return None
        return None if any(is_boxed(_element(v)) for v in self.elsewhere(first, second)) else second

    def elsewhere(self, first: ir.Let, second: ir.Let | None) -> list[ir.Var]:
        """The outputs of `first` that are not for `second` alone."""
        assert isinstance(first.expr, ir.Loop)
        outputs = first.binders[len(first.expr.carries) :]
        return [v for v in outputs if v in self.results or any(let is not second for let in self.readers[v])]

    def order(self, between: list[ir.Let], first: ir.Let, second: ir.Let) -> tuple[list[ir.Let], list[ir.Let]] | None:
        """The lets between the two loops: those that the second one needs, or that must come before it, come before
        both, the others behind. None where one of them would then see or do something else."""
        one, two = self.facts(first), self.facts(second)
        if two.acts or may_overlap(one.places, two.places) or one.needs & two.consumes.difference(first.binders):
            return None
        wanted, taken, touched, acted = set(two.reads), set(two.consumes), set(two.places), False
        before: list[ir.Let] = []
        after: list[ir.Let] = []
        for let in reversed(between):
            known = self.facts(let)
            behind = known.acts and (acted or two.trusts)
            if known.needs:  # no number alone
                behind = behind or not known.needs.isdisjoint(taken) or may_overlap(known.places, touched)
            if wanted.isdisjoint(let.binders) and not behind:
                after.append(let)
                continue
            if (known.acts and one.acts) or may_overlap(known.places, one.places) or known.consumes & one.needs:
                return None
            if not known.reads.isdisjoint(first.binders):
                return None
            wanted |= known.reads
            taken |= known.consumes
            touched |= known.places
            acted |= known.acts
            before.append(let)
        return before[::-1], after[::-1]

    def join(self, first: ir.Let, second: ir.Let) -> ir.Let:
        """The loop that does the iterations of both, known to all that the two were known to."""
        made = _loop(first, second, self.elsewhere(first, second))
        for v in {*self.facts(first).reads, *self.facts(second).reads} & self.readers.keys():
            kept = [let for let in self.readers[v] if let is not first and let is not second]
            self.readers[v] = kept if v in first.binders else [*kept, made]
        return made


def _in_any_order(e: ir.Loop, places: AccumulatorAliases) -> bool:
    """Whether the iterations of a loop may come in any order: no iteration takes from another, or fails or acts before
    it, and each adds to rows of its own, to what it has opened itself, or to nothing."""
    inside = list(lets(e.body))
    if e.carries or any([fails_or_acts(let.expr) for let in inside]):
        return False
    own = {let.binders[0] for let in inside if isinstance(let.expr, ir.Accum)}
    iterations = Iterations(e)
    written = [places.access(a) for let in inside for a in writes(let.expr)]
    iterations.accesses += [access for access in written if access.root not in own]
    return not iterations.carries_dependence(places.disjoint)


def _reads_own_rows(e: ir.Loop, arrays: set[ir.Var]) -> bool:
    """Whether each iteration reads nothing of these arrays but its own row, as if they were scanned."""
    reads = [let.expr for let in lets(e.body) if not arrays.isdisjoint(operands(let.expr))]
    return all([isinstance(x, ir.Index) and x.base in arrays and x.path[0] is e.index for x in reads])


def _element(v: ir.Atom) -> Type:
    assert isinstance(v.type, Array)
    return v.type.element


def _loop(first: ir.Let, second: ir.Let, kept: list[ir.Var]) -> ir.Let:
    """One loop that does the iterations of both, and gives the outputs `kept` of the first."""
    e, other = first.expr, second.expr
    assert isinstance(e, ir.Loop)
    assert isinstance(other, ir.Loop)
    n, m = len(e.carries), len(other.carries)
    stacked = dict(zip(first.binders[n:], e.body.results[n:], strict=True))
    rows = {scan.array: scan.param for scan in e.scans if not scan.consumes}
    known: dict[ir.Atom, ir.Atom] = {other.index: e.index}
    scans = list(e.scans)
    for scan in other.scans:
        if scan.array in stacked:
            assert isinstance(scan.array, ir.Var)
            known[scan.param] = stacked[scan.array]
        elif scan.array in rows and not scan.consumes:
            known[scan.param] = rows[scan.array]
        else:
            scans.append(scan)
    body = _substituted(other.body, known, stacked, other.index)
    given = (*e.body.results[:n], *body.results, *(stacked[v] for v in kept))
    loop = ir.Loop(
        e.trips,
        e.index,
        (*e.carries, *other.carries),
        (*e.inits, *other.inits),
        tuple(scans),
        ir.Block([*e.body.lets, *body.lets], given),
        other.down,
    )
    return ir.Let((*first.binders[:n], *second.binders[:m], *second.binders[m:], *kept), loop, second.span)


def _substituted(
    block: ir.Block, known: dict[ir.Atom, ir.Atom], stacked: dict[ir.Var, ir.Atom], index: ir.Var
) -> ir.Block:
    """`block` with other atoms, and what is stacked in place of rows at the index; its binders stay."""

    def atom(a: ir.Atom) -> ir.Atom:
        return known.get(a, a)

    def inner(old: ir.Block) -> ir.Block:
        new: list[ir.Let] = []
        for let in old.lets:
            e = let.expr
            if isinstance(e, ir.Index) and e.base in stacked:
                assert isinstance(e.base, ir.Var)
                row = stacked[e.base]
                if e.path == (index,):
                    known[let.binders[0]] = row
                    continue
                e = ir.Index(row, e.path[1:], e.checked)
            new.append(ir.Let(let.binders, rebuild(e, atom, block=inner), let.span))
        return ir.Block(new, tuple([atom(a) for a in old.results]))

    return inner(block)
