"""What must be known of a function before it is written from its end: views, captures, cells, sizes, proven indices."""

from collections.abc import Callable
from dataclasses import field

from rosejit.codegen.core.overwritten import overwritten
from rosejit.ir.syntax import (
    Accum,
    Add,
    Apply,
    Atom,
    Block,
    Branching,
    Call,
    Case,
    Control,
    Expr,
    Field,
    Function,
    Index,
    Let,
    Lit,
    Loop,
    MakeArray,
    Path,
    Update,
    Var,
    View,
    While,
)
from rosejit.ir.traversal import consumed, operands, scopes, views
from rosejit.ir.types import INT, Array, Ref, Scalar, Type, fields_of, is_boxed
from rosejit.lazy_dataclass import dataclass
from rosejit.ops.kernels import is_kernel
from rosejit.transforms.analysis.integer_ranges import ANY, Range, range_of, result_range

LONG = 1 << 17
"""A loop that does more lets than this looks at the interrupt flag at each iteration."""

_ASSUMED_TRIPS = 3
"""So many lets inside a loop weigh as much as one outside: engines take long over them, and they run often."""

_CALL = 1 << 9  # lets that a call counts for: its own loops may be just too short to look


@dataclass(slots=True)
class Plan:
    """Facts about the variables, lets and blocks of one function."""

    weight: int = 0
    """Of the body, in lets; more for lets with many operands or results."""
    weights: dict[Let, int] = field(default_factory=dict[Let, int])
    """Of the lets that weigh more than 1."""
    captures: dict[Let, list[Var]] = field(default_factory=dict[Let, list[Var]])
    """The variables from outside that the blocks of a let read, and the owners of what they look into."""
    borrowed: set[Var] = field(default_factory=set[Var])
    """The boxed variables and places that own nothing."""
    owner: dict[Var, Var] = field(default_factory=dict[Var, Var])
    """The owned variable that a view looks into, if there is one in this function."""
    defined: dict[Var, tuple[Let, Block]] = field(default_factory=dict[Var, tuple[Let, Block]])
    """The let that binds a boxed variable or a place, and its block."""
    counted: dict[Var, Apply] = field(default_factory=dict[Var, Apply])
    """What Ints inside other forms are made of."""
    consumed: set[Var] = field(default_factory=set[Var])
    """The boxed variables that something consumes."""
    cells: set[Var] = field(default_factory=set[Var])
    """The places of a scalar that are opened here: variables that change."""
    addressed: set[Var] = field(default_factory=set[Var])
    """The cells that must be in memory, because others add to them."""
    overwritten: set[Var] = field(default_factory=set[Var])
    """The arrays of zeros that are written before they are read."""
    tests: dict[Expr, tuple[int, ...]] = field(default_factory=dict[Expr, tuple[int, ...]])
    """The steps of paths whose index must be tested."""
    polls: set[Let] = field(default_factory=set[Let])
    """The counted loops that may take long."""
    most: dict[Loop, int] = field(default_factory=dict[Loop, int])
    """The most iterations of loops of which only the run knows how many, where that is proven."""
    calls: dict[Function, int] = field(default_factory=dict[Function, int])
    """The functions that are called, and how often the loops around run such a call, as far as that is known."""
    times: int = 1
    """How often loops of its callers call it."""
    kernel: bool = False
    """Whether it is one of a primitive, which is to stay small."""
    area: int = 0
    """The bytes of frame that arguments and results of calls need."""


def plan_function(f: Function, area: Callable[[Function], int]) -> Plan:
    """The plan of `f`, which has a body; `area` gives the bytes of frame that a call to a function needs."""
    assert f.body is not None
    planner = _Planner(area)
    planner.plan.borrowed.update(p for p in f.params if p not in f.own and not _is_scalar(p.type))
    planner.plan.weight, _ = planner.block(f.body, 0, {})
    planner.plan.overwritten = overwritten(f)
    planner.disown([v for v, (let, _) in planner.plan.defined.items() if is_table(let.expr)])
    return planner.plan


OPERATIONS = 4
"""So many operations are followed back from a number of iterations."""

FROM_DATA = 8
"""So many constants are copied from the data of the module instead of being stored one by one."""


def is_table(e: Expr) -> bool:
    """Whether it is an array that lies in the data of the module."""
    return isinstance(e, MakeArray) and len(e.items) >= FROM_DATA and all(type(item) is Lit for item in e.items)


def times_of(e: Expr) -> int:
    """How often a form runs its blocks, where that is known to be more than once."""
    return (e.constant_trips or 1) if isinstance(e, Loop) else 1


def _is_scalar(t: Type) -> bool:
    return not is_boxed(t) and not isinstance(t, Ref)


Uses = dict[Var, None]
"""Variables in the order of their first use: sets would make the code depend on addresses."""


class _Planner:
    def __init__(self, area: Callable[[Function], int]) -> None:
        self.plan = Plan()
        self._area = area
        self._depth: dict[Var, int] = {}  # of the block that binds a variable; missing where it is the body
        self._below: dict[Var, int] = {}  # Int variables that are known to be in 0..n-1, here
        self._trail: list[tuple[Var, int | None]] = []  # what `_below` said before
        self._times = 1  # the iterations of all loops around

    def block(self, block: Block, depth: int, used: Uses) -> tuple[int, int]:
        """The weight of a block and the lets it does when run; at depth 0 nobody asks for what is used."""
        weight = work = 0
        facts = len(self._trail)
        for let in block.lets:
            e = let.expr
            if type(e) is Apply:
                weight += 1
                if depth:
                    self._use(e.args, used)
                    self._depth[let.binders[0]] = depth
                    if e.op.result is INT:
                        self.plan.counted[let.binders[0]] = e
            else:
                heavier, longer = self._let(let, block, depth, used)
                weight += heavier
                work += longer
        if depth:
            self._use(block.results, used)
        self._consume(block.results)
        self._forget(facts)
        return weight, work + weight

    def _use(self, atoms: tuple[Atom, ...], used: Uses) -> None:
        owner = self.plan.owner
        for a in atoms:
            if type(a) is Var:
                used[a] = None
                if a in owner:
                    used[owner[a]] = None

    def _consume(self, atoms: tuple[Atom, ...]) -> None:
        self.plan.consumed.update(a for a in atoms if type(a) is Var and not _is_scalar(a.type))

    def _let(self, let: Let, block: Block, depth: int, used: Uses) -> tuple[int, int]:
        e = let.expr
        for v in let.binders:
            if depth:
                self._depth[v] = depth
            if type(v.type) is not Scalar:
                self.plan.defined[v] = (let, block)
        for v, of in views(let):
            self._borrow(v, of)
        if isinstance(e, Index | View | Add):
            if depth:
                self._use(operands(e), used)
            if not isinstance(e, Add):
                self._tests(e, e.base if isinstance(e, Index) else e.place, e.path, e.checked)
            return 1, 0
        read = operands(e)
        self._use(read, used)
        self._consume(consumed(e))
        weight, work = 1 + (len(read) + len(let.binders)) // 4, 0
        if isinstance(e, Control):
            heavier, work = self._blocks(let, e, depth, used)
            weight += heavier
        else:
            work = self._plain(let, e)
        if weight > 1:
            self.plan.weights[let] = weight
        return weight, work

    def _plain(self, let: Let, e: Expr) -> int:
        """What a let without blocks does besides; the lets that it counts for."""
        plan = self.plan
        if isinstance(e, Call) and is_kernel(e.function):
            return 0
        if isinstance(e, Call):
            plan.addressed.update(a for a in e.args if type(a) is Var and a in plan.cells)
            if e.function not in plan.calls:
                plan.area = max(plan.area, self._area(e.function))
            plan.calls[e.function] = max(plan.calls.get(e.function, 1), self._times)
            return _CALL
        if isinstance(e, Update):
            self._tests(e, e.base, e.path, e.checked)
        elif isinstance(e, Accum) and not is_boxed(e.value.type):
            plan.cells.add(let.binders[0])
        return 0

    # --- views and places

    def _borrow(self, view: Var, base: Atom) -> None:
        if _is_scalar(view.type):
            return
        assert isinstance(base, Var)
        plan = self.plan
        plan.borrowed.add(view)
        root = plan.owner.get(base) if base in plan.borrowed else base
        if root is not None:
            plan.owner[view] = root

    def _tests(self, e: Expr, base: Atom, path: Path, checked: bool) -> None:
        if not checked:
            return
        t = base.type.target if isinstance(base.type, Ref) else base.type
        tests: list[int] = []
        for k, step in enumerate(path):
            if isinstance(step, Field):
                t = fields_of(t)[step.number]
            else:
                assert isinstance(t, Array)
                if not self._proven(step, t.length):
                    tests.append(k)
                t = t.element
        if tests:
            self.plan.tests[e] = tuple(tests)

    def _proven(self, index: Atom, length: int | None) -> bool:
        """Whether `index` is known to be in range; from here on it is."""
        if length is None:
            return False
        if isinstance(index, Lit):
            return isinstance(index.value, int) and 0 <= index.value < length
        below = self._below.get(index)
        if below is not None and below <= length:
            return True
        self._know(index, length)
        return False

    def _range(self, a: Atom, operations: int) -> Range:
        """What an Int can be here, by at most so many operations that it is made of."""
        if isinstance(a, Lit):
            return range_of(a, {})
        below, made = self._below.get(a), self.plan.counted.get(a)
        if below is not None:
            return 0, below - 1
        if made is None or not operations:
            return ANY
        known = {arg: self._range(arg, operations - 1) for arg in made.args}
        return result_range(made.op, made.args, known) or ANY

    def _know(self, index: Var, length: int) -> None:
        self._trail.append((index, self._below.get(index)))
        self._below[index] = length

    def _forget(self, facts: int) -> None:
        while len(self._trail) > facts:
            index, before = self._trail.pop()
            if before is None:
                del self._below[index]
            else:
                self._below[index] = before

    # --- blocks

    def _blocks(self, let: Let, e: Control, depth: int, used: Uses) -> tuple[int, int]:
        """The weight and the work of the blocks inside `let`."""
        inner: Uses = {}
        weight = work = 0
        facts = len(self._trail)
        self._bind(e)
        outside, self._times = self._times, self._times * times_of(e)
        for params, block in scopes(e):
            self._depth.update(dict.fromkeys(params, depth + 1))
            heavier, longer = self.block(block, depth + 1, inner)
            weight += heavier if isinstance(e, Branching) else -(-heavier // _ASSUMED_TRIPS)
            work += longer
        self._times = outside
        self._forget(facts)
        outer = [v for v in inner if self._depth.get(v, 0) <= depth]
        self.plan.captures[let] = outer
        used.update(dict.fromkeys(outer))
        if isinstance(e, While):
            self.plan.polls.add(let)
        if isinstance(e, Loop):
            self._rows(e)
            trips = e.constant_trips
            if trips is None:
                trips = max(self._range(e.trips, OPERATIONS)[1], 0)
                if trips <= LONG:
                    self.plan.most[e] = trips
            work = min(work, LONG) * min(trips, LONG + 1)
            if work > LONG:
                self.plan.polls.add(let)
        return weight, work

    def _bind(self, e: Control) -> None:
        """What is known of what the blocks of `e` are given."""
        if isinstance(e, Case):
            self.plan.addressed.update(a for a in e.scrutinees if type(a) is Var and a in self.plan.cells)
        elif isinstance(e, Loop) and e.constant_trips is not None:
            self._know(e.index, e.constant_trips)

    def _rows(self, e: Loop) -> None:
        """Owned rows that nobody consumes are views of an array that the loop frees as a whole."""
        self.disown([scan.param for scan in e.scans if scan.consumes and is_boxed(scan.param.type)])

    def disown(self, variables: list[Var]) -> None:
        """Note of variables that nobody consumes that they own nothing: what they stand for lies in something else."""
        kept = {v for v in variables if v not in self.plan.consumed}
        if kept:
            self.plan.borrowed |= kept
            self.plan.owner = {view: root for view, root in self.plan.owner.items() if root not in kept}
