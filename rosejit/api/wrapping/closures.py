"""A function that closes over staged values to one that takes them as arguments: what a custom derivative needs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rosejit.abi import leaves
from rosejit.api import sessions
from rosejit.api.calling.specialisation import Staged, is_real, require_lengths
from rosejit.api.decorators import as_function, wrapped_like
from rosejit.api.deferred import derivative_programs, pipeline
from rosejit.api.function import Function, FunctionSource
from rosejit.errors import StagingTypeError
from rosejit.frontend.arrays.array import fresh
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature import binding
from rosejit.frontend.signature.binding import Call
from rosejit.frontend.values.scalars import wrap
from rosejit.ir import syntax as ir
from rosejit.ir.types import Scalar
from rosejit.transforms.passes.insert_copies import insert_copies


def hoisted(f: Callable[..., Any], x: Any) -> tuple[Function, tuple[Any, ...]]:
    """`f` as a function of `x` and of the staged values that it closes over, and those values.

    Only where something is being staged; the function fits arguments that are like `x`.
    """
    at = sessions.current()
    if at is None:
        raise StagingTypeError("a closure is taken apart in staged code only")
    base = as_function(f)
    staged = base.specialisation(base.binding.bind((x,), {}), at).staged
    around = staged.source.outer
    values = tuple([wrap(at.tape, a) if isinstance(a.type, Scalar) else fresh(at.tape, a) for a in around])
    function = _closed_last(staged.function, len(staged.source.captures), len(around))
    source = replace(staged.source, function=function, result=staged.result, outer=(), boxes=())

    def stage(self: Function, call: Call, at: Session) -> Staged:
        return Staged(function, tuple(call.trees), staged.result, staged.statics, source, tuple(call.statics))

    def rebuilt(self: Function) -> Any:
        raise StagingTypeError(f"`{base.__name__}` was taken apart while staging, and is not pickled")

    def taken_apart(x, closed): ...

    made = Function(binding.signature(taken_apart), base.options, FunctionSource(stage, rebuilt))
    wrapped_like(made, taken_apart, base.__name__)
    return made, values


def pushed(f: Function, x: Any, closed: tuple[Any, ...], along: tuple[Any, ...] = (), by_x: Any = None) -> Any:
    """In a rule: the tangent of the vector `f(x, closed)` along tangents of `closed` or of the vector `x`, of which at
    least those are given that are not zero."""
    at = sessions.current()
    assert at is not None, "rules are staged"
    call = f.binding.bind((x, closed), {})
    staged = f.specialisation(call, at).staged
    require_lengths(staged, "a closure")
    args = sessions.arguments(at, staged, call)
    own, around = (leaves(tree) for tree in staged.trees)
    pairs = [(leaf, dv) for leaf, dv in zip(around, along, strict=True) if is_real(leaf)] if along else []
    given = [sessions.tangent_atom(dv) for dv in ([] if by_x is None else [by_x]) + [dv for _, dv in pairs]]
    flags = [*(by_x is not None for _ in own), *(bool(along) and is_real(leaf) for leaf in around)]
    mask = (*flags, *(False for _ in range(len(args) - len(flags))))
    derived = derivative_programs.forward(pipeline.prepared(staged.function), mask).derived
    if not derived.results[0]:
        return None
    function = derived.function
    b = sessions.builder(at)
    return fresh(at.tape, b.bind_all(ir.Call(function, (*args, *given)), function.results, "dy")[1])


def _closed_last(f: ir.Function, captures: int, around: int) -> ir.Function:
    """`f`, which takes its arguments, captured arrays and closed-over values, taking the captured arrays last."""
    params = [ir.Var(v.type, v.hint) for v in f.params]
    own = len(params) - captures - around
    taken = (*params[:own], *params[own + captures :], *params[own : own + captures])
    results = tuple([ir.Var(t, f.name) for t in f.results])
    body = ir.Block([ir.Let(results, ir.Call(f, tuple(params)), f.span)], results)
    return insert_copies(ir.Function(f.name, taken, f.results, body, span=f.span))
