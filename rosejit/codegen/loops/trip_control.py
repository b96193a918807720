"""The iterations of a counted loop: one at a time, or several as one and the rest behind them."""

from dataclasses import field

from rosejit.codegen.core.address_type import Kind
from rosejit.codegen.core.allocator import END
from rosejit.codegen.core.emitter import Emitter
from rosejit.codegen.core.layout import Column, Layout, Rows
from rosejit.codegen.loops.carried_locals import Carry, load, poll, store
from rosejit.codegen.loops.strided_access import StridedElement, number_at, offset_of
from rosejit.codegen.loops.unroll_legality import UnrollFacts
from rosejit.codegen.loops.unroll_scalar import ScalarUnroller
from rosejit.codegen.loops.vectorize import SimdBody
from rosejit.ir.lane_sums import FEWEST as MANY
from rosejit.ir.syntax import Let, Loop, Scan, Var
from rosejit.lazy_dataclass import dataclass
from rosejit.wasm.instructions import block, br, br_if, i64_const, if_, local_get, local_set, local_tee
from rosejit.wasm.instructions import loop as loop_
from rosejit.wasm.opcodes import OP

PLAIN, BULK = 2, 4
"""How deep lie the code of an iteration alone, and that of several, where there is sure to be an iteration."""


@dataclass(slots=True)
class StridedPointer:
    """An array that the loop walks: a scanned one, or a stack that it makes."""

    var: Var
    layout: Layout
    rows: Rows | Column
    base: Var
    """Holds the address of the elements."""
    scan: Scan | None = None
    home: Var | None = None
    """Of a stack of structures: holds the address of the row of this iteration."""


@dataclass(slots=True)
class LoopEmission:
    """A loop that is being written."""

    let: Let
    x: Loop
    carried: list[Carry] = field(default_factory=list[Carry])
    scans: list[StridedPointer] = field(default_factory=list[StridedPointer])
    stacks: list[StridedPointer] = field(default_factory=list[StridedPointer])
    offsets: dict[int, Var] = field(default_factory=dict[int, Var])
    """By stride: what holds the index times the stride."""
    lanes: dict[Var, list[int]] = field(default_factory=dict[Var, list[int]])
    """Of carries that are sums in lanes: the places of the lanes, that of the carry first."""

    @property
    def trips(self) -> int | None:
        """The number of iterations, where it is a constant."""
        return self.x.constant_trips

    def count(self, e: Emitter) -> bytes:
        """Code that leaves the number of iterations, or a negative one where there are none."""
        trips = self.x.trips
        return e.read(trips) if isinstance(trips, Var) else i64_const[self.trips or 0]

    def has_many(self, e: Emitter) -> bytes:
        """Code that leaves whether there are so many iterations that sums are in lanes."""
        return self.count(e) + i64_const[MANY] + OP["i64.ge_s"]

    @property
    def guarded(self) -> bool:
        """Whether there may be no iteration at all."""
        return self.trips is None or self.trips < 1


def one_by_one(e: Emitter, m: LoopEmission, code: bytes, *, read: bool) -> list[bytes]:
    """All iterations by `code`; `read` says whether that reads the index."""
    start, step = _control(e, m, read=read)
    return [block(), start, loop_(), code, step, br_if[0], END, END]


def _control(e: Emitter, m: LoopEmission, *, read: bool) -> tuple[bytes, bytes]:
    """What counts: the code in front of the loop, and that of the end of an iteration, which leaves whether to go on.

    An index that the body does not read itself need not be there if an offset can count.
    """
    a, x, n, down = e.module.address, m.x, m.trips, m.x.down
    by = next((s for s in m.offsets if n is not None and 0 < n * s < a.offsets), None) if not read else None
    start, step = [b""], [b""]
    for stride, v in m.offsets.items():
        place = e.where[v]
        first = _last_offset(e, m, stride) if down else a.zero
        start.append(store(e, a.kind, place, first))
        step.append(store(e, a.kind, place, load(e, a.kind, place) + a.const[-stride if down else stride] + a.add))
    if by is not None and n is not None:
        place = e.where[m.offsets[by]]
        test = a.zero + a.op("ge_s") if down else a.const[n * by] + a.op("ne")
        return b"".join(start), b"".join((*step, load(e, a.kind, place), test))
    place = e.fixed[x.index]
    count = m.count(e)
    one = i64_const[-1 if down else 1] + OP["i64.add"]
    start.append(store(e, "i64", place, count + i64_const[1] + OP["i64.sub"] if down else i64_const[0]))
    step.append(store(e, "i64", place, load(e, "i64", place) + one))
    test = i64_const[0] + OP["i64.ge_s"] if down else count + OP["i64.lt_s"]
    return b"".join(start), b"".join((*step, load(e, "i64", place), test))


def _last_offset(e: Emitter, m: LoopEmission, stride: int) -> bytes:
    if m.trips is not None:
        return e.module.address.const[max(m.trips - 1, 0) * stride]
    return m.count(e) + i64_const[1] + OP["i64.sub"] + e.module.address.scaled(stride)


# --- several as one


def several(e: Emitter, m: LoopEmission, t: UnrollFacts, code: bytes, *, read: bool) -> list[bytes]:
    """Two or four iterations at a time, upwards; by `code` an iteration alone where fewer are left, and where one does
    what is rare."""
    x = m.x
    places = {carry.var: m.lanes.get(carry.var, [carry.place]) for carry in m.carried}
    writer = SimdBody(e, t, places) if t.wide else ScalarUnroller(e, t, places)
    factor = 4 if t.short else 2
    scans = [(array.scan.param, _own_element(e, x.index, array)) for array in m.scans if array.scan is not None]
    results = x.body.results[len(x.carries) :]
    rows = [(_own_element(e, x.index, array), r) for array, r in zip(m.stacks, results, strict=True)]
    while writer.iteration < factor:
        writer.run_iterations(local_get[e.fixed[x.index]], scans, rows)
    body = writer.finish()
    tested = _tested(e, m, t)
    leaves = tested or (isinstance(writer, SimdBody) and writer.leaves)
    known = m.trips if not leaves else None
    left = known % factor if known is not None else 0
    pairs = m.trips is None and factor == 4 and not (isinstance(writer, SimdBody) and writer.leaves)
    two: list[bytes] = []
    if isinstance(writer, SimdBody) and (left >= 2 or pairs):
        writer.again()
        writer.run_iterations(local_get[e.fixed[x.index]], scans, rows)
        two = [*writer.finish(), writer.rotated()]
    before, after = writer.opened(), writer.closed()
    rotated = writer.rotated() if isinstance(writer, SimdBody) and factor == 2 else b""
    count = _Count(e, m, t.counts or (read and known is None), exact=bool(tested))
    bounds, end, last, last_two = count.bounds(factor, _with_many(e, m, tested), pairs=bool(two))
    look = _poll_at(e, m, 1 if known is not None else BULK + m.guarded)
    bulk = (loop_(), look, *body, rotated, count.step(factor), count.at, last, count.most, br_if[0], END)
    if known is not None:
        return [count.start(), before, *bulk, *_left(count, known - left, known, two, after, code)]
    if two:
        bulk = (count.at, last, count.more, br_if[0], *bulk)
        two = [block(), count.at, last_two, count.more, br_if[0], *two, count.step(2), END]
    return [
        *(count.start(), bounds, loop_()),
        *(block(), count.at, last_two, count.more, br_if[0], before, block(), *bulk, END, *two, after, END),
        *(count.at, end, count.differs, if_(), code, count.step(1), br[1], END, END),
    ]


def _left(count: "_Count", done: int, known: int, two: list[bytes], after: bytes, code: bytes) -> list[bytes]:
    """What is left of a known number of iterations: `two` side by side, the others by `code`."""
    first = [count.from_iteration(done), *two] if two else []
    alone = range(done + 2 if two else done, known)
    one = [count.from_iteration(iteration) + block() + block() + code + END + END for iteration in alone]
    return [*first, after, *one]


def _tested(e: Emitter, m: LoopEmission, t: UnrollFacts) -> bytes:
    """What leaves whether no test of any iteration fails; nothing where there are none."""
    trips = m.count(e)
    code: list[bytes] = []
    for step, length in t.tests:
        own = t.own.get(step)
        if own is None:
            assert isinstance(step, Var)
            code.append(e.read(step) + i64_const[length] + OP["i64.lt_u"])
            continue
        most = i64_const[length] + trips + OP["i64.sub"]
        code.append(number_at(e, own) + most + OP["i64.le_u"])
        if m.trips is None:
            code.append(trips + i64_const[length] + OP["i64.le_s"])
    return b"".join((*code, *(OP["i32.and"] for _ in code[1:])))


def _with_many(e: Emitter, m: LoopEmission, tested: bytes) -> bytes:
    """`tested`, and whether there are enough iterations for sums in lanes where there are such."""
    if not m.lanes or m.trips is not None:
        return tested
    return tested + m.has_many(e) + OP["i32.and"] * bool(tested)


class _Count:
    """What counts upwards: an offset where there is one, else the index, which is there too if it is `read`. An `exact`
    one is not too small for numbers of iterations that are larger than any array."""

    def __init__(self, e: Emitter, m: LoopEmission, read: bool, *, exact: bool) -> None:
        self._e = e
        self._m = m
        self._offsets = {stride: e.where[v] for stride, v in m.offsets.items()}
        self._a = a = e.module.address
        small = m.trips is not None or not exact
        self._stride = next((s for s in self._offsets if small and s > 0 and s * (m.trips or 0) < a.offsets), 0)
        kind: Kind = a.kind if self._stride else "i64"
        self._kind: Kind = kind
        self._index = None if self._stride and not read else e.fixed[m.x.index]
        self.at = load(e, kind, self._offsets[self._stride] if self._stride else e.fixed[m.x.index])
        self.most, self.more, self.differs = OP[f"{kind}.le_s"], OP[f"{kind}.gt_s"], OP[f"{kind}.ne"]

    def start(self) -> bytes:
        """Sets all to 0."""
        code = [store(self._e, self._a.kind, place, self._a.zero) for place in self._offsets.values()]
        if self._index is not None:
            code.append(store(self._e, "i64", self._index, i64_const[0]))
        return b"".join(code)

    def from_iteration(self, iteration: int) -> bytes:
        """Sets all to what they are in that iteration."""
        a = self._a
        code = [store(self._e, a.kind, place, a.const[iteration * s]) for s, place in self._offsets.items()]
        return b"".join((*code, store(self._e, "i64", self._e.fixed[self._m.x.index], i64_const[iteration])))

    def step(self, factor: int) -> bytes:
        """So many iterations are done."""
        e, a = self._e, self._a
        code = [
            store(e, a.kind, place, load(e, a.kind, place) + a.const[factor * stride] + a.add)
            for stride, place in self._offsets.items()
        ]
        if self._index is not None:
            code.append(store(e, "i64", self._index, load(e, "i64", self._index) + i64_const[factor] + OP["i64.add"]))
        return b"".join(code)

    def bounds(self, factor: int, tested: bytes, pairs: bool) -> tuple[bytes, bytes, bytes, bytes]:
        """What is done first, and what leaves where the iterations end, where the last `factor` of them begin and, for
        `pairs`, the last two: before the first where `tested` says that a test fails."""
        trips = self._m.trips
        unit, const = (self._stride, self._a.const) if self._stride else (1, i64_const)
        if trips is not None and not tested:
            last = const[unit * (trips - factor)]
            return b"", const[unit * trips], last, last
        body = self._e.body
        never = const[-1] + tested + OP["select"] if tested else b""
        last = body.fresh(self._kind)  # it lives through iterations that are written already
        if trips is not None:
            start = const[unit * (trips - factor)] + never + local_set[last]
            return start, const[unit * trips], local_get[last], local_get[last]
        held = body.fresh(self._kind)
        count = self._m.count(self._e) + (self._a.scaled(unit) if self._stride else b"")
        start = count + local_tee[held] + const[-unit * factor] + OP[f"{self._kind}.add"] + never + local_set[last]
        if not pairs:
            return start, local_get[held], local_get[last], local_get[last]
        last_two = body.fresh(self._kind)
        start += local_get[held] + const[-2 * unit] + OP[f"{self._kind}.add"] + never + local_set[last_two]
        return start, local_get[held], local_get[last], local_get[last_two]


def _own_element(e: Emitter, index: Var, array: StridedPointer) -> StridedElement:
    rows = array.rows
    address = e.read(array.base) + e.read(offset_of(e, index, rows.stride)) + e.module.address.add
    return StridedElement(address, 0, rows.stride, rows.cell.kind)


def _poll_at(e: Emitter, m: LoopEmission, depth: int) -> bytes:
    """Looks at the interrupt flag from inside so many blocks."""
    if m.let not in e.plan.polls:
        return b""
    e.body.depth += depth
    look = poll(e)
    e.body.depth -= depth
    return look
