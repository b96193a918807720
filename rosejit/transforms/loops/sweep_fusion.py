"""Joins a loop that changes each element of arrays with the next one that does so: what went through memory stays in
the iteration.

A product with a matrix of few columns is such a row of loops, each of which adds its term to all sums. An iteration
reads and writes nothing of what is carried but its own element, so one loop does all, in the same order for each
element: the same bits.
"""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import Renaming, forms, operands, within
from rosejit.ir.types import REAL, is_boxed
from rosejit.lazy_dataclass import dataclass
from rosejit.transforms.analysis.effects import fails_or_acts

MOST = 96
"""Lets of an iteration up to which loops are joined: more values at once than registers hold are no gain."""


def join_sweeps(f: ir.Function) -> ir.Function:
    """`f` with such loops joined; `f` itself where there are none."""
    if f.body is None or len([let for let in forms(f.body) if isinstance(let.expr, ir.Loop)]) < 2:
        return f
    joiner = _SweepFusion()
    body = joiner.block(f.body)
    return f.with_body(body) if joiner.joined else f


@dataclass(slots=True)
class _Sweep:
    """A loop as that: for each carry where its element is, the let that reads it (if one does), the let that writes
    it."""

    loop: ir.Loop
    paths: list[ir.Path]
    reads: list[ir.Let | None]
    writes: list[ir.Let]


class _SweepFusion:
    def __init__(self) -> None:
        self.joined = 0

    def block(self, block: ir.Block) -> ir.Block:
        """The block with its neighbours joined, and those of inner blocks."""
        new: list[ir.Let] = []
        for let in block.lets:
            last = new[-1] if new else None
            made = None if last is None else _joined(last, let)
            if made is not None:
                self.joined += 1
                new[-1] = made
            else:
                new.append(let)
        return ir.Block([within(let, self.block) for let in new], block.results)


def _joined(first: ir.Let, second: ir.Let) -> ir.Let | None:
    """One loop for two, the second of which takes all that the first gives."""
    one, other = first.expr, second.expr
    if not isinstance(one, ir.Loop) or not isinstance(other, ir.Loop) or other.inits != first.binders:
        return None
    if one.trips != other.trips or one.down != other.down or one.scans or other.scans:
        return None
    if len(one.body.lets) + len(other.body.lets) > MOST:
        return None
    a, b = _as_sweep(one), _as_sweep(other)
    if a is None or b is None:
        return None
    here = [tuple([one.index if step is other.index else step for step in path]) for path in b.paths]
    return ir.Let(second.binders, _loop(a, b), second.span) if here == a.paths else None


def _as_sweep(e: ir.Loop) -> _Sweep | None:
    """A loop that does nothing but change one element of each carry in an iteration, at its index."""
    found = _accesses(e) if e.carries and len(e.body.results) == len(e.carries) else None
    if found is None:
        return None
    reads, writes = found
    if len(writes) != len(e.carries) or e.body.results != tuple([writes[c].binders[0] for c in e.carries]):
        return None
    inside = {b for let in e.body.lets for b in let.binders}
    paths = [_path(writes[c]) for c in e.carries]
    others = [_path(reads[c]) if c in reads else path for c, path in zip(e.carries, paths, strict=True)]
    if paths != others or any([e.index not in path or not inside.isdisjoint(path) for path in paths]):
        return None
    return _Sweep(e, paths, [reads.get(c) for c in e.carries], [writes[c] for c in e.carries])


def _path(let: ir.Let) -> ir.Path:
    assert isinstance(let.expr, ir.Index | ir.Update)
    return let.expr.path


def _accesses(e: ir.Loop) -> tuple[dict[ir.Atom, ir.Let], dict[ir.Atom, ir.Let]] | None:
    """The lets that read and that write an element of each carry; None where the loop does anything else to them."""
    writes: dict[ir.Atom, ir.Let] = {}
    reads: dict[ir.Atom, ir.Let] = {}
    carries: set[ir.Atom] = set(e.carries)
    for let in e.body.lets:
        x = let.expr
        if fails_or_acts(x) or not isinstance(x, ir.Apply | ir.Index | ir.Update):
            return None
        if isinstance(x, ir.Update) and x.value.type is REAL and x.base in carries - writes.keys():
            writes[x.base] = let
        elif isinstance(x, ir.Update) or is_boxed(let.binders[0].type):
            return None
        elif isinstance(x, ir.Index) and x.base in carries - reads.keys() - writes.keys():
            reads[x.base] = let
        elif any([a in carries or _is_new(a, writes) for a in operands(x)]):
            return None
    return reads, writes


def _is_new(a: ir.Atom, writes: dict[ir.Atom, ir.Let]) -> bool:
    return any([a in let.binders for let in writes.values()])


def _loop(one: _Sweep, other: _Sweep) -> ir.Loop:
    """The loop that does both: what the second one reads is what the first one would have written."""
    values: list[ir.Atom] = []
    for let in one.writes:
        assert isinstance(let.expr, ir.Update)
        values.append(let.expr.value)
    copy = Renaming({other.loop.index: one.loop.index, **dict(zip(other.loop.carries, one.loop.carries, strict=True))})
    for read, value in zip(other.reads, values, strict=True):
        if read is not None:
            copy.atoms[read.binders[0]] = value
    lets = [let for let in one.loop.body.lets if let not in one.writes]
    lets += [copy.let(let) for let in other.loop.body.lets if let not in other.reads]
    results = tuple([copy.atom(a) for a in other.loop.body.results])
    e = one.loop
    return ir.Loop(e.trips, e.index, e.carries, e.inits, (), ir.Block(lets, results), e.down)
