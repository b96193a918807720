"""Turns a slice into a run along a dimension; one with staged bounds is a window, of a length that staging proves."""

# Values of users are of any type: what they are is asked while staging.

from typing import Any

from rosejit.errors import RoseIndexError
from rosejit.frontend.arrays.access import element, number
from rosejit.frontend.arrays.array import FIRST, Array, Run
from rosejit.frontend.values.host_scalars import LARGEST, SMALLEST, number_kind
from rosejit.frontend.values.open_lengths import OpenLength, as_staged
from rosejit.frontend.values.pytree import staged_leaf
from rosejit.frontend.values.scalars import Int, P, int_atom
from rosejit.frontend.values.staged_inputs import inputs_of, to_know
from rosejit.frontend.values.tape import Tape
from rosejit.ir.lengths import clipped
from rosejit.ir.syntax import Atom, Failure, Lit
from rosejit.ir.types import INT


def plain(tape: Tape, item: Any) -> Any:
    """An integer array without dimensions as the number that it holds."""
    is_number = item.__class__ is Array and not item.shape and item.type is INT
    return number(tape, element(item, ())) if is_number else item


def run_of(tape: Tape, item: slice, length: int, axis: int) -> tuple[Run, int]:
    """What a slice of a dimension shows as dimension `axis` of the view, and how many elements that are."""
    bounds = [plain(tape, bound) for bound in (item.start, item.stop, item.step)]
    if length.__class__ is OpenLength and all(bound is None or number_kind(bound) == "int" for bound in bounds):
        return _of_open(tape, bounds, length, axis)
    bounds = [as_staged(bound) for bound in bounds]
    if not any(staged_leaf(bound) is not None for bound in bounds):
        start, stop, step = slice(*bounds).indices(length)
        return Run(axis, Lit(start, INT), step), len(range(start, stop, step))
    start, step, span = _proven(tape, *bounds)
    count = len(range(0, span, step))
    if not span:
        return Run(axis, FIRST, step), 0
    if count > length and not (tape.is_staged and not tape.catching):
        message = f"a slice of {count} elements does not lie within length {length}"
        raise tape.fault(RoseIndexError, message, help=_INSIDE)
    return Run(axis, _begin(tape, start, bounds[1], step, span, length), step), count


def _of_open(tape: Tape, bounds: list[Any], length: Any, axis: int) -> tuple[Run, Any]:
    """A slice of a dimension whose length is open: from so many elements at the front to so many at the back."""
    first, stop, step = bounds
    first = 0 if first is None else first
    last = 0 if stop is None else stop - length if stop.__class__ is OpenLength else stop
    known = first.__class__ is int and last.__class__ is int and (step is None or step.__class__ is int)
    empty = stop.__class__ is int and stop == 0
    if not known or step not in (None, 1) or first < 0 or last > 0 or empty:
        raise tape.type_fault(
            f"of an array of the open length `{length!r}` slices leave out so many elements at the ends",
            "`x[1:]`, `x[:-1]`, `x[2:-2]` are staged; loop over other parts with `rose.range(i, j)`",
        )
    return Run(axis, Lit(first, INT)), clipped(length + last - first)


_INSIDE = "NumPy would give fewer elements: keep the window inside the array, or make the array longer at its ends"


def _proven(tape: Tape, start: Any, stop: Any, step: Any) -> tuple[Any, int, int]:
    """The start, the step, and how far the stop is from the start. Raises unless staging knows the latter two."""
    for bound in (start, stop, step):
        if bound is not None and bound.__class__ is not Int and number_kind(bound) != "int":
            shown = type(bound).__name__
            raise tape.type_fault(f"the bounds of a slice are integers, given {shown}", "convert with `int(...)`")
    step = 1 if step is None else step
    if step.__class__ is Int:
        raise tape.type_fault("the step of a slice must be known while staging: it decides the shape", _REMEDIES[-1])
    if step == 0:
        raise ValueError("slice step cannot be zero")
    first, last = int_atom(tape, start), int_atom(tape, stop)
    span = None if first is None or last is None else _difference(tape, last, first)
    if span is None:
        why = "the bounds of a slice decide its length, which is its shape and must be known while staging"
        bounds = [atom for atom in (first, last) if atom is not None]
        inputs, _ = inputs_of(tape, bounds)
        known = f"; or {to_know(tape, *bounds)}" if inputs and all([each.argument for each in inputs]) else ""
        raise tape.type_fault(why, _REMEDIES[(start is None) - (stop is None)] + known)
    return start, int(step), span


def _difference(tape: Tape, a: Atom, b: Atom) -> int | None:
    return tape.definitions.difference((*(frame.lets for frame in tape.frames), tape.lets), a, b)


_REMEDIES = (
    "bounds that differ by a constant do, `x[i : i + 2]`; else loop over the elements with `rose.range(i, j)`",
    "loop over `rose.range(i)`, keep the shape with `np.where(np.arange(len(x)) < i, x, 0.0)`, or take a window of "
    "constant length, `x[i - 2 : i]`",
    "loop over `rose.range(i, len(x))`, keep the shape with `np.where(np.arange(len(x)) < i, 0.0, x)`, or take a "
    "window of constant length, `x[i : i + 2]`",
)
"""What to do about a slice of unknown length: between two bounds, without a start, without a stop."""


def _begin(tape: Tape, start: Int, stop: Any, step: int, span: int, length: int) -> Atom:
    """The index of the first element of a window. Checks at run time that no bound is clipped or wraps apart from the
    other: the window would have another length."""
    reach = step * (len(range(0, span, step)) - 1)
    if span * step < 0:
        from_front, from_back = (max(0, -span), LARGEST), (SMALLEST, min(-1, -1 - span))
    elif step > 0:
        from_front, from_back = (0, length - 1 - reach), (-length, -1 - span)
    else:
        from_front, from_back = (-span, length - 1), (-reach - length, -1)
    at = start.atom
    inside = _between(tape, at, *from_front, start.low)
    if start.low < 0:
        inside = tape.apply(P["or"], inside, _between(tape, at, *from_back))
    last = int_atom(tape, stop)
    assert last is not None
    failure = Failure("index", "the slice from {0} to {1} does not lie within length {2}", tape.here(), help=_INSIDE)
    tape.check(inside, failure, at, last, Lit(length, INT))
    return at if start.low >= 0 else tape.apply(P["wrap_index"], at, Lit(length, INT))


def _between(tape: Tape, at: Atom, low: int, high: int, known: int = SMALLEST) -> Atom:
    """Whether `low <= at <= high`, where `at` is `known` not to be below some number."""
    below = tape.apply(P["ile"], at, Lit(high, INT))
    return below if known >= low else tape.apply(P["and"], tape.apply(P["ige"], at, Lit(low, INT)), below)
