"""The derivative rules of primitives, traced once into lists of lets that the passes copy."""

from collections.abc import Callable
from functools import cache
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.primitive import Primitive
from rosejit.ir.types import TAN, Scalar
from rosejit.ops.value import Value


class Template:
    """Straight-line code: `make(args, into, span)` appends it and returns the outputs, None where there is none."""

    __slots__ = ("lets", "outputs", "params")

    def __init__(self, params: tuple[ir.Var, ...], lets: list[ir.Let], outputs: tuple[ir.Atom | None, ...]) -> None:
        self.params = params
        self.outputs = outputs
        self.lets: list[tuple[ir.Var, Primitive, tuple[ir.Atom, ...]]] = []
        for let in lets:
            assert isinstance(let.expr, ir.Apply), "the rule of a primitive is straight-line code"
            self.lets.append((let.binders[0], let.expr.op, let.expr.args))

    def make(self, args: tuple[ir.Atom, ...], into: list[ir.Let], span: Any) -> list[ir.Atom | None]:
        """Append the lets for `args`; the outputs."""
        env: dict[Any, ir.Atom] = dict(zip(self.params, args, strict=True))
        get = env.get
        for var, op, operands in self.lets:
            new = ir.Var(var.type, var.hint)
            env[var] = new
            into.append(ir.Let((new,), ir.Apply(op, tuple([get(a, a) for a in operands])), span))
        return [None if a is None else get(a, a) for a in self.outputs]


def _atom(x: Any) -> ir.Atom | None:
    if x is None or isinstance(x, Value):
        return None if x is None else x.atom
    return ir.real(float(x))


def _trace(types: tuple[Scalar, ...], rule: Callable[..., tuple[Any, ...]]) -> Template:
    builder = Builder()
    params = tuple(ir.Var(t) for t in types)
    outputs = rule(*[Value(builder, p) for p in params])
    return Template(params, builder.lets, tuple(_atom(x) for x in outputs))


@cache
def partials(op: Primitive) -> Template:
    """From the arguments and the result to one factor an argument, None for a factor of zero."""
    assert op.partials is not None
    traced = _trace((*op.params, op.result), op.partials)
    traced.outputs = tuple(None if isinstance(a, ir.Lit) and a.value == 0.0 else a for a in traced.outputs)
    return traced


@cache
def tangent(op: Primitive, mask: tuple[bool, ...]) -> Template:
    """From the arguments, the result and the tangents that are present to the tangent of the result."""
    rule = op.tangent
    assert rule is not None
    n = len(op.params)

    def apply(*values: Any) -> tuple[Any, ...]:
        given = iter(values[n + 1 :])
        return (rule(values[:n], values[n], tuple(next(given) if on else None for on in mask)),)

    tangents = (TAN,) * sum(mask)
    return _trace((*op.params, op.result, *tangents), apply)


@cache
def transpose(op: Primitive) -> Template:
    """From the cotangent of the result and the arguments to one cotangent an argument, None for nonlinear arguments."""
    assert op.transpose is not None
    return _trace((op.result, *op.params), op.transpose)
