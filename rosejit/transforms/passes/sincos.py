"""Sines and cosines of one angle to one call that gives both, for the work of one: the last step before code."""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import reachable, scopes, within
from rosejit.ops import PRIMITIVES
from rosejit.ops.kernels import KERNELS

_SIN, _COS = PRIMITIVES["sin"], PRIMITIVES["cos"]

Angles = dict[ir.Atom, dict[ir.Primitive, ir.Var]]
"""What is the sine or cosine of each angle in a block."""


def fuse_sincos(*roots: ir.Function) -> None:
    """Make sine and cosine together where a block of `roots`, which nobody else holds, takes both; the same bits."""
    for f in reachable(*roots):
        if f.body is not None and _has_both(f.body):
            f.body = _block(f.body)


def _angles(block: ir.Block) -> Angles:
    """Those of which a block takes sine and cosine."""
    found: Angles = {}
    for let in block.lets:
        e = let.expr
        if type(e) is ir.Apply and (e.op is _SIN or e.op is _COS):
            found.setdefault(e.args[0], {}).setdefault(e.op, let.binders[0])
    return {angle: made for angle, made in found.items() if len(made) == 2}


def _has_both(block: ir.Block) -> bool:
    return bool(_angles(block)) or any(
        [_has_both(inner) for let in block.lets if type(let.expr) is not ir.Apply for _, inner in scopes(let.expr)]
    )


def _block(block: ir.Block) -> ir.Block:
    angles = _angles(block)
    lets: list[ir.Let] = []
    done: set[ir.Var] = set()
    for let in block.lets:
        e = let.expr
        if isinstance(e, ir.Apply):
            made = angles.get(e.args[0]) if e.op is _SIN or e.op is _COS else None
            if made is None or made[e.op] is not let.binders[0]:
                lets.append(let)
            elif let.binders[0] not in done:
                done.update(made.values())
                lets.append(ir.Let((made[_SIN], made[_COS]), ir.Call(KERNELS["sin_cos"](), e.args), let.span))
        else:
            lets.append(within(let, _block))
    return ir.Block(lets, block.results)
