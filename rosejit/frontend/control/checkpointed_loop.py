"""A loop with checkpoints: one over blocks of iterations, each a call of a checkpointed function.

Reverse mode keeps what such a function is called with, which is the state at the beginning of the block, and runs the
block again when it comes back (`transforms/autodiff/checkpoint.py`). With blocks of about the root of the number of
iterations both kinds of memory, of the states and of one block, grow with that root only; each iteration runs twice
(Griewank and Walther, Evaluating Derivatives, section 12.2). A block may have loops with checkpoints of its own.
"""

import math
from typing import Any

from rosejit.errors import StagingTypeError
from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.scalars import Int, P, int_atom, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.traversal import free, renamed
from rosejit.ir.types import INT, REAL, TAN, is_boxed

Every = Any
"""What `checkpoint=` was given: True, or the iterations of a block."""


def checked_every(tape: Tape, every: Any) -> Every:
    """`every`, if it is a number of iterations from 1, or True; None for no checkpoints."""
    if every is None or every is False:
        return None
    if every is True or every.__class__ is Int or (number_kind(every) == "int" and every >= 1):
        return every
    raise StagingTypeError(
        f"`checkpoint` is True or the number of iterations between two checkpoints, at least 1; given {every!r}",
        tape.here(),
    )


def in_blocks(tape: Tape, loop: ir.Loop, every: Every) -> tuple[ir.Loop, tuple[ir.Var, ...]]:
    """The loop over blocks that does what `loop` does, and the variables that it binds before the results of that.

    Numbers that the body reads from outside go through the blocks, as if they were carried: their cotangents are then
    summed from one block to the next, as they are without blocks from one iteration to the next.
    """
    length = _block_length(tape, loop.trips, every)
    block, passed, given = _block(loop, tape.here())
    blocks = int_atom(tape, (wrap(tape, loop.trips) + (wrap(tape, length) - 1)) // wrap(tape, length))
    assert blocks is not None
    index, b = ir.Var(INT, "block"), Builder(tape.here())
    begin = b.apply(P["wmul"], index, length)
    count = b.apply(P["imin"], length, b.apply(P["wsub"], loop.trips, begin))
    first = b.apply(P["wsub"], b.apply(P["wsub"], loop.trips, ir.integer(1)), begin) if loop.down else begin
    carries = tuple([ir.Var(v.type, v.hint) for v in (*passed, *loop.carries)])
    after = b.bind_all(ir.Call(block, (first, count, *carries, *given)), block.results, "y")
    inits = (*passed, *loop.inits)
    return ir.Loop(blocks, index, carries, inits, (), b.block(*after)), tuple([ir.Var(v.type, v.hint) for v in passed])


def _block_length(tape: Tape, trips: ir.Atom, every: Every) -> ir.Atom:
    """The iterations of a block: what was asked for, else the root of their number."""
    if every is not True:
        length = int_atom(tape, every)
        assert length is not None
        return length if isinstance(length, ir.Lit) else tape.apply(P["imax"], length, ir.integer(1))
    if isinstance(trips, ir.Lit):
        return ir.integer(max(math.isqrt(max(int(trips.value or 0) - 1, 0)) + 1, 1))
    some = tape.apply(P["imax"], trips, ir.integer(1))
    root = tape.apply(P["ceil"], tape.apply(P["sqrt"], tape.apply(P["to_real"], some)))
    return tape.apply(P["to_int"], root)


def _block(loop: ir.Loop, span: Any) -> tuple[ir.Function, tuple[ir.Var, ...], tuple[ir.Var, ...]]:
    """The function of one block, from its first index and how many iterations it has; the numbers that pass through it,
    and what else it reads."""
    outside = free(loop.body, (loop.index, *loop.carries))
    passed = tuple([v for v in outside if v.type in (REAL, TAN)])
    given = tuple([v for v in outside if v.type not in (REAL, TAN)])
    inside = {v: ir.Var(v.type, v.hint) for v in (*passed, *given)}
    starts = tuple([ir.Var(c.type, c.hint) for c in loop.carries])
    first, count, number = ir.Var(INT, "first"), ir.Var(INT, "count"), ir.Var(INT, "i")
    op = P["wsub"] if loop.down else P["wadd"]
    body = renamed(loop.body, inside)
    body.lets.insert(0, ir.Let((loop.index,), ir.Apply(op, (first, number)), span))
    b = Builder(span)
    types = tuple([c.type for c in loop.carries])
    finals = b.bind_all(ir.Loop(count, number, loop.carries, starts, (), body), types, "y")
    through = tuple([inside[v] for v in passed])
    params = (first, count, *through, *starts, *[inside[v] for v in given])
    results = (*through, *finals)
    own = frozenset([v for v in starts if is_boxed(v.type)])
    kinds = tuple([v.type for v in results])
    made = ir.Function("iterations", params, kinds, b.block(*results), own, checkpoint=True, span=span)
    return made, passed, given
