"""IR functions that are straight-line code, one or many, to routines by value numbering (`value_numbering.py`).

What clones become (`merge_clones.py`), the pullbacks of their calls (`straightline_reverse.py`), and long straight-line
code of one function, however often it was derived, need no other pass, and no frame.
"""

from collections import Counter
from collections.abc import Container, Sequence

from rosejit.ir import syntax as ir
from rosejit.ir.primitive import Primitive
from rosejit.ir.traversal import forms, reachable, size
from rosejit.ir.types import BOOL, INT, REAL, Array, Ref, Scalar, Type
from rosejit.transforms.passes.inline import SMALL
from rosejit.transforms.passes.simplify import NEGATION
from rosejit.transforms.straightline.op_rows import CODES
from rosejit.transforms.straightline.routine_ir import (
    WORTHWHILE,
    AccumulatedElement,
    Action,
    AddToElement,
    ByteOffset,
    CallRoutine,
    ElementAddress,
    GetResult,
    Guard,
    ParameterLeaf,
    ResultNumbers,
    Routine,
    RoutineProgram,
    SetArgument,
    ZeroIfSkipped,
)
from rosejit.transforms.straightline.value_numbering import EVERYTHING, ValueNumbering, is_numeric

FORMS = {ir.Index, ir.View, ir.Add, ir.Call, ir.If, ir.Zero, ir.Accum, ir.Resolve}
"""What there may be in a body beside primitives."""

DEEPEST = 50
"""Calls inside each other: they are numbered by recursion."""

MOST = 100
"""Results of a callee."""

VERSIONS = 4
"""Of one function, for different arrays."""

WIDTHS: dict[Type, int] = {REAL: 8, INT: 8, BOOL: 1}
"""The bytes of an element of an array."""


class _Unfit(Exception):
    """Something is no straight-line code on numbers."""


def build_routines(f: ir.Function) -> RoutineProgram | None:
    """`f` and all it calls as routines; None where that cannot be, or is not worth it."""
    program = reachable(f)
    if sum(map(size, program)) < WORTHWHILE or any([g.host or g.body is None for g in program]):
        return None
    try:
        return _Maker(program).program(f)
    except _Unfit:
        return None


_Way = tuple[int, Container[int]]
"""The code of an op, and the operands for which there are rules."""

Arrays = dict[ir.Atom, int]
"""Arrays and places by what they are for the whole program: its argument `k`, or `~k`, its result `k`."""


class _Maker:
    """Makes each routine once for each set of arrays that it is given."""

    def __init__(self, program: list[ir.Function]) -> None:
        self.callees: dict[tuple[object, ...], _Callee] = {}
        self.actions: list[Action] = []
        self.versions: Counter[ir.Function] = Counter()
        self.acting: dict[ir.Function, bool] = {}
        self.short: set[ir.Function] = set()
        """What stands where it is called."""
        others = {g: [] if g.body is None else list(forms(g.body)) for g in program}
        calls = {g: [e.function for let in lets if type(e := let.expr) is ir.Call] for g, lets in others.items()}
        times = Counter([h for called in calls.values() for h in called])
        lengths: dict[ir.Function, int] = {}
        depths: dict[ir.Function, int] = {}
        for g in program:
            assert g.body is not None
            called = calls[g]
            depths[g] = 1 + max([depths.get(h, DEEPEST) for h in called], default=0)
            kinds = {type(let.expr) for let in others[g]}
            if g.own or depths[g] > DEEPEST or len(g.results) > MOST or not kinds <= FORMS:
                raise _Unfit
            lengths[g] = len(g.body.lets) + sum([lengths[h] for h in called if h in self.short])
            self.acting[g] = ir.Add in kinds or any([self.acting[h] for h in called])
            if lengths[g] <= SMALL or times[g] == 1:
                self.short.add(g)

    def program(self, f: ir.Function) -> RoutineProgram:
        """The whole."""
        assert f.body is not None
        body = _Body(self, f, {p: k for k, p in enumerate(f.params)})
        for k, p in enumerate(f.params):
            _bytes(p.type)
            if isinstance(p.type, Scalar):
                body.at[p] = body.numbering.leaf(ElementAddress(k, p.type, 0, None))
        arrays: dict[ir.Atom, int] = {}
        for k, a in enumerate(f.body.results):
            if not isinstance(a.type, Scalar) and arrays.setdefault(a, k) != k:
                raise _Unfit
        body.resolved(f.body, arrays)
        body.lets(f.body.lets)
        results: list[ResultNumbers | int] = []
        for a in f.body.results:
            taken = _bytes(a.type)
            results.append(ResultNumbers(a.type, (body.number(a),)) if isinstance(a.type, Scalar) else taken)
        whole = body.routine(())
        routines = [callee.routine for callee in self.callees.values()]
        return RoutineProgram([*routines, whole], tuple(results), self.actions)

    def routine(self, f: ir.Function, arrays: Arrays) -> "_Callee":
        """A callee, which is given these arrays."""
        key = (f, *arrays.values())
        if key not in self.callees:
            assert f.body is not None
            body = _Body(self, f, arrays)
            for p in f.params:
                if isinstance(p.type, Scalar):
                    body.param(p)
            body.lets(f.body.lets)
            self.callees[key] = _Callee(body.routine(f.body.results))
            self.versions[f] += 1
            if self.versions[f] > VERSIONS:
                raise _Unfit
        return self.callees[key]


class _Callee:
    """A routine, and the steps that calls of it are made of."""

    def __init__(self, routine: Routine) -> None:
        self.routine = routine
        self.gives = [SetArgument(routine, k) for k in range(len(routine.params))]
        self.strides = [routine.strides.get(k) for k in range(len(routine.params))]
        self.invoke, self.end = CallRoutine(routine), ZeroIfSkipped(routine)
        self.outs = [GetResult(routine, k) for k in range(len(routine.results))]


def _bytes(t: Type) -> int:
    """Of a number, or of an array whose elements lie side by side."""
    count = 1
    while isinstance(t, Array):
        if t.length is None:
            raise _Unfit
        count, t = count * t.length, t.element
    if t not in WIDTHS:
        raise _Unfit
    return count * WIDTHS[t]


class _Body:
    """Numbers the values of one function, and of those that it calls in its own place."""

    def __init__(self, maker: _Maker, f: ir.Function, arrays: Arrays) -> None:
        self.maker, self.f, self.arrays = maker, f, arrays
        self.numbering = ValueNumbering()
        self.ways: dict[Primitive, _Way] = {}
        self.at: dict[ir.Atom, int] = {}
        self.views: dict[ir.Atom, ElementAddress] = {}
        self.params: list[Scalar] = []
        self.indices: dict[int, int] = {}
        """The parameters that are Ints, by their numbers."""
        self.counted: set[int] = set()
        """Those that are more than indices."""
        self.strides: dict[int, int] = {}
        self.acts: list[int] = []

    def param(self, p: ir.Var) -> None:
        """`p` is given when the routine is called."""
        assert isinstance(p.type, Scalar)
        k = len(self.params)
        self.params.append(p.type)
        self.at[p] = number = self.numbering.leaf(ParameterLeaf(k))
        if p.type is INT:
            self.indices[number] = k

    def routine(self, results: tuple[ir.Atom, ...]) -> Routine:
        """What has been made."""
        numbers = tuple([self.number(a) for a in results])
        self.use(numbers)
        if not self.counted.isdisjoint(self.strides):
            raise _Unfit
        numbering = self.numbering
        return Routine(
            self.f, list(numbering.known), list(numbering.leaves), self.params, self.strides, numbers, self.acts
        )

    def number(self, a: ir.Atom) -> int:
        """Of a scalar."""
        if type(a) is ir.Lit:
            return self.numbering.literal(a)
        if a not in self.at:
            raise _Unfit
        return self.at[a]

    def use(self, numbers: Sequence[int]) -> None:
        """Note that `numbers` are read as what they are, not as indices."""
        if self.indices and not self.indices.keys().isdisjoint(numbers):
            self.counted.update([self.indices[n] for n in numbers if n in self.indices])

    def lets(self, lets: list[ir.Let]) -> None:
        """Number all values. Nearly all are one step each: no calls for these."""
        at, ways, numbering, var = self.at, self.ways, self.numbering, ir.Var
        known, literal, constants = numbering.known, numbering.literal, numbering.constants
        setdefault, opposite = known.setdefault, numbering.opposite
        apply = self.applied if self.indices else numbering.apply
        for let in lets:
            e = let.expr
            if type(e) is not ir.Apply:
                self.form(let, e)
                continue
            op, args = e.op, e.args
            code, closed = ways.get(op) or self.way(op)
            if len(args) == 2:
                a, b = args
                x = at[a] if type(a) is var else literal(a)
                y = at[b] if type(b) is var else literal(b)
                plain = x not in closed and y not in closed
                if plain and (x >= 0 or y >= 0 or x not in constants or y not in constants):
                    at[let.binders[0]] = setdefault((code, x, y), len(known))
                else:
                    at[let.binders[0]] = apply(op, x, y)
            elif op is NEGATION:
                (a,) = args
                at[let.binders[0]] = opposite(at[a] if type(a) is var else literal(a))
            else:
                given = [at[a] if type(a) is var else literal(a) for a in args]
                if max(given) >= 0 and not any([x in closed for x in given]):
                    at[let.binders[0]] = setdefault((code, *given), len(known))
                else:
                    at[let.binders[0]] = apply(op, *given)

    def way(self, op: Primitive) -> _Way:
        """What `lets` needs to know of an op."""
        if not is_numeric(op):
            raise _Unfit
        self.ways[op] = found = CODES[op], EVERYTHING if INT in op.params else self.numbering.closed(op)
        return found

    def applied(self, op: Primitive, *given: int) -> int:
        """The number of what an op gives for which there may be rules."""
        if not self.indices.keys().isdisjoint(given):
            self.use(given)
        return self.numbering.apply(op, *given)

    def form(self, let: ir.Let, e: ir.Expr) -> None:
        match e:
            case ir.Index(base=base, path=path) if self.arrays.get(base, -1) >= 0:
                place = self.place(self.arrays[base], base.type, path, e.checked)
                self.at[let.binders[0]] = self.numbering.leaf(place)
            case ir.View(place=of, path=path) if of in self.arrays and isinstance(of.type, Ref):
                self.views[let.binders[0]] = self.place(self.arrays[of], of.type.target, path, e.checked)
            case ir.Add(place=of, value=value) if of in self.views:
                place = self.views[of]
                self.act(AddToElement(place), self.numbering.leaf(AccumulatedElement(place)), self.number(value))
            case ir.Call():
                self.call(let.binders, e, None)
            case ir.If():
                self.guarded(let, e)
            case ir.Zero() | ir.Accum() | ir.Resolve() if let.binders[0] in self.arrays:
                pass
            case _:
                raise _Unfit

    def resolved(self, block: ir.Block, results: Arrays) -> None:
        """Find the arrays that are results: sums that start from zero. Each is a place of the whole program."""
        sources: dict[ir.Atom, ir.Expr] = {let.binders[0]: let.expr for let in block.lets if let.binders}
        for a, k in results.items():
            e = sources.get(a)
            opened = sources.get(e.place) if isinstance(e, ir.Resolve) else None
            if not isinstance(e, ir.Resolve) or not isinstance(opened, ir.Accum):
                raise _Unfit
            if not isinstance(sources.get(opened.value), ir.Zero) or e.place in self.arrays:
                raise _Unfit
            self.arrays |= {a: ~k, e.place: ~k, opened.value: ~k}

    def place(self, array: int, t: Type, path: ir.Path, checked: bool) -> ElementAddress:
        """An element: of its indices one at most is a parameter."""
        offset, by = 0, None
        for step in path:
            if not isinstance(t, Array) or t.length is None or isinstance(step, ir.Field):
                raise _Unfit
            length, t, stride = t.length, t.element, _bytes(t.element)
            number = self.number(step)
            leaf = self.numbering.leaves[~number] if number < 0 else None
            if isinstance(leaf, ir.Lit) and isinstance(leaf.value, int):
                if not 0 <= leaf.value < length:
                    raise _Unfit  # it fails when it runs, with the user's line
                offset += leaf.value * stride
            elif number not in self.indices or by is not None or checked:
                raise _Unfit
            else:
                by = self.index(number, stride)
        if not isinstance(t, Scalar):
            raise _Unfit
        return ElementAddress(array, t, offset, by)

    def index(self, number: int, stride: int) -> int:
        """The parameter `number` as an index of rows that are `stride` bytes apart."""
        k = self.indices[number]
        if self.strides.setdefault(k, stride) != stride:
            raise _Unfit
        return k

    def act(self, action: Action, *operands: int) -> int:
        """A step that is done even if nobody reads it."""
        self.acts.append(len(self.numbering.known))
        return self.step(action, *operands)

    def step(self, action: Action, *operands: int) -> int:
        """A step of its own."""
        known, actions = self.numbering.known, self.maker.actions
        number = known[(~len(actions), *operands)] = len(known)
        actions.append(action)
        return number

    # --- calls

    def guarded(self, let: ir.Let, e: ir.If) -> None:
        """A call that runs on one side of a branch, and gives zeros on the other."""
        side = not e.orelse.lets
        run, idle = (e.then, e.orelse) if side else (e.orelse, e.then)
        zeros = all([isinstance(a, ir.Lit) and a.value == 0.0 for a in idle.results])
        if idle.lets or not zeros or len(run.lets) != 1 or run.results != run.lets[0].binders:
            raise _Unfit
        call = run.lets[0].expr
        if not isinstance(call, ir.Call):
            raise _Unfit
        self.call(let.binders, call, (self.number(e.condition), side))

    def call(self, binders: tuple[ir.Var, ...], e: ir.Call, guard: tuple[int, bool] | None) -> None:
        """A call, or what it does in its place if that is short or done once."""
        f, maker = e.function, self.maker
        assert f.body is not None
        arrays: Arrays = {}
        for p, a in zip(f.params, e.args, strict=True):
            if not isinstance(p.type, Scalar):
                if a not in self.arrays:
                    raise _Unfit
                arrays[p] = self.arrays[a]
        if guard is None and f in maker.short:
            self.arrays |= arrays
            self.at |= {p: self.number(a) for p, a in zip(f.params, e.args, strict=True) if p not in arrays}
            self.lets(f.body.lets)
            self.at |= {b: self.number(a) for b, a in zip(binders, f.body.results, strict=True)}
            return
        if any([t is not REAL for t in f.results]):
            raise _Unfit
        callee = maker.routine(f, arrays)
        given = [a for p, a in zip(f.params, e.args, strict=True) if p not in arrays]
        numbers = [self.argument(a, stride) for a, stride in zip(given, callee.strides, strict=True)]
        step = self.act if guard is not None or maker.acting[f] else self.step
        before = () if guard is None else (step(Guard(guard[1]), guard[0]),)
        for give, number in zip(callee.gives, numbers, strict=True):
            before = (step(give, number, *before),)
        before = (step(callee.invoke, *before),)
        if guard is not None:
            before = (step(callee.end, *before),)
        for out, b in zip(callee.outs, binders, strict=True):
            self.at[b] = self.step(out, *before)

    def argument(self, a: ir.Atom, stride: int | None) -> int:
        """What is given for a parameter; a number of bytes for an index."""
        number = self.number(a)
        if stride is None:
            self.use((number,))
            return number
        leaf = self.numbering.leaves[~number] if number < 0 else None
        if isinstance(leaf, ir.Lit) and isinstance(leaf.value, int):
            return self.numbering.leaf(ByteOffset(leaf.value * stride))
        if number not in self.indices:
            raise _Unfit
        self.index(number, stride)
        return number
