"""Counted loops: carries in locals, rows at offsets that grow with the index, stacks filled in place."""

from functools import partial
from itertools import pairwise

from rosejit.codegen.core.allocator import END
from rosejit.codegen.core.emitter import Emitter, Item
from rosejit.codegen.core.function_facts import times_of
from rosejit.codegen.core.layout import DATA, Column, Layout, elements_of
from rosejit.codegen.core.split_long import PARENT
from rosejit.codegen.loops.carried_locals import close_carries, drop_unread, load, open_carries, poll, store
from rosejit.codegen.loops.trip_control import PLAIN, LoopEmission, StridedPointer, one_by_one, several
from rosejit.codegen.loops.unroll_legality import sums_in_lanes, unroll_facts
from rosejit.codegen.values.ownership import alive, begin, consume, free, put_row, touch
from rosejit.ir.lane_sums import EMPTY, LANES
from rosejit.ir.syntax import Let, Loop, Var
from rosejit.wasm.instructions import (
    f64_const,
    i64_const,
    if_,
    local_get,
    local_tee,
    memory_copy,
)
from rosejit.wasm.opcodes import OP


def loop(e: Emitter, let: Let) -> None:
    """Binds the last carries and the stacks."""
    x = let.expr
    assert isinstance(x, Loop)
    m = LoopEmission(let, x)
    count = len(x.carries)
    m.carried = open_carries(e, x.carries, let.binders[:count])
    for v in let.binders[count:]:
        alive(e, v)
    _open_arrays(e, m, let.binders[count:])
    others = _open_lanes(e, m)
    index = e.temporary("i64")  # counts through the whole body, whether that reads it or not
    e.fixed[x.index] = e.where[index]
    if e.inside is not PARENT:
        e.offsets[x.index] = m.offsets
    depth = PLAIN + m.guarded
    e.body.depth += depth
    e.times *= times_of(x)
    code, _ = e.nested(x.body, partial(_finish, e, m), partial(_begin, e, m))
    e.times //= times_of(x)
    rotated = b"".join([_rotated(e, places) for places in m.lanes.values()])
    code += m.has_many(e) + if_() + rotated + END if rotated and m.trips is None else rotated
    e.body.depth -= depth
    read = x.index in e.where
    facts = unroll_facts(e, let, x) if e.inside is not PARENT and not e.plan.kernel else None
    whole = one_by_one(e, m, code, read=read) if facts is None else several(e, m, facts, code, read=read)
    e.offsets.pop(x.index, None)
    e.where.pop(x.index, None)
    whole = [*_empty_lanes(e, m), *whole, *[_added_up(e, places) for places in m.lanes.values()]]
    del e.fixed[x.index]
    for v in (index, *others):
        e.retire(v)
    if m.guarded:
        whole = [m.count(e), i64_const[0], OP["i64.gt_s"], if_(), *whole, END]
    e.body.out.append(b"".join(whole))
    _close_arrays(e, m)
    close_carries(e, m.carried, x.inits)


# --- sums in lanes


def _open_lanes(e: Emitter, m: LoopEmission) -> list[Var]:
    """Gives places to the lanes but for the first; the temporaries that hold them."""
    held: list[Var] = []
    for c, on in zip(m.x.carries, sums_in_lanes(e, m.x), strict=True):
        place = next((carry.place for carry in m.carried if carry.var is c), None) if on else None
        if place is not None:
            lanes = [e.temporary("f64") for _ in range(LANES - 1)]
            m.lanes[c] = [place, *[e.where[v] for v in lanes]]
            held += lanes
    return held


def _empty_lanes(e: Emitter, m: LoopEmission) -> list[bytes]:
    return [store(e, "f64", place, f64_const(EMPTY)) for places in m.lanes.values() for place in places[1:]]


def _rotated(e: Emitter, places: list[int]) -> bytes:
    """The next iteration adds to the next lane."""
    first = e.body.local("f64")
    e.body.release("f64", first)
    moves = [store(e, "f64", to, load(e, "f64", at)) for to, at in pairwise(places)]
    return (
        store(e, "f64", first, load(e, "f64", places[0]))
        + b"".join(moves)
        + store(e, "f64", places[-1], local_get[first])
    )


def _added_up(e: Emitter, places: list[int]) -> bytes:
    one, two, three, four = [load(e, "f64", place) for place in places]
    total = one + three + OP["f64.add"] + two + four + OP["f64.add"] + OP["f64.add"]
    return store(e, "f64", places[0], total)


def _open_arrays(e: Emitter, m: LoopEmission, stacks: tuple[Var, ...]) -> None:
    """What is freed behind the loop, and the variables that walk the arrays."""
    x = m.x
    borrowed = [scan.array for scan in x.scans if not scan.consumes]
    dying = touch(e, (*e.plan.captures[m.let], x.trips, *borrowed))
    for scan in x.scans:
        assert isinstance(scan.array, Var)
        layout = e.module.layouts.of(scan.array.type)
        rows = elements_of(layout)
        if scan.consumes:
            consume(e, (scan.array,))
            moved = scan.param in e.plan.consumed
            e.body.out += (_shell(e, layout) if moved else e.module.drop(scan.array.type), e.read(scan.array))
        base = e.temporary(e.module.address.kind) if isinstance(rows, Column) else scan.array
        m.scans.append(StridedPointer(scan.array, layout, rows, base, scan))
    free(e, dying)
    for v in stacks:
        layout = e.module.layouts.of(v.type)
        rows = elements_of(layout)
        base = e.temporary(e.module.address.kind) if isinstance(rows, Column) else v
        home = e.temporary(e.module.address.kind) if rows.cell.kind == "inline" else None
        m.stacks.append(StridedPointer(v, layout, rows, base, home=home))
    for array in (*m.scans, *m.stacks):
        stride = array.rows.stride
        if stride and stride not in m.offsets:
            m.offsets[stride] = e.temporary(e.module.address.kind)


def _shell(e: Emitter, layout: Layout) -> bytes:
    """Takes an array whose elements have been moved away."""
    if not isinstance(layout.parts, Column):
        return e.module.heap.free(layout.bytes)
    a = e.module.address
    record = e.body.local(a.kind)
    e.body.release(a.kind, record)
    data = local_tee[record] + a.load[DATA] + local_get[record] + a.load[a.capacity]
    return data + e.module.heap.free_some() + local_get[record] + e.module.heap.free(layout.bytes)


def _row(e: Emitter, m: LoopEmission, array: StridedPointer) -> bytes:
    """The address of the row of this iteration."""
    offset = m.offsets.get(array.rows.stride)
    return e.read(array.base) + (e.read(offset) + e.module.address.add if offset is not None else b"")


def _finish(e: Emitter, m: LoopEmission) -> None:
    """The end of an iteration: rows go into the stacks, then the carries change all at once."""
    a, results = e.module.address, m.x.body.results
    nexts, rows = results[: len(m.x.carries)], results[len(m.x.carries) :]
    items: list[Item] = []
    frees: list[Item] = []
    for array, row in zip(m.stacks, rows, strict=True):
        if array.home is not None:
            items += put_row(e, array.home, row, frees)
        elif array.rows.cell.kind != "nothing":
            items += (array.base, m.offsets[array.rows.stride], a.add, row, a.stores[array.rows.cell.kind][0])
    consume(e, (*nexts, *[row for array, row in zip(m.stacks, rows, strict=True) if array.home is None]))
    for carry in m.carried:
        e.assign(carry.kind, carry.place)
    e.push([*items, *nexts, *frees])


def _begin(e: Emitter, m: LoopEmission) -> None:
    """The start of an iteration: what was scanned, and where the rows go."""
    drop_unread(e, m.carried)
    for array in m.stacks:
        if array.home is not None:
            e.assign(e.module.address.kind, e.where[array.home])
            e.body.out.append(_row(e, m, array))
    for array in m.scans:
        _scan(e, m, array)
    if m.let in e.plan.polls:
        e.body.out.append(poll(e))


def _scan(e: Emitter, m: LoopEmission, array: StridedPointer) -> None:
    assert array.scan is not None
    v, cell = array.scan.param, array.rows.cell
    if v not in e.where:
        return
    if cell.kind == "inline" and v not in e.plan.borrowed:
        e.body.out += (memory_copy, e.module.address.const[cell.bytes], _row(e, m, array), e.read(v))
        begin(e, v)
        return
    before, loads = e.bind(v), e.module.address.loads
    e.body.out += (loads[cell.kind][0] if cell.kind in loads else b"", _row(e, m, array), before)


# --- in front of the loop


def _close_arrays(e: Emitter, m: LoopEmission) -> None:
    for v in m.offsets.values():
        e.retire(v)
    for array in m.scans:
        if array.base is not array.var:
            e.assign(e.module.address.kind, e.where[array.base])
            e.retire(array.base)
            e.body.out += (e.module.address.load[DATA], e.read(array.var))
    for array in reversed(m.stacks):
        if array.home is not None:
            e.retire(array.home)
        if array.base is array.var:
            begin(e, array.var)
        else:
            _new_column(e, m, array)


def _new_column(e: Emitter, m: LoopEmission, array: StridedPointer) -> None:
    """Allocates a stack whose length only the run knows."""
    size = e.temporary(e.module.address.kind)
    trips = m.count(e)
    length = trips + i64_const[0] + trips + i64_const[0] + OP["i64.gt_s"] + OP["select"]
    a, data, record, bytes_ = e.module.address, e.read(array.base), e.read(array.var), e.read(size)
    code = [
        store(e, a.kind, e.where[size], length + e.module.heap.bytes_of(array.rows.stride)),
        store(e, a.kind, e.where[array.base], bytes_ + e.module.heap.allocate_some()),
        *(record, data, a.store[DATA], record, length, a.of_int, a.store[a.length]),
        *(record, bytes_, a.store[a.capacity]),
    ]
    e.body.out.append(b"".join(code))
    begin(e, array.var)
    e.retire(size)
    e.retire(array.base)
