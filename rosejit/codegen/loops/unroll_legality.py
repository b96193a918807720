"""Whether a counted loop is vectorised (two iterations to an f64x2), unrolled, or neither: dependences, forms, worth.

Facts, no code: `vectorize` and `unroll_scalar` write.
"""

from dataclasses import field
from functools import partial

from rosejit.codegen.core.emitter import Emitter
from rosejit.codegen.loops.shifted_carries import shifted_carries
from rosejit.codegen.loops.simd_kernels import can_apply, can_call
from rosejit.ir.lane_sums import FEWEST as MANY
from rosejit.ir.lane_sums import in_lanes
from rosejit.ir.primitive import Emit, Instr, Kernel
from rosejit.ir.syntax import Accum, Add, Apply, Atom, Call, Field, Index, Let, Lit, Loop, Path, Update, Var, View
from rosejit.ir.types import BOOL, REAL, STORED, TAN, Array, Ref, Scalar, Type, fields_of
from rosejit.lazy_dataclass import dataclass
from rosejit.ops.kernels import small_kernel
from rosejit.transforms.analysis.affine_dependence import Access, Affine, Iterations

FEWEST = 4
"""A loop of fewer iterations is not worth it."""

FEWEST_CALLS = 32
"""Nor is one that calls kernels, of fewer iterations than this, unless it runs often: the engine takes most of a
millisecond to compile two."""

OFTEN = 1 << 12
"""Iterations of a loop in all that are worth that."""

LONGEST = 16
"""Lets of a body up to which four iterations are written; longer ones have their own work to do meanwhile."""


@dataclass(slots=True)
class UnrollFacts:
    """A loop whose iterations are nothing but arithmetic, elements at an index that grows with the iterations, and
    sums.
    """

    x: Loop
    own: dict[Atom, Affine]
    """What grows with the index."""
    arrays: dict[Atom, Var]
    """Carried arrays, by all their names."""
    tests: dict[tuple[Atom, int], None] = field(default_factory=dict[tuple[Atom, int], None])
    """Indices that the iterations test, and the lengths that they must stay below."""
    summed: set[Var] = field(default_factory=set[Var])
    """The carries that are sums in lanes."""
    serial: set[Atom] = field(default_factory=set[Atom])
    """What depends on carries whose iterations go one after the other."""
    shifted: dict[Var, Var] = field(default_factory=dict[Var, Var])
    """The carries that are what the iteration before has made, no recurrences, with what they become."""
    counts: bool = False
    """Whether the number of the iteration is a value too."""
    wide: bool = True
    """Whether two iterations can go side by side."""
    ordered: bool = False
    """Whether the iterations must go one after the other, upwards."""

    @property
    def short(self) -> bool:
        """Whether four iterations are not too long."""
        return len(self.x.body.lets) <= LONGEST


def unroll_facts(e: Emitter, let: Let, x: Loop) -> UnrollFacts | None:
    """The facts of a loop, if several of its iterations can be written as one."""
    trips = x.constant_trips
    if trips is None:
        trips = min(e.plan.most.get(x, FEWEST_CALLS), FEWEST_CALLS)
    seldom = trips < FEWEST_CALLS and trips * e.times < OFTEN
    if trips < FEWEST or (seldom and _calls(e, x)) or not (x.scans or x.body.lets):
        return None
    look = _UnrollAnalysis(e, let, x)
    if not look.carries() or not all(map(look.let, x.body.lets)) or not look.ends():
        return None
    t = look.facts
    clash = look.accesses.carries_dependence(partial(_are_opened_apart, e), but_itself=True)  # sums come in turn
    t.wide = t.wide and not clash and (look.work > 0 or not t.serial)
    if t.wide:
        return None if x.down and (t.ordered or t.tests) else t  # the last iteration is the first to fail
    return t if t.short and not x.down and look.single else None


def sums_in_lanes(e: Emitter, x: Loop) -> list[bool]:
    """For each carry whether it may be a sum in lanes: never where there are too few iterations, whatever the run."""
    return in_lanes(x) if e.plan.most.get(x, MANY) >= MANY else [False] * len(x.carries)


def _calls(e: Emitter, x: Loop) -> bool:
    """Whether the body calls kernels."""
    ops = [let.expr.op for let in x.body.lets if isinstance(let.expr, Apply)]
    primitives = any(isinstance(op.wasm, Kernel) and small_kernel(op) is None for op in ops)
    return primitives or any(isinstance(let.expr, Call) for let in x.body.lets)


def _is_real(t: Type) -> bool:
    return t is REAL or t is TAN


def is_column_of_reals(t: Type) -> bool:
    """Whether it is an array of numbers."""
    return isinstance(t, Array) and (_is_real(t.element) or t.element is STORED["float32"])


def _is_column(t: Type) -> bool:
    """Whether iterations can write their elements of an array of this type."""
    return is_column_of_reals(t) or (isinstance(t, Array) and t.element is BOOL)


class _UnrollAnalysis:
    """Goes over a loop once. `single`: each op is done to numbers in a few instructions; `work` counts what can be done
    to two iterations at a time."""

    def __init__(self, e: Emitter, let: Let, x: Loop) -> None:
        self.e = e
        self.binding = let
        self.x = x
        self.accesses = Iterations(x)
        self.facts = UnrollFacts(x, self.accesses.affine, self.accesses.arrays)
        self.inner = self.accesses.bound
        self.views: set[Atom] = set()
        self.single = True
        self.work = 0

    def carries(self) -> bool:
        """What is carried: arrays that stay where they are, sums, and numbers, which have an order."""
        t, x = self.facts, self.x
        t.shifted = shifted_carries(x)
        for c, new, summed in zip(x.carries, x.body.results, sums_in_lanes(self.e, x), strict=False):
            if isinstance(c.type, Array):
                t.arrays[c] = c
            elif summed:
                t.summed.add(c)
                t.ordered = True
            elif c in t.shifted:
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
                if not can_call(self.e.module, f) or not self.facts.serial.isdisjoint(args):
                    return False
            case Index(base=base, path=path) as read:
                root = self.facts.arrays.get(base, base)
                changes = root is not base or base in self.facts.arrays
                self.facts.wide = self.facts.wide and root is base  # what this iteration has written is not there yet
                known = changes or base not in self.inner
                if not known or not _is_real(let.binders[0].type) or not self.element(read, root, path, changes):
                    return False
            case Update(base=base, path=path) as write:
                root = self.facts.arrays.get(base)
                if root is None or not _is_real(write.value.type) or not self.element(write, root, path, True, True):
                    return False
                self.facts.arrays[let.binders[0]] = root
            case View(place=place, path=path) as view:
                target = let.binders[0].type
                plain = isinstance(target, Ref) and _is_real(target.target) and place not in self.inner
                if not plain or not self.element(view, place, path, True, True):
                    return False
                self.views.add(let.binders[0])
            case Add(place=place, value=value):
                self.facts.wide = self.facts.wide and value not in self.facts.serial
                if not _is_real(value.type) or not self.adds(place):
                    return False
            case _:
                return False
        self.inner.update(let.binders)
        return True

    def apply(self, v: Var, x: Apply) -> bool:
        t, op = self.facts, x.op
        own = self.accesses.sum_of(x)
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

    def element(self, let: Index | Update | View, root: Atom, path: Path, changes: bool, writes: bool = False) -> bool:
        """Whether a path leads to the own element of each iteration, or to one that is the same for all."""
        own = [self.facts.own[step] for step in path if step in self.facts.own]
        fixed = all(isinstance(step, Field) or step in self.facts.own or step not in self.inner for step in path)
        if not fixed or len(own) > 1 or not self.can_test(let, root, path):
            return False
        if writes and not own and isinstance(let, Update):
            self.facts.wide = False
        if writes and not own:
            self.facts.ordered = True
        if changes:
            self.accesses.accesses.append(Access(*_whole(self.e, root, path), writes))
        return not own or own[0].start is not None or own[0].constant >= 0

    def can_test(self, let: Index | Update | View, root: Atom, path: Path) -> bool:
        """Whether what is tested in each iteration can be tested in front of all."""
        tests = self.e.plan.tests.get(let, ())
        t = root.type.target if isinstance(root.type, Ref) else root.type
        for k, step in enumerate(path if tests else ()):
            if isinstance(step, Field):
                t = fields_of(t)[step.number]
                continue
            assert isinstance(t, Array)
            if k in tests:
                iterations = self.x.constant_trips if step in self.facts.own else None
                if t.length is None or isinstance(step, Lit) or (1 if iterations is None else iterations) > t.length:
                    return False
                self.facts.tests[step, t.length] = None
            t = t.element
        return True

    def adds(self, place: Atom) -> bool:
        """Whether adding there is known to be harmless: to a view of this iteration, or a number outside."""
        if place in self.views:
            return True
        self.facts.ordered = True
        if place in self.e.plan.cells and place not in self.e.plan.addressed:
            return place not in self.inner
        self.accesses.accesses.append(Access(*_whole(self.e, place, ()), True))
        return isinstance(place.type, Ref) and place not in self.inner

    def ends(self) -> bool:
        """Whether carried arrays stay where they are, and stacks are of numbers or Bools."""
        t, x = self.facts, self.x
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


def _whole(e: Emitter, root: Atom, path: Path) -> tuple[Atom, Path]:
    """The same element by its path from the place that others are views of."""
    while isinstance(root, Var) and root in e.plan.defined:
        made = e.plan.defined[root][0].expr
        if not isinstance(made, View):
            break
        root, path = made.place, (*made.path, *path)
    return root, path


def _are_opened_apart(e: Emitter, one: Atom, other: Atom) -> bool:
    """Whether one of two places is, or is part of, one that is opened in this function, and the other is not."""
    owners = [e.plan.owner.get(root, root) if isinstance(root, Var) else root for root in (one, other)]
    opened = [v in e.plan.defined and isinstance(e.plan.defined[v][0].expr, Accum) for v in owners]
    return owners[0] is not owners[1] and any(opened)
