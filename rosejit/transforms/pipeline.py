"""A program as staged or derived into the program that is compiled."""

import os

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import callees, reachable
from rosejit.ir.verify import verify
from rosejit.transforms.autodiff.straightline_reverse import is_flat, is_straight_line
from rosejit.transforms.loops.fusion import fuse_loops
from rosejit.transforms.loops.gathered_rows import gather_rows
from rosejit.transforms.loops.residual_records import pack_residuals
from rosejit.transforms.loops.select_sinking import sink_selects
from rosejit.transforms.loops.shifted_fusion import fuse_shifted_loops
from rosejit.transforms.loops.sweep_fusion import join_sweeps
from rosejit.transforms.loops.unroll_and_jam import unroll_and_jam, unroll_outer
from rosejit.transforms.loops.update_to_output import updates_to_outputs
from rosejit.transforms.passes.apply_fastmath import fix_sum_order
from rosejit.transforms.passes.dce import dce
from rosejit.transforms.passes.drop_copies import drop_copies
from rosejit.transforms.passes.inline import inline
from rosejit.transforms.passes.inline_leaves import inline_leaves
from rosejit.transforms.passes.licm import licm
from rosejit.transforms.passes.range_checks import eliminate_range_checks, has_loops
from rosejit.transforms.passes.simplify import simplify
from rosejit.transforms.passes.sink_values import sink_values
from rosejit.transforms.scalarize.accumulator_replacement import scalarize_accumulators
from rosejit.transforms.scalarize.known_rows import with_known_rows
from rosejit.transforms.scalarize.scalar_replacement import scalarize_arrays
from rosejit.transforms.straightline.merge_clones import merge_functions

PASSES = (simplify, dce)
"""What every function goes through after inlining, in order, and again after loops were joined."""


SHORT = 64
"""Lets of what is called once, up to which it is differentiated where it is called. What a longer function saves lies
together in its record; a loop would stack each number in an array of its own, which takes a place in the caches."""

LOOPS = 512
"""Lets of all copies of a function with loops, up to which it is differentiated where it is called: what it saves are
arrays, which lie apart in a record, and in a stack of the caller are rows that are built in their place."""


IN_LOOPS = 512
"""Lets of all copies of a function that only loops call, up to which it stands where it is called: no call is then in
the loop, and what it is handed in records and places is numbers."""


def prepared(f: ir.Function) -> ir.Function:
    """`f` as it is differentiated: small arrays are numbers, what is short and called once stands where it was called,
    and loops that hand arrays on are one. Then a loop sees what its callees read, and need not keep it, and of an array
    operation only numbers are kept. What all iterations of a loop read is read in front of it: its cotangent is then a
    number that the reverse loop carries. Functions whose derivative is not that of their body stay."""
    program = reachable(f)
    if any([g.body is None and g.host is None for g in program]):  # its body is being made: it calls itself
        return f
    made = fix_sum_order(scalarize_arrays(f))
    if made.body is None or not (callees(made) or has_loops(made.body)):
        return made
    body, new = made.derived.get("prepared", (None, made))
    if body is not made.body:
        whole = merge_functions(made)
        new = inline((whole,), _kept(whole), small=0)[whole] if is_flat(whole) else whole
        new = inline_leaves(new, _kept(new)) if is_flat(new) else new  # `inline` has made anew what is kept, too
        new = _with_loops_joined(new) if is_straight_line(new) else _apart(whole)
        made.derived["prepared"] = (made.body, new)
    return new


def _apart(f: ir.Function) -> ir.Function:
    """`f` with what is short and called once, or has loops, where it was called."""
    new = _with_loops_joined(inline((f,), _kept(f), small=0, once=SHORT)[f])
    if callees(new):
        new = _with_loops_joined(inline((new,), _kept(new), small=0, once=SHORT, loops=LOOPS)[new])
    return new


def _kept(f: ir.Function) -> set[ir.Function]:
    """What `f` reaches and what has a derivative of its own."""
    return {g for g in reachable(f) if g.rule is not None or g.checkpoint}


def _with_loops_joined(f: ir.Function) -> ir.Function:
    """`f`, fresh from `inline` with all that it calls, whose bodies are then changed in place. Checkpointed functions
    are derived of their bodies too, as often as these are run."""
    for g in reachable(f):
        if g.body is not None and g.rule is None:
            filled = _checked(updates_to_outputs(_checked(eliminate_range_checks(g))))
            g.body = _checked(sink_selects(_checked(licm(_joined(filled), reads=True)))).body
    return f


def _joined(f: ir.Function) -> ir.Function:
    """`f` simplified, and its loops joined."""
    made, seen = _checked(drop_copies(f)), None
    while made is not seen:
        for transform in PASSES:
            made = _checked(transform(made))
        seen, made = made, _checked(join_sweeps(_checked(fuse_loops(_checked(with_known_rows(made))))))
        if made is seen:
            made = _checked(fuse_shifted_loops(made))
    return made


def optimise(*roots: ir.Function) -> tuple[ir.Function, ...]:
    """The same functions, faster: equal results, effects and failures, bit for bit."""
    roots = tuple([merge_functions(fix_sum_order(scalarize_arrays(root))) for root in roots])
    new = inline(roots, in_loops=IN_LOOPS)
    for f in new.values():
        if f.body is None:
            continue
        made = _joined(
            _checked(scalarize_accumulators(_checked(updates_to_outputs(_checked(eliminate_range_checks(f))))))
        )
        moved = _checked(licm(made))
        if moved is not made:  # what was inside two loops is shared outside
            made = _checked(dce(_checked(simplify(moved))))
        joined = _checked(unroll_outer(_checked(unroll_and_jam(made))))
        if joined is not made:  # what several iterations read is read once
            made = _checked(dce(_checked(simplify(joined))))
        f.body = _checked(
            sink_values(_checked(gather_rows(dce(_checked(pack_residuals(made))))))
        ).body  # `f` is fresh from `inline`: calls of it stay right
    return tuple(new[root] for root in roots)


def _checked(f: ir.Function) -> ir.Function:
    if os.environ.get("ROSE_DEBUG"):
        verify(f)
    return f
