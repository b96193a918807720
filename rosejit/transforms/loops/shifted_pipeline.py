"""Writes stages as one loop. What an iteration reads of an iteration before is carried in numbers; iterations that not
all stages have stand in front of the loop and behind it.
"""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import Renaming
from rosejit.ir.types import BOOL, INT, REAL, Array, Type
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES
from rosejit.transforms.loops.loop_stages import Output, Stage

SUM = PRIMITIVES["wadd"]
ZEROS: dict[Type, ir.Lit] = {REAL: ir.real(0.0), INT: ir.integer(0), BOOL: ir.FALSE}


@dataclass(slots=True)
class _Delayed:
    """Numbers of iterations before: that of k iterations before is `carries[k - 1]`, and behind the loop that of the
    last iteration but k - 1 is `finals[k - 1]`."""

    carries: list[ir.Var]
    starts: list[ir.Atom]
    finals: list[ir.Var]


@dataclass(slots=True)
class _Part:
    """Lets in the making: in front of the loop, in it or behind it; `arrays` are the kept outputs as they are now. In
    the loop positions count from `index` on, elsewhere from 0."""

    lets: list[ir.Let]
    arrays: dict[Output, ir.Atom]
    index: ir.Var | None = None
    behind: bool = False


class ShiftedPipeline:
    """The loop for `stages`: of their outputs those in `kept` are made, of the others only what is read. `defined` has
    the lets of the block by what they bind.
    """

    def __init__(self, stages: list[Stage], kept: set[ir.Atom], defined: dict[ir.Atom, ir.Let]) -> None:
        self.stages = stages
        self.defined = defined
        self.stage = {o: stage for stage in stages for o in stage.outputs}
        self.kept = [o for o in self.stage if o.array in kept]
        self.made: dict[ir.Atom, Output] = {o.array: o for o in self.stage}
        self.replaced: dict[ir.Atom, Output] = {o.start: o for o in self.kept if o.start is not None}
        self.begin, self.end = max([s.begin for s in stages]), min([s.end for s in stages])
        self.values: dict[tuple[Output, int], ir.Atom] = {}
        self.olds: dict[tuple[Output, int], ir.Atom] = {}
        self.now: dict[Output, ir.Atom] = {}
        self.was: dict[Output, ir.Atom] = {}
        self.sums: dict[int, ir.Atom] = {}
        self.delayed: dict[tuple[Output, bool], _Delayed] = {}
        self.front = self.part = _Part([], {})

    def run(self) -> list[ir.Let]:
        """The lets that make the same arrays."""
        self.part.arrays |= {o: self._opened(o) for o in self.kept if not self._is_stacked(o)}
        for t in range(min([s.begin for s in self.stages]), self.begin):
            self._iteration(t)
        index = ir.Var(INT, self.stages[0].loop.index.hint)
        carried: dict[Output, ir.Var] = {o: ir.Var(o.array.type, o.array.hint) for o in self.front.arrays}
        body = self.part = _Part([], {**carried}, index)
        self._iteration(self.begin)
        finals = {o: o.array if self.stage[o].end == self.end else ir.Var(o.array.type) for o in carried}
        behind = self.part = _Part([], {**finals}, behind=True)
        for t in range(self.end, max([s.end for s in self.stages])):
            self._iteration(t)
        return [*self.front.lets, self._loop(body, carried, finals), *behind.lets]

    def _loop(self, body: _Part, carried: dict[Output, ir.Var], finals: dict[Output, ir.Var]) -> ir.Let:
        """The loop with all that turned out to be carried."""
        carries, inits = [*carried.values()], [self.front.arrays[o] for o in carried]
        results, binders = [body.arrays[o] for o in carried], [*finals.values()]
        for (o, old), d in self.delayed.items():
            carries += d.carries
            inits += d.starts
            binders += d.finals
            results += [(self.was if old else self.now)[o], *d.carries[:-1]]
        stacked = [o for o in self.kept if o not in carried]
        results += [self.now[o] for o in stacked]
        binders += [o.array for o in stacked]
        assert body.index is not None
        block = ir.Block(body.lets, tuple(results))
        loop = ir.Loop(ir.integer(self.end - self.begin), body.index, tuple(carries), tuple(inits), (), block)
        return ir.Let(tuple(binders), loop, self.stages[-1].let.span)

    def _is_stacked(self, o: Output) -> bool:
        """Whether the loop makes all of an output."""
        stage = self.stage[o]
        return o.start is None and (stage.begin, stage.end) == (self.begin, self.end)

    def _opened(self, o: Output) -> ir.Atom:
        """What an output is before its first element is made."""
        return self._bind(ir.Zero(None), o.array.type) if o.start is None else o.start

    # --- iterations

    def _iteration(self, t: int) -> None:
        """One iteration of the stages that have it."""
        for stage in self.stages:
            if self.part.index is not None or stage.begin <= t < stage.end:
                self._one(stage, t - stage.delay)

    def _one(self, stage: Stage, here: int) -> None:
        """One iteration of a stage, which makes its element at `here`."""
        copy = Renaming()
        for a, constant in stage.affine.items():
            copy.atoms[a] = self._at(here - stage.first + constant)
        for scan in stage.loop.scans:
            copy.atoms[scan.param] = self._read(scan.array, here - stage.first, here)
        writes = {o.written: o for o in stage.outputs if o.written is not None}
        own = {name: o for o in stage.outputs for name in o.names}
        for let in stage.loop.body.lets:
            e = let.expr
            if let in writes:
                self._write(writes[let], here, copy.atom(writes[let].value))
            elif isinstance(e, ir.Index) and (distance := stage.subscript(e.path)) is not None:
                o, pos = own.get(e.base), here + distance
                copy.atoms[let.binders[0]] = self._own(o, e.base, pos, here) if o else self._read(e.base, pos, here)
            elif let.binders[0] not in stage.affine:
                self.part.lets.append(copy.let(let))
        for o in stage.outputs:
            if o.written is None:
                self._write(o, here, copy.atom(o.value))

    def _own(self, o: Output, name: ir.Atom, position: int, here: int) -> ir.Atom:
        """An element of an array that the stage itself updates."""
        is_new = position < here or (position == here and name is not o.names[0])
        return self._new(o, position) if is_new else self._old(o, position)

    def _read(self, array: ir.Atom, position: int, here: int) -> ir.Atom:
        """An element of an array that the stage reads while it makes the one at `here`."""
        if array in self.made:
            return self._new(self.made[array], position)
        return self._old(self.replaced[array], position) if array in self.replaced else self._element(array, position)

    def _write(self, o: Output, position: int, value: ir.Atom) -> None:
        """Make an element."""
        part = self.part
        if o in part.arrays:
            array, at = part.arrays[o], (self._at(position),)
            before = self._element(array, position) if o.start is not None else value
            is_last = part.behind and position == self.stage[o].first + self.stage[o].trips - 1
            part.arrays[o] = after = o.array if is_last else ir.Var(o.array.type, o.array.hint)
            part.lets.append(ir.Let((after,), ir.Update(array, at, value, False), self.stage[o].let.span))
            if part.index is None:
                self.olds[o, position] = before
            else:
                self.was[o] = before
        if part.index is None:
            self.values[o, position] = value
        else:
            self.now[o] = value

    # --- elements

    def _new(self, o: Output, position: int) -> ir.Atom:
        """An element that a stage has made, or left as it was."""
        if self.part.index is not None:
            distance = self.begin - self.stage[o].delay - position
            return self._before(o, False, distance).carries[distance - 1] if distance else self.now[o]
        return self._known(o, position, self.values, False)

    def _old(self, o: Output, position: int) -> ir.Atom:
        """An element as it was before the stage that updates the array."""
        if o not in self.part.arrays:
            assert o.start is not None
            return self._element(o.start, position)
        if self.part.index is None:
            return self._known(o, position, self.olds, True)
        distance = self.begin - self.stage[o].delay - position
        if distance <= 0:
            return self._element(self.part.arrays[o], position)
        return self._before(o, True, distance).carries[distance - 1]

    def _known(self, o: Output, position: int, values: dict[tuple[Output, int], ir.Atom], old: bool) -> ir.Atom:
        """An element outside of the loop."""
        if self.part.behind:
            last = self.end - self.stage[o].delay - 1
            if last - (self.end - self.begin) < position <= last:
                distance = last - position + 1
                return self._before(o, old, distance).finals[distance - 1]
        if (o, position) in values:
            return values[o, position]
        array = self.part.arrays.get(o, o.start)
        return ZEROS[_element(o)] if array is None else self._element(array, position)

    def _before(self, o: Output, old: bool, distance: int) -> _Delayed:
        """The numbers of iterations before, up to that distance."""
        d = self.delayed.setdefault((o, old), _Delayed([], [], []))
        while len(d.carries) < distance:
            position = self.begin - self.stage[o].delay - len(d.carries) - 1
            here, self.part = self.part, self.front
            given = self._known(o, position, self.olds if old else self.values, old) if position >= 0 else None
            self.part = here
            d.starts.append(ZEROS[_element(o)] if given is None else given)
            d.carries.append(ir.Var(_element(o), o.array.hint))
            d.finals.append(ir.Var(_element(o), o.array.hint))
        return d

    def _element(self, array: ir.Atom, position: int) -> ir.Atom:
        """An element of an array as it is, without the array where the lets in front tell what it is."""
        t = array.type
        assert isinstance(t, Array)
        made: ir.Atom = array
        while self.part.index is None and made in self.defined:
            e = self.defined[made].expr
            if isinstance(e, ir.Zero):
                return ZEROS[t.element]
            if not isinstance(e, ir.Update) or len(e.path) != 1 or not isinstance(e.path[0], ir.Lit):
                break
            if e.path[0].value == position:
                return e.value
            made = e.base
        return self._bind(ir.Index(array, (self._at(position),), False), t.element)

    def _at(self, position: int) -> ir.Atom:
        """An index."""
        index = self.part.index
        if index is None:
            return ir.integer(position)
        if position not in self.sums:
            made = self._bind(ir.Apply(SUM, (index, ir.integer(position))), INT) if position else index
            self.sums[position] = made
        return self.sums[position]

    def _bind(self, e: ir.Expr, t: Type) -> ir.Var:
        """A variable for a result."""
        v = ir.Var(t)
        self.part.lets.append(ir.Let((v,), e, self.stages[-1].let.span))
        return v


def _element(o: Output) -> Type:
    assert isinstance(o.array.type, Array)
    return o.array.type.element
