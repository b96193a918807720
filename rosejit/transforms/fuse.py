"""Joins a loop with the one that walks what it has stacked: what went through memory stays in the turn.

Reverse mode makes such pairs: a loop that keeps residuals, and one that reads them. Where the second one turns in the
same direction (or the first carries nothing, so that its turns may come in any order), one loop does both. Each turn
does what it did, so all results are the same bits.
"""

from dataclasses import dataclass

from rosejit.ir import syntax as ir
from rosejit.ir.types import Array, Ref, Type, is_heavy
from rosejit.ir.walk import captures, consumed, lets, operands, rebuild, scopes
from rosejit.transforms.effects import fails_or_acts, writes_to


def fuse(f: ir.Function) -> ir.Function:
    """`f` with its loops joined, outermost first; the same object where there is nothing to join. What has become
    equal in one turn is for `simplify` to find; then inner loops may be joined."""
    if f.body is None:
        return f
    sweep = _Sweep()
    body = sweep.block(f.body)
    if not sweep.joined:
        return f
    return ir.Function(f.name, f.params, f.results, body, f.own, None, f.rule, f.checkpoint, f.span)


class _Sweep:
    """Goes through all blocks; `joined` counts."""

    def __init__(self) -> None:
        self.joined = 0

    def block(self, block: ir.Block) -> ir.Block:
        """The block with its loops joined, and those of inner blocks."""
        found = list(block.lets)
        start = 0
        while (start := _next_loop(found, start)) is not None:
            made = _joined(found, start, block.results)
            if made is None:
                start += 1
            else:
                found = made
                self.joined += 1
        new = [let if isinstance(let.expr, ir.Apply) or not scopes(let.expr) else self.inside(let) for let in found]
        return ir.Block(new, block.results)

    def inside(self, let: ir.Let) -> ir.Let:
        """A let with its inner blocks gone through."""
        return ir.Let(let.binders, rebuild(let.expr, lambda a: a, block=self.block), let.span)


def _next_loop(found: list[ir.Let], start: int) -> int | None:
    return next((k for k in range(start, len(found)) if isinstance(found[k].expr, ir.Loop)), None)


@dataclass(slots=True)
class _Facts:
    """What a let reads, consumes and adds to, at any depth, and whether it may fail or act."""

    reads: set[ir.Atom]
    consumes: set[ir.Atom]
    adds: bool
    acts: bool


def _facts(let: ir.Let) -> _Facts:
    e = let.expr
    everything = [let, *(inner for _, block in scopes(e) for inner in lets(block))]
    reads: set[ir.Atom] = {*operands(e), *captures(e)}
    return _Facts(
        reads,
        {a for a in consumed(e) if is_heavy(a.type) or isinstance(a.type, Ref)},
        any(isinstance(a.type, Ref) for a in reads) or any(writes_to(inner.expr) for inner in everything),
        any(fails_or_acts(inner.expr) for inner in everything),
    )


def _joined(found: list[ir.Let], at: int, results: tuple[ir.Atom, ...]) -> list[ir.Let] | None:
    """The lets with the loop at `at` joined with the one that walks its outputs; None where that cannot be."""
    first = found[at]
    e = first.expr
    assert isinstance(e, ir.Loop)
    outputs: set[ir.Atom] = set(first.binders[len(e.carries) :])
    readers = [k for k in range(at + 1, len(found)) if outputs & _facts(found[k]).reads] if outputs else []
    if not readers:
        return None
    where = readers[0]
    second = found[where]
    other = second.expr
    if not isinstance(other, ir.Loop) or (other.trips is not e.trips and other.trips != e.trips):
        return None
    if e.down != other.down and e.carries:
        return None
    elsewhere = outputs & {a for k in readers[1:] for a in _facts(found[k]).reads} | outputs.intersection(results)
    if any(is_heavy(_element(v)) for v in elsewhere):
        return None
    if not {*captures(other), *other.inits}.isdisjoint(first.binders):
        return None
    order = _order(found[at + 1 : where], first, second)
    if order is None:
        return None
    before, after = order
    return [*found[:at], *before, _loop(first, e, second, other, elsewhere), *after, *found[where + 1 :]]


def _element(v: ir.Atom) -> Type:
    assert isinstance(v.type, Array)
    return v.type.element


def _order(between: list[ir.Let], first: ir.Let, second: ir.Let) -> tuple[list[ir.Let], list[ir.Let]] | None:
    """The lets between the two loops: those that the second one needs come before both, the others behind. None where
    one of them would then see or do something else."""
    one, two = _facts(first), _facts(second)
    if two.acts or (one.adds and two.adds) or one.reads & two.consumes.difference(first.binders):
        return None
    wanted = set(two.reads)
    before: list[ir.Let] = []
    after: list[ir.Let] = []
    for let in reversed(between):
        known = _facts(let)
        if wanted.isdisjoint(let.binders):
            if known.reads & two.consumes or (known.adds and two.adds) or (known.acts and one.acts):
                return None
            after.append(let)
            continue
        if (
            known.acts
            or (known.adds and one.adds)
            or not known.reads.isdisjoint(first.binders)
            or known.consumes & one.reads
        ):
            return None
        wanted |= known.reads
        before.append(let)
    return before[::-1], after[::-1]


def _loop(first: ir.Let, e: ir.Loop, second: ir.Let, other: ir.Loop, elsewhere: set[ir.Atom]) -> ir.Let:
    """One loop that does the turns of both."""
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
    body = _substituted(other.body, known)
    kept = [v for v in first.binders[n:] if v in elsewhere]
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


def _substituted(block: ir.Block, known: dict[ir.Atom, ir.Atom]) -> ir.Block:
    """`block` with other atoms; its binders stay."""

    def atom(a: ir.Atom) -> ir.Atom:
        return known.get(a, a)

    def inner(old: ir.Block) -> ir.Block:
        new = [ir.Let(let.binders, rebuild(let.expr, atom, block=inner), let.span) for let in old.lets]
        return ir.Block(new, tuple([atom(a) for a in old.results]))

    return inner(block)
