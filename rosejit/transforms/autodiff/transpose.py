"""`lin_f(residuals, dx): dy` into `bwd_f(residuals, ct_y): ct_x` (RULES, section 3).

The nonlinear lets come first, in order; then the linear lets are walked backwards. What the linear half reads the
backward half adds to, what it consumes is adopted, what it makes is taken:

    scalar parameter               scalar result
    `own` boxed parameter         boxed result
    borrowed boxed parameter      `&T` parameter
    `&T` parameter                borrowed boxed parameter
"""

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import UNIT, Ref, fields_of, is_boxed, is_linear
from rosejit.transforms.autodiff.cotangents import cotangent, is_scalar, needs_shape
from rosejit.transforms.autodiff.transpose_block import BlockTransposer, Forms
from rosejit.transforms.autodiff.transpose_control_flow import branch, loop


def transpose(f: ir.Function) -> ir.Function:
    """The transpose of a function that is linear in its parameters of linear type, and in no other.

    It takes the nonlinear parameters of `f`, the cotangents of its results, and then for the boxed linear parameters,
    in order: a place for a borrowed one, a readable cotangent for a place. It returns the cotangents of the
    parameters that are `returned`.
    """
    if "transpose" not in f.derived:
        new = ir.Function(f"bwd_{f.name.removeprefix('lin_')}", (), (), span=f.span)
        f.derived["transpose"] = new  # before the body: it may call itself
        (_transpose_body if f.adjoint is None else _transpose_routine)(f, new)
    return f.derived["transpose"]


def returned(f: ir.Function) -> list[ir.Var]:
    """The linear parameters of `f` whose cotangents its transpose returns."""
    return [p for p in f.params if is_linear(p.type) and (is_scalar(p.type) or p in f.own)]


def _transpose_body(f: ir.Function, new: ir.Function) -> None:
    assert f.body is not None
    nonlinear = tuple(p for p in f.params if not is_linear(p.type))
    duals = tuple(p for p in f.params if is_linear(p.type))
    back = returned(f)
    cts = tuple(ir.Var(t, "ct") for t in f.results)
    walk = BlockTransposer(None, Builder(), f.body, duals, FORMS)
    places = walk.exchanged([p for p in duals if p not in back])
    new.params = (*nonlinear, *cts, *places)
    new.checkpoint = f.checkpoint and not places  # what it adds to places is added once
    new.own = frozenset(v for v in cts if is_boxed(v.type))
    new.results = tuple(p.type for p in back)
    walk.run(list(zip(f.body.results, cts, strict=True)))
    new.body = walk.b.block(*[walk.get(p) for p in back])


def _transpose_routine(f: ir.Function, new: ir.Function) -> None:
    """Of a host function: what its adjoint gives is added to the place of its one linear parameter."""
    assert f.adjoint is not None
    (at,) = [k for k, p in enumerate(f.params) if is_linear(p.type)]
    params = [ir.Var(p.type, p.hint) for p in f.params]
    ct, place = ir.Var(f.results[0], "ct"), ir.Var(Ref(params[at].type), "acc")
    nonlinear, params[at] = (*params[:at], *params[at + 1 :]), ct
    b = Builder(f.span)
    b.do(ir.Add(place, b.bind(ir.Call(f.adjoint, tuple(params)), f.adjoint.results[0], "ct")))
    new.params, new.own, new.body = (*nonlinear, ct, place), frozenset((ct,)), b.block()


# --- reading and writing


def _index(s: BlockTransposer, let: ir.Let, e: ir.Index) -> None:
    y = let.binders[0]
    ct = s.take(y) if is_scalar(y.type) else None
    if ct is not None:
        assert isinstance(e.base, ir.Var)
        part = s.b.bind(ir.View(s.place(e.base), e.path, False), Ref(y.type), "at")
        s.b.do(ir.Add(part, ct))


def _update(s: BlockTransposer, let: ir.Let, e: ir.Update) -> None:
    """The slot's cotangent goes to the value, and the slot to zero: the old element had no part in the result."""
    ct = s.draw(let.binders[0])
    if ct is None:
        return
    if isinstance(e.value, ir.Var):
        s.add(e.value, s.b.bind(ir.Index(ct, e.path, False), e.value.type, f"ct_{e.value.hint}"))
    s.give(e.base, s.append(e.base, ir.Update(ct, e.path, s.zero(e.value), False)))


def _copy(s: BlockTransposer, let: ir.Let, e: ir.Copy) -> None:
    ct = s.take(let.binders[0])
    if ct is not None:
        s.give(e.value, ct)


def _zero(s: BlockTransposer, let: ir.Let, e: ir.Zero) -> None:
    s.take(let.binders[0])


# --- places


def _add(s: BlockTransposer, let: ir.Let, e: ir.Add) -> None:
    assert isinstance(e.place, ir.Var)
    ct = s.read(e.place)
    if ct is not None:
        s.add(e.value, ct)


def _resolve(s: BlockTransposer, let: ir.Let, e: ir.Resolve) -> None:
    assert isinstance(e.place, ir.Var)
    s.readable[e.place] = s.draw(let.binders[0])


def _accum(s: BlockTransposer, let: ir.Let, e: ir.Accum) -> None:
    ct = s.readable.pop(let.binders[0], None)
    if ct is not None:
        s.give(e.value, ct)


def _view(s: BlockTransposer, let: ir.Let, e: ir.View) -> None:
    """A view of a place has no cotangent of its own."""


# --- structures: each is undone by its opposite


def _untuple(s: BlockTransposer, let: ir.Let, e: ir.Untuple) -> None:
    cts = [s.draw(x) for x in let.binders]
    if all(ct is None for ct in cts) and not needs_shape(e.value):
        return
    pairs = zip(let.binders, cts, strict=True)
    items = tuple(ir.NOTHING if x.type is UNIT else ct or s.zero(x) for x, ct in pairs)
    s.give(e.value, s.append(e.value, ir.MakeTuple(items)))


def _make_tuple(s: BlockTransposer, let: ir.Let, e: ir.MakeTuple) -> None:
    ct = s.draw(let.binders[0])
    if ct is None:
        return
    parts = s.b.bind_all(ir.Untuple(ct), fields_of(ct.type), "ct")
    for item, part in zip(e.items, parts, strict=True):
        if isinstance(item, ir.Var) and is_linear(item.type):
            part.like = item.like
            s.give(item, part)


def _make_array(s: BlockTransposer, let: ir.Let, e: ir.MakeArray) -> None:
    ct = s.draw(let.binders[0])
    if ct is None:
        return
    for k, item in enumerate(e.items):
        if isinstance(item, ir.Var):
            s.add(item, s.b.bind(ir.Index(ct, (ir.integer(k),), False), item.type, f"ct_{item.hint}"))


def _inject(s: BlockTransposer, let: ir.Let, e: ir.Inject) -> None:
    ct = s.draw(let.binders[0])
    if ct is not None and isinstance(e.value, ir.Var) and is_linear(e.value.type):
        s.give(e.value, s.append(e.value, ir.Extract(e.side, ct)))


def _extract(s: BlockTransposer, let: ir.Let, e: ir.Extract) -> None:
    ct = s.get(let.binders[0])  # a sum needs its shape
    s.give(e.value, s.append(e.value, ir.Inject(e.side, ct)))


# --- calls


def _transpose_call(s: BlockTransposer, let: ir.Let, e: ir.Call) -> None:
    f = e.function
    back = returned(f)
    pairs = list(zip(f.params, e.args, strict=True))
    places = [a for p, a in pairs if is_linear(p.type) and isinstance(p.type, Ref) and isinstance(a, ir.Var)]
    cts = [s.draw(x) for x in let.binders]
    given = [a for p, a in pairs if p in back]
    if all(ct is None for ct in cts) and all(s.read(a) is None for a in places) and not any(map(needs_shape, given)):
        return
    filled = [ct or s.zero(x) for ct, x in zip(cts, let.binders, strict=True)]
    nonlinear = [a for p, a in pairs if not is_linear(p.type)]
    others: list[ir.Atom] = []
    for p, a in pairs:
        if is_linear(p.type) and p not in back:
            assert isinstance(a, ir.Var)
            others.append(s.read_or_zero(a) if isinstance(p.type, Ref) else s.place(a))
    results = tuple(cotangent(a) for a in given)
    s.b.lets.append(ir.Let(results, ir.Call(transpose(f), (*nonlinear, *filled, *others)), s.b.span))
    for a, ct in zip(given, results, strict=True):
        s.give(a, ct)


FORMS: Forms = {
    ir.Index: _index,
    ir.Update: _update,
    ir.Copy: _copy,
    ir.Zero: _zero,
    ir.Add: _add,
    ir.Resolve: _resolve,
    ir.Accum: _accum,
    ir.View: _view,
    ir.Untuple: _untuple,
    ir.MakeTuple: _make_tuple,
    ir.MakeArray: _make_array,
    ir.Inject: _inject,
    ir.Extract: _extract,
    ir.Call: _transpose_call,
    ir.If: branch,
    ir.Case: branch,
    ir.Loop: loop,
}
