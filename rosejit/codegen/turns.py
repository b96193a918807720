"""What the turns of a short loop touch, and whether several of them can be written as one: facts, no code."""

from dataclasses import dataclass, field

from rosejit.codegen.emitter import Emitter
from rosejit.codegen.lanes import can_apply, can_call
from rosejit.ir.primitive import Emit, Instr, Kernel
from rosejit.ir.sums import in_lanes
from rosejit.ir.syntax import Accum, Add, Apply, Atom, Call, Field, Index, Let, Lit, Loop, Path, Update, Var, View
from rosejit.ir.types import BOOL, REAL, TAN, Array, Ref, Scalar, Type, fields_of
from rosejit.ops.kernels import small_kernel

FEWEST = 4
"""A loop of fewer turns is not worth it."""

FEWEST_CALLS = 32
"""Nor is one that calls kernels, of fewer turns than this, unless it runs often: the engine takes most of a millisecond
to compile two."""

OFTEN = 1 << 12
"""Turns of a loop in all that are worth that."""

LONGEST = 16
"""Lets of a body up to which four turns are written; longer ones have their own work to do meanwhile."""


@dataclass(frozen=True, slots=True)
class Own:
    """The index plus `start`, a variable from outside, if there is one, plus a constant."""

    start: Var | None = None
    constant: int = 0


@dataclass(slots=True)
class Touch:
    """An element that a turn reads or writes: `own` is where from the index, None where it is the same one."""

    root: Atom
    path: Path
    own: Own | None
    writes: bool


@dataclass(slots=True)
class Turns:
    """A loop whose turns are nothing but arithmetic, elements at an index that grows with the turns, and sums."""

    x: Loop
    own: dict[Atom, Own]
    """What grows with the index."""
    tests: dict[tuple[Atom, int], None] = field(default_factory=dict[tuple[Atom, int], None])
    """Indices that the turns test, and the lengths that they must stay below."""
    summed: set[Var] = field(default_factory=set[Var])
    """The carries that are sums in lanes."""
    arrays: dict[Atom, Var] = field(default_factory=dict[Atom, Var])
    """Carried arrays, by all their names."""
    touches: list[Touch] = field(default_factory=list[Touch])
    """Of what changes in the loop."""
    serial: set[Atom] = field(default_factory=set[Atom])
    """What depends on carries whose turns go one after the other."""
    counts: bool = False
    """Whether the number of the turn is a value too."""
    wide: bool = True
    """Whether two turns can go side by side."""
    ordered: bool = False
    """Whether the turns must go one after the other, upwards."""

    @property
    def short(self) -> bool:
        """Whether four turns are not too long."""
        return len(self.x.body.lets) <= LONGEST


def turns_of(e: Emitter, let: Let, x: Loop) -> Turns | None:
    """The facts of a loop, if several of its turns can be written as one."""
    trips = FEWEST_CALLS if x.turns is None else x.turns
    seldom = trips < FEWEST_CALLS and trips * e.times < OFTEN
    if trips < FEWEST or (seldom and _calls(e, x)) or not (x.scans or x.body.lets):
        return None
    look = _Look(e, let, x)
    if not look.carries() or not all(map(look.let, x.body.lets)) or not look.ends():
        return None
    t = look.turns
    t.wide = t.wide and not _clash(e, t) and (look.work > 0 or not t.serial)
    if t.wide:
        return None if x.down and (t.ordered or t.tests) else t  # the last turn is the first to fail
    return t if t.short and not x.down and look.single else None


def _calls(e: Emitter, x: Loop) -> bool:
    """Whether the body calls kernels."""
    ops = [let.expr.op for let in x.body.lets if isinstance(let.expr, Apply)]
    primitives = any(isinstance(op.wasm, Kernel) and small_kernel(op) is None for op in ops)
    return primitives or any(isinstance(let.expr, Call) for let in x.body.lets)


def _is_real(t: Type) -> bool:
    return t is REAL or t is TAN


def is_column_of_reals(t: Type) -> bool:
    """Whether it is an array of numbers."""
    return isinstance(t, Array) and _is_real(t.element)


def _is_column(t: Type) -> bool:
    """Whether turns can write their elements of an array of this type."""
    return is_column_of_reals(t) or (isinstance(t, Array) and t.element is BOOL)


class _Look:
    """Goes over a loop once. `single`: each op is done to numbers in a few instructions; `work` counts what can be done
    to two turns at a time."""

    def __init__(self, e: Emitter, let: Let, x: Loop) -> None:
        self.e = e
        self.binding = let
        self.x = x
        self.turns = Turns(x, {x.index: Own()})
        self.inner: set[Atom] = {x.index, *x.carries, *(scan.param for scan in x.scans)}
        self.views: set[Atom] = set()
        self.single = True
        self.work = 0

    def carries(self) -> bool:
        """What is carried: arrays that stay where they are, sums, and numbers, which have an order."""
        t, x = self.turns, self.x
        for c, new, summed in zip(x.carries, x.body.results, in_lanes(x), strict=False):
            if isinstance(c.type, Array):
                t.arrays[c] = c
            elif summed:
                t.summed.add(c)
                t.ordered = True
            elif new is not c:
                t.serial.add(c)
                t.ordered = True
            if not isinstance(c.type, Array | Scalar):
                return False
        return all(is_column_of_reals(scan.array.type) for scan in x.scans)

    def let(self, let: Let) -> bool:
        """Whether a let is known to be harmless."""
        match let.expr:
            case Apply() as apply:
                if not self.apply(let.binders[0], apply):
                    return False
            case Call(function=f, args=args):
                self.single = False
                self.work += 1
                if not can_call(self.e.module, f) or not self.turns.serial.isdisjoint(args):
                    return False
            case Index(base=base, path=path) as read:
                root = self.turns.arrays.get(base, base)
                changes = root is not base or base in self.turns.arrays
                self.turns.wide = self.turns.wide and root is base  # what this turn has written is not there yet
                known = changes or base not in self.inner
                if not known or not _is_real(let.binders[0].type) or not self.element(read, root, path, changes):
                    return False
            case Update(base=base, path=path) as write:
                root = self.turns.arrays.get(base)
                if root is None or not _is_real(write.value.type) or not self.element(write, root, path, True, True):
                    return False
                self.turns.arrays[let.binders[0]] = root
            case View(place=place, path=path) as view:
                target = let.binders[0].type
                plain = isinstance(target, Ref) and _is_real(target.target) and place not in self.inner
                if not plain or not self.element(view, place, path, True, True):
                    return False
                self.views.add(let.binders[0])
            case Add(place=place, value=value):
                self.turns.wide = self.turns.wide and value not in self.turns.serial
                if not _is_real(value.type) or not self.adds(place):
                    return False
            case _:
                return False
        self.inner.update(let.binders)
        return True

    def apply(self, v: Var, x: Apply) -> bool:
        t, op = self.turns, x.op
        own = self.sum_of(x) if op.adds == (1, 1) and not op.failure else None
        if own is not None:
            t.own[v] = own
            return True
        t.counts = t.counts or any([a in t.own for a in x.args])
        single = isinstance(op.wasm, Instr | Emit) or small_kernel(op) is not None
        self.single = self.single and single
        if not t.serial.isdisjoint(x.args):
            t.serial.add(v)
            t.wide = t.wide and single
        else:
            t.wide = t.wide and can_apply(self.e.module, op, x.args)
            self.work += 1
        return not op.failure and (t.wide or self.single)

    def sum_of(self, x: Apply) -> Own | None:
        """What grows with the index, and a constant or a variable from outside."""
        one, other = x.args if x.args[0] in self.turns.own else x.args[::-1]
        own = self.turns.own.get(one)
        if own is None:
            return None
        if isinstance(other, Lit):
            assert isinstance(other.value, int)
            return Own(own.start, own.constant + other.value)
        return Own(other, own.constant) if own.start is None and other not in self.inner else None

    def element(self, let: Index | Update | View, root: Atom, path: Path, changes: bool, writes: bool = False) -> bool:
        """Whether a path leads to the own element of each turn, or to one that is the same for all."""
        own = [self.turns.own[step] for step in path if step in self.turns.own]
        fixed = all(isinstance(step, Field) or step in self.turns.own or step not in self.inner for step in path)
        if not fixed or len(own) > 1 or not self.can_test(let, root, path):
            return False
        if writes and not own and isinstance(let, Update):
            self.turns.wide = False
        if writes and not own:
            self.turns.ordered = True
        if changes:
            self.turns.touches.append(Touch(*_whole(self.e, root, path), own[0] if own else None, writes))
        return not own or own[0].start is not None or own[0].constant >= 0

    def can_test(self, let: Index | Update | View, root: Atom, path: Path) -> bool:
        """Whether what is tested in each turn can be tested in front of all."""
        tests = self.e.plan.tests.get(let, ())
        t = root.type.target if isinstance(root.type, Ref) else root.type
        for k, step in enumerate(path if tests else ()):
            if isinstance(step, Field):
                t = fields_of(t)[step.number]
                continue
            assert isinstance(t, Array)
            if k in tests:
                turns = self.x.turns if step in self.turns.own else None
                if t.length is None or isinstance(step, Lit) or (1 if turns is None else turns) > t.length:
                    return False
                self.turns.tests[step, t.length] = None
            t = t.element
        return True

    def adds(self, place: Atom) -> bool:
        """Whether adding there is known to be harmless: to a view of this turn, or a number outside."""
        if place in self.views:
            return True
        self.turns.ordered = True
        if place in self.e.plan.cells and place not in self.e.plan.addressed:
            return place not in self.inner
        self.turns.touches.append(Touch(*_whole(self.e, place, ()), None, True))
        return isinstance(place.type, Ref) and place not in self.inner

    def ends(self) -> bool:
        """Whether carried arrays stay where they are, and stacks are of numbers or Bools."""
        t, x = self.turns, self.x
        n = len(x.carries)
        stays = all(
            t.arrays.get(new) is c
            for c, new in zip(x.carries, x.body.results, strict=False)
            if isinstance(c.type, Array)
        )
        t.counts = t.counts or any(a in t.own for a in x.body.results)
        pairs = zip(x.carries, x.body.results, strict=False)
        t.wide = t.wide and not any(c in t.summed and new in t.serial for c, new in pairs)
        return stays and all(_is_column(v.type) for v in self.binding.binders[n:])


# --- do turns meet?


def _whole(e: Emitter, root: Atom, path: Path) -> tuple[Atom, Path]:
    """The same element by its path from the place that others are views of."""
    while isinstance(root, Var) and root in e.plan.defined:
        made = e.plan.defined[root][0].expr
        if not isinstance(made, View):
            break
        root, path = made.place, (*made.path, *path)
    return root, path


def _clash(e: Emitter, t: Turns) -> bool:
    """Whether a turn may touch what another one changes, other than both adding to one number in turn."""
    for k, one in enumerate(t.touches):
        for other in t.touches[k + 1 :]:
            if (one.writes or other.writes) and not _apart(e, t, one, other):
                return True
    return False


def _apart(e: Emitter, t: Turns, one: Touch, other: Touch) -> bool:
    mine, others = ([step in t.own for step in touch.path] for touch in (one, other))
    if one.own is not None and one.own == other.own and (mine == others or (mine[-1] and others[-1])):
        return True  # the same turn
    if one.root is not other.root:
        return one.root in t.arrays or other.root in t.arrays or _are_opened_apart(e, one.root, other.root)
    return len(one.path) == len(other.path) and any(
        [_differ(t, a, b) for a, b in zip(one.path, other.path, strict=True)]
    )


def _are_opened_apart(e: Emitter, one: Atom, other: Atom) -> bool:
    """Whether one of two places is, or is part of, one that is opened in this function, and the other is not."""
    owners = [e.plan.owner.get(root, root) if isinstance(root, Var) else root for root in (one, other)]
    opened = [v in e.plan.defined and isinstance(e.plan.defined[v][0].expr, Accum) for v in owners]
    return owners[0] is not owners[1] and any(opened)


def _differ(t: Turns, a: Atom | Field, b: Atom | Field) -> bool:
    """Whether two steps are never equal, whichever turns they are of."""
    if isinstance(a, Field) or isinstance(b, Field):
        return isinstance(a, Field) and isinstance(b, Field) and a.number != b.number
    if isinstance(a, Lit) and isinstance(b, Lit):
        return a.value != b.value
    if b in t.own:
        a, b = b, a
    if t.own.get(a) != Own():
        return False
    turns = t.x.turns  # the index stays below them
    return b is t.x.trips or (isinstance(b, Lit) and turns is not None and int(b.value or 0) >= turns)
