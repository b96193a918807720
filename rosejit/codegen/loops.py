"""Counted loops: carries in locals, rows at offsets that grow with the index, stacks filled in place."""

from dataclasses import dataclass, field
from functools import partial

from rosejit.codegen.carries import Carry, close_carries, drop_unread, load, open_carries, poll, store
from rosejit.codegen.emitter import Emitter, Item
from rosejit.codegen.heap import END
from rosejit.codegen.layout import CAPACITY, DATA, LENGTH, Column, Layout, Rows, elements_of
from rosejit.codegen.ownership import alive, begin, consume, free, put_row, touch
from rosejit.codegen.paths import ADD, LOAD, STORE, scaled
from rosejit.codegen.segments import PARENT
from rosejit.codegen.vectors import Pairs, can_be_paired
from rosejit.ir.syntax import Let, Lit, Loop, Scan, Var
from rosejit.wasm.instructions import (
    block,
    br,
    br_if,
    i32_const,
    i32_load,
    i32_store,
    i64_const,
    if_,
    local_get,
    local_set,
    local_tee,
    memory_copy,
)
from rosejit.wasm.instructions import loop as loop_
from rosejit.wasm.opcodes import OP

WRAP = OP["i32.wrap_i64"]


@dataclass(slots=True)
class _Array:
    """An array that the loop walks: a scanned one, or a stack that it makes."""

    var: Var
    layout: Layout
    rows: Rows | Column
    base: Var
    """Holds the address of the elements."""
    scan: Scan | None = None
    home: Var | None = None
    """Of a stack of structures: holds the address of the row of this turn."""


@dataclass(slots=True)
class _Loop:
    let: Let
    x: Loop
    carried: list[Carry] = field(default_factory=list[Carry])
    scans: list[_Array] = field(default_factory=list[_Array])
    stacks: list[_Array] = field(default_factory=list[_Array])
    offsets: dict[int, Var] = field(default_factory=dict[int, Var])
    """By stride: what holds the index times the stride."""

    @property
    def trips(self) -> int | None:
        """The number of turns, where it is a constant."""
        trips = self.x.trips
        return trips.value if isinstance(trips, Lit) else None  # type: ignore[return-value]  # an Int


def loop(e: Emitter, let: Let) -> None:
    """Binds the last carries and the stacks."""
    x = let.expr
    assert isinstance(x, Loop)
    m = _Loop(let, x)
    count = len(x.carries)
    m.carried = open_carries(e, x.carries, let.binders[:count])
    for v in let.binders[count:]:
        alive(e, v)
    _open_arrays(e, m, let.binders[count:])
    guarded = m.trips is None or m.trips < 1
    paired = can_be_paired(e, let, x)
    if paired and 8 not in m.offsets:
        m.offsets[8] = e.temporary("i32")
    index = e.temporary("i64")  # counts through the whole body, whether that reads it or not
    e.fixed[x.index] = e.where[index]
    if e.inside is not PARENT:
        e.offsets[x.index] = m.offsets
    e.body.depth += 1 + guarded + paired
    code, _ = e.nested(x.body, partial(_finish, e, m), partial(_begin, e, m))
    e.body.depth -= 1 + guarded + paired
    e.offsets.pop(x.index, None)
    read = e.where.pop(x.index, None) is not None
    whole = _in_pairs(e, m, code, read=read, depth=guarded + 3) if paired else _one_by_one(e, m, code, read=read)
    del e.fixed[x.index]
    e.retire(index)
    if guarded:
        count_code = e.read(x.trips) if isinstance(x.trips, Var) else i64_const[m.trips or 0]
        whole = [count_code, i64_const[0], OP["i64.gt_s"], if_(), *whole, END]
    e.body.out.append(b"".join(whole))
    _close_arrays(e, m)
    close_carries(e, m.carried, x.inits)


def _open_arrays(e: Emitter, m: _Loop, stacks: tuple[Var, ...]) -> None:
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
        base = e.temporary("i32") if isinstance(rows, Column) else scan.array
        m.scans.append(_Array(scan.array, layout, rows, base, scan))
    free(e, dying)
    for v in stacks:
        layout = e.module.layouts.of(v.type)
        rows = elements_of(layout)
        base = e.temporary("i32") if isinstance(rows, Column) else v
        home = e.temporary("i32") if rows.cell.kind == "inline" else None
        m.stacks.append(_Array(v, layout, rows, base, home=home))
    for array in (*m.scans, *m.stacks):
        stride = array.rows.stride
        if stride and stride not in m.offsets:
            m.offsets[stride] = e.temporary("i32")


def _shell(e: Emitter, layout: Layout) -> bytes:
    """Takes an array whose elements have been moved away."""
    if not isinstance(layout.parts, Column):
        return e.module.heap.free(layout.bytes)
    record = e.body.local("i32")
    e.body.release("i32", record)
    data = local_tee[record] + i32_load[DATA] + local_get[record] + i32_load[CAPACITY]
    return data + e.module.heap.free_some() + local_get[record] + e.module.heap.free(layout.bytes)


def _row(e: Emitter, m: _Loop, array: _Array) -> bytes:
    """The address of the row of this turn."""
    offset = m.offsets.get(array.rows.stride)
    return e.read(array.base) + (e.read(offset) + ADD if offset is not None else b"")


def _finish(e: Emitter, m: _Loop) -> None:
    """The end of a turn: rows go into the stacks, then the carries change all at once."""
    results = m.x.body.results
    nexts, rows = results[: len(m.x.carries)], results[len(m.x.carries) :]
    items: list[Item] = []
    frees: list[Item] = []
    for array, row in zip(m.stacks, rows, strict=True):
        if array.home is not None:
            items += put_row(e, array.home, row, frees)
        elif array.rows.cell.kind != "nothing":
            items += (array.base, m.offsets[array.rows.stride], ADD, row, STORE[array.rows.cell.kind][0])
    consume(e, (*nexts, *[row for array, row in zip(m.stacks, rows, strict=True) if array.home is None]))
    for carry in m.carried:
        e.assign(carry.kind, carry.place)
    e.push([*items, *nexts, *frees])


def _begin(e: Emitter, m: _Loop) -> None:
    """The start of a turn: what was scanned, and where the rows go."""
    drop_unread(e, m.carried)
    for array in m.stacks:
        if array.home is not None:
            e.assign("i32", e.where[array.home])
            e.body.out.append(_row(e, m, array))
    for array in m.scans:
        _scan(e, m, array)
    if m.let in e.plan.polls:
        e.body.out.append(poll(e))


def _scan(e: Emitter, m: _Loop, array: _Array) -> None:
    assert array.scan is not None
    v, cell = array.scan.param, array.rows.cell
    if v not in e.where:
        return
    if cell.kind == "inline" and v not in e.plan.borrowed:
        e.body.out += (memory_copy, i32_const[cell.bytes], _row(e, m, array), e.read(v))
        begin(e, v)
        return
    before = e.bind(v)
    e.body.out += (LOAD[cell.kind][0] if cell.kind in LOAD else b"", _row(e, m, array), before)


# --- counting


def _one_by_one(e: Emitter, m: _Loop, code: bytes, *, read: bool) -> list[bytes]:
    start, step = _control(e, m, read=read)
    return [start, loop_(), code, step, br_if[0], END]


def _in_pairs(e: Emitter, m: _Loop, code: bytes, *, read: bool, depth: int) -> list[bytes]:
    """Pairs of turns; a turn alone where only one is left, and where one of two does what is rare."""
    offset = m.offsets[8]
    place = e.where[offset]
    pairs = Pairs(e, offset)
    pairs.counted(m.x.index)
    for array in m.scans:
        assert array.scan is not None
        pairs.scanned(array.scan.param, array.base)
    pairs.run(m.x.body.lets)
    for array, row in zip(m.stacks, m.x.body.results[len(m.x.carries) :], strict=True):
        pairs.stacked(array.base, row)
    at = load(e, "i32", place)
    start, end, last = _bounds(e, m)
    number = store(e, "i64", e.fixed[m.x.index], at + OP["i64.extend_i32_u"] + i64_const[3] + OP["i64.shr_u"])
    return [
        *(store(e, "i32", place, i32_const[0]), start),
        *(loop_(), block(), at, last, OP["i32.gt_s"], br_if[0]),
        *(loop_(), _poll_at(e, m, depth), *pairs.finish(), store(e, "i32", place, at + i32_const[16] + ADD)),
        *(at, last, OP["i32.le_s"], br_if[0], END, END),
        *(at, end, OP["i32.ne"], if_(), number if read else b"", code),
        *(store(e, "i32", place, at + i32_const[8] + ADD), br[1], END, END),
    ]


def _bounds(e: Emitter, m: _Loop) -> tuple[bytes, bytes, bytes]:
    """What is done first, and what leaves the offset of the end and of the last pair."""
    if m.trips is not None:
        return b"", i32_const[8 * m.trips], i32_const[8 * (m.trips - 2)]
    end, last = e.body.fresh("i32"), e.body.fresh("i32")  # they live through the whole loop
    trips = e.read(m.x.trips)  # type: ignore[arg-type]  # a Var where it is no constant
    start = trips + scaled(8) + local_tee[end] + i32_const[-16] + ADD + local_set[last]
    return start, local_get[end], local_get[last]


def _poll_at(e: Emitter, m: _Loop, depth: int) -> bytes:
    """Looks at the interrupt flag from inside so many blocks."""
    if m.let not in e.plan.polls:
        return b""
    e.body.depth += depth
    look = poll(e)
    e.body.depth -= depth
    return look


def _control(e: Emitter, m: _Loop, *, read: bool) -> tuple[bytes, bytes]:
    """What counts: the code in front of the loop, and that of the end of a turn, which leaves whether to go on.

    An index that the body does not read itself need not be there if an offset can count.
    """
    x, n, down = m.x, m.trips, m.x.down
    by = next((s for s in m.offsets if n is not None and 0 < n * s < 1 << 31), None) if not read else None
    start, step = [b""], [b""]
    for stride, v in m.offsets.items():
        place = e.where[v]
        first = _last_offset(e, m, stride) if down else i32_const[0]
        start.append(store(e, "i32", place, first))
        step.append(store(e, "i32", place, load(e, "i32", place) + i32_const[-stride if down else stride] + ADD))
    if by is not None and n is not None:
        place = e.where[m.offsets[by]]
        test = i32_const[0] + OP["i32.ge_s"] if down else i32_const[n * by] + OP["i32.ne"]
        return b"".join(start), b"".join((*step, load(e, "i32", place), test))
    place = e.fixed[x.index]
    count = i64_const[n] if n is not None else e.read(x.trips)  # type: ignore[arg-type]  # a Var where it is no constant
    one = i64_const[-1 if down else 1] + OP["i64.add"]
    start.append(store(e, "i64", place, count + i64_const[1] + OP["i64.sub"] if down else i64_const[0]))
    step.append(store(e, "i64", place, load(e, "i64", place) + one))
    test = i64_const[0] + OP["i64.ge_s"] if down else count + OP["i64.lt_s"]
    return b"".join(start), b"".join((*step, load(e, "i64", place), test))


def _last_offset(e: Emitter, m: _Loop, stride: int) -> bytes:
    if m.trips is not None:
        return i32_const[max(m.trips - 1, 0) * stride]
    assert isinstance(m.x.trips, Var)
    return e.read(m.x.trips) + i64_const[1] + OP["i64.sub"] + scaled(stride)


# --- in front of the loop


def _close_arrays(e: Emitter, m: _Loop) -> None:
    for v in m.offsets.values():
        e.retire(v)
    for array in m.scans:
        if array.base is not array.var:
            e.assign("i32", e.where[array.base])
            e.retire(array.base)
            e.body.out += (i32_load[DATA], e.read(array.var))
    for array in reversed(m.stacks):
        if array.home is not None:
            e.retire(array.home)
        if array.base is array.var:
            begin(e, array.var)
        else:
            _new_column(e, m, array)


def _new_column(e: Emitter, m: _Loop, array: _Array) -> None:
    """Allocates a stack whose length only the run knows."""
    size = e.temporary("i32")
    trips = e.read(m.x.trips) if isinstance(m.x.trips, Var) else i64_const[m.trips or 0]
    length = trips + i64_const[0] + trips + i64_const[0] + OP["i64.gt_s"] + OP["select"]
    data, record, bytes_ = e.read(array.base), e.read(array.var), e.read(size)
    code = [
        store(e, "i32", e.where[size], length + i64_const[array.rows.stride] + e.module.heap.bytes_of()),
        store(e, "i32", e.where[array.base], bytes_ + e.module.heap.allocate_some()),
        *(record, data, i32_store[DATA], record, length, WRAP, i32_store[LENGTH], record, bytes_, i32_store[CAPACITY]),
    ]
    e.body.out.append(b"".join(code))
    begin(e, array.var)
    e.retire(size)
    e.retire(array.base)
