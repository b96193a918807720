"""A loop with checkpoints: blocks of iterations, of which each is a function that reverse mode runs again.

Of a checkpointed function reverse mode keeps what it is called with, here the state at the beginning of the block, and
runs the block again when it comes back (`transforms/autodiff/checkpoint.py`). With blocks of about the root of the
number of iterations both kinds of memory, of the states and of one block, grow with that root only; each iteration runs
twice. A bound on the states that are kept makes the schedule binomial (`revolve`), which is two functions that call
each other (Griewank and Walther, Evaluating Derivatives, sections 12.2 and 12.3; ACM TOMS 26, 2000). A block may have
loops with checkpoints of its own.
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
from rosejit.ir.types import BOOL, INT, REAL, TAN, is_boxed
from rosejit.lazy_dataclass import dataclass


@dataclass(slots=True, frozen=True)
class Schedule:
    """What is kept of a loop: its state every so many iterations (True: the root of their number), or at most
    `snapshots` states at once, with blocks of as many iterations where `every` does not say it."""

    every: Any
    snapshots: Any = None


def checked_schedule(tape: Tape, every: Any, snapshots: Any) -> Schedule | None:
    """The schedule that `rose.range` was given; None for no checkpoints."""
    if not _counts(snapshots) and snapshots is not None:
        raise StagingTypeError(
            f"`snapshots` is the number of states that are kept at once, at least 1; given {snapshots!r}", tape.here()
        )
    if every is False or (every is None and snapshots is None):
        return None
    if (every is None or every is True) and snapshots is not None:
        return Schedule(snapshots, snapshots)
    if every is True or _counts(every):
        return Schedule(every, snapshots)
    raise StagingTypeError(
        f"`checkpoint` is True or the number of iterations between two checkpoints, at least 1; given {every!r}",
        tape.here(),
    )


def _counts(value: Any) -> bool:
    return value.__class__ is Int or (value is not True and number_kind(value) == "int" and value >= 1)


def in_blocks(tape: Tape, loop: ir.Loop, schedule: Schedule) -> tuple[ir.Loop | ir.Call, tuple[ir.Var, ...]]:
    """What does in blocks what `loop` does, and the variables that it binds before the results of that.

    Numbers that the body reads from outside go through the blocks, as if they were carried: their cotangents are then
    summed from one block to the next, as they are without blocks from one iteration to the next.
    """
    length = _block_length(tape, loop.trips, schedule.every)
    outside = free(loop.body, (loop.index, *loop.carries))
    passed = tuple([v for v in outside if v.type in (REAL, TAN)])
    given = tuple([v for v in outside if v.type not in (REAL, TAN)])
    parts = _Parts(loop, passed, given, tape.here())
    blocks = int_atom(tape, (wrap(tape, loop.trips) + (wrap(tape, length) - 1)) // wrap(tape, length))
    assert blocks is not None
    bound = tuple([ir.Var(v.type, v.hint) for v in passed])
    if schedule.snapshots is None:
        return _in_a_row(parts, blocks, length), bound
    snapshots = _at_least_one(tape, schedule.snapshots)
    repeats, most = _repeats(tape, blocks, snapshots)
    first = tape.apply(P["wsub"], loop.trips, ir.integer(1)) if loop.down else ir.integer(0)
    numbers = (first, loop.trips, length, snapshots, repeats, most)
    return ir.Call(_binomial(parts), (*numbers, *passed, *loop.inits, *given)), bound


def _block_length(tape: Tape, trips: ir.Atom, every: Any) -> ir.Atom:
    """The iterations of a block: what was asked for, else the root of their number."""
    if every is not True:
        return _at_least_one(tape, every)
    if isinstance(trips, ir.Lit):
        return ir.integer(max(math.isqrt(max(int(trips.value or 0) - 1, 0)) + 1, 1))
    some = tape.apply(P["imax"], trips, ir.integer(1))
    root = tape.apply(P["ceil"], tape.apply(P["sqrt"], tape.apply(P["to_real"], some)))
    return tape.apply(P["to_int"], root)


def _at_least_one(tape: Tape, number: Any) -> ir.Atom:
    atom = int_atom(tape, number)
    assert atom is not None
    return atom if isinstance(atom, ir.Lit) else tape.apply(P["imax"], atom, ir.integer(1))


@dataclass(slots=True, frozen=True)
class _Parts:
    """A loop, the numbers that pass through its blocks, and what else these read."""

    loop: ir.Loop
    passed: tuple[ir.Var, ...]
    given: tuple[ir.Var, ...]
    span: Any

    def results(self) -> tuple[ir.Type, ...]:
        return tuple([v.type for v in (*self.passed, *self.loop.carries)])

    def fresh(self) -> tuple[tuple[ir.Var, ...], ...]:
        """New variables for what passes through, for the state, and for what is read."""
        each = self.passed, self.loop.carries, self.given
        return tuple([tuple([ir.Var(v.type, v.hint) for v in some]) for some in each])

    def function(self, name: str, params: tuple[ir.Var, ...], starts: tuple[ir.Var, ...]) -> ir.Function:
        """A function of these parameters, without a body, that consumes the state."""
        own = frozenset([v for v in starts if is_boxed(v.type)])
        return ir.Function(name, params, self.results(), None, own, span=self.span)


def _in_a_row(parts: _Parts, blocks: ir.Atom, length: ir.Atom) -> ir.Loop:
    """One block behind the other, each checkpointed."""
    block, loop = _block(parts), parts.loop
    block.checkpoint = True
    index, b = ir.Var(INT, "block"), Builder(parts.span)
    begin = b.apply(P["wmul"], index, length)
    count = b.apply(P["imin"], length, b.apply(P["wsub"], loop.trips, begin))
    first = b.apply(P["wsub"], b.apply(P["wsub"], loop.trips, ir.integer(1)), begin) if loop.down else begin
    carries = tuple([ir.Var(v.type, v.hint) for v in (*parts.passed, *loop.carries)])
    after = b.bind_all(ir.Call(block, (first, count, *carries, *parts.given)), block.results, "y")
    return ir.Loop(blocks, index, carries, (*parts.passed, *loop.inits), (), b.block(*after))


def _block(parts: _Parts) -> ir.Function:
    """The function of one block, from its first index and how many iterations it has."""
    loop = parts.loop
    through, starts, given = parts.fresh()
    inside = dict(zip((*parts.passed, *parts.given), (*through, *given), strict=True))
    first, count, number = ir.Var(INT, "first"), ir.Var(INT, "count"), ir.Var(INT, "i")
    op = P["wsub"] if loop.down else P["wadd"]
    body = renamed(loop.body, inside)
    body.lets.insert(0, ir.Let((loop.index,), ir.Apply(op, (first, number)), parts.span))
    b = Builder(parts.span)
    types = tuple([c.type for c in loop.carries])
    finals = b.bind_all(ir.Loop(count, number, loop.carries, starts, (), body), types, "y")
    made = parts.function("iterations", (first, count, *through, *starts, *given), starts)
    made.body = b.block(*through, *finals)
    return made


# --- binomial schedules


def _repeats(tape: Tape, blocks: ir.Atom, snapshots: ir.Atom) -> tuple[ir.Var, ir.Var]:
    """How often a block runs again with so many snapshots, the least `r` for which there are no more blocks than
    `binomial(snapshots + r, r)`, and that number."""
    repeats, most, b, test = ir.Var(INT, "repeats"), ir.Var(INT, "most"), Builder(tape.here()), Builder(tape.here())
    more = test.bind(ir.Apply(P["ilt"], (most, blocks)), BOOL, "more")
    after = b.apply(P["wadd"], repeats, ir.integer(1))
    larger = b.apply(P["wfloordiv"], b.apply(P["wmul"], most, b.apply(P["wadd"], snapshots, after)), after)
    loop = ir.While((repeats, most), (ir.integer(0), ir.integer(1)), test.block(more), b.block(after, larger))
    found = ir.Var(INT, "times"), ir.Var(INT, "repeats"), ir.Var(INT, "most")
    tape.bind_all(loop, found, tape.here())
    return found[1], found[2]


def _binomial(parts: _Parts) -> ir.Function:
    """Iterations from `first` on, `count` of them in blocks of `length`, with `snapshots` states that may be kept and
    `repeats` runs of each, which is enough for `most` blocks.

    What is more than one block is split: the first part is a checkpointed call of this function itself, for which its
    state is kept and which is run again with one repeat less; the second part keeps one state less.
    """
    block = _block(parts)
    numbers = tuple([ir.Var(INT, hint) for hint in ("first", "count", "length", "snapshots", "repeats", "most")])
    through, starts, given = parts.fresh()
    made = parts.function("binomial", (*numbers, *through, *starts, *given), starts)
    again = _again(parts, made)
    first, count, length, snapshots, repeats = numbers[:5]
    b, deep, leaf = Builder(parts.span), Builder(parts.span), Builder(parts.span)
    many = b.bind(ir.Apply(P["igt"], (count, length)), BOOL, "many")
    size, lower, others, left, right = _split(deep, *numbers[1:])
    call = ir.Call(again, (first, size, length, snapshots, lower, left, *through, *starts, *given))
    state = deep.bind_all(call, made.results, "y")
    second = deep.apply(P["wsub" if parts.loop.down else "wadd"], first, size)
    rest = deep.apply(P["wsub"], count, size)
    call = ir.Call(made, (second, rest, length, others, repeats, right, *state, *given))
    after = deep.bind_all(call, made.results, "y")
    last = leaf.bind_all(ir.Call(block, (first, count, *through, *starts, *given)), made.results, "y")
    found = b.bind_all(ir.If(many, deep.block(*after), leaf.block(*last)), made.results, "y")
    made.body = b.block(*found)
    return made


def _again(parts: _Parts, called: ir.Function) -> ir.Function:
    """The checkpointed function that calls `called`."""
    numbers = tuple([ir.Var(p.type, p.hint) for p in called.params[:6]])
    through, starts, given = parts.fresh()
    made = parts.function("again", (*numbers, *through, *starts, *given), starts)
    made.checkpoint = True
    b = Builder(parts.span)
    made.body = b.block(*b.bind_all(ir.Call(called, made.params), made.results, "y"))
    return made


def _split(b: Builder, *numbers: ir.Var) -> tuple[ir.Var, ...]:
    """Of `count` iterations how many come first, the repeats of these, the snapshots of the others, and how many
    blocks either can have: `binomial(s + r, r)` is the sum of that for `r - 1` and of that for `s - 1`."""
    count, length, snapshots, repeats, most = numbers
    one, both = ir.integer(1), b.apply(P["wadd"], snapshots, repeats)
    lower, others = b.apply(P["wsub"], repeats, one), b.apply(P["wsub"], snapshots, one)
    left = b.apply(P["wfloordiv"], b.apply(P["wmul"], most, repeats), both)
    right = b.apply(P["wsub"], most, left)
    least = b.apply(P["wfloordiv"], b.apply(P["wmul"], right, repeats), b.apply(P["wsub"], both, one))
    blocks = b.apply(P["wfloordiv"], b.apply(P["wadd"], count, b.apply(P["wsub"], length, one)), length)
    size = b.apply(P["wmul"], b.apply(P["imin"], left, b.apply(P["wsub"], blocks, least)), length)
    return size, lower, others, left, right
