"""Columns of a Jacobian in groups that are pushed together, each only through what it reaches.

An array parameter is one variable: as soon as one of its elements is active, all are, and everything that any of them
reaches. Here its elements are parameters of their own. What a column reaches is then what is active for it alone; a
finger moves its own bones, not the hand's.
"""

from collections.abc import Sequence

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.traversal import Renaming, callees, captures, operands, reachable, scopes, size
from rosejit.ir.types import REAL, Array, Type, has_real
from rosejit.lazy_dataclass import dataclass
from rosejit.transforms.analysis.activity import Derivation, Mask
from rosejit.transforms.passes.dce import dce
from rosejit.transforms.passes.inline import inline
from rosejit.transforms.passes.simplify import simplify
from rosejit.transforms.scalarize.known_elements import with_known_elements
from rosejit.transforms.scalarize.small_arrays import numbers

COLUMNS = 64
"""Columns up to which each is looked at alone."""
SOME = 16
"""Iterations that a loop is taken to have of which only the run knows how many."""
READ = 1
"""What a push reads once for all its columns, in columns."""
PART = 4
"""Lets of an iteration up to which a loop over a part of a parameter is taken apart too."""
CACHE = 1 << 17
"""Numbers of a Jacobian from which each push through everything, which writes a few columns, brings all of it from
memory. Groups of columns are written side by side."""
LINE = 24
"""What a row of a few columns then costs, in lets."""
WORTH = 0.7
"""What groups may cost of what all columns cost that are pushed through everything; they are more code."""


@dataclass(slots=True)
class Separated:
    """A function of the elements of some parameters of another, and groups of these elements, which are numbers of
    parameters. `starts` tells for each parameter of the other where its elements begin."""

    function: ir.Function
    mask: Mask
    starts: tuple[int, ...]
    groups: list[list[int]]


def separated(f: ir.Function, mask: Mask, lanes: int, most: int) -> Separated | None:
    """`f` with the elements of parameters in `mask` as parameters, in groups of up to `lanes`; None where that gains
    nothing, or takes more than `most` lets."""
    active = [p.type for p, on in zip(f.params, mask, strict=True) if on]
    if f.body is None or f.rule is not None or f.checkpoint or not all(map(_is_apart, active)):
        return None
    if not lanes < sum(map(_columns, active)) <= COLUMNS or all(t is REAL for t in active):
        return None
    made, starts, flags = _by_elements(_whole(f, most), mask)
    columns = [k for k, on in enumerate(flags) if on]
    work = _Work(made)
    reached = [work.reached(k) for k in columns]
    groups = _cheapest(reached, lanes, work)
    pushes = -(-len(columns) // lanes)
    whole = (len(columns) + READ * pushes) * work.weight(_union(reached)) + pushes * _lines(f, len(columns))
    unions = [(len(group), _union([reached[k] for k in group])) for group in groups]
    if sum((n + READ) * work.weight(union) for n, union in unions) > WORTH * whole:
        return None
    if sum(n * len(union) for n, union in unions) > most:
        return None
    return Separated(made, flags, starts, [[columns[k] for k in group] for group in groups])


def _whole(f: ir.Function, most: int) -> ir.Function:
    """`f` with what is called once, and has up to `most` lets, where it was called: a call reaches all its results from
    any element of an argument."""
    if not callees(f):
        return f
    return inline((f,), {g for g in reachable(f) if g.rule is not None or g.checkpoint}, small=0, once=most)[f]


def _lines(f: ir.Function, columns: int) -> int:
    """What it costs to bring the rows of a Jacobian of `f` from memory."""
    rows = sum([_size(t) for t in f.results if has_real(t)])
    return LINE * rows if rows * columns >= CACHE else 0


def _size(t: Type) -> int:
    """How many numbers a value has."""
    count = 1
    while isinstance(t, Array):
        count *= SOME if t.length is None else t.length
        t = t.element
    return count


def _union(reached: Sequence[set[ir.Var]]) -> set[ir.Var]:
    return set[ir.Var]().union(*reached)


def _is_apart(t: Type) -> bool:
    return t is REAL or (isinstance(t, Array) and has_real(t) and numbers(t, COLUMNS) > 0)


def _columns(t: Type) -> int:
    return numbers(t, COLUMNS) or 1


def _by_elements(f: ir.Function, mask: Mask) -> tuple[ir.Function, tuple[int, ...], Mask]:
    """`f` of elements, where each of its parameters begins, and which parameters are elements in the mask."""
    assert f.body is not None
    b = Builder(f.span)
    params: list[ir.Var] = []
    starts: list[int] = []
    flags: list[bool] = []
    for p, on in zip(f.params, mask, strict=True):
        starts.append(len(params))
        count = numbers(p.type, COLUMNS) if on else 0
        parts = [ir.Var(REAL, p.hint) for _ in range(count)] or [p]
        if count:
            _gathered(b, p, p.type, parts)
        params += parts
        flags += [on] * len(parts)
    apart = {p for p, on in zip(f.params, mask, strict=True) if on}
    body = ir.Block([*b.lets, *_with_parts(f.body.lets, apart)], f.body.results)
    own = f.own & set(params)
    made = ir.Function(f.name, tuple(params), f.results, body, own, span=f.span)
    return dce(simplify(with_known_elements(simplify(made)))), tuple(starts), tuple(flags)


def _with_parts(lets: Sequence[ir.Let], apart: set[ir.Var]) -> list[ir.Let]:
    """`lets` in which loops that make arrays of a few numbers of those in `apart`, such as slices, are iterations one
    after the other."""
    found: list[ir.Let] = []
    for let in lets:
        e = let.expr
        if isinstance(e, ir.Loop) and _is_part(e) and not apart.isdisjoint([*operands(e), *captures(e)]):
            apart.update(let.binders)
            found += _iterations(let, e)
        else:
            found.append(let)
    return found


def _is_part(e: ir.Loop) -> bool:
    """Whether a loop makes arrays of numbers by a few operations."""
    lets, trips = e.body.lets, e.constant_trips
    return (
        not e.carries
        and trips is not None
        and 0 < trips <= COLUMNS
        and len(lets) <= PART
        and all([isinstance(let.expr, ir.Apply | ir.Index) for let in lets])
        and all([a.type is REAL for a in e.body.results])
        and not any([scan.consumes or scan.param.type is not REAL for scan in e.scans])
    )


def _iterations(let: ir.Let, e: ir.Loop) -> list[ir.Let]:
    """The iterations of such a loop, and the arrays of what they give."""
    found: list[ir.Let] = []
    rows: list[Sequence[ir.Atom]] = []
    assert e.constant_trips is not None
    for k in range(e.constant_trips):
        copy = Renaming({e.index: ir.integer(k)})
        for scan in e.scans:
            found.append(ir.Let((copy.fresh(scan.param),), ir.Index(scan.array, (ir.integer(k),), False), let.span))
        inner = copy.block(e.body)
        found += inner.lets
        rows.append(inner.results)
    items = zip(*rows, strict=True)
    return [*found, *[ir.Let((b,), ir.MakeArray(row), let.span) for b, row in zip(let.binders, items, strict=True)]]


def _gathered(b: Builder, v: ir.Var | None, t: Type, items: Sequence[ir.Atom]) -> ir.Var:
    """The array of type `t` of these numbers, bound to `v`."""
    assert isinstance(t, Array)
    assert t.length is not None
    step = len(items) // t.length
    if isinstance(t.element, Array):
        items = [_gathered(b, None, t.element, items[k : k + step]) for k in range(0, len(items), step)]
    made = v or ir.Var(t, "row")
    b.lets.append(ir.Let((made,), ir.MakeArray(tuple(items)), b.span))
    return made


class _Work:
    """How often each variable of a function is computed."""

    def __init__(self, f: ir.Function) -> None:
        self.f = f
        self.weights: dict[ir.Var, int] = {}
        assert f.body is not None
        self.block(f.body, 1)

    def block(self, block: ir.Block, times: int) -> None:
        for let in block.lets:
            e = let.expr
            each = times
            if isinstance(e, ir.Call):
                each *= sum([size(g) for g in reachable(e.function)])
            if isinstance(e, ir.Loop | ir.While):
                trips = e.constant_trips if isinstance(e, ir.Loop) else None
                self.block(e.body, times * (SOME if trips is None else trips))
            else:
                for _, inner in scopes(e):
                    self.block(inner, times)
                self.weights.update(dict.fromkeys(let.binders, each))

    def reached(self, k: int) -> set[ir.Var]:
        """What is active if parameter `k` alone is."""
        f = self.f
        mask = tuple(i == k for i in range(len(f.params)))
        return Derivation().activity(f, mask).active & self.weights.keys()

    def weight(self, active: set[ir.Var]) -> int:
        return sum([self.weights[v] for v in active])


def _cheapest(reached: list[set[ir.Var]], lanes: int, work: _Work) -> list[list[int]]:
    """Neighbours in groups of up to `lanes`, so that all together take the least: each group of n goes n times through
    all that any of it reaches, and reads once what that is multiplied with."""
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(reached) + 1):
        found: list[tuple[float, int]] = []
        union = set[ir.Var]()
        for start in range(end - 1, max(end - lanes, 0) - 1, -1):
            union = union | reached[start]
            found.append((best[start][0] + (end - start + READ) * work.weight(union), start))
        best.append(min(found))
    groups: list[list[int]] = []
    end = len(reached)
    while end:
        start = best[end][1]
        groups.insert(0, list(range(start, end)))
        end = start
    return groups
