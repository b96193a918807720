"""A program as staged or derived into the program that is compiled."""

import os

from rosejit.ir import syntax as ir
from rosejit.ir.verify import verify
from rosejit.transforms.dce import dce
from rosejit.transforms.fuse import fuse
from rosejit.transforms.inline import inline
from rosejit.transforms.simplify import simplify

PASSES = (simplify, dce)
"""What every function goes through after inlining, in order, and again after loops were joined."""


def optimise(*roots: ir.Function) -> tuple[ir.Function, ...]:
    """The same functions, faster: equal results, effects and failures, bit for bit."""
    new = inline(roots)
    for f in new.values():
        if f.body is None:
            continue
        made, seen = f, None
        while made is not seen:
            for transform in PASSES:
                made = transform(made)
                _check(made)
            seen, made = made, fuse(made)
            _check(made)
        f.body = made.body  # `f` is fresh from `inline`, and calls of it need not be redirected
    return tuple(new[root] for root in roots)


def _check(f: ir.Function) -> None:
    if os.environ.get("ROSE_DEBUG"):
        verify(f)
