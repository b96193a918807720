"""`f(x): y` into `jvp_f(x, dx): y, dy`: every let stays, and tangent lets follow it (forward mode; RULES, section 3).

A variable and its tangent are two variables; an absent tangent is zero.
"""

from rosejit.errors import NotDifferentiable
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.traversal import operands
from rosejit.ir.types import TAN, Ref, Type, fields_of, has_dynamic_length, has_real, is_boxed
from rosejit.ir.types import tangent as tangent_type
from rosejit.lazy_dataclass import dataclass
from rosejit.span import Span
from rosejit.transforms.analysis import rule_templates
from rosejit.transforms.analysis.activity import Derivation, Mask, effective


@dataclass(slots=True)
class Jvp:
    """`function` takes the parameters of the original and then the tangents of those in `mask`; it returns the
    results and then the tangents of those in `results`."""

    function: ir.Function
    mask: Mask
    results: Mask


def jvp(f: ir.Function, mask: Mask) -> Jvp:
    """The derivative of `f` along its parameters in `mask` (and all places). Raises `NotDifferentiable` for an
    opaque function without a rule that an active value reaches."""
    return forward(f, mask, Forward)


def forward(f: ir.Function, mask: Mask, how: "type[Forward]") -> Jvp:
    """`jvp`, in which `how` says what the tangent of a primitive is."""
    key = (how.KEY, effective(f, mask))
    if key not in f.derived:
        f.derived[key] = _derived(f, key[1], how, Derivation())
    return f.derived[key]


def _derived(f: ir.Function, mask: Mask, how: "type[Forward]", derivation: Derivation) -> Jvp:
    """The derivative of `f`, which is asked for or called, under an effective mask."""
    if f.rule is not None:
        return Jvp(f.rule, _taken(f, f.rule), tuple(has_real(t) for t in f.results))
    key = (f, mask)
    if key not in derivation.made:
        _check_not_opaque(f, None)
        known = derivation.activity(f, mask)
        result_types = [tangent_type(t) for t, on in zip(f.results, known.results, strict=True) if on]
        new = ir.Function(f"jvp_{f.name}", (), (*f.results, *result_types), span=f.span)
        new.derived["primal"] = f
        made = derivation.made[key] = Jvp(new, mask, known.results)  # before the body: it may call itself
        how(f, made, known.active, derivation).run()
    return derivation.made[key]


def _taken(f: ir.Function, rule: ir.Function) -> Mask:
    """The parameters whose tangents the rule takes; the derivative along the others is zero."""
    left, taken = len(rule.params) - len(f.params), list[bool]()
    for p in f.params:
        taken.append(left > 0 and has_real(p.type))
        left -= taken[-1]
    return tuple(taken)


def _check_not_opaque(f: ir.Function, span: Span | None) -> None:
    if f.body is None and f.host is not None:
        raise NotDifferentiable(
            f"`{f.name}` is opaque and has no derivative",
            span or f.span,
            facts=(f"a derivative with respect to an argument of `{f.name}` was needed",),
            help=f"give its rule: `@{f.name}.jvp` on a function of `rose.Dual` arguments",
        )


class Forward:
    """The state of one jvp: the tangents so far, and the block in the making."""

    KEY = "jvp"

    def __init__(self, f: ir.Function, made: Jvp, active: set[ir.Var], derivation: Derivation) -> None:
        self.f = f
        self.new = made.function
        self.mask = made.mask
        self.active = active
        self.active_results = made.results
        self.derivation = derivation
        self.tangents: dict[ir.Atom, ir.Var] = {}
        self.b = Builder()

    def run(self) -> None:
        """Make the body."""
        f = self.f
        assert f.body is not None
        params = [self.param(p) for p, on in zip(f.params, self.mask, strict=True) if on]
        self.new.params = (*f.params, *params)
        self.new.own = f.own | {self.tangents[p] for p in f.own if p in self.tangents}
        self.lets(f.body.lets)
        tangents = self.needed(f.body.results, self.active_results)
        self.new.body = self.b.block(*f.body.results, *tangents)

    # --- tangents

    def param(self, x: ir.Var) -> ir.Var:
        """The tangent variable of a variable that a form binds."""
        t = tangent_type(x.type)
        dx = ir.Var(t, f"d{x.hint}", x if is_boxed(t) and has_dynamic_length(t) else None)
        self.tangents[x] = dx
        return dx

    def bind(self, x: ir.Var, e: ir.Expr) -> None:
        """Append `dx = e`."""
        self.b.lets.append(ir.Let((self.param(x),), e, self.b.span))

    def needed(self, atoms: tuple[ir.Atom, ...], flags: Mask | list[bool]) -> list[ir.Atom]:
        """The tangents of those atoms that are flagged."""
        return [self.tangent(a) for a, on in zip(atoms, flags, strict=True) if on]

    def tangent(self, a: ir.Atom) -> ir.Atom:
        """The tangent of `a`; a zero is made where there is none, `()` where there can be none."""
        if a in self.tangents:
            return self.tangents[a]
        return self.zero(a) if has_real(a.type) else ir.NOTHING

    def zero(self, a: ir.Atom) -> ir.Atom:
        """A zero tangent of `a`."""
        t = tangent_type(a.type)
        if t is TAN:
            return ir.ZERO
        dynamic = has_dynamic_length(t)
        var = ir.Var(t, "zero", a if dynamic and isinstance(a, ir.Var) else None)
        self.b.lets.append(ir.Let((var,), ir.Zero(a if dynamic else None), self.b.span))
        return var

    # --- blocks

    def block(self, block: ir.Block) -> Builder:
        """The lets of `block` with their tangents, in a builder of their own."""
        outer, self.b = self.b, Builder(self.b.span)
        self.lets(block.lets)
        inner, self.b = self.b, outer
        return inner

    def finish(self, inner: Builder, results: tuple[ir.Atom, ...], flags: Mask | list[bool]) -> list[ir.Atom]:
        """The tangents of `results`, zeros made in `inner`."""
        outer, self.b = self.b, inner
        tangents = self.needed(results, flags)
        self.b = outer
        return tangents

    def lets(self, lets: list[ir.Let]) -> None:
        """Append them with their tangents."""
        active, b = self.active, self.b
        for let in lets:
            e = let.expr
            b.span = let.span
            if isinstance(e, ir.Apply):
                b.lets.append(let)
                if let.binders[0] in active:
                    self.apply(let.binders[0], e)
            else:
                self.form(let, e)

    # --- forms

    def apply(self, y: ir.Var, e: ir.Apply) -> None:
        """Append dy, which is linear in the tangents of the arguments; an absent one is zero."""
        dxs = tuple(map(self.tangents.get, e.args))
        if all(dxs):
            make = rule_templates.total_tangent(e.op)
        else:
            make = rule_templates.tangent(e.op, tuple([dx is not None for dx in dxs]))
            dxs = tuple([dx for dx in dxs if dx is not None])
        (dy,) = make(self.b.lets, self.b.span, f"d{y.hint}", *e.args, y, *dxs)
        if dy is not None:
            self.tangents[y] = dy

    def form(self, let: ir.Let, e: ir.Expr) -> None:
        """As `lets`, what is no primitive."""
        if isinstance(e, ir.Control | ir.Call):
            self.nested(let, e)
        elif isinstance(e, ir.Update | ir.Accum):
            self.started(let, e)
        else:
            zeros = self.needed_before(let, e)
            self.b.lets.append(let)
            self.simple(let, e, zeros)

    def started(self, let: ir.Let, e: ir.Update | ir.Accum) -> None:
        """Of what is consumed the tangent, a zero like it too, must come before."""
        y, source = let.binders[0], e.value if isinstance(e, ir.Accum) else e.base
        da = self.tangent(source) if y in self.active else None
        self.b.lets.append(let)
        if da is None:
            return
        if isinstance(e, ir.Accum):
            self.bind(y, ir.Accum(da))
            if isinstance(da, ir.Var):
                self.tangents[y].like = da.like  # what is never resolved has nothing else to tell it
        elif isinstance(da, ir.Var) and not has_real(e.value.type):
            self.tangents[y] = da
        else:
            self.bind(y, ir.Update(da, e.path, self.tangent(e.value), checked=False))

    def has_tangent(self, let: ir.Let, e: ir.Simple) -> bool:
        """Whether a let has a tangent to be made behind it."""
        on = bool(let.binders) and let.binders[0] in self.active
        match e:
            case ir.Untuple(value=x) | ir.Copy(value=x) | ir.Add(value=x) | ir.Resolve(place=x):
                return x in self.tangents
            case ir.Index(base=x) | ir.Extract(value=x):
                return on and x in self.tangents
            case ir.MakeTuple() | ir.MakeArray() | ir.Inject() | ir.View():
                return on
            case ir.Apply() | ir.Zero() | ir.Check() | ir.Update() | ir.Accum():
                return False
            case _:
                return ir.assert_never(e)

    def simple(self, let: ir.Let, e: ir.Simple, items: tuple[ir.Atom, ...]) -> None:
        """Append the tangent of a let without blocks, behind it; `items` are those of what it is made of."""
        b, tangents = self.b, self.tangents
        if not self.has_tangent(let, e):
            return
        match e:
            case ir.Index(base=base, path=path):
                self.bind(let.binders[0], ir.Index(tangents[base], path, checked=False))
            case ir.MakeTuple():
                self.bind(let.binders[0], ir.MakeTuple(items))
            case ir.MakeArray():
                self.bind(let.binders[0], ir.MakeArray(items))
            case ir.Untuple(value=value):
                fields = fields_of(value.type)
                binders = tuple(self.field(x, t) for x, t in zip(let.binders, fields, strict=True))
                b.lets.append(ir.Let(binders, ir.Untuple(tangents[value]), b.span))
            case ir.Inject(side=side):
                self.bind(let.binders[0], ir.Inject(side, items[0]))
            case ir.Extract(side=side, value=value):
                self.bind(let.binders[0], ir.Extract(side, tangents[value]))
            case ir.Copy(value=value):
                self.bind(let.binders[0], ir.Copy(tangents[value]))
            case ir.Add(place=place, value=value):
                b.do(ir.Add(tangents[place], tangents[value]))
            case ir.View(place=place, path=path):
                self.bind(let.binders[0], ir.View(tangents[place], path, checked=False))
            case ir.Resolve(place=place):
                self.bind(let.binders[0], ir.Resolve(tangents[place]))
            case ir.Apply() | ir.Zero() | ir.Check() | ir.Update() | ir.Accum():
                pass  # made elsewhere, or none
            case _:
                ir.assert_never(e)

    def needed_before(self, let: ir.Let, e: ir.Expr) -> tuple[ir.Atom, ...]:
        """The tangents of items that the let consumes, made before it; nothing where its result is inactive."""
        if not let.binders or let.binders[0] not in self.active:
            return ()
        made = isinstance(e, ir.MakeTuple | ir.MakeArray | ir.Inject)
        return tuple([self.tangent(a) for a in operands(e)]) if made else ()

    def field(self, x: ir.Var, t: Type) -> ir.Var:
        """The tangent of a part of a structure, `()` where the part has none."""
        if has_real(t):
            return self.param(x)
        return ir.Var(Ref(tangent_type(t.target)) if isinstance(t, Ref) else tangent_type(t), "none")

    def nested(self, let: ir.Let, e: ir.Control | ir.Call) -> None:
        """As `form`, what holds blocks or calls."""
        match e:
            case ir.If():
                self.branch(let, e)
            case ir.Case():
                self.case(let, e)
            case ir.Loop():
                self.loop(let, e)
            case ir.While():
                self.whilst(let, e)
            case ir.Call():
                self.call(let, e)
            case _:
                ir.assert_never(e)

    def bind_results(self, let: ir.Let, e: ir.Expr, flags: Mask | list[bool]) -> None:
        """`y.., dy.. = e`, where the tangents of the binders in `flags` come last."""
        tangents = [self.param(x) for x, on in zip(let.binders, flags, strict=True) if on]
        self.b.lets.append(ir.Let((*let.binders, *tangents), e, let.span))

    def two(self, one: ir.Block, other: ir.Block, flags: list[bool]) -> tuple[ir.Block, ir.Block]:
        """Both sides of a choice, with the tangents of the flagged results behind the results."""

        def side(block: ir.Block) -> ir.Block:
            inner = self.block(block)
            return inner.block(*block.results, *self.finish(inner, block.results, flags))

        return side(one), side(other)

    def branch(self, let: ir.Let, e: ir.If) -> None:
        """An `if`."""
        flags = [b in self.active for b in let.binders]
        then, orelse = self.two(e.then, e.orelse, flags)
        self.bind_results(let, ir.If(e.condition, then, orelse), flags)

    def case(self, let: ir.Let, e: ir.Case) -> None:
        """A `case`: payloads of active scrutinees have tangents."""
        flags = [b in self.active for b in let.binders]
        on = [s in self.tangents for s in e.scrutinees]
        sides: list[tuple[ir.Var, ...]] = []
        for side in (e.left, e.right):
            added = [self.field(p, p.type) for p, a in zip(side.params, on, strict=True) if a]
            sides.append((*side.params, *added))
        left, right = self.two(e.left.block, e.right.block, flags)
        scrutinees = (*e.scrutinees, *self.needed(e.scrutinees, on))
        expr = ir.Case(scrutinees, ir.Branch(sides[0], left), ir.Branch(sides[1], right))
        self.bind_results(let, expr, flags)

    def carried(self, e: ir.Looping) -> tuple[list[bool], list[ir.Atom], list[ir.Var]]:
        """Which carries are active; the tangents they start from (made now, before the loop consumes) and carry."""
        on = [c in self.active for c in e.carries]
        starts = self.needed(e.inits, on)
        return on, starts, [self.param(c) for c, a in zip(e.carries, on, strict=True) if a]

    def iteration(self, e: ir.Looping, on: list[bool]) -> tuple[ir.Block, list[bool]]:
        """The body with its tangents: carries, their tangents, outputs, their tangents; which outputs are active."""
        n = len(e.carries)
        inner = self.block(e.body)
        results = e.body.results
        outputs = [a in self.tangents for a in results[n:]]
        after = self.finish(inner, results[:n], on)
        stacked = self.finish(inner, results[n:], outputs)
        return inner.block(*results[:n], *after, *results[n:], *stacked), outputs

    def bind_loop(self, let: ir.Let, e: ir.Expr, counted: int, carries: list[bool], outputs: list[bool]) -> None:
        """`y.. = e` with tangents behind the last carries and behind the stacked outputs."""
        n = counted + len(carries)
        after = [self.param(x) for x, a in zip(let.binders[counted:n], carries, strict=True) if a]
        stacked = [self.param(x) for x, a in zip(let.binders[n:], outputs, strict=True) if a]
        binders = (*let.binders[:n], *after, *let.binders[n:], *stacked)
        self.b.lets.append(ir.Let(binders, e, let.span))

    def loop(self, let: ir.Let, e: ir.Loop) -> None:
        """A loop: what it scans has tangents to be scanned."""
        on, starts, tangents = self.carried(e)
        scans = list(e.scans)
        for s in e.scans:
            if s.array in self.tangents:
                scans.append(ir.Scan(self.param(s.param), self.tangents[s.array], s.consumes))
        body, outputs = self.iteration(e, on)
        new = ir.Loop(e.trips, e.index, (*e.carries, *tangents), (*e.inits, *starts), tuple(scans), body, e.down)
        self.bind_loop(let, new, 0, on, outputs)

    def whilst(self, let: ir.Let, e: ir.While) -> None:
        """A `while`; its condition has no tangent."""
        on, starts, tangents = self.carried(e)
        body, outputs = self.iteration(e, on)
        new = ir.While((*e.carries, *tangents), (*e.inits, *starts), e.condition, body)
        self.bind_loop(let, new, 1, on, outputs)

    def call(self, let: ir.Let, e: ir.Call) -> None:
        """A call of the derivative, where anything is active."""
        mask, results = self.derivation.call(e, self.active)
        places = any(isinstance(a.type, Ref) for a, on in zip(e.args, mask, strict=True) if on)
        if not any(results) and not places:
            self.b.lets.append(let)
            return
        if e.function.rule is None:
            _check_not_opaque(e.function, let.span)
        derived = _derived(e.function, mask, type(self), self.derivation)
        args = (*e.args, *self.needed(e.args, derived.mask))
        self.bind_results(let, ir.Call(derived.function, args), derived.results)
