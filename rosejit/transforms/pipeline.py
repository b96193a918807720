"""A program as staged or derived into the program that is compiled."""

import os

from rosejit.ir import syntax as ir
from rosejit.ir.verify import verify
from rosejit.ir.walk import reachable, scopes
from rosejit.transforms.dce import dce
from rosejit.transforms.inline import inline
from rosejit.transforms.simplify import simplify

PASSES = (simplify, dce)
"""What every function goes through after inlining, in order."""


def optimise(*roots: ir.Function) -> tuple[ir.Function, ...]:
    """The same functions, faster: equal results, effects and failures, bit for bit."""
    inlined = inline(roots)
    done: dict[ir.Function, ir.Function] = {}
    for f in reachable(*(inlined[root] for root in roots)):
        new = f
        for transform in PASSES:
            new = transform(new)
            if os.environ.get("ROSE_DEBUG"):
                verify(new)
        done[f] = new
    for new in done.values():
        _redirect(new, done)
    return tuple(done[inlined[root]] for root in roots)


def _redirect(f: ir.Function, done: dict[ir.Function, ir.Function]) -> None:
    """Let the calls in `f`, which this pipeline has made, reach the finished functions."""
    pending = [f.body] if f.body is not None else []
    while pending:
        for let in pending.pop().lets:
            e = let.expr
            if isinstance(e, ir.Call):
                e.function = done.get(e.function, e.function)
            elif not isinstance(e, ir.Apply):
                pending += [block for _, block in scopes(e)]
