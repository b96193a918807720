"""Several turns of a loop as one, their inner loops side by side: sums that wait for themselves wait together, what all
turns read is read once, and elements that each of them adds to are read and written once.

Each turn does what it did to the numbers that it did it to, in the same order, so all results are the same bits.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from rosejit.ir import syntax as ir
from rosejit.ir.primitive import Emit, Instr
from rosejit.ir.sums import in_lanes
from rosejit.ir.types import INT, REAL, Array, Scalar, is_heavy
from rosejit.ir.walk import Renaming, captures, operands, scopes, within
from rosejit.ops import PRIMITIVES
from rosejit.ops.kernels import small_kernel
from rosejit.transforms.effects import fails_or_acts
from rosejit.transforms.ranges import has_loops

SUM, PRODUCT = PRIMITIVES["wadd"], PRIMITIVES["wmul"]
FEWEST = 8
"""Turns of a loop, and of the one inside, from which on it is worth it."""
SHORTEST, SHORT = 5, 10
"""Lets of the inner loop up to which four turns are one, and two: more would not find registers."""
AROUND = 40
"""Lets around it up to which they may stand there several times."""


def jam(f: ir.Function) -> ir.Function:
    """`f` with such turns joined; the same object where there are none."""
    if f.body is None or not has_loops(f.body):
        return f
    sweep = _Sweep()
    body = sweep.block(f.body)
    if not sweep.joined:
        return f
    return f.with_body(body)


class _Sweep:
    """Goes through all blocks; `joined` counts."""

    def __init__(self) -> None:
        self.joined = 0

    def block(self, block: ir.Block) -> ir.Block:
        """The block with the turns of its loops joined, those inside first."""
        new: list[ir.Let] = []
        for let in block.lets:
            changed = within(let, self.block)
            parts = _parts(changed.expr) if isinstance(changed.expr, ir.Loop) else None
            if parts is None:
                new.append(changed)
            else:
                self.joined += 1
                _Jam(new, changed, parts).run()
        return ir.Block(new, block.results)


@dataclass(slots=True)
class _Parts:
    """A loop whose turns can be joined: the lets before the inner loop, that loop, the lets behind it, and how many
    turns are to be one. `array` is the number of the carry that the inner one carries on, if there is one."""

    loop: ir.Loop
    before: list[ir.Let]
    inner: ir.Let
    behind: list[ir.Let]
    turns: int
    array: int | None

    @property
    def nest(self) -> ir.Loop:
        """The inner loop."""
        assert isinstance(self.inner.expr, ir.Loop)
        return self.inner.expr


def _parts(e: ir.Loop) -> _Parts | None:
    """The parts of a loop whose turns can be joined."""
    at = next((k for k, let in enumerate(e.body.lets) if isinstance(let.expr, ir.Loop)), None)
    if at is None or e.down or (e.turns or 0) < FEWEST or len(e.body.lets) > AROUND or any(in_lanes(e)):
        return None
    inner = e.body.lets[at].expr
    assert isinstance(inner, ir.Loop)
    length = len(inner.body.lets)
    turns = 4 if length <= SHORTEST else 2
    found = _Parts(e, e.body.lets[:at], e.body.lets[at], e.body.lets[at + 1 :], turns, None)
    fits = length <= SHORT and _is_plain_outside(e) and _is_plain_inside(inner) and _goes_apart(found)
    return found if fits and _pays(found) else None


def _is_plain_outside(e: ir.Loop) -> bool:
    """Whether what is carried and given is numbers and arrays, and no row that is read is taken."""
    rows = [a.type for a in e.body.results[len(e.carries) :]]
    carried = all(isinstance(c.type, Scalar | Array) for c in e.carries)
    return carried and all(t is REAL for t in rows) and not any(scan.consumes for scan in e.scans)


def _is_plain_inside(e: ir.Loop) -> bool:
    """Whether the inner loop is arithmetic and reads, and writes at most one element of one array a turn."""
    few = e.turns is not None and e.turns < FEWEST
    if few or e.down or len(e.body.results) != len(e.carries) or any(scan.consumes for scan in e.scans):
        return False
    return all(is_short(let.expr) and not fails_or_acts(let.expr) for let in e.body.lets)


def is_short(e: ir.Expr) -> bool:
    """Whether it is a few instructions, and no kernel that would stand there several times."""
    if isinstance(e, ir.Apply):
        return isinstance(e.op.wasm, Instr | Emit) or small_kernel(e.op) is not None
    return isinstance(e, ir.Index | ir.Update)


def _goes_apart(p: _Parts) -> bool:
    """Whether no turn reads what another one changes, but for what is done behind the inner loops, in order, and for
    the own element of each inner turn."""
    e, inner = p.loop, p.nest
    state: set[ir.Atom] = set(e.carries)
    for let in p.before:
        if type(let.expr) not in (ir.Apply, ir.Index) or fails_or_acts(let.expr) or _reads(let.expr, state):
            return False
    heavy = [k for k, c in enumerate(inner.carries) if is_heavy(c.type)]
    if len(heavy) > 1 or (heavy and inner.inits[heavy[0]] not in e.carries):
        return False
    if heavy:
        p.array = e.carries.index(inner.inits[heavy[0]])  # it is one of them
        if not _keeps_to_its_element(p, heavy[0]):
            return False
    bound = {e.index, *(v for let in p.before for v in let.binders), *(scan.param for scan in e.scans)}
    starts = [a for k, a in enumerate(inner.inits) if k not in heavy]
    rows = [scan.array for scan in inner.scans]
    read = {a for let in inner.body.lets for a in operands(let.expr)}
    if inner.trips in bound or not state.isdisjoint([*starts, *rows, inner.trips, *read]):
        return False
    return _follows(p, state)


def _reads(e: ir.Expr, state: set[ir.Atom]) -> bool:
    return not state.isdisjoint(operands(e)) or (bool(scopes(e)) and not state.isdisjoint(captures(e)))


def _keeps_to_its_element(p: _Parts, k: int) -> bool:
    """Whether the inner loop reads and then writes one element of the array that it carries, the same in all turns of
    the outer one."""
    inner = p.nest
    array, writes = inner.carries[k], [let for let in inner.body.lets if isinstance(let.expr, ir.Update)]
    if len(writes) != 1 or inner.body.results[k] is not writes[0].binders[0]:
        return False
    write = writes[0].expr
    assert isinstance(write, ir.Update)
    inside = {*p.loop.carries, p.loop.index, *inner.carries, inner.index}
    inside.update(v for let in (*p.before, *inner.body.lets) for v in let.binders)
    inside.update(scan.param for scan in (*p.loop.scans, *inner.scans))
    steps = write.path[:-1]
    if write.base is not array or write.path[-1] is not inner.index or write.value.type is not REAL:
        return False
    if any(step in inside for step in steps):
        return False
    last = inner.body.lets.index(writes[0])
    others = [let.expr for let in inner.body.lets if array in operands(let.expr) and let is not writes[0]]
    before = inner.body.lets[:last]
    for x in others:
        if not isinstance(x, ir.Index) or x.path != write.path or all(let.expr is not x for let in before):
            return False
    return _is_carried_on(p, p.inner.binders[k])


def _is_carried_on(p: _Parts, v: ir.Var) -> bool:
    """Whether the array behind the inner loop is carried on under its number, and nobody else reads it."""
    return (
        p.array is not None and p.loop.body.results[p.array] is v and not any(_reads(let.expr, {v}) for let in p.behind)
    )


def _follows(p: _Parts, state: set[ir.Atom]) -> bool:
    """Whether the lets behind the inner loop can all be done behind those of the other turns."""
    results = p.loop.body.results[: len(p.loop.carries)]
    given = {*p.inner.binders, *(v for let in p.behind for v in let.binders), *state}
    for let in p.behind:
        x = let.expr
        if isinstance(x, ir.If):
            plain = all(type(i.expr) is ir.Apply and not i.expr.op.failure for _, b in scopes(x) for i in b.lets)
            if not plain or any(is_heavy(v.type) for v in let.binders):
                return False
        elif type(x) not in (ir.Apply, ir.Index, ir.Update) or fails_or_acts(x):
            return False
    return all(r in given for r, c in zip(results, p.loop.carries, strict=True) if is_heavy(c.type))


def _pays(p: _Parts) -> bool:
    """Whether turns share something, or wait for a sum."""
    inner = p.nest
    return p.array is not None or any(
        new is not c and c.type is REAL for c, new in zip(inner.carries, inner.body.results, strict=True)
    )


class Joined(ABC):
    """Writes the loop of joined turns, and that of the turns that are left."""

    def __init__(self, new: list[ir.Let], let: ir.Let, turns: int) -> None:
        assert isinstance(let.expr, ir.Loop)
        self.new = new
        self.let = let
        self.whole = let.expr
        self.turns = turns
        self.span = let.span

    def run(self) -> None:
        """Appends zeros for what was given in rows, and both loops."""
        e, turns = self.whole, self.turns
        trips = e.turns or 0
        count = len(e.carries)
        inits = list(e.inits)
        for v in self.let.binders[count:]:
            inits.append(ir.Var(v.type, v.hint))
            self.new.append(ir.Let((inits[-1],), ir.Zero(None), self.span))  # type: ignore[arg-type]  # just made
        binders = self.let.binders
        left = trips % turns
        if left:
            binders = tuple([ir.Var(v.type, v.hint) for v in binders])
        self.new.append(self.loop(trips // turns, turns, 0, inits, binders))
        if left:
            self.new.append(self.loop(left, 1, trips - left, list(binders), self.let.binders))

    def loop(self, trips: int, turns: int, first: int, inits: list[ir.Atom], binders: tuple[ir.Var, ...]) -> ir.Let:
        """A loop of so many times so many turns, from the first on."""
        index = ir.Var(INT, self.whole.index.hint)
        carries = tuple([ir.Var(v.type, v.hint) for v in binders])
        lets: list[ir.Let] = []
        start = self.apply(lets, PRODUCT, index, turns) if turns > 1 else index
        copies = [Renaming() for _ in range(turns)]
        for k, copy in enumerate(copies):
            copy.atoms[self.whole.index] = self.apply(lets, SUM, start, first + k) if first + k else start
        results = self.turn(lets, copies, carries)
        loop = ir.Loop(ir.integer(trips), index, carries, tuple(inits), (), ir.Block(lets, results))
        return ir.Let(binders, loop, self.span)

    @abstractmethod
    def turn(self, lets: list[ir.Let], copies: list[Renaming], carries: Sequence[ir.Var]) -> tuple[ir.Atom, ...]:
        """Appends the lets of several turns as one; what they carry on."""

    def apply(self, lets: list[ir.Let], op: ir.Primitive, a: ir.Atom, number: int) -> ir.Var:
        """Appends an operation with a constant."""
        made = ir.Var(INT)
        lets.append(ir.Let((made,), ir.Apply(op, (a, ir.integer(number))), self.span))
        return made


class _Jam(Joined):
    """Joins the turns of a loop around an innermost one."""

    def __init__(self, new: list[ir.Let], let: ir.Let, parts: _Parts) -> None:
        super().__init__(new, let, parts.turns)
        self.parts = parts

    def turn(self, lets: list[ir.Let], copies: list[Renaming], carries: Sequence[ir.Var]) -> tuple[ir.Atom, ...]:
        p, e = self.parts, self.whole
        for copy in copies:
            for scan in e.scans:
                read = ir.Index(scan.array, (copy.atom(e.index),), False)
                lets.append(ir.Let((copy.fresh(scan.param),), read, self.span))
            lets += [copy.let(let) for let in p.before]
        current: list[ir.Atom] = list(carries)
        count = len(e.carries)
        if p.array is not None:
            copies[0].atoms[e.carries[p.array]] = current[p.array]
        lets.append(self.side_by_side(copies))
        for copy in copies:
            copy.atoms.update(zip(e.carries, current, strict=False))
            lets += [copy.let(let) for let in p.behind]
            for k in range(count):
                current[k] = copies[-1].atom(e.body.results[k]) if k == p.array else copy.atom(e.body.results[k])
            for k, row in enumerate(e.body.results[count:], count):
                base = current[k]
                assert isinstance(base, ir.Var)
                after = ir.Var(base.type, base.hint)
                written = ir.Update(base, (copy.atom(e.index),), copy.atom(row), False)
                lets.append(ir.Let((after,), written, self.span))
                current[k] = after
        return tuple(current)

    def side_by_side(self, copies: list[Renaming]) -> ir.Let:
        """One inner loop for those of all turns. An array that they carry goes from turn to turn, and the element that
        each of them writes is what the next one reads."""
        inner = self.parts.nest
        index = ir.Var(INT, inner.index.hint)
        scans: list[ir.Scan] = []
        carries: list[ir.Var] = []
        inits: list[ir.Atom] = []
        binders: list[ir.Var] = []
        for number, copy in enumerate(copies):
            copy.atoms[inner.index] = index
            for scan in inner.scans:
                array = copy.atom(scan.array)
                shared = next((s for s in scans if s.array is array), None)
                if shared is not None:
                    copy.atoms[scan.param] = shared.param
                else:
                    scans.append(ir.Scan(copy.fresh(scan.param), array, False))
            for c, init, binder in zip(inner.carries, inner.inits, self.parts.inner.binders, strict=True):
                if is_heavy(c.type) and number:
                    continue
                carries.append(copy.fresh(c))
                inits.append(copy.atom(init))
                binders.append(copy.fresh(binder))
        body = self.bodies(copies)
        for copy in copies[1:]:
            for binder in self.parts.inner.binders:
                copy.atoms.setdefault(binder, copies[0].atom(binder))
        loop = ir.Loop(inner.trips, index, tuple(carries), tuple(inits), tuple(scans), body)
        return ir.Let(tuple(binders), loop, self.parts.inner.span)

    def bodies(self, copies: list[Renaming]) -> ir.Block:
        """The bodies of all inner loops, one after the other."""
        inner = self.parts.nest
        bodies = _Bodies(set(inner.carries), copies)
        for copy in copies:
            bodies.add(copy, inner.body.lets)
        pairs = list(zip(inner.carries, inner.body.results, strict=True))
        given = [copy.atom(r) for k, copy in enumerate(copies) for c, r in pairs if not k or not is_heavy(c.type)]
        return ir.Block(bodies.lets, tuple(given))


class _Bodies:
    """Bodies of inner loops, one after the other: `written` is what the last one has written to the element that all of
    them add to, `read` what is known of arrays that nobody changes."""

    def __init__(self, carries: set[ir.Var], copies: list[Renaming]) -> None:
        self.carries = carries
        self.copies = copies
        self.lets: list[ir.Let] = []
        self.written: ir.Atom | None = None
        self.read: dict[tuple[ir.Atom, ir.Path], ir.Var] = {}

    def add(self, copy: Renaming, lets: list[ir.Let]) -> None:
        """Appends the lets of one."""
        before = self.written
        for let in lets:
            e = let.expr
            if isinstance(e, ir.Update):
                self.write(copy, let, e)
            elif not isinstance(e, ir.Index):
                self.lets.append(copy.let(let))
            elif e.base not in self.carries:
                self.share(copy, let, e)
            elif before is not None:
                copy.atoms[let.binders[0]] = before
            else:
                self.lets.append(copy.let(let))

    def write(self, copy: Renaming, let: ir.Let, e: ir.Update) -> None:
        """Only the last one writes."""
        self.written = copy.atom(e.value)
        if copy is self.copies[-1]:
            first = self.copies[0]
            written = ir.Update(first.atom(e.base), renamed(copy, e.path), self.written, False)
            self.lets.append(ir.Let((first.fresh(let.binders[0]),), written, let.span))

    def share(self, copy: Renaming, let: ir.Let, e: ir.Index) -> None:
        """What another one has read is there."""
        key = copy.atom(e.base), renamed(copy, e.path)
        if key in self.read:
            copy.atoms[let.binders[0]] = self.read[key]
        else:
            self.lets.append(copy.let(let))
            self.read[key] = self.lets[-1].binders[0]


def renamed(copy: Renaming, path: ir.Path) -> ir.Path:
    """A path in a copy."""
    return tuple([step if isinstance(step, ir.Field) else copy.atom(step) for step in path])
