"""Turns operations on numbers into those on tangents, where a sum that began as the constant zero turned out one."""

from collections.abc import Iterator
from typing import NoReturn

from rosejit import ops
from rosejit.errors import StagingTypeError
from rosejit.ir import syntax as ir
from rosejit.ir.primitive import Primitive
from rosejit.ir.syntax import Atom, Block, Let, Var, assert_never
from rosejit.ir.traversal import lets
from rosejit.ir.types import TAN, Array, Type
from rosejit.span import Span

P = ops.PRIMITIVES

_LINEAR: dict[str, Primitive] = {op.erased: op for op in P.values() if op.linear}
"""The operations on tangents, by the names of those that do the same on Reals."""


def become_linear(let: Let, expr: ir.Apply, reals: Primitive) -> None:
    """Make `expr`, the operation `reals` on Reals, the one on tangents, since operands have turned out tangents."""
    symbol, args = reals.word, expr.args
    linear = _LINEAR.get(reals.name)
    if linear is None:
        refuse(symbol, let.span)
    if linear is P["scale"] and args[0].type is TAN:
        args = args[::-1]
    if any(args[k].type is TAN for k in linear.nonlinear):
        refuse(symbol, let.span)
    expr.op, expr.args = linear, args
    let.binders[0].type = TAN
    operands_as_tangents(let, expr)


def operands_as_tangents(let: Let, expr: ir.Apply) -> None:
    """Give an operation on tangents its operands; a variable that is no tangent yet may still become one."""
    op, args = expr.op, list(expr.args)
    if any(args[k].type is TAN for k in op.nonlinear):
        refuse(op.word, let.span)
    for k in op.linear:
        args[k] = as_tangent(args[k], op.word, let.span)
    expr.args = tuple(args)


def as_tangent(atom: Atom, what: str, span: Span | None) -> Atom:
    """A zero as a tangent; what is a variable stays it."""
    if not isinstance(atom, ir.Lit) or atom.type is TAN:
        return atom
    if atom.value:
        refuse(what, span)
    return ir.Lit(0.0, TAN)


def check(block: Block) -> None:
    """Raise if something that is added to tangents, or takes the place of one, has not become one."""
    for let in lets(block):
        for wanted, atom, what in _places(let):
            if (wanted is TAN) != (atom.type is TAN) and isinstance(atom, Var):
                refuse(what, let.span)


def _places(let: Let) -> Iterator[tuple[Type, Atom, str]]:
    """The operands and results of one let, the types that belong there, and a word for each."""
    match let.expr:
        case ir.Apply(op, args):
            yield from ((wanted, arg, op.word) for wanted, arg in zip(op.params, args, strict=True))
        case ir.If(_, then, orelse):
            for block in (then, orelse):
                yield from ((v.type, a, "if") for v, a in zip(let.binders, block.results, strict=True))
        case ir.Loop() | ir.While() as loop:
            for atoms in (loop.inits, loop.body.results):
                yield from ((v.type, a, "for") for v, a in zip(loop.carries, atoms, strict=False))
        case ir.MakeArray(items):
            kind = let.binders[0].type
            assert isinstance(kind, Array)
            yield from ((kind.element, item, "array") for item in items)
        case ir.Update(_, _, value) as update:
            kind: Type = update.base.type
            for _ in update.path:
                assert isinstance(kind, Array)
                kind = kind.element
            yield kind, value, "="
        case (
            ir.Call()
            | ir.Case()
            | ir.MakeTuple()
            | ir.Untuple()
            | ir.Inject()
            | ir.Extract()
            | ir.Index()
            | ir.Copy()
            | ir.Zero()
        ):
            pass
        case ir.Accum() | ir.Add() | ir.View() | ir.Resolve() | ir.Check():
            pass
        case _:
            assert_never(let.expr)


def refuse(what: str, span: Span | None) -> NoReturn:
    """Raise: it is not linear in the tangents."""
    message, help_text = words(what)
    raise StagingTypeError(message, span, help=help_text)


def words(what: str) -> tuple[str, str]:
    """What is wrong with an operation that is not linear in the tangents, and what to do."""
    if what in ("+", "-"):
        return (
            f"`{what}` of a tangent and a number that is none is not linear",
            "tangents are added to tangents, and scaled by numbers",
        )
    return (
        f"`{what}` of a tangent is not linear",
        "the result of a rule must be linear in the tangents: add them, and scale them by numbers",
    )
