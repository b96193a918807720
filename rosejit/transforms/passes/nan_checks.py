"""Makes a program fail at the first nan that one of its operations gives, where `ROSE_DEBUG_NANS` asks for it."""

import os

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import reachable, scopes
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.ops import PRIMITIVES

_IN_A_DERIVATIVE = (
    "this is the code of a derivative, which may be nan where the value is not: 0 * inf at `sqrt(0)`, say; "
    "an `if` around it keeps such points out"
)


def is_wanted() -> bool:
    """Whether the environment asks for it."""
    return os.environ.get("ROSE_DEBUG_NANS", "0") not in ("", "0")


def watched(roots: tuple[ir.Function, ...], derived: bool) -> tuple[ir.Function, ...]:
    """`roots`, which nobody else holds, with a check after every operation that gives a Real; `derived` if they
    compute a derivative. Reads of arrays are not checked: the operation that uses what was read is."""
    for f in reachable(*roots):
        if f.body is not None:
            _watch(f.body, _IN_A_DERIVATIVE if derived else None)
    return roots


def _watch(block: ir.Block, help: str | None) -> None:
    lets: list[ir.Let] = []
    for let in block.lets:
        for _, inner in scopes(let.expr):
            _watch(inner, help)
        lets.append(let)
        for var in let.binders:
            if var.type is REAL:
                lets += _checked(var, let, help)
    block.lets = lets


def _checked(var: ir.Var, let: ir.Let, help: str | None) -> list[ir.Let]:
    """The lets that fail where `var` is nan; none where it was made, and looked at, elsewhere."""
    words = _words(let.expr)
    if words is None:
        return []
    message, values = words
    holds = ir.Var(BOOL, "is_number")
    test = ir.Let((holds,), ir.Apply(PRIMITIVES["eq"], (var, var)), let.span)
    failure = ir.Failure("nan", message, let.span, help)
    return [test, ir.Let((), ir.Check(holds, failure, values), let.span)]


def _words(expr: ir.Expr) -> tuple[str, tuple[ir.Atom, ...]] | None:
    """What a check says, and the values that it quotes; None where nothing is computed, but taken or handed on."""
    if isinstance(expr, ir.Control | ir.Access | ir.Structure | ir.Accum | ir.Add | ir.Check):
        return None
    match expr:
        case ir.Apply(op=op, args=args):
            shown = tuple(arg for arg in args[:4] if arg.type in (REAL, INT, BOOL))
            *first, last = [f"{{{k}}}" for k in range(len(shown))] or ["no number"]
            return f"`{op.word}` of {', '.join(first)}{' and ' * bool(first)}{last} is nan", shown
        case ir.Call(function=f):
            return f"the result of `{f.name}` is nan", ()
        case ir.Resolve():
            return "a sum is nan", ()
        case _:
            return ir.assert_never(expr)
