"""`lin_f(residuals, dx): dy` into `bwd_f(residuals, ct_y): ct_x` (RULES, section 3).

The nonlinear lets come first, in order; then the linear lets are walked backwards. What the linear half reads the backward
half adds to, what it consumes is adopted, what it makes is taken:

    light parameter               light result
    `own` heavy parameter         heavy result
    borrowed heavy parameter      `&T` parameter
    `&T` parameter                borrowed heavy parameter
"""

from dataclasses import dataclass

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import TAN, UNIT, Array, Ref, Type, fields_of, has_dynamic_length, is_heavy, is_linear
from rosejit.ir.walk import consumed, free, operands, scopes
from rosejit.ops import linear
from rosejit.transforms import templates


@dataclass(slots=True)
class Transposed:
    """`function` takes the nonlinear parameters of the original, the cotangents of its results, and then for its
    heavy linear parameters in order: a place for a borrowed one, a readable cotangent for a place. It returns the
    cotangents of the light and the owned linear parameters, in order."""

    function: ir.Function


def transpose(f: ir.Function) -> Transposed:
    """The transpose of a function that is linear in its parameters of linear type, and in no other."""
    if "transpose" not in f.derived:
        name = f.name.removeprefix("lin_")
        new = ir.Function(f"bwd_{name}", (), (), span=f.span)
        f.derived["transpose"] = Transposed(new)
        _transpose_function(f, new)
    return f.derived["transpose"]


def returned(f: ir.Function) -> list[ir.Var]:
    """The linear parameters of `f` whose cotangents its transpose returns."""
    return [
        p
        for p in f.params
        if is_linear(p.type) and not isinstance(p.type, Ref) and (not is_heavy(p.type) or p in f.own)
    ]


def _cotangent(x: ir.Atom, hint: str = "") -> ir.Var:
    if isinstance(x, ir.Lit):
        return ir.Var(x.type, "ct")
    return ir.Var(x.type, hint or f"ct_{x.hint}", x.like)


def _transpose_function(f: ir.Function, new: ir.Function) -> None:
    nonlinear = tuple(p for p in f.params if not is_linear(p.type))
    duals = [p for p in f.params if is_linear(p.type)]
    back = returned(f)
    cts = tuple(ir.Var(t, "ct") for t in f.results)
    places: list[ir.Var] = []
    for p in duals:
        if isinstance(p.type, Ref):
            places.append(ir.Var(p.type.target, f"ct_{p.hint}"))
        elif p not in back:
            places.append(ir.Var(Ref(p.type), f"acc_{p.hint}"))
    new.params = (*nonlinear, *cts, *places)
    new.own = frozenset(v for v in cts if is_heavy(v.type))
    new.results = tuple(p.type for p in back)
    assert f.body is not None
    scope = _Scope(None, Builder(), f.body, tuple(duals))
    for p, place in zip([p for p in duals if p not in back], places, strict=True):
        if isinstance(p.type, Ref):
            scope.readable[p] = place
        else:
            scope.accumulators[p] = place
    scope.run([(a, ct) for a, ct in zip(f.body.results, cts, strict=True)])
    results = [scope.get(p) for p in back]
    new.body = scope.b.block(*results)


class _Scope:
    """One block going backwards, with its four stores of cotangents."""

    def __init__(self, parent: "_Scope | None", b: Builder, block: ir.Block, bound: tuple[ir.Var, ...]) -> None:
        self.parent = parent
        self.b = b
        self.source = block
        self.sums: dict[ir.Var, ir.Atom] = {}  # light: the running sum
        self.values: dict[ir.Var, ir.Var] = {}  # heavy: an owned cotangent
        self.accumulators: dict[ir.Var, ir.Var] = {}  # heavy: an open accumulator
        self.readable: dict[ir.Var, ir.Atom | None] = {}  # of a forward place: the cotangent of what it holds
        self.views: dict[ir.Var, ir.Index | ir.View] = {}
        self.bound = set(bound)

    # --- the walk

    def run(self, seeds: list[tuple[ir.Atom, ir.Atom | None]]) -> None:
        """Give `seeds` to the results of the block, then walk it backwards."""
        backwards: list[ir.Let] = []
        for let in self.source.lets:
            if self.is_linear(let):
                backwards.append(let)
                self.bound.update(let.binders)
                if isinstance(let.expr, ir.Index | ir.View) and not _is_light(let.binders[0].type):
                    self.views[let.binders[0]] = let.expr
            else:
                self.b.lets.append(let)
        for a, ct in seeds:
            if ct is not None:
                self.give(a, ct)
        for let in reversed(backwards):
            self.b.span = let.span
            e = let.expr
            if isinstance(e, ir.Apply):
                ct = self.sums.pop(let.binders[0], None)
                if ct is not None:
                    self.apply(e, ct)
            else:
                self.form(let, e)

    @staticmethod
    def is_linear(let: ir.Let) -> bool:
        if any([is_linear(b.type) for b in let.binders]):
            return True
        e = let.expr
        if any([is_linear(a.type) for a in operands(e)]):
            return True
        return isinstance(e, ir.If | ir.Case | ir.Loop) and any(
            [_Scope.is_linear(inner) for _, block in scopes(e) for inner in block.lets]
        )

    # --- stores

    def give(self, x: ir.Atom, ct: ir.Atom) -> None:
        """Add `ct`, which is fresh if it is heavy, to the cotangent of `x`. A literal zero gets nothing and adds nothing."""
        if isinstance(x, ir.Lit) or isinstance(ct, ir.Lit):
            return
        if _is_light(x.type):
            have = self.sums.get(x, ir.ZERO)
            self.sums[x] = ct if have is ir.ZERO else self.b.apply(linear.tadd, have, ct, hint=ct.hint)
        elif x in self.bound and x not in self.views and x not in self.values and x not in self.accumulators:
            self.values[x] = ct
        else:
            self.b.do(ir.Add(self.place(x), ct))

    def place(self, x: ir.Var) -> ir.Var:
        """The open accumulator of a heavy `x`; of a view: a view of that of its base."""
        if x in self.accumulators:
            return self.accumulators[x]
        if x in self.views:
            e = self.views[x]
            assert isinstance(e, ir.Index) and isinstance(e.base, ir.Var)
            opened = self.b.bind(ir.View(self.place(e.base), e.path, False), Ref(x.type), f"acc_{x.hint}")
        elif x in self.bound:
            start = self.values.pop(x, None)
            opened = self.b.bind(ir.Accum(start or self.zero(x)), Ref(x.type), f"acc_{x.hint}")
        else:
            assert self.parent is not None, x
            opened = self.parent.place(x)
        self.accumulators[x] = opened
        return opened

    def take(self, x: ir.Var) -> ir.Atom | None:
        """The whole cotangent of `x`, which gets no more; None if it is zero."""
        if _is_light(x.type):
            return self.sums.pop(x, None)
        opened = self.accumulators.pop(x, None)
        if opened is not None:
            var = _cotangent(x)
            self.b.lets.append(ir.Let((var,), ir.Resolve(opened), self.b.span))
            return var
        return self.values.pop(x, None)

    def get(self, x: ir.Var) -> ir.Atom:
        """As `take`, a zero made where there is none."""
        return self.take(x) or self.zero(x)

    def zero(self, x: ir.Atom) -> ir.Atom:
        if x.type is TAN:
            return ir.ZERO
        assert isinstance(x, ir.Var)
        like = None
        if has_dynamic_length(x.type):
            assert x.like is not None, f"nothing tells the shape of {x!r}"
            like = x.like
        var = ir.Var(x.type, "zero", like)
        self.b.lets.append(ir.Let((var,), ir.Zero(like), self.b.span))
        return var

    def read(self, place: ir.Var) -> ir.Atom | None:
        """The cotangent of what the forward place holds when it is resolved; None if it is zero."""
        if place in self.readable:
            return self.readable[place]
        found: ir.Atom | None = None
        if place in self.views:
            e = self.views[place]
            assert isinstance(e, ir.View) and isinstance(e.place, ir.Var)
            base = self.read(e.place)
            if base is not None:
                target = _target(place)
                found = self.b.bind(ir.Index(base, e.path, False), target, f"ct_{place.hint}")
        elif place not in self.bound and self.parent is not None:
            found = self.parent.read(place)
        self.readable[place] = found
        return found

    def read_or_zero(self, place: ir.Var) -> ir.Atom:
        found = self.read(place)
        if found is None:
            found = self.readable[place] = self.zero(ir.Var(_target(place), "zero", place.like))
        return found

    # --- forms

    def apply(self, e: ir.Apply, ct: ir.Var) -> None:
        outputs = templates.transpose(e.op).make((ct, *e.args), self.b.lets, self.b.span)
        for arg, given in zip(e.args, outputs, strict=True):
            if isinstance(given, ir.Var) and isinstance(arg, ir.Var):
                self.give(arg, given)

    def form(self, let: ir.Let, e: ir.Expr) -> None:  # noqa: C901 - one case a form
        b = self.b
        x = let.binders[0] if let.binders else None
        match e:
            case ir.Index(base=base, path=path):
                assert x is not None and isinstance(base, ir.Var)
                ct = self.take(x) if _is_light(x.type) else None
                if ct is not None:
                    part = b.bind(ir.View(self.place(base), path, False), Ref(x.type), "at")
                    b.do(ir.Add(part, ct))
            case ir.Update():
                assert x is not None
                self.update(x, e)
            case ir.Add(place=place, value=value):
                assert isinstance(place, ir.Var)
                ct = self.read(place)
                if ct is not None and isinstance(value, ir.Var):
                    if _is_light(value.type):
                        self.give(value, ct)
                    else:
                        b.do(ir.Add(self.place(value), ct))
            case ir.Resolve(place=place):
                assert x is not None and isinstance(place, ir.Var)
                self.readable[place] = self.take(x)
            case ir.Accum(value=value):
                assert x is not None
                ct = self.readable.pop(x, None)
                if ct is not None:
                    self.give(value, ct)
            case ir.Call():
                self.call(let, e)
            case ir.If() | ir.Case():
                self.branch(let, e)
            case ir.Loop():
                _LoopBackwards(self, let, e).run()
            case ir.Copy() | ir.MakeTuple() | ir.MakeArray() | ir.Untuple() | ir.Inject() | ir.Extract():
                self.structure(let, e)
            case ir.Zero():
                assert x is not None
                self.take(x)
            case ir.View():
                pass
            case _:
                raise AssertionError(f"{type(e).__name__} in a linear function")

    def structure(self, let: ir.Let, e: ir.Expr) -> None:
        """Forms that only move their operands: each is undone by its opposite."""
        b = self.b
        if isinstance(e, ir.Untuple):
            assert isinstance(e.value, ir.Var)
            cts = [self.take(x) for x in let.binders]
            if any(ct is not None for ct in cts):
                items = tuple(
                    ir.NOTHING if x.type is UNIT else ct or self.zero(x) for x, ct in zip(let.binders, cts, strict=True)
                )
                self.give(e.value, b.bind(ir.MakeTuple(items), e.value.type, f"ct_{e.value.hint}"))
            return
        ct = self.take(let.binders[0])
        if ct is None:
            return
        match e:
            case ir.Copy(value=value):
                self.give(value, ct)
            case ir.MakeTuple(items=items):
                parts = b.bind_all(ir.Untuple(ct), fields_of(ct.type), "ct")
                for item, part in zip(items, parts, strict=True):
                    if isinstance(item, ir.Var) and is_linear(item.type):
                        part.like = item.like
                        self.give(item, part)
            case ir.MakeArray(items=items):
                for k, item in enumerate(items):
                    if isinstance(item, ir.Lit):
                        continue
                    part = b.bind(ir.Index(ct, (ir.integer(k),), False), item.type, f"ct_{item.hint}")
                    if _is_light(item.type):
                        self.give(item, part)
                    else:
                        b.do(ir.Add(self.place(item), part))
            case ir.Inject(side=side, value=value):
                if isinstance(value, ir.Var) and is_linear(value.type):
                    part = _cotangent(value)
                    b.lets.append(ir.Let((part,), ir.Extract(side, ct), b.span))
                    self.give(value, part)
            case ir.Extract(side=side, value=value):
                assert isinstance(value, ir.Var)
                whole = _cotangent(value)
                b.lets.append(ir.Let((whole,), ir.Inject(side, ct), b.span))
                self.give(value, whole)
            case _:
                raise AssertionError(e)

    def update(self, y: ir.Var, e: ir.Update) -> None:
        """The slot's cotangent goes to the value, and the slot to zero: the old element had no part in the result."""
        ct = self.take(y)
        if ct is None:
            return
        b = self.b
        assert isinstance(e.base, ir.Var)
        if isinstance(e.value, ir.Var):
            part = b.bind(ir.Index(ct, e.path, False), e.value.type, f"ct_{e.value.hint}")
            if _is_light(part.type):
                self.give(e.value, part)
            else:
                b.do(ir.Add(self.place(e.value), part))
        cleared = _cotangent(e.base)
        b.lets.append(ir.Let((cleared,), ir.Update(ct, e.path, self.zero(e.value), False), b.span))
        self.give(e.base, cleared)

    def call(self, let: ir.Let, e: ir.Call) -> None:
        f = e.function
        back = returned(f)
        nonlinear = [a for p, a in zip(f.params, e.args, strict=True) if not is_linear(p.type)]
        duals = [(p, a) for p, a in zip(f.params, e.args, strict=True) if is_linear(p.type)]
        cts = [self.take(x) for x in let.binders]
        places = [a for p, a in duals if isinstance(p.type, Ref) and isinstance(a, ir.Var)]
        if all(ct is None for ct in cts) and all(self.read(a) is None for a in places):
            return
        filled = [ct or self.zero(x) for ct, x in zip(cts, let.binders, strict=True)]
        others: list[ir.Atom] = []
        given: list[ir.Atom] = []
        for p, a in duals:
            if p in back:
                given.append(a)
                continue
            assert isinstance(a, ir.Var)
            others.append(self.read_or_zero(a) if isinstance(p.type, Ref) else self.place(a))
        results = tuple(_cotangent(a) for a in given)
        called = ir.Call(transpose(f).function, (*nonlinear, *filled, *others))
        self.b.lets.append(ir.Let(results, called, self.b.span))
        for a, ct in zip(given, results, strict=True):
            self.give(a, ct)

    # --- branches

    def captured(self, e: ir.Expr) -> list[ir.Var]:
        """The linear variables of this scope and its parents that the blocks of `e` read."""
        found: dict[ir.Var, None] = {}
        for params, block in scopes(e):
            found.update(free(block, params))
        return [v for v in found if is_linear(v.type)]

    def branch(self, let: ir.Let, e: ir.If | ir.Case) -> None:
        captured = self.captured(e)
        places = [v for v in captured if isinstance(v.type, Ref)]
        cts = [self.take(x) for x in let.binders]
        scrutinees = e.scrutinees if isinstance(e, ir.Case) else ()
        watched = [s for s in scrutinees if isinstance(s, ir.Var) and isinstance(s.type, Ref)]
        if all(ct is None for ct in cts) and all(self.read(v) is None for v in (*places, *watched)):
            return
        taken = {v for _, block in scopes(e) for v in _consumed_within(block)}
        light = [v for v in captured if _is_light(v.type)]
        adopted = [v for v in captured if is_heavy(v.type) and v in taken]
        for v in captured:
            if is_heavy(v.type) and v not in taken:
                self.place(v)
        new_scrutinees: list[ir.Atom] = []
        for s in scrutinees:
            if isinstance(s, ir.Var) and is_linear(s.type):
                new_scrutinees.append(self.read_or_zero(s) if isinstance(s.type, Ref) else self.place(s))
            else:
                new_scrutinees.append(s)
        sides = [self.side(block, params, cts, adopted) for params, block in scopes(e)]
        given = [v for v in light if any(v in side.sums for side, _ in sides)] + adopted
        blocks = [side.b.block(*[side.get(v) for v in given]) for side, _ in sides]
        results = tuple(_cotangent(v) for v in given)
        if isinstance(e, ir.If):
            new: ir.Expr = ir.If(e.condition, blocks[0], blocks[1])
        else:
            branches = [ir.Branch(params, block) for (_, params), block in zip(sides, blocks, strict=True)]
            new = ir.Case(tuple(new_scrutinees), branches[0], branches[1])
        self.b.lets.append(ir.Let(results, new, self.b.span))
        for v, ct in zip(given, results, strict=True):
            self.give(v, ct)

    def side(
        self, block: ir.Block, params: tuple[ir.Var, ...], cts: list[ir.Atom | None], adopted: list[ir.Var]
    ) -> tuple["_Scope", tuple[ir.Var, ...]]:
        """One side, walked backwards, and its new parameters: places for the linear payloads, and conversely."""
        inner = _Scope(self, Builder(self.b.span), block, (*params, *adopted))
        new_params: list[ir.Var] = []
        for p in params:
            if not is_linear(p.type):
                new_params.append(p)
            elif isinstance(p.type, Ref):
                new_params.append(ir.Var(p.type.target, f"ct_{p.hint}", p.like))
                inner.readable[p] = new_params[-1]
            else:
                new_params.append(ir.Var(Ref(p.type), f"acc_{p.hint}", p.like))
                inner.accumulators[p] = new_params[-1]
        inner.run(list(zip(block.results, cts, strict=True)))
        return inner, tuple(new_params)


class _LoopBackwards:
    """One loop, reversed: carries to carries, captured scalars to running sums, stacked outputs to scans and back."""

    def __init__(self, outer: _Scope, let: ir.Let, e: ir.Loop) -> None:
        self.outer = outer
        self.let = let
        self.e = e
        self.captured = outer.captured(e)
        self.carries: list[tuple[ir.Var, ir.Atom]] = []  # carry of the new loop, its start
        self.scans: list[ir.Scan] = [s for s in e.scans if not is_linear(s.param.type)]
        self.dual_scans = [s for s in e.scans if is_linear(s.param.type)]

    def run(self) -> None:
        e, outer = self.e, self.outer
        n = len(e.carries)
        cts = [outer.take(x) for x in self.let.binders]
        places = [v for v in self.captured if isinstance(v.type, Ref)]
        if all(ct is None for ct in cts) and all(outer.read(v) is None for v in places):
            return
        for x, ct in zip(self.let.binders[:n], cts, strict=False):
            self.carries.append((_cotangent(x), ct or outer.zero(x)))
        light = [v for v in self.captured if _is_light(v.type)]
        for v in light:
            self.carries.append((_cotangent(v), outer.sums.pop(v, None) or outer.zero(v)))
        for v in self.captured:
            if is_heavy(v.type):
                outer.place(v)
        inner = self.enter(light)
        seeds: list[tuple[ir.Atom, ir.Atom | None]] = [
            (a, param) for a, (param, _) in zip(e.body.results[:n], self.carries, strict=False)
        ]
        seeds += self.stacked_seeds(cts[n:])
        views = [s for s in self.dual_scans if is_heavy(s.param.type) and not s.consumes]
        for s in views:
            assert isinstance(s.array, ir.Var)
            place = ir.View(outer.place(s.array), (e.index,), False)
            inner.accumulators[s.param] = inner.b.bind(place, Ref(s.param.type), f"acc_{s.param.hint}")
        inner.run(seeds)
        self.leave(inner, light, n)

    def enter(self, light: list[ir.Var]) -> _Scope:
        e = self.e
        duals = tuple(s.param for s in self.dual_scans)
        inner = _Scope(self.outer, Builder(self.outer.b.span), e.body, (*e.carries, *duals))
        for v, (param, _) in zip(light, self.carries[len(e.carries) :], strict=True):
            inner.sums[v] = param
        return inner

    def stacked_seeds(self, cts: list[ir.Atom | None]) -> list[tuple[ir.Atom, ir.Atom | None]]:
        """The cotangents of stacked outputs are scanned; rows are owned."""
        seeds: list[tuple[ir.Atom, ir.Atom | None]] = []
        for a, ct in zip(self.e.body.results[len(self.e.carries) :], cts, strict=True):
            if ct is None:
                continue
            assert isinstance(ct, ir.Var) and isinstance(ct.type, Array)
            row = ir.Var(ct.type.element, ct.hint, a.like if isinstance(a, ir.Var) else None)
            self.scans.append(ir.Scan(row, ct, consumes=is_heavy(row.type)))
            seeds.append((a, row))
        return seeds

    def leave(self, inner: _Scope, light: list[ir.Var], n: int) -> None:
        e, outer = self.e, self.outer
        after = [inner.get(c) for c in e.carries]
        after += [inner.sums[v] for v in light]
        stacked = [s for s in self.dual_scans if _is_light(s.param.type) or s.consumes]
        after += [inner.get(s.param) for s in stacked]
        params, starts = tuple(p for p, _ in self.carries), tuple(s for _, s in self.carries)
        loop = ir.Loop(e.trips, e.index, params, starts, tuple(self.scans), inner.b.block(*after), not e.down)
        finals = tuple(_cotangent(p, p.hint) for p in params)
        arrays = [s.array for s in stacked]
        stacks = tuple(_cotangent(a) for a in arrays)
        outer.b.lets.append(ir.Let((*finals, *stacks), loop, self.let.span))
        for init, ct in zip(e.inits, finals[:n], strict=True):
            outer.give(init, ct)
        for v, ct in zip(light, finals[n:], strict=True):
            outer.sums[v] = ct
        for a, ct in zip(arrays, stacks, strict=True):
            outer.give(a, ct)


def _is_light(t: Type) -> bool:
    return not is_heavy(t) and not isinstance(t, Ref)


def _target(place: ir.Var) -> Type:
    assert isinstance(place.type, Ref)
    return place.type.target


def _consumed_within(block: ir.Block) -> set[ir.Atom]:
    """Everything that `block` consumes, in nested blocks too."""
    found: set[ir.Atom] = set(block.results)
    for let in block.lets:
        found.update(consumed(let.expr))
        for _, inner in scopes(let.expr):
            found |= _consumed_within(inner)
    return found
