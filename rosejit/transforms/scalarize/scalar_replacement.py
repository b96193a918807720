"""A program into one in which small arrays are numbers: rows of two or three that loops, branches and calls hand on."""

from collections.abc import Iterable

from rosejit.ir import syntax as ir
from rosejit.ir.lane_sums import in_lanes
from rosejit.ir.traversal import reachable, rebuild
from rosejit.ir.types import BOOL, INT, Array, Type
from rosejit.transforms.passes.apply_fastmath import keep_order
from rosejit.transforms.passes.simplify import folded
from rosejit.transforms.scalarize.known_elements import with_known_elements
from rosejit.transforms.scalarize.small_arrays import (
    Atoms,
    KeptInMemory,
    apart,
    has_small,
    is_unrolled,
    leaf,
    numbers,
    paths,
    types,
    unchanged,
)


def scalarize_arrays(f: ir.Function) -> ir.Function:
    """A function of the same parameters and results, and equal in every bit; `f` itself where no array is small."""
    if f.body is None:
        return f
    body, made = f.derived.get("elements", (None, f))
    if body is not f.body:
        program = reachable(f)
        sources = {g: source for g in program if (source := with_known_elements(g)) is not g}
        small = {*filter(has_small, program), *sources}
        made = _Program(f, unchanged(program, small), sources).root if small else f
        f.derived["elements"] = (f.body, made)
    return made


class _Program:
    """New functions for `root` and what it calls, but for the `same`. Those that are called take and give numbers in
    place of small arrays, unless somebody else knows their parameters: the host, or a custom derivative. `sources` are
    what some of them are made of in place of themselves."""

    def __init__(self, root: ir.Function, same: set[ir.Function], sources: dict[ir.Function, ir.Function]) -> None:
        self.same = same
        self.new: dict[ir.Function, ir.Function] = {}
        self.pending: list[tuple[ir.Function, ir.Function, bool]] = []
        self.root = self._shell(root, fixed=True)
        while self.pending:
            old, new, fixed = self.pending.pop()
            _Body(self, sources.get(old, old), new, fixed).make()

    def _shell(self, f: ir.Function, fixed: bool) -> ir.Function:
        params = f.params if fixed else tuple(p for old in f.params for p in apart(old))
        results = f.results if fixed else tuple(t for old in f.results for t in types(old))
        own = f.own & frozenset(params)
        made = ir.Function(f.name, params, results, None, own, None, f.rule, f.checkpoint, f.span)
        self.pending.append((f, made, fixed))
        return made

    def called(self, f: ir.Function) -> ir.Function:
        """What takes the place of a function that is called."""
        if f.body is None or f in self.same:
            return f
        return self.new.get(f) or self.new.setdefault(f, self._shell(f, self.is_fixed(f)))

    def is_fixed(self, f: ir.Function) -> bool:
        """Whether a function keeps its parameters and results."""
        return f.body is None or f.rule is not None or f.checkpoint


class _Body:
    """Rewrites one body. `atoms` says what stands for a variable, `parts` what numbers for a small array; `copying`
    is above zero where a loop is unrolled, whose variables are bound more than once."""

    def __init__(self, program: _Program, old: ir.Function, new: ir.Function, fixed: bool) -> None:
        self.program, self.old, self.new, self.fixed = program, old, new, fixed
        self.whole = KeptInMemory(old)
        self.atoms: dict[ir.Atom, ir.Atom] = {}
        self.parts: dict[ir.Atom, Atoms] = {}
        self.lets: list[ir.Let] = []
        self.copying = 0
        self.span = old.span

    def make(self) -> None:
        assert self.old.body is not None
        params = iter(self.new.params)
        for p in self.old.params:
            if self.fixed:
                self.define(next(params))
            else:
                self.receive(p, tuple([next(params) for _ in types(p.type)]))
        for let in self.old.body.lets:
            self.let(let)
        results = self.old.body.results
        given = [self.full(a) for a in results] if self.fixed else [n for a in results for n in self.spread(a)]
        self.new.body = ir.Block(self.lets, tuple(given))

    # --- variables

    def splits(self, v: ir.Var) -> bool:
        """Whether `v` is a small array that becomes numbers."""
        return numbers(v.type) > 0 and v not in self.whole

    def fresh(self, v: ir.Var) -> ir.Var:
        """The binder that stands for `v`."""
        if not self.copying:
            return v
        made = ir.Var(v.type, v.hint)
        self.atoms[v] = made
        return made

    def bind(self, expr: ir.Expr, t: Type, hint: str) -> ir.Var:
        """A new variable for an expression."""
        made = ir.Var(t, hint)
        self.lets.append(ir.Let((made,), expr, self.span))
        return made

    def define(self, v: ir.Var) -> None:
        """`v` is bound as an array: take it apart if it is to be numbers."""
        if self.splits(v):
            self.parts[v] = self.read(self.atom(v), (), v.type)

    def receive(self, v: ir.Var, atoms: Atoms) -> None:
        """`v` is given as `_types` says."""
        if self.splits(v):
            self.parts[v] = atoms
        elif numbers(v.type):
            self.atoms[v] = self.gathered(v.type, atoms, v.hint)
        else:
            self.atoms[v] = atoms[0]

    def read(self, base: ir.Atom, path: ir.Path, t: Type, checked: bool = False) -> Atoms:
        """The numbers of the small array at a path."""
        found: list[ir.Atom] = []
        for step in paths(t):
            found.append(self.bind(ir.Index(base, (*path, *step), checked), leaf(t), "x"))
            checked = False
        return tuple(found)

    def atom(self, a: ir.Atom) -> ir.Atom:
        return self.atoms.get(a, a)

    def gathered(self, t: Type, items: Atoms, hint: str) -> ir.Atom:
        """An array of numbers."""
        assert isinstance(t, Array)
        assert t.length is not None
        size = len(items) // t.length
        if size > 1 or isinstance(t.element, Array):
            rows = [items[k * size : (k + 1) * size] for k in range(t.length)]
            items = tuple([self.gathered(t.element, row, hint) for row in rows])
        return self.bind(ir.MakeArray(items), t, hint)

    def full(self, a: ir.Atom) -> ir.Atom:
        """What stands for `a` as one value."""
        if a not in self.parts:
            return self.atoms.get(a, a)
        assert isinstance(a, ir.Var)
        return self.gathered(a.type, self.parts[a], a.hint)

    def items(self, a: ir.Atom) -> Atoms:
        """The numbers of a small array."""
        return self.parts[a] if a in self.parts else self.read(self.atom(a), (), a.type)

    def spread(self, a: ir.Atom) -> Atoms:
        """`a` as it is handed to a function that takes numbers."""
        return self.items(a) if numbers(a.type) else (self.atom(a),)

    def given(self, binders: Iterable[ir.Var], atoms: Iterable[ir.Atom]) -> list[ir.Atom]:
        """The results of a block as their binders want them; whole those that have none, the rows of a stack."""
        found: list[ir.Atom] = []
        wanted = iter(binders)
        for a in atoms:
            b = next(wanted, None)
            found += self.items(a) if b is not None and self.splits(b) else (self.full(a),)
        return found

    def places(self, v: ir.Var) -> tuple[ir.Var, ...]:
        """Binders for `v`, numbers apart."""
        if not self.splits(v):
            return (self.fresh(v),)
        made = apart(v)
        self.parts[v] = made
        return made

    def block(self, block: ir.Block, binders: Iterable[ir.Var], params: Iterable[ir.Var] = ()) -> ir.Block:
        """A block inside a form. What it gives is for `binders`; `params` are bound as arrays."""
        outside, self.lets = self.lets, []
        for p in params:
            self.define(p)
        for let in block.lets:
            self.let(let)
        results = self.given(binders, block.results)
        made = ir.Block(self.lets, tuple(results))
        self.lets = outside
        return made

    # --- lets

    def let(self, let: ir.Let) -> None:
        """Append what becomes of `let`."""
        e = let.expr
        self.span = let.span
        match e:
            case ir.Apply():
                self.apply(let, e)
            case ir.Index():
                self.index(let, e)
            case ir.Update():
                self.update(let, e)
            case ir.MakeArray() | ir.Zero() | ir.Copy():
                self.array(let, e)
            case ir.If():
                then, orelse = (self.block(side, let.binders) for side in (e.then, e.orelse))
                self.form(let, ir.If(self.atom(e.condition), then, orelse))
            case ir.Case():
                scrutinees = tuple([self.full(a) for a in e.scrutinees])
                left, right = (self.branch(side, let.binders) for side in (e.left, e.right))
                self.form(let, ir.Case(scrutinees, left, right))
            case ir.Loop():
                (self.unrolled if is_unrolled(let, e) else self.loop)(let, e)
            case ir.While():
                self.whilst(let, e)
            case ir.Call():
                self.call(let, e)
            case ir.MakeTuple() | ir.Untuple() | ir.Inject() | ir.Extract() | ir.Check():
                self.other(let, rebuild(e, self.full))
            case ir.Accum() | ir.Add() | ir.View() | ir.Resolve():
                self.other(let, rebuild(e, self.full))
            case _:
                ir.assert_never(e)

    def other(self, let: ir.Let, e: ir.Expr) -> None:
        """A let whose binders are bound as arrays."""
        binders = tuple([self.fresh(b) for b in let.binders])
        self.lets.append(ir.Let(binders, e, let.span))
        for b in let.binders:
            self.define(b)

    def form(self, let: ir.Let, e: ir.Expr) -> None:
        """A let whose binders are bound as numbers."""
        self.lets.append(ir.Let(tuple([v for b in let.binders for v in self.places(b)]), e, let.span))

    def apply(self, let: ir.Let, e: ir.Apply) -> None:
        args = tuple([self.atoms.get(a, a) for a in e.args])
        known = self.copying and (e.op.result is INT or e.op.result is BOOL)
        if known and all([isinstance(a, ir.Lit) for a in args]) and (constant := folded(e.op, args)) is not None:
            self.atoms[let.binders[0]] = constant
            return
        self.lets.append(ir.Let((self.fresh(let.binders[0]),), ir.Apply(e.op, args), let.span))

    def located(self, t: Type, path: ir.Path) -> slice | None:
        """Which numbers of a small array are at a path; None if only the run knows, or it is out of range."""
        start, size = 0, numbers(t)
        for step in path:
            assert isinstance(t, Array)
            assert t.length is not None
            at = self.atom(step) if not isinstance(step, ir.Field) else None
            if not isinstance(at, ir.Lit) or not isinstance(at.value, int) or not 0 <= at.value < t.length:
                return None
            size //= t.length
            start += size * at.value
            t = t.element
        return slice(start, start + size)

    def path(self, path: ir.Path) -> ir.Path:
        return tuple([step if isinstance(step, ir.Field) else self.atom(step) for step in path])

    def index(self, let: ir.Let, e: ir.Index) -> None:
        b = let.binders[0]
        if e.base in self.parts:
            at = self.located(e.base.type, e.path)
            if at is not None and (self.splits(b) or not isinstance(b.type, Array)):
                found = self.parts[e.base][at]
                if self.splits(b):
                    self.parts[b] = found
                else:
                    self.atoms[b] = found[0]
                return
        base, path = self.full(e.base), self.path(e.path)
        if self.splits(b):
            self.parts[b] = self.read(base, path, b.type, e.checked)
        else:
            self.lets.append(ir.Let((self.fresh(b),), ir.Index(base, path, e.checked), let.span))

    def update(self, let: ir.Let, e: ir.Update) -> None:
        b = let.binders[0]
        at = self.located(e.base.type, e.path) if e.base in self.parts and self.splits(b) else None
        if at is not None:
            items = list(self.parts[e.base])
            items[at] = self.spread(e.value)
            self.parts[b] = tuple(items)
            return
        base, path = self.full(e.base), self.path(e.path)
        if e.value not in self.parts:
            self.other(let, ir.Update(base, path, self.atom(e.value), e.checked))
            return
        *steps, last = zip(paths(e.value.type), self.parts[e.value], strict=True)
        checked = e.checked
        for step, value in steps:
            base = self.bind(ir.Update(base, (*path, *step), value, checked), e.base.type, b.hint)
            checked = False
        self.other(let, ir.Update(base, (*path, *last[0]), last[1], checked))

    def array(self, let: ir.Let, e: ir.MakeArray | ir.Zero | ir.Copy) -> None:
        b = let.binders[0]
        if not self.splits(b):
            if isinstance(e, ir.Copy) and e.value in self.parts:
                self.atoms[b] = self.full(e.value)
            else:
                self.other(let, rebuild(e, self.full))
            return
        if isinstance(e, ir.MakeArray):
            self.parts[b] = tuple([n for a in e.items for n in self.spread(a)])
        elif isinstance(e, ir.Copy):
            self.parts[b] = self.items(e.value)
        else:
            kind = leaf(b.type)
            value = False if kind is BOOL else 0 if kind is INT else 0.0
            self.parts[b] = (ir.Lit(value, kind),) * numbers(b.type)

    # --- forms

    def branch(self, side: ir.Branch, binders: tuple[ir.Var, ...]) -> ir.Branch:
        params = tuple([self.fresh(p) for p in side.params])
        return ir.Branch(params, self.block(side.block, binders, side.params))

    def call(self, let: ir.Let, e: ir.Call) -> None:
        function = self.program.called(e.function)
        if self.program.is_fixed(e.function):
            self.other(let, ir.Call(function, tuple([self.full(a) for a in e.args])))
            return
        args = tuple([n for a in e.args for n in self.spread(a)])
        places: list[ir.Var] = []
        joined: list[tuple[ir.Var, Atoms]] = []
        for b in let.binders:
            if numbers(b.type) and not self.splits(b):
                found = apart(b)
                places += found
                joined.append((b, found))
            else:
                places += self.places(b)
        self.lets.append(ir.Let(tuple(places), ir.Call(function, args), let.span))
        for b, found in joined:
            self.receive(b, found)

    def loop(self, let: ir.Let, e: ir.Loop) -> None:
        n = len(e.carries)
        trips, inits = self.atom(e.trips), tuple(self.given(e.carries, e.inits))
        index, arrays = self.fresh(e.index), [self.full(s.array) for s in e.scans]
        carries = tuple([v for c in e.carries for v in self.places(c)])
        scans = tuple([ir.Scan(self.fresh(s.param), a, s.consumes) for s, a in zip(e.scans, arrays, strict=True)])
        body = self.block(e.body, e.carries, [s.param for s in e.scans])
        finals = tuple([v for b in let.binders[:n] for v in self.places(b)])
        stacks = tuple([self.fresh(b) for b in let.binders[n:]])
        loop = ir.Loop(trips, index, carries, inits, scans, body, e.down)
        keep_order(loop, [lanes for c, lanes in zip(e.carries, in_lanes(e), strict=True) for _ in self.places(c)])
        self.lets.append(ir.Let((*finals, *stacks), loop, let.span))
        for b in let.binders[n:]:
            self.define(b)

    def whilst(self, let: ir.Let, e: ir.While) -> None:
        n = len(e.carries)
        inits = tuple(self.given(e.carries, e.inits))
        carries = tuple([v for c in e.carries for v in self.places(c)])
        condition, body = self.block(e.condition, ()), self.block(e.body, e.carries)
        count, finals, stacks = let.binders[0], let.binders[1 : 1 + n], let.binders[1 + n :]
        binders = (self.fresh(count), *[v for b in finals for v in self.places(b)], *map(self.fresh, stacks))
        self.lets.append(ir.Let(binders, ir.While(carries, inits, condition, body), let.span))

    def unrolled(self, let: ir.Let, e: ir.Loop) -> None:
        """The iterations of a loop one after the other."""
        n = len(e.carries)
        assert e.constant_trips is not None
        iterations = range(e.constant_trips)
        rows: list[list[Atoms]] = [[()] * len(iterations) for _ in let.binders[n:]]
        self.hand_on(zip(e.carries, e.inits, strict=True))
        self.copying += 1
        for k in reversed(iterations) if e.down else iterations:
            self.atoms[e.index] = ir.integer(k)
            for s in e.scans:
                row = ir.Index(s.array, (ir.integer(k),), False)
                self.index(ir.Let((s.param,), row, let.span), row)
                if s.consumes and numbers(s.param.type) and s.param not in self.parts:
                    self.atoms[s.param] = self.bind(ir.Copy(self.atom(s.param)), s.param.type, s.param.hint)
            for inner in e.body.lets:
                self.let(inner)
            self.span = let.span
            for found, a in zip(rows, e.body.results[n:], strict=True):
                found[k] = self.spread(a)
            self.hand_on(zip(e.carries, e.body.results[:n], strict=True))
        self.copying -= 1
        self.hand_on(zip(let.binders[:n], e.carries, strict=True))
        for b, found in zip(let.binders[n:], rows, strict=True):
            self.stack(b, found)

    def hand_on(self, pairs: Iterable[tuple[ir.Var, ir.Atom]]) -> None:
        """Let each variable stand for what another value is now, all at once."""
        now = [(b, self.items(a)) if self.splits(b) else (b, (self.full(a),)) for b, a in pairs]
        for b, found in now:
            if self.splits(b):
                self.parts[b] = found
            else:
                self.atoms[b] = found[0]

    def stack(self, b: ir.Var, rows: list[Atoms]) -> None:
        """`b` is the array of what the iterations of an unrolled loop gave."""
        assert isinstance(b.type, Array)
        element = b.type.element
        if self.splits(b):
            self.parts[b] = tuple([n for row in rows for n in row])
            return
        items = [self.gathered(element, row, b.hint) if numbers(element) else row[0] for row in rows]
        self.lets.append(ir.Let((self.fresh(b),), ir.MakeArray(tuple(items)), self.span))
