"""A function into its derivatives along many tangents, several at once: what dense and sparse Jacobians are made of."""

from collections.abc import Iterator
from functools import partial

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.traversal import reachable, size
from rosejit.ir.types import REAL, array, has_real
from rosejit.ops import PRIMITIVES
from rosejit.transforms.analysis.activity import Mask
from rosejit.transforms.autodiff.derivative_programs import Atoms, forward, reverse, zero
from rosejit.transforms.jacobians.array_loops import at, element, nest, shape_of, size_of, sweep, unit
from rosejit.transforms.jacobians.column_groups import Separated, separated
from rosejit.transforms.jacobians.multi_tangent import widen
from rosejit.transforms.passes.dce import dce
from rosejit.transforms.passes.erase import erase
from rosejit.transforms.passes.insert_copies import insert_copies

LANES = 4
"""So many tangents at once at most: with more the registers do not suffice."""
FEW = 4
"""Rows of arrays that are put together one by one."""
CODE = 20_000
"""Lets that a widened program may have: to compile more costs more than it saves."""

Tangents = dict[int, Atoms]
"""For some parameters, by their number, one tangent a lane; the others have zero tangents."""


class RecomputedPushforward:
    """Pushes tangents at a point through a function that is computed again each time: nothing is kept."""

    def __init__(self, f: ir.Function, params: tuple[ir.Var, ...]) -> None:
        self.f = f
        self.params = params

    def push(self, b: Builder, mask: Mask, lanes: int, tangents: Tangents) -> list[Atoms]:
        """For each real result its tangents, one a lane, from those of parameters in `mask`."""
        derived = forward(self.f, mask).derived
        found = self.call(b, derived.function, self.params, derived.mask, lanes, tangents)
        return self.sorted(b, derived.results, found[len(self.f.results) :], lanes)

    def call(
        self, b: Builder, linear: ir.Function, given: Atoms, mask: Mask, lanes: int, tangents: Tangents
    ) -> tuple[ir.Var, ...]:
        """The results of the widened `linear`, which takes `given` and then tangents of the parameters in `mask`."""
        args = list(given)
        for k, on in enumerate(mask):
            if on:
                args += tangents[k] if k in tangents else _zeros(b, self.params[k], lanes)
        called = erase(widen(linear, lanes))
        return b.bind_all(ir.Call(called, tuple(args)), called.results, "dy")

    def sorted(self, b: Builder, results: Mask, found: Atoms, lanes: int) -> list[Atoms]:
        """Tangents of the results that have one, as lanes; zeros where a result does not depend on anything."""
        left = iter(found)
        pairs = [(t, on) for t, on in zip(self.f.results, results, strict=True) if has_real(t)]
        return [
            tuple([next(left) for _ in range(lanes)]) if on else _zeros(b, ir.Var(t, "y"), lanes) for t, on in pairs
        ]


class LinearizedPushforward(RecomputedPushforward):
    """Pushes tangents of the parameters in `mask` through a function that is computed once: what it keeps is read."""

    def __init__(self, f: ir.Function, params: tuple[ir.Var, ...], b: Builder, mask: Mask) -> None:
        super().__init__(f, params)
        self.reverse = reverse(f, mask)
        _, self.residuals = self.reverse.forward(b, params)

    def push(self, b: Builder, mask: Mask, lanes: int, tangents: Tangents) -> list[Atoms]:
        """As above; `mask` is that of the beginning, or less."""
        r = self.reverse
        found = self.call(b, r.halves.linear, self.residuals, r.derived.mask, lanes, tangents)
        return self.sorted(b, r.derived.results, found, lanes)


class RestrictedPushforward(RecomputedPushforward):
    """As above, for numbers as parameters: each group of them is pushed only through what it reaches."""

    def __init__(self, f: ir.Function, params: tuple[ir.Var, ...], b: Builder, mask: Mask) -> None:
        super().__init__(f, params)
        self.reverse = reverse(f, mask)
        _, self.residuals = self.reverse.forward(b, params)

    def push(self, b: Builder, mask: Mask, lanes: int, tangents: Tangents) -> list[Atoms]:
        """As above; what is pushed is the derivative of the linear half, which it is itself."""
        r = self.reverse
        linear = erase(r.halves.linear)
        wanted = iter([on for on, pushed in zip(mask, r.derived.mask, strict=True) if pushed])
        first = len(self.residuals)
        active = tuple([k >= first and next(wanted) for k in range(len(linear.params))])
        derived = forward(linear, active).derived
        only = tangents_only(derived.function, len(linear.results))
        given = (*self.residuals, *[ir.real(0.0)] * (len(linear.params) - first))
        seeds = [lane for k, on in enumerate(mask) if on for lane in tangents[k]]
        called = erase(widen(only, lanes))
        found = b.bind_all(ir.Call(called, (*given, *seeds)), called.results, "dy")
        reached = iter(derived.results)
        results = tuple([on and next(reached) for on in r.derived.results])
        return self.sorted(b, results, found, lanes)


def tangents_only(f: ir.Function, skipped: int) -> ir.Function:
    """`f`, a function with tangents, without its primal results and what only they need."""
    assert f.body is not None
    body = ir.Block(f.body.lets, f.body.results[skipped:])
    return dce(insert_copies(ir.Function(f.name, f.params, f.results[skipped:], body, f.own, span=f.span)))


def _zeros(b: Builder, like: ir.Atom, lanes: int) -> Atoms:
    return tuple([zero(b, like) for _ in range(lanes)])


def lanes_for(f: ir.Function, mask: Mask, columns: int) -> int:
    """How many tangents are pushed at once: as many as there are, within what registers and the compiler take; so many
    that pushes are alike."""
    program = reachable(forward(f, mask).derived.function)
    most = max(1, min(LANES, CODE // max(1, sum([size(g) for g in program]))))
    return evenly(columns, most)


def evenly(columns: int, most: int) -> int:
    """The size of the fewest equal parts of at most `most`."""
    return max(1, -(-columns // -(-columns // most))) if columns else 1


# --- dense Jacobians


def by_columns(f: ir.Function, mask: Mask, b: Builder, params: tuple[ir.Var, ...]) -> Atoms:
    """For each real result and each parameter in `mask` the array of derivatives, from unit tangents. The function is
    computed once: with the tangents where one push takes them all, else before them."""
    active = [k for k, on in enumerate(mask) if on]
    count = size_of(*[params[k].type for k in active])
    lanes = lanes_for(f, mask, count)
    apart = separated(f, mask, LANES, CODE)
    if apart is not None:
        return _by_elements(apart, f, mask, b, params)
    pusher = RecomputedPushforward(f, params) if count <= lanes else LinearizedPushforward(f, params, b, mask)
    blocks: dict[int, list[ir.Atom]] = {}
    for group in _groups(active, params, lanes):
        own = tuple(k in group for k in range(len(mask)))
        whole = size_of(*[params[k].type for k in group]) <= lanes
        found = _at_once(pusher, own, b, group) if whole else [_in_groups_of_lanes(pusher, own, b, group[0], lanes)]
        blocks.update(zip(group, found, strict=True))
    return tuple(blocks[k][j] for j in range(sum(map(has_real, f.results))) for k in active)


def _by_elements(apart: Separated, f: ir.Function, mask: Mask, b: Builder, params: Atoms) -> Atoms:
    """As above, by groups of elements that are pushed through what they reach."""
    given: list[ir.Var] = []
    for p, on in zip(params, mask, strict=True):
        assert isinstance(p, ir.Var)
        shape = shape_of(p.type) if on else ()
        elements = [element(b, p, at(b, shape, ir.integer(k))) for k in range(size_of(p.type))] if on else [p]
        given += [e for e in elements if isinstance(e, ir.Var)]
    pusher = RestrictedPushforward(apart.function, tuple(given), b, apart.mask)
    columns: dict[int, list[ir.Atom]] = {}
    for group in apart.groups:
        own = tuple(k in group for k in range(len(given)))
        columns.update(zip(group, _at_once(pusher, own, b, group), strict=True))
    found: list[ir.Atom] = []
    for j, t in enumerate([t for t in f.results if has_real(t)]):
        for p, start, on in zip(params, apart.starts, mask, strict=True):
            if on:
                several = tuple([columns[start + k][j] for k in range(size_of(p.type))])
                found.append(_side_by_side(b, several, shape_of(t), shape_of(p.type)))
    return tuple(found)


def _groups(active: list[int], params: tuple[ir.Var, ...], lanes: int) -> Iterator[list[int]]:
    """Parameters that are pushed together: small ones, as long as they fit the lanes; large ones alone."""
    small: list[int] = []
    for k in active:
        if size_of(params[k].type) > lanes:
            yield [k]
        elif small and size_of(*[params[i].type for i in (*small, k)]) > lanes:
            yield small
            small = [k]
        else:
            small.append(k)
    if small:
        yield small


def _at_once(pusher: RecomputedPushforward, mask: Mask, b: Builder, group: list[int]) -> list[list[ir.Atom]]:
    """All unit vectors of some parameters in one push: for each the arrays, one a real result."""
    params = pusher.params
    sizes = [size_of(params[k].type) for k in group]
    starts = [sum(sizes[:n]) for n in range(len(group))]
    tangents: Tangents = {}
    for k, start, count in zip(group, starts, sizes, strict=True):
        lanes = list(_zeros(b, params[k], sum(sizes)))
        for i in range(count):
            lanes[start + i] = unit(b, params[k].type, at(b, shape_of(params[k].type), ir.integer(i)))
        tangents[k] = tuple(lanes)
    pushed = pusher.push(b, mask, sum(sizes), tangents)
    rows = [shape_of(t) for t in pusher.f.results if has_real(t)]
    return [
        [
            _side_by_side(b, lanes[start : start + count], shape, shape_of(params[k].type))
            for lanes, shape in zip(pushed, rows, strict=True)
        ]
        for k, start, count in zip(group, starts, sizes, strict=True)
    ]


def _side_by_side(b: Builder, columns: Atoms, rows: tuple[int, ...], shape: tuple[int, ...]) -> ir.Atom:
    """Columns, one for each index of `shape`, as one array: the axes `rows` of a column come first."""
    if not shape:
        return columns[0]

    if len(rows) > 1 and 0 < rows[0] <= FEW:  # then each row of the columns is known, and read where it is made
        whole: ir.Atom = b.bind(ir.Zero(), array((*rows, *shape), REAL), "whole")
        return sweep(b, rows[1:], (whole,), partial(_written_rows, columns, shape, rows[0]))[0]

    def row(inner: Builder, indices: Atoms) -> Atoms:
        return (_array(inner, [element(inner, c, indices) for c in columns], shape),)

    return nest(b, rows, row)[0]


def _written_rows(
    columns: Atoms, shape: tuple[int, ...], rows: int, b: Builder, indices: Atoms, carries: Atoms
) -> Atoms:
    """The array with the elements of all columns, of which there are few rows."""
    (held,) = carries
    for first in map(ir.integer, range(rows)):
        for k, column in enumerate(columns):
            value = element(b, column, (first, *indices))
            path = (first, *indices, *at(b, shape, ir.integer(k)))
            held = b.bind(ir.Update(held, path, value, checked=False), held.type, "whole")
    return (held,)


def _array(b: Builder, items: list[ir.Atom], shape: tuple[int, ...]) -> ir.Atom:
    t = array(shape, REAL)
    if not items:
        return b.bind(ir.Zero(), t, "row")
    if len(shape) > 1:
        step = len(items) // shape[0]
        items = [_array(b, items[i : i + step], shape[1:]) for i in range(0, len(items), step)]
    return b.bind(ir.MakeArray(tuple(items)), t, "row")


def _in_groups_of_lanes(pusher: RecomputedPushforward, mask: Mask, b: Builder, k: int, lanes: int) -> list[ir.Atom]:
    """A loop that pushes up to `lanes` unit vectors of parameter `k` at a time, and writes the columns where they
    belong. Some may be pushed twice."""
    t = pusher.params[k].type
    shape, count = shape_of(t), size_of(t)
    lanes = evenly(count, lanes)
    outputs = [shape_of(r) for r in pusher.f.results if has_real(r)]
    wholes = tuple([b.bind(ir.Zero(), array((*rows, *shape), REAL), "whole") for rows in outputs])

    def iteration(inner: Builder, indices: Atoms, wholes: Atoms) -> Atoms:
        first = inner.apply(PRIMITIVES["wmul"], indices[0], ir.integer(lanes), hint="i")
        start = inner.apply(PRIMITIVES["imin"], first, ir.integer(count - lanes), hint="i")
        positions = [inner.apply(PRIMITIVES["wadd"], start, ir.integer(lane), hint="i") for lane in range(lanes)]
        places = [at(inner, shape, position) for position in positions]
        pushed = pusher.push(inner, mask, lanes, {k: tuple([unit(inner, t, place) for place in places])})
        blocks = zip(wholes, pushed, outputs, strict=True)
        return tuple([_written(inner, whole, columns, rows, places) for whole, columns, rows in blocks])

    return list(sweep(b, (-(-count // lanes),), wholes, iteration))


def _written(b: Builder, whole: ir.Atom, columns: Atoms, rows: tuple[int, ...], places: list[Atoms]) -> ir.Atom:
    """`whole` with columns at their places behind the axes `rows`."""

    def write(inner: Builder, indices: Atoms, carries: Atoms) -> Atoms:
        (held,) = carries
        for column, place in zip(columns, places, strict=True):
            value = element(inner, column, indices)
            held = inner.bind(ir.Update(held, (*indices, *place), value, checked=False), held.type, "whole")
        return (held,)

    return sweep(b, rows, (whole,), write)[0]
