"""Unroll-and-jam: several iterations of an outer loop as one, their inner loops fused.

Sums that wait for themselves wait together, what all iterations read is read once, and elements that each of them adds
to are read and written once. First the loops around an innermost one, then two iterations of the loop around those: of
a product of matrices a block of four columns and two rows stays in registers. Every element is computed by the same
operations in the same order, so all results are bit-identical.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from rosejit.ir import syntax as ir
from rosejit.ir.lane_sums import in_lanes
from rosejit.ir.primitive import Emit, Instr
from rosejit.ir.traversal import Renaming, bound, captures, operands, scopes, within
from rosejit.ir.types import INT, REAL, Array, Scalar, is_boxed
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES
from rosejit.ops.kernels import small_kernel
from rosejit.transforms.analysis.affine_dependence import (
    Access,
    AccumulatorAliases,
    AccumulatorPart,
    Iterations,
    may_overlap,
    uses,
)
from rosejit.transforms.analysis.effects import fails_or_acts
from rosejit.transforms.passes.range_checks import has_loops

SUM, PRODUCT = PRIMITIVES["wadd"], PRIMITIVES["wmul"]
FEWEST = 8
"""Iterations of a loop, and of the one inside, from which on it is worth it."""
SHORTEST, SHORT = 5, 10
"""Lets of the inner loop up to which four iterations are one, and two: more would not find registers."""
AROUND = 40
"""Lets around it up to which they may stand there several times."""


def unroll_and_jam(f: ir.Function) -> ir.Function:
    """`f` with such iterations joined; the same object where there are none."""
    if f.body is None or not has_loops(f.body):
        return f
    sweep = _InnerLoopJamming()
    body = sweep.block(f.body)
    if not sweep.joined:
        return f
    return f.with_body(body)


class _InnerLoopJamming:
    """Goes through all blocks; `joined` counts."""

    def __init__(self) -> None:
        self.joined = 0

    def block(self, block: ir.Block) -> ir.Block:
        """The block with the iterations of its loops joined, those inside first."""
        new: list[ir.Let] = []
        for let in block.lets:
            changed = within(let, self.block)
            parts = _parts(changed.expr) if isinstance(changed.expr, ir.Loop) else None
            if parts is None:
                new.append(changed)
            else:
                self.joined += 1
                _UnrollAndJam(new, changed, parts).run()
        return ir.Block(new, block.results)


@dataclass(slots=True)
class _NestParts:
    """A loop whose iterations can be joined: the lets before the inner loop, that loop, the lets behind it, and how
    many iterations are to be one. `array` is the number of the carry that the inner one carries on, if there is one."""

    loop: ir.Loop
    before: list[ir.Let]
    inner: ir.Let
    behind: list[ir.Let]
    factor: int
    array: int | None

    @property
    def nest(self) -> ir.Loop:
        """The inner loop."""
        assert isinstance(self.inner.expr, ir.Loop)
        return self.inner.expr


def _parts(e: ir.Loop) -> _NestParts | None:
    """The parts of a loop whose iterations can be joined."""
    at = next((k for k, let in enumerate(e.body.lets) if isinstance(let.expr, ir.Loop)), None)
    if at is None or e.down or (e.constant_trips or 0) < FEWEST or len(e.body.lets) > AROUND or any(in_lanes(e)):
        return None
    inner = e.body.lets[at].expr
    assert isinstance(inner, ir.Loop)
    length = len(inner.body.lets)
    factor = 4 if length <= SHORTEST else 2
    found = _NestParts(e, e.body.lets[:at], e.body.lets[at], e.body.lets[at + 1 :], factor, None)
    fits = length <= SHORT and _is_plain_outside(e) and _is_plain_inside(inner) and _goes_apart(found)
    return found if fits and _pays(found) else None


def _is_plain_outside(e: ir.Loop) -> bool:
    """Whether what is carried and given is numbers and arrays, and no row that is read is taken."""
    rows = [a.type for a in e.body.results[len(e.carries) :]]
    carried = all(isinstance(c.type, Scalar | Array) for c in e.carries)
    return carried and all(t is REAL for t in rows) and not any(scan.consumes for scan in e.scans)


def _is_plain_inside(e: ir.Loop) -> bool:
    """Whether the inner loop is arithmetic and reads, and writes at most one element of one array an iteration."""
    few = e.constant_trips is not None and e.constant_trips < FEWEST
    if few or e.down or len(e.body.results) != len(e.carries) or any(scan.consumes for scan in e.scans):
        return False
    return all(is_short(let.expr) and not fails_or_acts(let.expr) for let in e.body.lets)


def is_short(e: ir.Expr) -> bool:
    """Whether it is a few instructions, and no kernel that would stand there several times."""
    if isinstance(e, ir.Apply):
        return isinstance(e.op.wasm, Instr | Emit) or small_kernel(e.op) is not None
    return isinstance(e, ir.Index | ir.Update)


def _goes_apart(p: _NestParts) -> bool:
    """Whether no iteration reads what another one changes, but for what is done behind the inner loops, in order, and
    for the own element of each inner iteration."""
    e, inner = p.loop, p.nest
    state: set[ir.Atom] = set(e.carries)
    for let in p.before:
        if type(let.expr) not in (ir.Apply, ir.Index) or fails_or_acts(let.expr) or _reads(let.expr, state):
            return False
    boxed = [k for k, c in enumerate(inner.carries) if is_boxed(c.type)]
    if len(boxed) > 1 or (boxed and inner.inits[boxed[0]] not in e.carries):
        return False
    if boxed:
        p.array = e.carries.index(inner.inits[boxed[0]])  # it is one of them
        if not _keeps_to_its_element(p, boxed[0]):
            return False
    bound = {e.index, *(v for let in p.before for v in let.binders), *(scan.param for scan in e.scans)}
    starts = [a for k, a in enumerate(inner.inits) if k not in boxed]
    rows = [scan.array for scan in inner.scans]
    read = {a for let in inner.body.lets for a in operands(let.expr)}
    if inner.trips in bound or not state.isdisjoint([*starts, *rows, inner.trips, *read]):
        return False
    return _follows(p, state)


def _reads(e: ir.Expr, state: set[ir.Atom]) -> bool:
    return not state.isdisjoint(operands(e)) or (bool(scopes(e)) and not state.isdisjoint(captures(e)))


def _keeps_to_its_element(p: _NestParts, k: int) -> bool:
    """Whether the inner loop reads and then writes one element of the array that it carries, the same in all iterations
    of the outer one."""
    inner = p.nest
    touched = uses(inner)[inner.carries[k]]
    x = touched[-1].let.expr if touched and touched[-1].let is not None else None
    if not isinstance(x, ir.Update) or x.path[-1] is not inner.index or x.value.type is not REAL:
        return False
    if any([a.path != x.path for a in touched]) or any([a.writes for a in touched[:-1]]):
        return False
    return bound(p.loop).isdisjoint(x.path[:-1]) and _is_carried_on(p, p.inner.binders[k])


def _is_carried_on(p: _NestParts, v: ir.Var) -> bool:
    """Whether the array behind the inner loop is carried on under its number, and nobody else reads it."""
    return (
        p.array is not None and p.loop.body.results[p.array] is v and not any(_reads(let.expr, {v}) for let in p.behind)
    )


def _follows(p: _NestParts, state: set[ir.Atom]) -> bool:
    """Whether the lets behind the inner loop can all be done behind those of the other iterations."""
    results = p.loop.body.results[: len(p.loop.carries)]
    given = {*p.inner.binders, *(v for let in p.behind for v in let.binders), *state}
    for let in p.behind:
        x = let.expr
        if isinstance(x, ir.If):
            plain = all(type(i.expr) is ir.Apply and not i.expr.op.failure for _, b in scopes(x) for i in b.lets)
            if not plain or any(is_boxed(v.type) for v in let.binders):
                return False
        elif type(x) not in (ir.Apply, ir.Index, ir.Update) or fails_or_acts(x):
            return False
    return all(r in given for r, c in zip(results, p.loop.carries, strict=True) if is_boxed(c.type))


def _pays(p: _NestParts) -> bool:
    """Whether iterations share something, or wait for a sum."""
    inner = p.nest
    return p.array is not None or any(
        new is not c and c.type is REAL for c, new in zip(inner.carries, inner.body.results, strict=True)
    )


class UnrolledLoop(ABC):
    """Writes the loop of joined iterations, and that of the iterations that are left."""

    def __init__(self, new: list[ir.Let], let: ir.Let, factor: int) -> None:
        assert isinstance(let.expr, ir.Loop)
        self.new = new
        self.let = let
        self.whole = let.expr
        self.factor = factor
        self.span = let.span

    def run(self) -> None:
        """Appends zeros for what was given in rows, and both loops."""
        e, factor = self.whole, self.factor
        trips = e.constant_trips or 0
        count = len(e.carries)
        inits = list(e.inits)
        for v in self.let.binders[count:]:
            inits.append(ir.Var(v.type, v.hint))
            self.new.append(ir.Let((inits[-1],), ir.Zero(None), self.span))  # type: ignore[arg-type]  # just made
        binders = self.let.binders
        left = trips % factor
        if left:
            binders = tuple([ir.Var(v.type, v.hint) for v in binders])
        self.new.append(self.loop(trips // factor, factor, 0, inits, binders))
        if left:
            self.new.append(self.loop(left, 1, trips - left, list(binders), self.let.binders))

    def loop(self, trips: int, factor: int, first: int, inits: list[ir.Atom], binders: tuple[ir.Var, ...]) -> ir.Let:
        """A loop of so many times so many iterations, from the first on."""
        index = ir.Var(INT, self.whole.index.hint)
        carries = tuple([ir.Var(v.type, v.hint) for v in binders])
        lets: list[ir.Let] = []
        start = self.apply(lets, PRODUCT, index, factor) if factor > 1 else index
        copies = [Renaming() for _ in range(factor)]
        for k, copy in enumerate(copies):
            copy.atoms[self.whole.index] = self.apply(lets, SUM, start, first + k) if first + k else start
        results = self.iteration(lets, copies, carries)
        loop = ir.Loop(ir.integer(trips), index, carries, tuple(inits), (), ir.Block(lets, results))
        return ir.Let(binders, loop, self.span)

    @abstractmethod
    def iteration(self, lets: list[ir.Let], copies: list[Renaming], carries: Sequence[ir.Var]) -> tuple[ir.Atom, ...]:
        """Appends the lets of several iterations as one; what they carry on."""

    def apply(self, lets: list[ir.Let], op: ir.Primitive, a: ir.Atom, number: int) -> ir.Var:
        """Appends an operation with a constant."""
        made = ir.Var(INT)
        lets.append(ir.Let((made,), ir.Apply(op, (a, ir.integer(number))), self.span))
        return made


class _UnrollAndJam(UnrolledLoop):
    """Joins the iterations of a loop around an innermost one."""

    def __init__(self, new: list[ir.Let], let: ir.Let, parts: _NestParts) -> None:
        super().__init__(new, let, parts.factor)
        self.parts = parts

    def iteration(self, lets: list[ir.Let], copies: list[Renaming], carries: Sequence[ir.Var]) -> tuple[ir.Atom, ...]:
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
        """One inner loop for those of all iterations. An array that they carry goes from iteration to iteration, and
        the element that each of them writes is what the next one reads."""
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
                if is_boxed(c.type) and number:
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
        bodies = _JammedBodies(set(inner.carries), copies)
        for copy in copies:
            bodies.add(copy, inner.body.lets)
        pairs = list(zip(inner.carries, inner.body.results, strict=True))
        given = [copy.atom(r) for k, copy in enumerate(copies) for c, r in pairs if not k or not is_boxed(c.type)]
        return ir.Block(bodies.lets, tuple(given))


class _JammedBodies:
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


LONGEST = 14
"""Lets of an innermost loop up to which two of them find registers."""


def unroll_outer(f: ir.Function) -> ir.Function:
    """`f` with such iterations joined; the same object where there are none."""
    if f.body is None or not has_loops(f.body):
        return f
    sweep = _OuterLoopJamming(f.body)
    body = sweep.block(f.body)
    if not sweep.joined:
        return f
    return f.with_body(body)


class _OuterLoopJamming:
    """Goes through all blocks; `joined` counts."""

    def __init__(self, body: ir.Block) -> None:
        self.places = AccumulatorAliases(body)
        self.joined = 0

    def block(self, block: ir.Block) -> ir.Block:
        """The block with the iterations of its loops joined, outermost first."""
        new: list[ir.Let] = []
        for let in block.lets:
            roots = _Legality(let.expr, self.places).roots() if isinstance(let.expr, ir.Loop) else None
            if roots is None:
                new.append(within(let, self.block))
                continue
            self.joined += 1
            made: list[ir.Let] = []
            _UnrollOuter(made, let, roots, self.places).run()
            new += [within(each, self.block) for each in made]
        return ir.Block(new, block.results)


class _Legality:
    """Whether no iteration of a loop touches what another one does, but to add to it in turn."""

    def __init__(self, e: ir.Loop, places: AccumulatorAliases) -> None:
        self.e = e
        self.places = places
        self.iterations = Iterations(e)
        self.root = self.iterations.arrays
        self.root.update({c: c for c in e.carries})
        self.bound = self.iterations.bound
        self.own: set[ir.Atom] = {e.index}
        """What may be another value in another iteration."""
        self.views: dict[ir.Atom, ir.View] = {}
        self.added: list[set[AccumulatorPart]] = []
        self.shares = False
        self.innermost = 0

    def roots(self) -> dict[ir.Atom, ir.Var] | None:
        """The names of carried arrays, if iterations can be joined, and share something."""
        e = self.e
        few = (e.constant_trips or 0) < FEWEST
        if few or e.down or e.scans or len(e.body.results) != len(e.carries):
            return None
        plain = all(is_boxed(c.type) for c in e.carries) and any(isinstance(let.expr, ir.Loop) for let in e.body.lets)
        if not plain or not self.block(e.body, ()):
            return None
        stay = all([self.root.get(r) is c for c, r in zip(e.carries, e.body.results, strict=True)])
        alone = stay and not self.iterations.carries_dependence(self.places.disjoint)
        return self.root if alone and self.shares else None

    def block(self, block: ir.Block, around: tuple[ir.Var, ...]) -> bool:
        """Whether all its lets are harmless; `around` are the indices of the loops around it, but for the outermost."""
        if around and not any([isinstance(let.expr, ir.Loop) for let in block.lets]):
            self.innermost = max(self.innermost, len(block.lets))
            if self.innermost > LONGEST:
                return False
        return all([self.let(let, around) for let in block.lets])

    def let(self, let: ir.Let, around: tuple[ir.Var, ...]) -> bool:
        """Whether a let is harmless."""
        e = let.expr
        if fails_or_acts(e):
            return False
        own = not self.own.isdisjoint(operands(e))
        match e:
            case ir.Loop():
                if not self.loop(let, e, around):
                    return False
            case ir.Index(base=base, path=path) if base in self.root:
                if not self.element(base, path, let.binders[0], writes=False):
                    return False
                own = True
            case ir.Index():
                self.shares = self.shares or (not own and bool(around))
            case ir.Update(base=base, path=path, value=value):
                if base not in self.root or not self.element(base, path, value, writes=True):
                    return False
                self.root[let.binders[0]] = self.root[base]
            case ir.View(place=place):
                if place in self.bound:
                    return False
                self.views[let.binders[0]] = e
            case ir.Add():
                if not self.adds(e, around):
                    return False
            case ir.Apply() if is_short(e):
                pass
            case _:
                return False
        self.bound.update(let.binders)
        if own:
            self.own.update(let.binders)
        return True

    def element(self, base: ir.Atom, path: ir.Path, value: ir.Atom, writes: bool) -> bool:
        """Whether it is a number; note it."""
        self.iterations.accesses.append(Access(self.root[base], path, writes))
        return isinstance(value.type, Scalar)

    def adds(self, e: ir.Add, around: tuple[ir.Var, ...]) -> bool:
        """Whether an iteration adds there in its own row, or once to each number."""
        view = self.views.get(e.place)
        path = view.path if view is not None else ()
        if not isinstance(e.value.type, Scalar) or (view is None and e.place in self.bound):
            return False
        if self.e.index not in path:
            if any([index not in path for index in around]):
                return False
            self.shares = self.shares or bool(around)
        part = {self.places.part(e.place)}
        alone = not any([may_overlap(part, other) for other in self.added])
        self.added.append(part)
        return alone

    def loop(self, let: ir.Let, e: ir.Loop, around: tuple[ir.Var, ...]) -> bool:
        """Whether an inner loop is harmless."""
        inmost = not any([isinstance(inner.expr, ir.Loop) for inner in e.body.lets])
        few = inmost and e.constant_trips is not None and e.constant_trips < FEWEST
        if few or e.down or e.trips in self.bound or len(e.body.results) != len(e.carries):
            return False
        if any([scan.consumes or scan.array in self.root for scan in e.scans]):
            return False
        for c, init in zip(e.carries, e.inits, strict=True):
            if init in self.root:
                self.root[c] = self.root[init]
            elif not isinstance(c.type, Scalar):
                return False
        names = {e.index, *e.carries, *(scan.param for scan in e.scans)}
        self.bound |= names
        self.own.update(e.carries)
        self.own |= {scan.param for scan in e.scans if scan.array in self.own}
        self.shares = self.shares or any([scan.array not in self.own for scan in e.scans])
        if not self.block(e.body, (*around, e.index)):
            return False
        for c, r, v in zip(e.carries, e.body.results, let.binders, strict=True):
            if self.root.get(c) is not self.root.get(r):
                return False
            if c in self.root:
                self.root[v] = self.root[c]
            self.own.add(v)
        return True


class _UnrollOuter(UnrolledLoop):
    """Joins two iterations; `current` are the carried arrays as they are now."""

    def __init__(self, new: list[ir.Let], let: ir.Let, root: dict[ir.Atom, ir.Var], places: AccumulatorAliases) -> None:
        super().__init__(new, let, factor=2)
        self.root = root
        self.places = places
        self.current: dict[ir.Var, ir.Atom] = {}
        self.copies: list[Renaming] = []

    def iteration(self, lets: list[ir.Let], copies: list[Renaming], carries: Sequence[ir.Var]) -> tuple[ir.Atom, ...]:
        self.copies, self.current = copies, dict(zip(self.whole.carries, carries, strict=True))
        lets += self.block(self.whole.body.lets)
        return tuple(self.current.values())

    def block(self, lets: list[ir.Let]) -> list[ir.Let]:
        """Each let for all iterations, before the next one."""
        new: list[ir.Let] = []
        for let in lets:
            e = let.expr
            if isinstance(e, ir.Loop):
                new.append(self.inner(let, e))
            elif isinstance(e, ir.Update):
                new += [self.write(copy, let, e) for copy in self.copies]
            elif isinstance(e, ir.Index) and e.base in self.root:
                base = self.current[self.root[e.base]]
                for copy in self.copies:
                    read = ir.Index(base, renamed(copy, e.path), False)
                    new.append(ir.Let((copy.fresh(let.binders[0]),), read, let.span))
            elif isinstance(e, ir.Add) or self.differ(e):
                new += [copy.let(let) for copy in self.copies]
            else:
                new.append(self.copies[0].let(let))
                for copy in self.copies[1:]:
                    copy.atoms.update({v: self.copies[0].atom(v) for v in let.binders})
        for let in new:
            if isinstance(let.expr, ir.View):
                self.places.note(let)
        return new

    def differ(self, e: ir.Expr) -> bool:
        """Whether it is not the same in all iterations."""
        one, *others = self.copies
        return any([copy.atom(a) is not one.atom(a) for a in operands(e) for copy in others])

    def write(self, copy: Renaming, let: ir.Let, e: ir.Update) -> ir.Let:
        """The element of one iteration."""
        root, made = self.root[e.base], copy.fresh(let.binders[0])
        written = ir.Update(self.current[root], renamed(copy, e.path), copy.atom(e.value), False)
        self.current[root] = made
        return ir.Let((made,), written, let.span)

    def inner(self, let: ir.Let, e: ir.Loop) -> ir.Let:
        """An inner loop for all iterations: arrays are carried once, numbers by each of them."""
        index = ir.Var(INT, e.index.hint)
        scans: dict[ir.Atom, ir.Scan] = {}
        for copy in self.copies:
            copy.atoms[e.index] = index
            for scan in e.scans:
                array = copy.atom(scan.array)
                known = scans.setdefault(array, ir.Scan(ir.Var(scan.param.type, scan.param.hint), array))
                copy.atoms[scan.param] = known.param
        carries: list[ir.Var] = []
        inits: list[ir.Atom] = []
        binders: list[ir.Var] = []
        for c, init, v in zip(e.carries, e.inits, let.binders, strict=True):
            for copy in self.copies if c not in self.root else self.copies[:1]:
                inits.append(copy.atom(init) if c not in self.root else self.current[self.root[c]])
                carries.append(copy.fresh(c))
                binders.append(copy.fresh(v))
            if c in self.root:
                self.current[self.root[c]] = carries[-1]
        lets = self.block(e.body.lets)
        results: list[ir.Atom] = []
        for c, r in zip(e.carries, e.body.results, strict=True):
            if c in self.root:
                results.append(self.current[self.root[c]])
                self.current[self.root[c]] = binders[len(results) - 1]
            else:
                results += [copy.atom(r) for copy in self.copies]
        body = ir.Block(lets, tuple(results))
        loop = ir.Loop(e.trips, index, tuple(carries), tuple(inits), tuple(scans.values()), body)
        return ir.Let(tuple(binders), loop, let.span)
