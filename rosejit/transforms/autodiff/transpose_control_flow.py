"""Branches and loops in the reverse pass: a branch stays one, a loop turns round."""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import captures, consumed, consumed_within, renamed, scopes
from rosejit.ir.types import Array, Ref, is_boxed, is_linear
from rosejit.transforms.autodiff.cotangents import cotangent, is_scalar, needs_shape
from rosejit.transforms.autodiff.transpose_block import BlockTransposer, Seeds
from rosejit.transforms.passes.apply_fastmath import sums_in_lanes


def _captured(e: ir.Expr) -> list[ir.Var]:
    """The linear variables of enclosing blocks that the blocks of `e` read."""
    return [v for v in captures(e) if is_linear(v.type)]


def _nothing_flows(s: BlockTransposer, cts: list[ir.Atom | None], places: list[ir.Var]) -> bool:
    return all(ct is None for ct in cts) and all(s.read(v) is None for v in places)


# --- branches


def branch(s: BlockTransposer, let: ir.Let, e: ir.If | ir.Case) -> None:
    """Only the side taken is walked. Scalar captures, and boxed ones that some side consumes, come back as results;
    other boxed captures are added to in place."""
    captured = _captured(e)
    scrutinees = e.scrutinees if isinstance(e, ir.Case) else ()
    watched = [v for v in (*captured, *scrutinees) if isinstance(v, ir.Var) and isinstance(v.type, Ref)]
    cts = [s.draw(x) for x in let.binders]
    taken = {v for _, block in scopes(e) for v in consumed_within(block)}
    adopted = tuple(v for v in captured if is_boxed(v.type) and v in taken)
    if _nothing_flows(s, cts, [v for v in watched if is_linear(v.type)]) and not any(map(needs_shape, adopted)):
        return
    for v in captured:
        if is_boxed(v.type) and v not in taken:
            s.place(v)
    linear = tuple(is_linear(a.type) for a in scrutinees)
    sides = [_side(s.inside(block, (*params, *adopted)), params, linear, cts) for params, block in scopes(e)]
    given: list[ir.Var] = []
    for v in captured:
        if is_scalar(v.type) and any(v in side.sums for side, _ in sides):
            one, other = (side.sums.get(v) for side, _ in sides)
            if one is other and one is not None:  # what both sides pass on, as a sum to which one of them adds
                s.give(v, one)
            else:
                given.append(v)
    given += adopted
    blocks = [side.b.block(*[side.get(v) for v in given]) for side, _ in sides]
    if isinstance(e, ir.If):
        new: ir.Expr = ir.If(e.condition, blocks[0], blocks[1])
    else:
        left, right = (ir.Branch(params, block) for (_, params), block in zip(sides, blocks, strict=True))
        new = ir.Case(tuple(_scrutinee(s, a) for a in scrutinees), left, right)
    results = tuple(cotangent(v) for v in given)
    s.b.lets.append(ir.Let(results, new, s.b.span))
    for v, ct in zip(given, results, strict=True):
        s.give(v, ct)


def _scrutinee(s: BlockTransposer, a: ir.Atom) -> ir.Atom:
    if not isinstance(a, ir.Var) or not is_linear(a.type):
        return a
    return s.read_or_zero(a) if isinstance(a.type, Ref) else s.place(a)


def _side(
    inner: BlockTransposer, params: tuple[ir.Var, ...], linear: tuple[bool, ...], cts: list[ir.Atom | None]
) -> tuple[BlockTransposer, tuple[ir.Var, ...]]:
    """One side, walked, and its new parameters: those of `linear` scrutinees change places for values and conversely,
    also where this side of the sum is `()`."""
    exchanged = iter(inner.exchanged([p for p, on in zip(params, linear, strict=True) if on]))
    new = tuple(next(exchanged) if on else p for p, on in zip(params, linear, strict=True))
    inner.run(list(zip(inner.source.results, cts, strict=True)))
    for p in params:
        if p in inner.accumulators and p in inner.sums:
            inner.b.do(ir.Add(inner.accumulators[p], inner.sums.pop(p)))
    return inner, new


# --- loops


def loop(s: BlockTransposer, let: ir.Let, e: ir.Loop) -> None:
    """Carries stay carries, captured scalars become running sums, scanned rows become stacked outputs and stacked
    outputs scanned rows; boxed captures are added to in place. The direction turns, unless carries pass unchanged: then
    iterations may come in any order, and come as those of the forward loop, which they may be joined with."""
    captured = _captured(e)
    n = len(e.carries)
    cts = [s.draw(x) for x in let.binders]
    relied_on = any(map(needs_shape, consumed(e)))
    if _nothing_flows(s, cts, [v for v in captured if isinstance(v.type, Ref)]) and not relied_on:
        return
    scalars = [v for v in captured if is_scalar(v.type)]
    starts = [ct or s.zero(x) for x, ct in zip(let.binders[:n], cts, strict=False)]
    starts += [s.sums.pop(v, None) or s.zero(v) for v in scalars]
    params = tuple(cotangent(x) for x in (*let.binders[:n], *scalars))
    for v in captured:
        if is_boxed(v.type):
            s.place(v)
    dual_scans = [scan for scan in e.scans if is_linear(scan.param.type)]
    inner = s.inside(e.body, (*e.carries, *(scan.param for scan in dual_scans)))
    inner.sums.update(zip(scalars, params[n:], strict=True))
    seeds: Seeds = list(zip(e.body.results[:n], params[:n], strict=True))
    scans = [scan for scan in e.scans if not is_linear(scan.param.type)]
    scans += _stacked_seeds(e, cts[n:], seeds)
    _row_places(s, inner, e, dual_scans)
    inner.run(seeds)
    stacked = [scan for scan in dual_scans if is_scalar(scan.param.type) or scan.consumes]
    after = [inner.get(c) for c in e.carries] + [inner.sums[v] for v in scalars]
    after += [inner.get(scan.param) for scan in stacked]
    same = [new is old for new, old in zip(after[:n], params, strict=False)]
    down = e.down if all(same) else not e.down
    finals = tuple(cotangent(p, p.hint) for p in params)
    stacks = tuple(cotangent(scan.array) for scan in stacked)
    new = ir.Loop(e.trips, e.index, params, tuple(starts), tuple(scans), inner.b.block(*after), down)
    kept = [k for k, p in enumerate(params) if k >= n or not same[k] or is_scalar(p.type)]
    new = _without_carries(new, kept) if len(kept) < len(params) else new
    sums_in_lanes(new, set(params[n:]))
    s.b.lets.append(ir.Let((*[finals[k] for k in kept], *stacks), new, s.b.span))
    s.sums.update(zip(scalars, finals[n:], strict=True))
    ends = [start if unchanged else final for start, final, unchanged in zip(starts, finals, same, strict=False)]
    for a, ct in zip((*e.inits, *(scan.array for scan in stacked)), (*ends, *stacks), strict=True):
        s.give(a, ct)


def _without_carries(e: ir.Loop, kept: list[int]) -> ir.Loop:
    """A loop without the boxed carries that pass unchanged and are only read: the iterations read what they begin
    with.
    """
    results = (*[e.body.results[k] for k in kept], *e.body.results[len(e.carries) :])
    atoms = {c: e.inits[k] for k, c in enumerate(e.carries) if k not in kept}
    body = renamed(ir.Block(e.body.lets, results), atoms)
    carries, inits = tuple([e.carries[k] for k in kept]), tuple([e.inits[k] for k in kept])
    return ir.Loop(e.trips, e.index, carries, inits, e.scans, body, e.down)


def _stacked_seeds(e: ir.Loop, cts: list[ir.Atom | None], seeds: Seeds) -> list[ir.Scan]:
    """The cotangents of stacked outputs are scanned, boxed rows owned; each row is a seed of the body."""
    scans: list[ir.Scan] = []
    for a, ct in zip(e.body.results[len(e.carries) :], cts, strict=True):
        if isinstance(ct, ir.Var):
            assert isinstance(ct.type, Array)
            row = ir.Var(ct.type.element, ct.hint, a.like if isinstance(a, ir.Var) else None)
            scans.append(ir.Scan(row, ct, consumes=is_boxed(row.type)))
            seeds.append((a, row))
    return scans


def _row_places(s: BlockTransposer, inner: BlockTransposer, e: ir.Loop, dual_scans: list[ir.Scan]) -> None:
    """Rows that the forward loop only read are added to in their array's place."""
    for scan in dual_scans:
        if is_boxed(scan.param.type) and not scan.consumes:
            assert isinstance(scan.array, ir.Var)
            place = ir.View(s.place(scan.array), (e.index,), False)
            inner.accumulators[scan.param] = inner.b.bind(place, Ref(scan.param.type), f"acc_{scan.param.hint}")
