"""A program as staged or derived into the program that is compiled."""

import os

from rosejit.ir import syntax as ir
from rosejit.ir.verify import verify
from rosejit.transforms.dce import dce
from rosejit.transforms.inline import inline
from rosejit.transforms.simplify import simplify

PASSES = (simplify, dce)
"""What every function goes through after inlining, in order."""


def optimise(*roots: ir.Function) -> tuple[ir.Function, ...]:
    """The same functions, faster: equal results, effects and failures, bit for bit."""
    new = inline(roots)
    for f in new.values():
        if f.body is None:
            continue
        made = f
        for transform in PASSES:
            made = transform(made)
            if os.environ.get("ROSE_DEBUG"):
                verify(made)
        f.body = made.body  # `f` is fresh from `inline`, and calls of it need not be redirected
    return tuple(new[root] for root in roots)
