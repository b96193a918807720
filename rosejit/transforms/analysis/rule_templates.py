"""The derivative rules of primitives, traced once and turned into Python functions that append their lets."""

from collections.abc import Callable
from functools import cache
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.primitive import Primitive
from rosejit.ir.types import TAN, Scalar
from rosejit.ops.traced_value import Value

Make = Callable[..., tuple[Any, ...]]
"""`make(into, span, hint, *args)` appends lets to `into` and gives the outputs, None where there is none; outputs that
it binds are called `hint`. It runs once for every let that is differentiated, so it has no loops and no look-ups."""


@cache
def tangent(op: Primitive, mask: tuple[bool, ...]) -> Make:
    """From the arguments, the result and the tangents that are present (`mask`) to the tangent of the result."""
    n = len(op.params)

    def rule(*values: Any) -> tuple[Any, ...]:
        given = iter(values[n + 1 :])
        tangents = tuple([next(given) if on else None for on in mask])
        if op.tangent is not None:
            return (op.tangent(values[:n], values[n], tangents),)
        assert op.partials is not None
        return (_sum(op.partials(*values[: n + 1]), tangents),)

    return _traced((*op.params, op.result, *((TAN,) * sum(mask))), rule)


@cache
def total_tangent(op: Primitive) -> Make:
    """`tangent` where every argument has one."""
    return tangent(op, (True,) * len(op.params))


@cache
def transpose(op: Primitive) -> Make:
    """From the cotangent of the result and the arguments to one cotangent an argument, None for nonlinear arguments."""
    assert op.transpose is not None
    return _traced((op.result, *op.params), op.transpose)


@cache
def relaxed(op: Primitive) -> Make:
    """From the arguments to the result that need not keep to the last bit."""
    assert op.relaxed is not None
    rule = op.relaxed
    return _traced(op.params, lambda *values: (rule(*values),))


def _sum(factors: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """Σ factor · tangent; None where nothing is left of it."""
    total = None
    for factor, dx in zip(factors, tangents, strict=True):
        constant = factor if isinstance(factor, float | int) else None
        if dx is None or factor is None or constant == 0.0:
            continue
        term = dx if constant == 1.0 else -dx if constant == -1.0 else factor * dx
        total = term if total is None else total + term
    return total


def _traced(types: tuple[Scalar, ...], rule: Callable[..., tuple[Any, ...]]) -> Make:
    builder = Builder()
    params = tuple([ir.Var(t) for t in types])
    results = rule(*[Value(builder, p) for p in params])
    outputs = tuple([r.atom if isinstance(r, Value) else None for r in results])  # a number is a tangent of zero
    return pruned(params, builder.lets, outputs)


def pruned(params: tuple[ir.Var, ...], lets: list[ir.Let], outputs: tuple[ir.Atom | None, ...]) -> Make:
    """A function that makes those of `lets`, straight-line code, that `outputs` need."""
    return _compiled(params, needed(lets, outputs), outputs)


def needed(lets: list[ir.Let], outputs: tuple[ir.Atom | None, ...]) -> list[tuple[ir.Var, ir.Apply]]:
    """Those of `lets`, which bind one variable each, that `outputs` need."""
    read = set(outputs)
    kept: list[tuple[ir.Var, ir.Apply]] = []
    for let in reversed(lets):
        assert isinstance(let.expr, ir.Apply), "the rule of a primitive is straight-line code"
        if let.binders[0] in read:
            read.update(let.expr.args)
            kept.append((let.binders[0], let.expr))
    return kept[::-1]


def _compiled(
    params: tuple[ir.Var, ...], lets: list[tuple[ir.Var, ir.Apply]], outputs: tuple[ir.Atom | None, ...]
) -> Make:
    """The straight-line code as a Python function that makes a copy of it in new variables. To make objects without
    calls of their classes takes half the time."""
    scope: dict[str, Any] = {"Var": ir.Var, "Let": ir.Let, "Apply": ir.Apply, "new": object.__new__}
    names: dict[ir.Atom | None, str] = {p: f"a{k}" for k, p in enumerate(params)}

    def name(x: Any) -> str:
        """What `x` is called in the source: a variable, or a constant of it."""
        if x is None or (isinstance(x, ir.Var) and x in names):
            return "None" if x is None else names[x]
        scope[f"c{len(scope)}"] = x
        return f"c{len(scope) - 1}"

    def items(many: tuple[Any, ...]) -> str:
        return "(" + "".join([f"{name(x)}, " for x in many]) + ")"

    lines = [f"def make(into, span, hint, {', '.join(names.values())}):", "append = into.append"]
    for k, (var, e) in enumerate(lets):
        hint = "hint" if var in outputs else repr("t" if var.type is TAN else "x")
        lines += ["e, let = new(Apply), new(Let)", f"e.op, e.args = {name(e.op)}, {items(e.args)}"]
        names[var] = v = f"v{k}"
        lines += [f"{v} = new(Var)", f"{v}.type, {v}.hint, {v}.like = {name(var.type)}, {hint}, None"]
        lines += [f"let.binders, let.expr, let.span = ({v},), e, span", "append(let)"]
    exec("\n ".join([*lines, f"return {items(outputs)}"]), scope)
    return scope["make"]
