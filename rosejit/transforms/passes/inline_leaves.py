"""A program into one in which what the root calls calls nothing itself, if that makes it at most twice as long."""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import callees, forms, reachable, size
from rosejit.transforms.passes.inline import inline

GROWTH = 2
"""How many times as long a program may become: clones are one function each, so there are few to copy into."""


def inline_leaves(f: ir.Function, kept: set[ir.Function]) -> ir.Function:
    """`f`, straight-line code, with each of its callees a leaf; `f` itself where they are, or have to stay. Functions
    in `kept` may be called by leaves."""
    program = reachable(f)
    lengths: dict[ir.Function, int] = {}
    for g in program:
        inner = [h for h in _calls(g) if h not in kept]
        lengths[g] = size(g) + sum([lengths.get(h, 0) for h in inner])  # only what `kept` calls may call itself
    called = [g for g in callees(f) if g not in kept]
    nested = [g for g in called if any([h not in kept for h in callees(g)])]
    if not nested or sum([lengths[g] for g in called]) > GROWTH * sum(map(size, program)):
        return f
    leaves = {g: _leaf(g, kept, lengths[g]) for g in nested}
    assert f.body is not None
    lets = [let if isinstance(let.expr, ir.Apply) else _redirected(let, leaves) for let in f.body.lets]
    return ir.Function(f.name, f.params, f.results, ir.Block(lets, f.body.results), span=f.span)


def _leaf(f: ir.Function, kept: set[ir.Function], length: int) -> ir.Function:
    """`f` with all its calls inlined, but for those of `kept`, which stay the functions that they are."""
    new = inline((f,), kept, small=length)
    old = {copy: g for g, copy in new.items() if g in kept}
    leaf = new[f]
    assert leaf.body is not None
    for let in leaf.body.lets:  # fresh from `inline`
        if isinstance(let.expr, ir.Call):
            let.expr.function = old[let.expr.function]
    return leaf


def _calls(f: ir.Function) -> list[ir.Function]:
    """What `f` calls, as often as it does."""
    return [let.expr.function for let in forms(f.body) if isinstance(let.expr, ir.Call)] if f.body is not None else []


def _redirected(let: ir.Let, leaves: dict[ir.Function, ir.Function]) -> ir.Let:
    e = let.expr
    if isinstance(e, ir.Call) and e.function in leaves:
        return ir.Let(let.binders, ir.Call(leaves[e.function], e.args), let.span)
    return let
