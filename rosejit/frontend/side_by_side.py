"""Stages sums side by side: a row of them takes a term of each at a time. What lies side by side is then read so."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownVariableType=false

from collections.abc import Callable, Sequence
from typing import Any

from rosejit.frontend.arrays import Array, Run
from rosejit.frontend.tape import Tape
from rosejit.frontend.values import ATOMS, wrap
from rosejit.frontend.views import whole_axes
from rosejit.ir.syntax import Atom, Block, Index, Lit, Loop, Update, Var, Zero
from rosejit.ir.types import INT, Scalar, array
from rosejit.transforms.small import SMALL

Labels = Sequence[Any]
"""A name for each axis of an array: axes of one name run together."""


def runs_along(a: Array, labels: Labels, label: Any) -> bool:
    """Whether elements at the next index of that name lie side by side, and are many: short rows are numbers, and stay
    in registers as sums of their own."""
    last = whole_axes(a)[-1]
    if not isinstance(last, Run) or last.step != 1 or a.shape[last.axis] <= SMALL:
        return False
    return labels[last.axis] == label and labels.count(label) == 1


def added_up(
    tape: Tape, kind: Scalar, lengths: dict[Any, int], result: Labels, term: Callable[[dict[Any, Atom]], Any]
) -> Var:
    """The array with the axes `result` to whose elements all terms have been added, in loops in the order of
    `lengths`."""
    whole = array(tuple(lengths[label] for label in result), kind)

    def level(left: Labels, places: dict[Any, Atom], sums: Var) -> Var:
        if not left:
            at = tuple(places[label] for label in result)
            before = wrap(tape, tape.bind(Index(sums, at, checked=False), kind))
            added = ATOMS[kind](tape, before + term(places))
            assert added is not None
            return tape.bind(Update(sums, at, added, checked=False), whole, "sums")
        carry, index = Var(whole, "sums"), Var(INT, "i")
        with tape.block() as lets:
            back = level(left[1:], {**places, left[0]: index}, carry)
        loop = Loop(Lit(lengths[left[0]], INT), index, (carry,), (sums,), (), Block(lets, (back,)))
        return tape.bind(loop, whole, "sums")

    return level(list(lengths), {}, tape.bind(Zero(), whole, "sums"))
