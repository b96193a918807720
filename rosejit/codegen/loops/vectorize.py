"""Writes vectorised (SIMD) loops: two iterations side by side in f64x2, bit for bit what one at a time gives.

`unroll_legality` decides which loops.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise

from rosejit.codegen.core.emitter import Emitter, literal
from rosejit.codegen.loops.carried_locals import load, store
from rosejit.codegen.loops.shifted_carries import schedule
from rosejit.codegen.loops.simd_kernels import COLUMNS, ENDS, MIDDLE, Lanes
from rosejit.codegen.loops.strided_access import StridedElement, StridedElements
from rosejit.codegen.loops.unroll_legality import UnrollFacts
from rosejit.codegen.loops.unroll_scalar import ScalarEmitter
from rosejit.ir.syntax import Add, Apply, Atom, Index, Let, Lit, Path, Update, Var, View
from rosejit.lazy_dataclass import dataclass
from rosejit.wasm.instructions import (
    Immediate,
    br_if,
    f32_load,
    f64_load,
    f64_store,
    i64x2_const,
    local_get,
    local_set,
    v128_load,
    v128_store,
)
from rosejit.wasm.opcodes import OP

_EXTRACT, _REPLACE = Immediate("f64x2.extract_lane"), Immediate("f64x2.replace_lane")
_SPLAT = OP["f64x2.splat"]
_PROMOTE, _DEMOTE = OP["f64x2.promote_low_f32x4"], OP["f32x4.demote_f64x2_zero"]
_THREE = 24
"""Bytes of rows of three, which lie in memory as three vectors for two iterations."""
_OUT = 1  # blocks from the iterations to where they are left
_LOAD_BOTH, _LOAD_FIRST = Immediate("v128.load64_splat"), Immediate("v128.load64_zero")


@dataclass(slots=True)
class _Added:
    """What has been added to a number of a row in both iterations: `start` is where the code of that begins."""

    at: StridedElement
    name: str
    value: bytes
    start: int
    end: int


class SimdBody(Lanes):
    """The body for two iterations at a time; `iteration` is the first of them, counted from the start of all that is
    written.

    Nothing changes before it is known that none of the iterations needs the second side of a branch: they are left
    without a trace if one does.
    """

    inlines = True
    rare = _OUT

    def __init__(self, e: Emitter, t: UnrollFacts, places: dict[Var, list[int]]) -> None:
        super().__init__(e.module, e.body, e.read)
        self._e = e
        self._t = t
        self._lanes = {c: lanes for c, lanes in places.items() if c in t.summed}
        self._chained = {c: place for c, (place, *_) in places.items() if c in t.serial}
        self._sums = {c: [e.body.fresh("v128"), e.body.fresh("v128")] for c in self._lanes}
        self._shifted = {c: (places[c][0], e.body.fresh("v128")) for c in t.shifted}
        self._last = {c: local_get[held] for c, (_, held) in self._shifted.items()}
        self._order = schedule(t.x, t.shifted)
        self._chain: list[Let] = []
        self._effects: list[bytes] = []
        self._elements = StridedElements(e, t)
        self._views: dict[Atom, StridedElement] = {}
        self._negated: dict[Atom, Atom] = {}
        self._alike: dict[Var, tuple[int, bytes]] = {}  # what all iterations read of the frame: in both lanes, once
        self._held: dict[tuple[bytes, int], int] = {}  # numbers in memory that all iterations add to, and nobody else
        self._beside: dict[
            Var, tuple[StridedElement, tuple[Var, ...]]
        ] = {}  # of numbers that lie side by side in a row
        self._read_two: set[Var] = set()  # those of them that have been read in these iterations
        self._added: list[_Added] = []  # what was done last, to numbers that lie side by side
        self._added_to: tuple[int | bytes, ...] = ()  # where the last sum of two was written, and what reads it
        self.iteration = 0

    # --- before and behind all iterations

    def opened(self) -> bytes:
        """Where rows start, the lanes of sums, two by two, and the numbers that all iterations add to."""
        code = [self._elements.opened()]
        code += [at + f64_load[offset] + local_set[held] for (at, offset), held in self._held.items()]
        code += [value + local_set[held] for held, value in self._alike.values()]
        for c, pairs in self._sums.items():
            for k, pair in enumerate(pairs):
                low, high = [load(self._e, "f64", place) for place in self._lanes[c][2 * k : 2 * k + 2]]
                code += (low, _SPLAT, high, _REPLACE[1], local_set[pair])
        for place, held in self._shifted.values():
            code += (load(self._e, "f64", place), _SPLAT, local_set[held])
        return b"".join(code)

    def closed(self) -> bytes:
        """The lanes one by one again, and the numbers in memory."""
        lanes = [
            store(self._e, "f64", place, local_get[pairs[k // 2]] + _EXTRACT[k % 2])
            for c, pairs in self._sums.items()
            for k, place in enumerate(self._lanes[c])
        ]
        held = [at + local_get[local] + f64_store[offset] for (at, offset), local in self._held.items()]
        last = [store(self._e, "f64", place, local_get[pair] + _EXTRACT[1]) for place, pair in self._shifted.values()]
        return b"".join((*lanes, *held, *last))

    def rotated(self) -> bytes:
        """The next two iterations add to the other two lanes."""
        pairs = self._sums.values()
        return b"".join(local_get[one] + local_get[other] + local_set[one] + local_set[other] for one, other in pairs)

    # --- iterations

    def run_iterations(
        self, index: bytes, scans: Iterable[tuple[Var, StridedElement]], rows: Iterable[tuple[StridedElement, Atom]]
    ) -> None:
        """The next two iterations: `index` leaves the number of the first of all, `scans` and `rows` are the elements
        that are read and written at the index."""
        for v, own in self._t.own.items():
            numbers = i64x2_const(self.iteration + own.constant, self.iteration + own.constant + 1)
            first = index if own.start is None else index + self._e.read(own.start) + OP["i64.add"]
            self.codes[v] = first + OP["i64x2.splat"] + numbers + OP["i64x2.add"]  # type: ignore[index]  # a Var
        for c, pairs in self._sums.items():
            self.codes[c] = local_get[pairs[self.iteration // 2 % 2]]
        for v, at in scans:
            self._read(v, at)
        self._chain, self._rows, self._added = [], {}, []
        self._beside, self._read_two = self._neighbours(), set()
        self._body_in_order()
        rows = list(rows)
        if self._t.serial:
            for lane in (0, 1):
                self._one_after_the_other(lane, [row for row in rows if row[1] in self._t.serial])
        for c, new in self._ends():
            if c in self._sums:
                self._effects += (self.value(new), local_set[self._sums[c][self.iteration // 2 % 2]])
        for at, value in rows:
            if value not in self._t.serial:
                self._write(at, value)
        self.iteration += 2

    def _body_in_order(self) -> None:
        """The lets, and shifted carries in both iterations: what the one before has made, and what the first one of
        them has."""
        for item in self._order:
            if isinstance(item, Let):
                self.run((item,))
            else:
                made = self.value(self._t.shifted[item])
                self.bind(item, self._last[item], made, MIDDLE)
                self._last[item] = made

    def finish(self) -> list[bytes]:
        """The whole code of all iterations."""
        last = [self._last[c] + local_set[held] for c, (_, held) in self._shifted.items()]
        return [*self.code, *self._effects, *last]

    def again(self) -> None:
        """What comes next is not for all iterations: the two behind the last ones."""
        self.code, self._effects, self.iteration = [], [], 0
        self._last = {c: local_get[held] for c, (_, held) in self._shifted.items()}

    @property
    def leaves(self) -> bool:
        """Whether iterations may be left for one alone."""
        return br_if[_OUT] in self.code

    def value(self, a: Atom) -> bytes:
        """What leaves both lanes of an atom. Engines load where a load stands: a body that reads many numbers of the
        frame would put them aside in each iteration, and double each when it is wanted."""
        code = super().value(a)
        if not isinstance(a, Var) or a in self.codes or self._e.where.get(a, 0) >= 0:
            return code
        if a not in self._alike:
            self._alike[a] = self._body.fresh("v128"), code
        return local_get[self._alike[a][0]]

    def _one_after_the_other(self, lane: int, rows: list[tuple[StridedElement, Atom]]) -> None:
        """What depends on the iteration before, in one of the two iterations."""
        numbers = ScalarEmitter(self._e, self._effects, partial(self._lane, lane))
        for let in self._chain:
            match let.expr:
                case Apply() as x:
                    numbers.apply(let.binders[0], x)
                case Update(base=base, path=path, value=value):
                    self._write_one(self._element(base, path), lane, numbers.value(value))
                case _:
                    raise AssertionError("this is done to two iterations at a time")
        for at, value in rows:
            self._write_one(at, lane, numbers.value(value))
        nexts = [(new, self._chained[c]) for c, new in self._ends() if c in self._chained]
        self._effects += [numbers.value(new) for new, _ in nexts]
        self._effects += [local_set[place] for _, place in reversed(nexts)]

    def _ends(self) -> Iterable[tuple[Var, Atom]]:
        return zip(self._t.x.carries, self._t.x.body.results, strict=False)

    def _lane(self, lane: int, v: Var) -> bytes:
        """A variable as it is in one of the two iterations."""
        if v not in self.codes:
            return self._e.read(v)
        return self.extracted(v, lane)

    def run(self, lets: Iterable[Let]) -> None:
        """The lets of the body, or of a branch in a kernel."""
        serial = self._t.serial
        for let in lets:
            match let.expr:
                case Apply() if let.binders[0] in self._t.own:
                    pass
                case Apply() if let.binders[0] in serial:
                    self._chain.append(let)
                case Update(value=value) if value in serial:
                    self._chain.append(let)
                case Index() if let.binders[0] in self._beside:
                    at, together = self._beside[let.binders[0]]
                    if let.binders[0] not in self._read_two:
                        self._read_together(at, together)
                case Index(base=base, path=path):
                    self._read(let.binders[0], self._element(base, path))
                case Apply(op=op, args=args) if op.negates:
                    self._negated[let.binders[0]] = args[0]
                    super().run((let,))
                case View(place=place, path=path):
                    self._views[let.binders[0]] = self._element(place, path)
                case Add(place=place, value=value):
                    self._add(place, value)
                case Update(base=base, path=path, value=value):
                    self._write(self._element(base, path), value)
                case _:
                    super().run((let,))

    def _element(self, base: Atom, path: Path) -> StridedElement:
        return self._elements.of(base, path)

    def _neighbours(self) -> dict[Var, tuple[StridedElement, tuple[Var, ...]]]:
        """The numbers that are read two by two, or as a row of three."""
        found: dict[Var, tuple[StridedElement, tuple[Var, ...]]] = {}
        alone: dict[tuple[bytes, int, int], tuple[StridedElement, Var]] = {}
        pairs: dict[tuple[bytes, int], tuple[StridedElement, Var, Var]] = {}  # by code and offset, of rows of three
        for let in self._t.x.body.lets:
            if not isinstance(let.expr, Index):
                continue
            v, at = let.binders[0], self._element(let.expr.base, let.expr.path)
            before = alone.pop((at.code, at.stride, at.offset - 8), None)
            behind = None if before else alone.pop((at.code, at.stride, at.offset + 8), None)
            if at.stride in (0, 8) or at.kind != "real":
                continue
            if before is not None or behind is not None:
                both = (before[0], before[1], v) if before is not None else (at, v, behind[1])  # type: ignore[index]  # one is there
                pairs[at.code, both[0].offset] = both
                found[both[1]] = found[both[2]] = (both[0], both[1:])
            else:
                alone[at.code, at.stride, at.offset] = at, v
        for (code, stride, offset), (at, v) in alone.items():
            before, behind = pairs.get((code, offset - 16)), pairs.get((code, offset + 8))
            three = (before[0], (*before[1:], v)) if before else (at, (v, *behind[1:])) if behind else None
            if stride == _THREE and three is not None:
                found |= dict.fromkeys(three[1], three)
        return found

    def _read_together(self, at: StridedElement, together: Sequence[Var]) -> None:
        """Numbers that lie side by side, in both iterations."""
        start, end = at.at(self.iteration), at.at(self.iteration + 1)
        offsets = (start, end) if len(together) == 2 else (start, start + 16, start + 32)
        rows = [self._body.fresh("v128") for _ in offsets]
        for offset, row in zip(offsets, rows, strict=True):
            self.code += (at.code, v128_load[offset], local_set[row])
        a, b, c = (local_get[rows[k]] for k in (0, 1, -1))
        columns = (
            [a + b + column for column in COLUMNS] if len(rows) == 2 else [a + b + ENDS, a + c + MIDDLE, b + c + ENDS]
        )
        for v, column in zip(together, columns, strict=True):
            self.bind(v, column)
        self._read_two.update(together)

    def _read(self, v: Var, at: StridedElement) -> None:
        if at.kind == "float32":
            self._read_singles(v, at)
        elif at.stride == 8:
            self.bind(v, at.code, v128_load[at.at(self.iteration)])
        elif at.stride:
            first = (at.code, _LOAD_FIRST[at.at(self.iteration)])
            self.bind(v, *first, at.code, f64_load[at.at(self.iteration + 1)], _REPLACE[1])
        else:
            self.bind(v, at.code, _LOAD_BOTH[at.at(self.iteration)])

    def _read_singles(self, v: Var, at: StridedElement) -> None:
        first, second = at.at(self.iteration), at.at(self.iteration + 1)
        if at.stride == 4:
            self.bind(v, at.code, _LOAD_FIRST[first], _PROMOTE)
        elif at.stride:
            self.bind(v, at.code, f32_load[first], _SPLAT, at.code, f32_load[second], _REPLACE[1])
        else:
            self.bind(v, at.code, f32_load[first], _SPLAT)

    def _write(self, at: StridedElement, value: Atom) -> None:
        start = at.at(self.iteration)
        if at.kind == "real" and at.stride == 8:
            self._effects += (at.code, self.value(value), v128_store[start])
        elif at.kind == "float32" and at.stride == 4:
            self._effects += (at.code, self.value(value), _DEMOTE, _EXTRACT[0], f64_store[start])
        elif at.kind == "bool":
            for lane in (0, 1):
                self._write_one(at, lane, literal(value) if isinstance(value, Lit) else self._lane(lane, value))
        else:
            for lane in (0, 1):
                self._write_one(at, lane, self.value(value) + _EXTRACT[lane])

    def _write_one(self, at: StridedElement, lane: int, value: bytes) -> None:
        """An element into the row of one of the two iterations."""
        self._effects += (at.code, value, self._e.module.address.stores[at.kind][at.at(self.iteration + lane)])

    def _add(self, place: Atom, value: Atom) -> None:
        e, negative = self._e, value in self._negated
        name = "sub" if negative else "add"  # bit for bit what adding the opposite gives
        value = self._negated.get(value, value)
        if place in e.plan.cells:
            assert isinstance(place, Var)
            e.read(place)
            where, total = e.where[place], e.body.local("f64")
            e.body.release("f64", total)
            code = load(e, "f64", where)
            for lane in (0, 1):
                code += self.value(value) + _EXTRACT[lane] + OP[f"f64.{name}"]
            self._effects.append(store(e, "f64", where, code))
            return
        at = self._views.get(place) or StridedElement(e.read(place), 0, 0)  # type: ignore[arg-type]  # a Var
        if at.stride == 8:
            self._add_to_both(at.code, at.at(self.iteration), self.value(value) + OP[f"f64x2.{name}"])
        elif at.stride:
            self._add_to_row(_Added(at, name, self.value(value), len(self._effects), 0))
        else:
            key = (at.code, at.offset)
            held = self._held.get(key)
            if held is None:
                held = self._held[key] = e.body.fresh("f64")
            self._effects.append(local_get[held])
            for lane in (0, 1):
                self._effects += (self.value(value), _EXTRACT[lane], OP[f"f64.{name}"])
            self._effects.append(local_set[held])

    def _add_to_both(self, address: bytes, offset: int, added: bytes) -> None:
        """Add to two numbers side by side; what was done to them just now is written together with it."""
        effects = self._effects
        held = [address, address, v128_load[offset]]
        if self._added_to == (len(effects), *held):
            effects[-1:] = (added, v128_store[offset])
        else:
            effects += (*held, added, v128_store[offset])
        self._added_to = (len(effects), *held)

    def _add_to_row(self, new: _Added) -> None:
        """Add to a number of a row in both iterations; together with the last ones, if they lie beside it."""
        at, last, effects = new.at, self._added, self._effects
        if last and last[-1].end == new.start and _are_neighbours([*last, new]):
            del effects[last[0].start :]
            low, *others = sorted((*last, new), key=lambda added: added.at.offset)
            start, end = low.at.at(self.iteration), low.at.at(self.iteration + 1)
            one, two = low.value, others[0].value
            parts = [(start, one, two, COLUMNS[0]), (end, one, two, COLUMNS[1])]
            if len(others) == 2:
                three = others[1].value
                parts = [parts[0], (start + 16, three, one, ENDS), (start + 32, two, three, COLUMNS[1])]
            for offset, first, second, lanes in parts:
                effects += (at.code, at.code, v128_load[offset], first, second, lanes)
                effects += (OP[f"f64x2.{new.name}"], v128_store[offset])
            new.start, new.end = last[0].start, len(effects)
            self._added = [*last, new]
            return
        for lane in (0, 1):
            offset = at.at(self.iteration + lane)
            effects += (at.code, at.code, f64_load[offset], new.value, _EXTRACT[lane])
            effects += (OP[f"f64.{new.name}"], f64_store[offset])
        new.end = len(effects)
        self._added = [new]


def _are_neighbours(all_: Sequence[_Added]) -> bool:
    """Whether the numbers, two or a whole row of three, lie side by side, and the same is done to them."""
    offsets = sorted([added.at.offset for added in all_])
    near = [high - low for low, high in pairwise(offsets)] == [8] * (len(all_) - 1)
    few = len(all_) == 2 or (len(all_) == 3 and all_[0].at.stride == _THREE)
    return few and near and len({(added.name, added.at.code, added.at.stride) for added in all_}) == 1
