"""Ranges of staged loops: `rose.range`, and Python's `range` of a staged number."""

from typing import Any

from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.open_lengths import as_staged, has_open
from rosejit.frontend.values.scalars import Int, P, int_atom
from rosejit.frontend.values.tape import Tape
from rosejit.ir.lengths import clipped
from rosejit.ir.syntax import Atom, Failure, Lit, Var
from rosejit.ir.types import INT
from rosejit.lazy_dataclass import dataclass

_NO_STEP = "range() arg 3 must not be zero"


@dataclass(slots=True, eq=False)
class StagedRange:
    """`start, start + step, ...` up to `stop`: a loop of the IR when it is iterated."""

    tape: Tape
    start: Any
    stop: Any
    step: Any
    checkpoint: Any = None
    """The schedule of its checkpoints, if it has any (`checkpointed_loop.py`)."""
    pick: Any = None
    """Makes the item of an iteration from its number, where it is not the number itself: of `zip` and `enumerate`."""
    through: tuple[Any, ...] = ()
    """The lists whose items it goes through."""
    stamp: Any = None
    """What these held when it was made."""
    is_pythons: bool = False
    """Whether it is Python's `range`, whose numbers the host knows where it knows the ends."""

    def __getitem__(self, index: Any) -> Any:
        raise self.tape.type_fault(
            "a range whose length only running tells is indexed", "compute the number: `start + step * k`"
        )

    def __iter__(self) -> Any:
        """Reached only where staged control flow is not rewritten."""
        raise self.tape.type_fault(
            "Python iterates over a staged range, whose length only running tells",
            "iterate over it in a `for` statement or a comprehension of staged code: `sum(i * i for i in range(n))`",
        )

    def __len__(self) -> int:
        trips = trip_count(self)
        if not isinstance(trips, Lit):
            raise self.tape.type_fault("the length of this range is known only when the code runs", "use its bounds")
        return max(0, int(trips.value or 0))


def staged_range(tape: Tape, args: tuple[Any, ...], checkpoint: Any = None) -> StagedRange:
    """`rose.range(stop)`, `rose.range(start, stop)`, `rose.range(start, stop, step)`."""
    if not 1 <= len(args) <= 3:
        raise TypeError(
            f"range expected {'at least 1 argument' if not args else 'at most 3 arguments'}, got {len(args)}"
        )
    for arg in args:
        if arg.__class__ is not Int and number_kind(arg) != "int":
            raise tape.type_fault(f"a range has integer bounds, given {type(arg).__name__}", "convert with `int(...)`")
    bounds = (0, *args) if len(args) == 1 else args
    step = bounds[2] if len(bounds) == 3 else 1
    if number_kind(step) == "int" and step == 0:
        raise ValueError(_NO_STEP)
    made = StagedRange(tape, bounds[0], bounds[1], step, checkpoint)
    return (
        made
        if is_open(made)
        else StagedRange(tape, as_staged(bounds[0]), as_staged(bounds[1]), as_staged(step), checkpoint)
    )


def is_downwards(r: StagedRange) -> bool:
    """Whether it counts `n - 1, ..., 0`: the loop runs downwards, and its index is the number itself."""
    return number_kind(r.step) == "int" and r.step == -1 and number_kind(r.stop) == "int" and r.stop == -1


def is_open(r: StagedRange) -> bool:
    """Whether it counts upwards by 1 between lengths that stay open, and numbers."""
    ends = (r.start, r.stop)
    return r.step.__class__ is int and r.step == 1 and has_open(ends) and all(number_kind(end) == "int" for end in ends)


def trip_count(r: StagedRange) -> Atom:
    """How many numbers there are; below 1 means none."""
    if is_open(r):
        return Lit(clipped(r.stop - r.start), INT)
    if all(number_kind(bound) == "int" for bound in (r.start, r.stop, r.step)):
        return Lit(len(range(r.start, r.stop, r.step)), INT)
    if number_kind(r.step) == "int" and r.step == 1:
        return _whole(r.tape, r.stop - r.start if not _is_zero(r.start) else r.stop)
    if is_downwards(r):
        return _whole(r.tape, r.start + 1)
    if r.step.__class__ is Int:
        held = r.tape.apply(P["ine"], r.step.atom, Lit(0, INT))
        r.tape.check(held, Failure("raise", "", r.tape.here(), exception=ValueError(_NO_STEP)))
    return _whole(r.tape, -((r.start - r.stop) // r.step))


def _is_zero(value: Any) -> bool:
    return number_kind(value) == "int" and value == 0


def _whole(tape: Tape, value: Any) -> Atom:
    atom = int_atom(tape, value)
    assert atom is not None
    return atom


def item_at(r: StagedRange, index: Var) -> Any:
    """The item of the iteration `index`, staged in the body of the loop."""
    return number_at(r, index) if r.pick is None else r.pick(index)


def number_at(r: StagedRange, index: Var) -> Int:
    """The number of the iteration `index`, staged in the body of the loop."""
    tape = r.tape
    if is_downwards(r):
        return Int(tape, index, 0)
    start = as_staged(r.start)
    low = start.low if start.__class__ is Int else start
    up = number_kind(r.step) == "int" and r.step > 0
    if not up:
        low = r.stop + 1 if number_kind(r.stop) == "int" else r.stop.low + 1
        low = low if number_kind(r.step) == "int" else -(2**63)
    offset: Atom = index
    if not (number_kind(r.step) == "int" and r.step == 1):
        offset = tape.apply(P["wmul"], index, _whole(tape, r.step))  # no overflow: the result is between the bounds
    if not _is_zero(r.start):
        offset = tape.apply(P["wadd"], offset, _whole(tape, r.start))
    return Int(tape, offset, low)
