"""The two halves of a checkpointed function: residuals are its arguments, and the linear half runs it once more.

The first half of `f` is `f` itself: nothing of what its body would save is made. Of the arguments that it is handed,
numbers and owned arrays are kept in the residuals, borrowed arrays are passed again, as everywhere (`residuals.py`).
What host functions gave is kept too, so that no effect is repeated (`record_replay.py`).
"""

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import Nominal, is_boxed, is_linear
from rosejit.transforms.autodiff.record_replay import calls_host, replayed
from rosejit.transforms.autodiff.unzip_forms import Halves
from rosejit.transforms.passes.insert_copies import body_with_copies


def promised(f: ir.Function) -> Halves:
    """The halves of a checkpointed function, their bodies to be made: only what it is called with is in them."""
    name = f.name.removeprefix("jvp_")
    given = tuple(p for p in f.params if not is_linear(p.type))
    params = tuple(ir.Var(p.type, p.hint) for p in given)
    own = frozenset(new for new, p in zip(params, given, strict=True) if p in f.own)
    forward = ir.Function(f"fwd_{name}", params, (), own=own, span=f.span)
    again = tuple(k for k, p in enumerate(params) if is_boxed(p.type) and p not in own)
    dual = tuple(is_linear(p.type) for p in f.params)
    tangents = tuple(t for t in f.results if is_linear(t))
    linear = ir.Function(f"lin_{name}", (), tangents, checkpoint=True, span=f.span)
    return Halves(forward, linear, Nominal(f"Res_{name}"), again, dual, is_complete=True)


def make_bodies(halves: Halves, f: ir.Function, primal: ir.Function, plain: Halves) -> None:
    """The bodies of `halves`, from the ordinary ones of `f`, whose primal half computes what `primal` does."""
    acts = calls_host(plain.forward)
    _forward(halves, primal, plain, acts)
    _linear(halves, f, plain, acts)


def _forward(halves: Halves, primal: ir.Function, plain: Halves, acts: bool) -> None:
    forward, residuals = halves.forward, halves.residuals
    assert residuals is not None
    b = Builder(forward.span)
    called = replayed(plain.forward).record if acts else primal
    found = b.bind_all(ir.Call(called, forward.params), called.results, "y")
    count = len(primal.results)
    kept = [p for k, p in enumerate(forward.params) if k not in halves.again]
    saved = (*kept, *(found[-1:] if acts else ()))
    residuals.fields = tuple(v.type for v in saved)
    record = b.bind(ir.MakeTuple(saved), residuals, "r")
    forward.results = (*primal.results, residuals)
    forward.body = b.block(*found[:count], record)
    forward.body = body_with_copies(forward)


def _linear(halves: Halves, f: ir.Function, plain: Halves, acts: bool) -> None:
    linear, residuals = halves.linear, halves.residuals
    assert residuals is not None
    b = Builder(linear.span)
    record = ir.Var(residuals, "r")
    fields = iter([b.bind(ir.Index(record, (ir.Field(k),), False), t, "x") for k, t in enumerate(residuals.fields)])
    passed = {k: ir.Var(halves.forward.params[k].type, halves.forward.params[k].hint) for k in halves.again}
    args = tuple(passed[k] if k in passed else next(fields) for k in range(len(halves.forward.params)))
    duals = _duals(f, args)
    called, given = (replayed(plain.forward).replay, (*args, next(fields))) if acts else (plain.forward, args)
    found = b.bind_all(ir.Call(called, given), called.results, "y")
    again = (*(found[-1:] if plain.residuals is not None else ()), *(args[k] for k in plain.again))
    results = b.bind_all(ir.Call(plain.linear, (*again, *duals)), plain.linear.results, "dy")
    linear.params = (record, *passed.values(), *duals)
    linear.own = frozenset(new for new, p in zip(duals, _linear_params(f), strict=True) if p in f.own)
    linear.body = b.block(*results)
    linear.body = body_with_copies(linear)  # what the record keeps is read once for each tangent that is pushed


def _linear_params(f: ir.Function) -> list[ir.Var]:
    return [p for p in f.params if is_linear(p.type)]


def _duals(f: ir.Function, args: tuple[ir.Var, ...]) -> tuple[ir.Var, ...]:
    """New linear parameters; those whose shape is that of an argument name the argument."""
    by_param = dict(zip([p for p in f.params if not is_linear(p.type)], args, strict=True))
    return tuple(ir.Var(p.type, p.hint, by_param.get(p.like) if p.like else None) for p in _linear_params(f))
