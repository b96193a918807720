"""`jvp_f(x, dx): y, dy` into `fwd_f(x): y, residuals` and `lin_f(residuals, dx): dy` (RULES, sections 3 to 5).

A let is linear if a Tan is among its operands or binders. A form that holds both kinds is split into two of its kind;
what the linear half reads of the primal half is *saved*: a field of the function's residuals, a stacked output of a
loop, a slot that the two sides of a branch share. What one cheap operation gives again is *recomputed* instead.
"""

from dataclasses import dataclass, field

from rosejit.ir import syntax as ir
from rosejit.ir.types import BOOL, INT, REAL, UNIT, Array, Nominal, Ref, Sum, Tuple, Type, is_heavy, is_linear
from rosejit.ir.walk import consumed, operands, rebuild, scopes
from rosejit.transforms.own import owned_body

Needs = dict[ir.Var, None]
"""Nonlinear variables that the linear half reads and does not bind, in the order of the first read."""


@dataclass(slots=True)
class Halves:
    """`forward(x..): y.., residuals`; `linear(residuals, again.., dx..): dy..`.

    `again` are the parameters of `forward` that `linear` takes once more rather than find in the residuals;
    `residuals` is None where nothing is saved.
    """

    forward: ir.Function
    linear: ir.Function
    residuals: Nominal | None
    again: tuple[int, ...]
    is_dual: tuple[bool, ...]
    """Which parameters of the original are linear."""


@dataclass(slots=True)
class Split:
    """A block in two: the lets and results of each half, and what the linear half needs."""

    primal: list[ir.Let]
    linear: list[ir.Let]
    primal_results: tuple[ir.Atom, ...]
    linear_results: tuple[ir.Atom, ...]
    needs: Needs = field(default_factory=dict[ir.Var, None])


def unzip(f: ir.Function) -> Halves:
    """The two halves of a function with linear parameters. What recursive calls need is assumed, and then kept to."""
    if "unzip" not in f.derived:
        name = f.name.removeprefix("jvp_")
        dual = tuple(is_linear(p.type) for p in f.params)
        heavy = tuple(k for k, p in enumerate(_primal_params(f)) if is_heavy(p.type) and p not in f.own)
        forward = ir.Function(f"fwd_{name}", (), (), span=f.span)
        linear = ir.Function(f"lin_{name}", (), (), span=f.span)
        halves = Halves(forward, linear, Nominal(f"Res_{name}"), heavy, dual)
        forward.params = tuple(_primal_params(f))
        forward.own = f.own & set(forward.params)
        f.derived["unzip"] = halves  # before the bodies: it may call itself
        _unzip_function(f, halves)
        f.derived["unzipped"] = True
    elif "unzipped" not in f.derived:
        f.derived["assumed halves"] = True
    return f.derived["unzip"]


def _primal_params(f: ir.Function) -> list[ir.Var]:
    return [p for p in f.params if not is_linear(p.type)]


def _unzip_function(f: ir.Function, halves: Halves) -> None:
    assert f.body is not None
    splitter = _Splitter(f)
    primal_params = _primal_params(f)
    dual_params = tuple(p for p in f.params if is_linear(p.type))
    split = splitter.block(f.body)
    saved, recomputed, rest = splitter.resolve(split, set(primal_params), free_base=set())
    again_vars = [primal_params[k] for k in halves.again]
    if "assumed halves" not in f.derived:
        again_vars = [p for p in again_vars if p in rest]
        halves.again = tuple(k for k, p in enumerate(primal_params) if p in rest)
        if not saved:
            halves.residuals = None
    assert set(rest) <= set(again_vars), "a linear half reads what nothing binds"
    residuals = halves.residuals
    forward, linear = halves.forward, halves.linear
    forward.results = tuple(t for t in f.results if not is_linear(t))
    linear.results = tuple(t for t in f.results if is_linear(t))
    primal_lets, linear_lets = split.primal, recomputed + split.linear
    primal_results = split.primal_results
    linear_params = (*again_vars, *dual_params)
    if residuals is not None:
        residuals.fields = tuple(v.type for v in saved)
        record, view = ir.Var(residuals, "r"), ir.Var(residuals, "r")
        primal_lets = [*primal_lets, ir.Let((record,), ir.MakeTuple(tuple(saved)))]
        primal_results = (*primal_results, record)
        forward.results = (*forward.results, residuals)
        fields = [ir.Let((v,), ir.Index(view, (ir.Field(k),), checked=False)) for k, v in enumerate(saved)]
        linear_lets = fields + linear_lets
        linear_params = (view, *linear_params)
    forward.body = ir.Block(primal_lets, primal_results)
    forward.body = owned_body(forward)
    linear.params, linear.own = linear_params, f.own & set(dual_params)
    linear.body = ir.Block(linear_lets, split.linear_results)


def _linear_at_all(let: ir.Let) -> bool:
    """Whether a Tan occurs in `let`, at any depth. Iterative, since it is asked of every nested form once a level."""
    pending = [let]
    while pending:
        current = pending.pop()
        if any([is_linear(b.type) for b in current.binders]):
            return True
        if any([is_linear(a.type) for a in operands(current.expr)]):
            return True
        for params, block in scopes(current.expr):
            if any([is_linear(p.type) for p in params]):
                return True
            pending += block.lets
    return False


class _Splitter:
    """The state of one unzip: where each primal variable is bound, for recomputation and repeated views."""

    def __init__(self, f: ir.Function) -> None:
        self.f = f
        self.definitions: dict[ir.Var, ir.Let] = {}
        self.rows: dict[ir.Var, ir.Atom] = {}
        """Payloads of cases and rows of scans: views of the value they come from."""
        self.borrowed_params = {p for p in f.params if p not in f.own and is_heavy(p.type)}

    # --- blocks

    def block(self, block: ir.Block) -> Split:
        primal: list[ir.Let] = []
        linear: list[ir.Let] = []
        needs: Needs = {}
        partners: list[ir.Var] = []
        """Tangents bound here whose zero would need the value that they are tangents of (see `Var.like`)."""
        definitions = self.definitions

        def read(atoms: tuple[ir.Atom, ...]) -> None:
            for a in atoms:
                if isinstance(a, ir.Var) and not is_linear(a.type):
                    needs[a] = None

        for let in block.lets:
            e = let.expr
            if isinstance(e, ir.Apply):
                if let.binders[0].type is not REAL and is_linear(let.binders[0].type):
                    linear.append(let)
                    read(e.args)
                else:
                    primal.append(let)
                    definitions[let.binders[0]] = let
            elif isinstance(e, ir.If | ir.Case | ir.Loop | ir.While | ir.Call):
                if _linear_at_all(let):
                    halves = self.form(let, e)
                    primal += halves[0]
                    linear += halves[1]
                    needs.update(halves[2])
                    partners += [b for b in let.binders if b.like is not None]
                else:
                    primal.append(let)
            elif self.is_linear_let(let):
                linear.append(let)
                read(operands(e))
                partners += [b for b in let.binders if b.like is not None and not isinstance(e, ir.Index)]
            else:
                primal.append(let)
                for b in let.binders:
                    definitions[b] = let
        primal_results = tuple(a for a in block.results if not is_linear(a.type))
        linear_results = tuple(a for a in block.results if is_linear(a.type))
        if partners:
            kept = {a for let in linear for a in consumed(let.expr)}.union(linear_results)
            read(tuple(b.like for b in partners if b.like is not None and b not in kept))
        return Split(primal, linear, primal_results, linear_results, needs)

    @staticmethod
    def is_linear_let(let: ir.Let) -> bool:
        if any([is_linear(b.type) for b in let.binders]):
            return True
        return any([is_linear(a.type) for a in operands(let.expr)])

    # --- what is saved

    def resolve(
        self, split: Split, params: set[ir.Var], free_base: set[ir.Var]
    ) -> tuple[list[ir.Var], list[ir.Let], Needs]:
        """Of what the linear half of a scope needs: the variables to save, the lets to repeat before it, and the needs
        that stay for the enclosing scope. `params` are bound by the scope's form, `free_base` of them cost nothing."""
        bound_lets = {b: let for let in split.primal for b in let.binders}
        saved: Needs = {}
        repeated: dict[int, ir.Let] = {}
        rest: Needs = {}
        free: dict[ir.Var, bool] = dict.fromkeys(free_base, True)
        pending = list(split.needs)
        wanted = set(pending)
        while pending:
            v = pending.pop()
            let = bound_lets.get(v)
            if let is None:
                if v in free_base:
                    continue
                borrowed = v in self.borrowed_params
                (saved if v in params and not borrowed else rest)[v] = None
                continue
            sources = self.sources(v, let, bound_lets, free, wanted, params)
            if sources is None:
                saved[v] = None
                continue
            repeated[id(let)] = let
            for source in sources:
                if source not in wanted:
                    wanted.add(source)
                    pending.append(source)
        order = {b: k for k, let in enumerate(split.primal) for b in let.binders}
        in_order = sorted(saved, key=lambda v: order.get(v, -1))
        lets = sorted(repeated.values(), key=lambda let: order[let.binders[0]])
        return in_order, [_again(let) for let in lets], rest

    def sources(
        self,
        v: ir.Var,
        let: ir.Let,
        bound: dict[ir.Var, ir.Let],
        free: dict[ir.Var, bool],
        wanted: set[ir.Var],
        params: set[ir.Var],
    ) -> list[ir.Var] | None:
        """What repeating `let` in the linear half reads, or None where its result is better saved."""
        e = let.expr
        if isinstance(e, ir.Index) and is_heavy(v.type):
            root = self.root(e.base)
            if root in self.borrowed_params:
                return [a for a in operands(e) if isinstance(a, ir.Var)]
            return None
        if isinstance(e, ir.Index) and self.is_residual(e.base) and not any(isinstance(s, ir.Var) for s in e.path):
            return [a for a in operands(e) if isinstance(a, ir.Var)]
        if not isinstance(e, ir.Apply) or not e.op.cheap:
            return None
        args = [a for a in e.args if isinstance(a, ir.Var)]
        if self.is_free(v, bound, free, params):
            return args
        if all(a in wanted or (a not in bound and a not in params) for a in args):
            return args
        return None

    def is_free(self, v: ir.Var, bound: dict[ir.Var, ir.Let], free: dict[ir.Var, bool], params: set[ir.Var]) -> bool:
        """Whether `v` follows by integer arithmetic from the index and light values of enclosing scopes."""
        if v in free:
            return free[v]
        let = bound.get(v)
        if let is None:
            known = v not in params and not is_heavy(v.type) and not isinstance(v.type, Ref)
        elif isinstance(let.expr, ir.Apply) and let.expr.op.cheap and v.type is not REAL:
            free[v] = False
            known = all(isinstance(a, ir.Lit) or self.is_free(a, bound, free, params) for a in let.expr.args)
        else:
            known = False
        free[v] = known
        return known

    def root(self, a: ir.Atom) -> ir.Atom:
        """The variable of which `a` is a view, through any number of views."""
        while isinstance(a, ir.Var) and is_heavy(a.type):
            if a in self.rows:
                a = self.rows[a]
                continue
            let = self.definitions.get(a)
            if let is None or not isinstance(let.expr, ir.Index):
                break
            a = let.expr.base
        return a

    def is_residual(self, a: ir.Atom) -> bool:
        """Whether `a` is (a view of) residuals passed to this function: reading them again costs nothing."""
        root = self.root(a)
        return root in self.borrowed_params and isinstance(root.type, Nominal)

    # --- forms

    def form(
        self, let: ir.Let, e: ir.If | ir.Case | ir.Loop | ir.While | ir.Call
    ) -> tuple[list[ir.Let], list[ir.Let], Needs]:
        match e:
            case ir.If():
                return self.branch(let, e)
            case ir.Case():
                return self.case(let, e)
            case ir.Loop() | ir.While():
                return self.loop(let, e)
            case ir.Call():
                return self.call(let, e)

    def branch(self, let: ir.Let, e: ir.If) -> tuple[list[ir.Let], list[ir.Let], Needs]:
        sides = [_Side(self, self.block(b), set()) for b in (e.then, e.orelse)]
        shared = _Shared(sides)
        primal_binders = tuple(b for b in let.binders if not is_linear(b.type))
        primal = ir.Let(
            (*primal_binders, *shared.binders), ir.If(e.condition, *(s.primal(shared) for s in sides)), let.span
        )
        needs = shared.needs()
        linear_binders = tuple(b for b in let.binders if is_linear(b.type))
        if shared.record is None:
            read: ir.Expr = ir.If(e.condition, *(s.linear() for s in sides))
            if isinstance(e.condition, ir.Var):
                needs[e.condition] = None
        else:
            read = ir.Case((shared.record,), *(s.linear_branch(()) for s in sides))
        linear = ir.Let(linear_binders, read, let.span)
        return _unless_empty(primal), [linear], needs

    def case(self, let: ir.Let, e: ir.Case) -> tuple[list[ir.Let], list[ir.Let], Needs]:
        primal_on = [not is_linear(s.type) for s in e.scrutinees]
        sides: list[_Side] = []
        for branch in (e.left, e.right):
            nonlinear = tuple(p for p, on in zip(branch.params, primal_on, strict=True) if on)
            dual = tuple(p for p, on in zip(branch.params, primal_on, strict=True) if not on)
            primal_scrutinees = [s for s, on in zip(e.scrutinees, primal_on, strict=True) if on]
            self.rows.update(zip(nonlinear, primal_scrutinees, strict=True))
            sides.append(_Side(self, self.block(branch.block), set(nonlinear), nonlinear, dual))
        flagged = all(primal_on)
        shared = _Shared(sides, tag=flagged)
        scrutinees = tuple(s for s, on in zip(e.scrutinees, primal_on, strict=True) if on)
        duals = tuple(s for s, on in zip(e.scrutinees, primal_on, strict=True) if not on)
        repeated = [k for k in range(len(scrutinees)) if any(s.params[k] in s.payload_needs for s in sides)]
        primal_binders = tuple(b for b in let.binders if not is_linear(b.type))
        linear_binders = tuple(b for b in let.binders if is_linear(b.type))
        primal_lets: list[ir.Let] = []
        if scrutinees:
            branches = [ir.Branch(s.params, s.primal(shared)) for s in sides]
            expr = ir.Case(scrutinees, branches[0], branches[1])
            primal_lets = _unless_empty(ir.Let((*primal_binders, *shared.binders), expr, let.span))
        else:
            assert not shared.binders, "a case of tangents alone computes no primal value"
        needs = shared.needs()
        for k in repeated:
            read = scrutinees[k]
            assert isinstance(read, ir.Var)
            needs[read] = None
        record = () if shared.record is None else (shared.record,)
        again = tuple(scrutinees[k] for k in repeated)
        if record or again or duals:
            linear_branches = [s.linear_branch((*(s.params[k] for k in repeated), *s.dual_params)) for s in sides]
            linear: ir.Expr = ir.Case((*record, *again, *duals), linear_branches[0], linear_branches[1])
        else:
            assert shared.flag is not None
            linear = ir.If(shared.flag, sides[0].linear(), sides[1].linear())
        return primal_lets, [ir.Let(linear_binders, linear, let.span)], needs

    def loop(self, let: ir.Let, e: ir.Loop | ir.While) -> tuple[list[ir.Let], list[ir.Let], Needs]:
        scans = e.scans if isinstance(e, ir.Loop) else ()
        self.rows.update({s.param: s.array for s in scans if not s.consumes})
        split = self.block(e.body)
        primal_scans = tuple(s for s in scans if not is_linear(s.param.type))
        dual_scans = tuple(s for s in scans if is_linear(s.param.type))
        carry_on = [not is_linear(c.type) for c in e.carries]
        carries = tuple(c for c, on in zip(e.carries, carry_on, strict=True) if on)
        again = {s.param for s in primal_scans if not s.consumes}
        index = {e.index} if isinstance(e, ir.Loop) else set[ir.Var]()
        params = {*carries, *(s.param for s in primal_scans)} - again
        saved, recomputed, rest = self.resolve(split, params, index | again)
        scanned_again = tuple(s for s in primal_scans if s.param in again and _reads(split, recomputed, s.param))
        trips: ir.Atom = e.trips if isinstance(e, ir.Loop) else let.binders[0]
        length = trips.value if isinstance(trips, ir.Lit) else None
        assert length is None or isinstance(length, int)
        stacks = tuple(ir.Var(Array(length, v.type), f"{v.hint}s") for v in saved)
        primal_body = ir.Block(split.primal, (*split.primal_results, *saved))
        primal_inits = tuple(a for a, on in zip(e.inits, carry_on, strict=True) if on)
        primal_binders = tuple(b for b in let.binders if not is_linear(b.type))
        if isinstance(e, ir.Loop):
            primal: ir.Expr = ir.Loop(e.trips, e.index, carries, primal_inits, primal_scans, primal_body, e.down)
        else:
            primal = ir.While(carries, primal_inits, e.condition, primal_body)
        dual_carries = tuple(c for c, on in zip(e.carries, carry_on, strict=True) if not on)
        dual_inits = tuple(a for a, on in zip(e.inits, carry_on, strict=True) if not on)
        reads = (*(ir.Scan(v, s) for v, s in zip(saved, stacks, strict=True)), *scanned_again, *dual_scans)
        body = ir.Block(recomputed + split.linear, split.linear_results)
        down = e.down if isinstance(e, ir.Loop) else False
        turn = e.index if isinstance(e, ir.Loop) else ir.Var(INT, "i")
        linear = ir.Loop(trips, turn, dual_carries, dual_inits, reads, body, down)
        linear_binders = tuple(b for b in let.binders if is_linear(b.type))
        needs: Needs = dict.fromkeys(stacks)
        for s in scanned_again:
            assert isinstance(s.array, ir.Var)
            needs[s.array] = None
        if isinstance(trips, ir.Var):
            needs[trips] = None
        needs.update(rest)
        primal_let = ir.Let((*primal_binders, *stacks), primal, let.span)
        return [primal_let], [ir.Let(linear_binders, linear, let.span)], needs

    def call(self, let: ir.Let, e: ir.Call) -> tuple[list[ir.Let], list[ir.Let], Needs]:
        halves = unzip(e.function)
        nonlinear = tuple(a for a, dual in zip(e.args, halves.is_dual, strict=True) if not dual)
        duals = tuple(a for a, dual in zip(e.args, halves.is_dual, strict=True) if dual)
        primal_binders = tuple(b for b in let.binders if not is_linear(b.type))
        linear_binders = tuple(b for b in let.binders if is_linear(b.type))
        again = tuple(nonlinear[k] for k in halves.again)
        needs: Needs = dict.fromkeys(a for a in again if isinstance(a, ir.Var))
        residuals: tuple[ir.Var, ...] = ()
        if halves.residuals is not None:
            residuals = (ir.Var(halves.residuals, "r"),)
            needs[residuals[0]] = None
        primal = ir.Let((*primal_binders, *residuals), ir.Call(halves.forward, nonlinear), let.span)
        linear = ir.Let(linear_binders, ir.Call(halves.linear, (*residuals, *again, *duals)), let.span)
        return [primal], [linear], needs


def _again(let: ir.Let) -> ir.Let:
    """`let` for the linear half; the primal half has checked its indices."""
    e = let.expr
    return ir.Let(let.binders, ir.Index(e.base, e.path, checked=False), let.span) if isinstance(e, ir.Index) else let


def _reads(split: Split, repeated: list[ir.Let], v: ir.Var) -> bool:
    return v in split.needs or any(v in operands(let.expr) for let in repeated)


def _unless_empty(let: ir.Let) -> list[ir.Let]:
    """`let`, or nothing where both sides of its branch do nothing and give nothing."""
    if not let.binders and not any(block.lets for _, block in scopes(let.expr)):
        return []
    return [let]


class _Side:
    """One side of a branch: what it saves, light values in slots that both sides share, heavy ones in a record."""

    def __init__(
        self,
        splitter: _Splitter,
        split: Split,
        payload: set[ir.Var],
        params: tuple[ir.Var, ...] = (),
        dual_params: tuple[ir.Var, ...] = (),
    ) -> None:
        self.split = split
        self.params = params
        self.dual_params = dual_params
        saved, self.recomputed, self.rest = splitter.resolve(split, set(), payload)
        light_payload = [p for p in params if not is_heavy(p.type) and _reads(split, self.recomputed, p)]
        self.payload_needs = {p for p in params if _reads(split, self.recomputed, p)} - set(light_payload)
        self.light = [*light_payload, *(v for v in saved if not is_heavy(v.type))]
        self.heavy = [v for v in saved if is_heavy(v.type)]
        self.number = 0
        self.slots: dict[ir.Var, ir.Var] = {}
        self.record_type: Type = Tuple(tuple(v.type for v in self.heavy)) if self.heavy else UNIT

    def primal(self, shared: "_Shared") -> ir.Block:
        lets = list(self.split.primal)
        by_slot = {slot: v for v, slot in self.slots.items()}
        results: list[ir.Atom] = [*self.split.primal_results]
        results += [by_slot.get(slot, _filler(slot.type)) for slot in shared.slots]
        if shared.flag is not None:
            results.append(ir.Lit(self.number == 0, BOOL))
        if shared.record is not None:
            payload: ir.Atom = ir.NOTHING
            if self.heavy:
                payload = ir.Var(self.record_type, "saved")
                lets.append(ir.Let((payload,), ir.MakeTuple(tuple(self.heavy))))
            record = ir.Var(shared.record.type, "rec")
            lets.append(ir.Let((record,), ir.Inject(self.number, payload)))
            results.append(record)
        return ir.Block(lets, tuple(results))

    def linear(self) -> ir.Block:
        """The linear half, reading its slots."""
        block = ir.Block(self.recomputed + self.split.linear, self.split.linear_results)
        return rename(block, self.slots) if self.slots else block

    def linear_branch(self, params: tuple[ir.Var, ...]) -> ir.Branch:
        """The linear half as a side of a `case` whose first scrutinee is the record of heavy values, where there is one."""
        block = self.linear()
        if not self.has_record:
            return ir.Branch(params, block)
        record = ir.Var(self.record_type, "saved")
        fields = [ir.Let((v,), ir.Index(record, (ir.Field(k),), checked=False)) for k, v in enumerate(self.heavy)]
        return ir.Branch((record, *params), ir.Block(fields + block.lets, block.results))

    has_record = False


class _Shared:
    """What the two sides of a branch hand to their linear halves."""

    def __init__(self, sides: list[_Side], tag: bool = False) -> None:
        self.sides = sides
        self.slots: list[ir.Var] = []
        for number, side in enumerate(sides):
            side.number = number
            unused: dict[Type, list[ir.Var]] = {}
            for slot in self.slots:
                unused.setdefault(slot.type, []).append(slot)
            for v in side.light:
                free = unused.get(v.type)
                slot = free.pop(0) if free else ir.Var(v.type, v.hint)
                if slot not in self.slots:
                    self.slots.append(slot)
                side.slots[v] = slot
        self.record: ir.Var | None = None
        if any(side.heavy for side in sides):
            self.record = ir.Var(Sum(sides[0].record_type, sides[1].record_type), "rec")
            for side in sides:
                side.has_record = True
        wants_flag = tag and self.record is None and not any(side.payload_needs for side in sides)
        self.flag: ir.Var | None = ir.Var(BOOL, "left") if wants_flag else None

    @property
    def binders(self) -> tuple[ir.Var, ...]:
        flag = () if self.flag is None else (self.flag,)
        record = () if self.record is None else (self.record,)
        return (*self.slots, *flag, *record)

    def needs(self) -> Needs:
        needs: Needs = {}
        for side in self.sides:
            needs.update(side.rest)
        needs.update(dict.fromkeys(self.binders))
        return needs


def _filler(t: Type) -> ir.Lit:
    """What a side that does not use a slot puts there."""
    if t is REAL:
        return ir.real(0.0)
    return ir.integer(0) if t is INT else ir.FALSE


def rename(block: ir.Block, atoms: dict[ir.Var, ir.Var]) -> ir.Block:
    """`block` with its free variables through `atoms`; binders stay."""

    def atom(a: ir.Atom) -> ir.Atom:
        return atoms.get(a, a) if isinstance(a, ir.Var) else a

    def inner(b: ir.Block) -> ir.Block:
        lets = [ir.Let(let.binders, rebuild(let.expr, atom, block=inner), let.span) for let in b.lets]
        return ir.Block(lets, tuple([atom(a) for a in b.results]))

    return inner(block)
