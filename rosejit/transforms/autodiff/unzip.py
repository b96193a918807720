"""`jvp_f(x, dx): y, dy` into `fwd_f(x): y, residuals` and `lin_f(residuals, dx): dy` (RULES, sections 3 to 5).

A let is linear if a Tan is among its operands or binders. A form that holds both kinds is split into two of its kind;
what the linear half reads of the primal half is *saved*: a field of the function's residuals, a stacked output of a
loop, a slot that the two sides of a branch share. What one cheap operation gives again is *recomputed* instead.
"""

from functools import partial

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import callees
from rosejit.ir.types import Nominal, is_boxed, is_linear
from rosejit.transforms.autodiff.checkpoint import make_bodies, promised
from rosejit.transforms.autodiff.one_sweep import cycle, from_outside
from rosejit.transforms.autodiff.residuals import Residuals, SplitBlock
from rosejit.transforms.autodiff.sink_tangents import sunk
from rosejit.transforms.autodiff.unzip_forms import Halves, Splitter
from rosejit.transforms.passes.dce import without_dead_tangents
from rosejit.transforms.passes.insert_copies import body_with_copies
from rosejit.transforms.passes.share_operations import share_operations

Key = tuple[str, bool, bool]


def unzip(f: ir.Function, mixed: bool = False, once: bool = False) -> Halves:
    """The two halves of a function with linear parameters. `mixed`: loops may keep partial derivatives in place of the
    factors that they are made of (`mixed_mode.py`); without it the linear half does what the function does, bit for
    bit. `once`: for one pullback, for which recursion may compute again what it would save (`one_sweep.py`)."""
    primal = f.derived.get("primal")
    key = ("unzip", mixed, once)
    if primal is not None and primal.checkpoint:
        if key not in f.derived:
            halves = f.derived[key] = promised(f)  # before its body is split: it may call itself
            make_bodies(halves, f, primal, _halves(f, ("unzip once more", mixed, once)))
        return f.derived[key]
    if not once or not cycle(f):
        return _halves(f, key)
    if key not in f.derived:
        f.derived[key] = _recursive(f, mixed)
    return f.derived[key]


def _recursive(f: ir.Function, mixed: bool) -> Halves:
    """The halves of a function that calls itself, for callers outside of its cycle."""
    key = ("unzip in its cycle", mixed, True)
    _halves(f, key)
    return from_outside(f, {g: g.derived[key] for g in cycle(f) if key in g.derived})


def _inside(f: ir.Function, key: Key, g: ir.Function) -> Halves:
    """The halves of `g` for a call in `f`, whose own have this key."""
    _, mixed, once = key
    primal = g.derived.get("primal")
    if once and g in cycle(f) and not (primal is not None and primal.checkpoint):
        return _halves(g, ("unzip in its cycle", mixed, once))
    return unzip(g, mixed, once)


def _halves(f: ir.Function, key: Key) -> Halves:
    """The halves as they follow from the body, made once."""
    if key not in f.derived:
        name = f.name.removeprefix("jvp_")
        params = _primal(f)
        boxed = tuple(k for k, p in enumerate(params) if is_boxed(p.type) and p not in f.own)
        forward = ir.Function(f"fwd_{name}", params, (), own=f.own & set(params), span=f.span)
        linear = ir.Function(f"lin_{name}", (), (), span=f.span)
        dual = tuple(is_linear(p.type) for p in f.params)
        halves = f.derived[key] = Halves(forward, linear, Nominal(f"Res_{name}"), boxed, dual)
        forward.derived["halves"] = halves
        _unzip_function(f, halves, key)
        halves.is_complete = True
        called = [g.derived.get("halves") for g in callees(forward)]
        halves.one_sweep = not cycle(f) and any([h is not None and h.one_sweep for h in called])
    halves = f.derived[key]
    halves.assumed |= not halves.is_complete
    return halves


def _primal(f: ir.Function) -> tuple[ir.Var, ...]:
    return tuple(p for p in f.params if not is_linear(p.type))


def _unzip_function(f: ir.Function, halves: Halves, key: Key) -> None:
    params = _primal(f)
    splitter = Splitter(f, partial(_inside, f, key), key[1])
    split = splitter.block(share_operations(sunk(without_dead_tangents(f))), [p for p in f.params if p in f.own])
    kept = splitter.planner.keep(split, set(params), set())
    if not halves.assumed:
        halves.again = tuple(k for k, p in enumerate(params) if p in kept.rest)
        if not kept.saved:
            halves.residuals = None
    assert {params[k] for k in halves.again} >= set(kept.rest), "a linear half reads what nothing binds"
    if halves.residuals is not None:
        halves.residuals.fields = tuple(v.type for v in kept.saved)
    _forward(f, halves, split, kept)
    _linear(f, halves, split, kept)


def _forward(f: ir.Function, halves: Halves, split: SplitBlock, kept: Residuals) -> None:
    forward = halves.forward
    forward.results = tuple(t for t in f.results if not is_linear(t))
    forward.body = ir.Block(split.primal, split.primal_results)
    if halves.residuals is not None:
        record = ir.Var(halves.residuals, "r")
        forward.results += (halves.residuals,)
        lets = [*split.primal, ir.Let((record,), ir.MakeTuple(tuple(kept.saved)))]
        forward.body = ir.Block(lets, (*split.primal_results, record))
    forward.body = body_with_copies(forward)


def _linear(f: ir.Function, halves: Halves, split: SplitBlock, kept: Residuals) -> None:
    linear = halves.linear
    duals = tuple(p for p in f.params if is_linear(p.type))
    linear.results = tuple(t for t in f.results if is_linear(t))
    linear.own = f.own & set(duals)
    linear.params = (*(halves.forward.params[k] for k in halves.again), *duals)
    lets = kept.repeated + split.linear
    if halves.residuals is not None:
        record = ir.Var(halves.residuals, "r")
        linear.params = (record, *linear.params)
        fields = enumerate(kept.saved)
        lets = [ir.Let((v,), ir.Index(record, (ir.Field(k),), False)) for k, v in fields] + lets
    linear.body = ir.Block(lets, split.linear_results)
