"""`f(x): y` into `(x, x_1 .. x_n): y, y_1 .. y_n`, the Taylor coefficients of the results from those of the arguments.

The structure is that of forward mode, and of forward mode with several tangents: a first copy of the function has a
tangent for each active variable, where that of `y = op(x)` only says of what it comes; the second has n coefficients in
the place of each tangent (`multi_tangent.py`), and those of operations by `recurrences.py`. What results is a function
of Reals, to be differentiated as any other.
"""

from rosejit.errors import NotDifferentiable
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import REAL, Array, Tuple, erased, fields_of, has_dynamic_length, has_real, is_boxed, is_linear
from rosejit.ops import PRIMITIVES as P
from rosejit.transforms.analysis.activity import Mask
from rosejit.transforms.autodiff.jvp import Forward, Jvp, forward
from rosejit.transforms.jacobians.multi_tangent import Widener
from rosejit.transforms.passes.erase import erase
from rosejit.transforms.passes.insert_copies import insert_copies
from rosejit.transforms.series.recurrences import Series

Atoms = tuple[ir.Atom, ...]


def taylor(f: ir.Function, mask: Mask, order: int) -> Jvp:
    """The function of the parameters of `f` and of one direction for each of those in `mask`, to the results and then
    to the coefficients 1 to `order` of each that varies along the line. Raises `NotDifferentiable` as `jvp` does."""
    marked = _marked(f, mask)
    if f.rule is not None:
        wrapper = _calling(f)
        return taylor(wrapper, mask, order)
    return Jvp(_with_coefficients(marked.function, order, straight=True), marked.mask, marked.results)


def _calling(f: ir.Function) -> ir.Function:
    """A function without a rule of its own that calls `f`."""
    key = "series of call"
    if key not in f.derived:
        params = tuple([ir.Var(p.type, p.hint) for p in f.params])
        b = Builder(f.span)
        results = b.bind_all(ir.Call(f, params), f.results, "y")
        f.derived[key] = insert_copies(ir.Function(f.name, params, f.results, b.block(*results), span=f.span))
    return f.derived[key]


# --- the copy with marks


class _Marks(Forward):
    """Forward mode that leaves open what the tangent of a primitive is: `dy = op(x.., y, dx..)`, bound to a Tan, says
    of what it is to be made."""

    KEY = "series marks"

    def apply(self, y: ir.Var, e: ir.Apply) -> None:
        dxs = [self.tangents.get(a, ir.ZERO) for a in e.args]
        self.bind(y, ir.Apply(e.op, (*e.args, y, *dxs)))

    def call(self, let: ir.Let, e: ir.Call) -> None:
        super().call(let, e)
        if e.function.rule is not None:
            self.new.derived.setdefault(_RULES, set()).add(e.function.rule)


_RULES = "functions that are rules of others"


def _marked(f: ir.Function, mask: Mask) -> Jvp:
    return forward(f, mask, _Marks)


# --- the copy with coefficients


def _with_coefficients(f: ir.Function, order: int, straight: bool = False) -> ir.Function:
    """`f`, which has marks, with `order` coefficients for each tangent. `straight`: its parameters move on a line."""
    key = ("series", order, straight)
    if key not in f.derived:
        results = tuple([erased(t) for t in f.results for _ in range(order if is_linear(t) else 1)])
        new = ir.Function(f.name.replace("jvp_", f"taylor{order}_", 1), (), results, span=f.span)
        f.derived[key] = new  # before the body: it may call itself
        _Coefficients(order, f.derived.get(_RULES, set())).function(f, new, straight)
    return f.derived[key]


class _Coefficients(Widener):
    """The state of one function that gets coefficients for its tangents."""

    def __init__(self, order: int, rules: set[ir.Function]) -> None:
        super().__init__(order)
        self.rules = rules
        self.known[ir.ZERO] = (ir.real(0.0),) * order
        self.series = Series()

    def function(self, f: ir.Function, new: ir.Function, straight: bool) -> None:
        """Make `new` of `f`."""
        assert f.body is not None
        b = Builder(f.span)
        params: list[ir.Var] = []
        for p in f.params:
            params += self.direction(p, b) if straight and is_linear(p.type) else self.binders((p,))
        new.params = tuple(params)
        new.own = frozenset([v for v in params if v in {c for p in f.own for c in self.of(p)}])
        body = self.block(f.body)
        new.body = ir.Block([*b.lets, *body.lets], body.results)

    def direction(self, p: ir.Var, b: Builder) -> list[ir.Var]:
        """The only coefficient of a parameter that moves on a line; the others are zeros."""
        only = ir.Var(erased(p.type), p.hint)
        self.known[p] = (only, *[_zero(b, only) for _ in range(self.lanes - 1)])
        return [only]

    def split(self, v: ir.Var) -> tuple[ir.Var, ...]:
        made = tuple([ir.Var(erased(v.type), v.hint) for _ in range(self.lanes)])
        self.known[v] = made
        return made

    def block(self, block: ir.Block) -> ir.Block:
        outer, self.series = self.series, Series()  # what an inner block appends, the outer one does not have
        made = super().block(block)
        self.series = outer
        return made

    def callee(self, f: ir.Function) -> ir.Function:
        return _with_coefficients(f, self.lanes) if any(is_linear(p.type) for p in f.params) else f

    def lets(self, let: ir.Let) -> list[ir.Let]:
        e = let.expr
        if isinstance(e, ir.Apply) and is_linear(let.binders[0].type):
            return self.marked(let, e)
        if isinstance(e, ir.Call) and e.function in self.rules:
            return self.by_rule(let, e)
        return super().lets(let)

    def marked(self, let: ir.Let, e: ir.Apply) -> list[ir.Let]:
        """The coefficients of a primitive's result."""
        n, series = len(e.op.params), self.series
        args, y = e.args[:n], e.args[n]
        assert isinstance(y, ir.Var)
        series.lets, series.span = [], let.span
        for a, da in zip(args, e.args[n + 1 :], strict=True):
            if da != ir.ZERO:
                series.give(a, self.of(da))
        series.define(y, e.op, args)
        found = [series.coefficient(y, k) for k in range(1, self.lanes + 1)]
        self.known[let.binders[0]] = tuple([ir.real(0.0) if c is None else c for c in found])
        return series.lets

    def by_rule(self, let: ir.Let, e: ir.Call) -> list[ir.Let]:
        """A function with a rule of its own. `y' = rule(x(t), x'(t))` holds along the series, so its coefficients up to
        one order less, divided by 1, 2, .., are those of y."""
        rule, b = erase(e.function), Builder(let.span)
        primals = tuple([a for a in e.args if not is_linear(a.type)])
        moving = [x for x in primals if has_real(x.type)]
        tangents = [self.of(a) for a in e.args if is_linear(a.type)]
        if len(moving) != len(tangents):
            raise NotDifferentiable(
                f"the rule of `{rule.name}` leaves arguments out, of which `rose.taylor` has to know how they move",
                let.span,
                help="give the rule a tangent for each real argument",
            )
        speeds = [[scaled(b, c, float(k)) for k, c in enumerate(cs, 1)] for cs in tangents]
        given: Atoms = (*primals, *[s[0] for s in speeds])
        kept = tuple([v for v in let.binders if not is_linear(v.type)])
        lower = self.along(b, rule, given, [*tangents, *[tuple(s[1:]) for s in speeds]], kept)
        for v, cs in zip([v for v in let.binders if is_linear(v.type)], lower, strict=True):
            self.known[v] = tuple([scaled(b, c, 1.0 / k) for k, c in enumerate(cs, 1)])
        return b.lets

    def along(
        self, b: Builder, rule: ir.Function, given: Atoms, moves: list[Atoms], kept: tuple[ir.Var, ...]
    ) -> list[list[ir.Atom]]:
        """Append a call of the rule, whose first results are `kept`; of the others the coefficients from order 0."""
        order, called, results, moving = self.lanes - 1, rule, (False,) * len(rule.results), iter(moves)
        if order:
            derived = _marked(rule, (True,) * len(rule.params))
            called, results = _with_coefficients(derived.function, order), derived.results
            given = (*given, *[c for p in rule.params if has_real(p.type) for c in next(moving)[:order]])
        made = (*kept, *[ir.Var(t, "y") for t in called.results[len(kept) :]])
        b.lets.append(ir.Let(made, ir.Call(called, given), b.span))
        n = len(rule.results)
        rest = iter(made[n:])
        found = [
            [y, *[next(rest) if on else _zero(b, y) for _ in range(order)]]
            for y, on in zip(made[:n], results, strict=True)
        ]
        return found[len(kept) :]


def _zero(b: Builder, like: ir.Var) -> ir.Atom:
    if not is_boxed(like.type):
        return ir.real(0.0)
    return b.bind(ir.Zero(like if has_dynamic_length(like.type) else None), like.type, "zero")


def scaled(b: Builder, a: ir.Atom, factor: float) -> ir.Atom:
    """`a`, a Real or a structure of them, times a constant."""
    t = a.type
    if factor == 1.0 or not has_real(t):
        return a
    if t is REAL:
        return b.apply(P["mul"], ir.real(factor), a)
    if isinstance(t, Array) and t.length is not None:
        row, inner = ir.Var(t.element, "row"), Builder(b.span)
        body = ir.Block(inner.lets, (scaled(inner, row, factor),))
        loop = ir.Loop(ir.integer(t.length), ir.Var(ir.INT, "i"), (), (), (ir.Scan(row, a),), body)
        return b.bind(loop, t, "scaled")
    if isinstance(t, Tuple):
        parts = [b.bind(ir.Index(a, (ir.Field(k),), False), u, "part") for k, u in enumerate(fields_of(t))]
        return b.bind(ir.MakeTuple(tuple([scaled(b, part, factor) for part in parts])), t, "scaled")
    raise NotDifferentiable(
        "a function with a rule of its own has no Taylor series here: what it takes or gives has a length or a form "
        "that only the run knows",
        b.span,
        help="give the arrays of its signature fixed shapes",
    )
