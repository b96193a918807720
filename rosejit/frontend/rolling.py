"""Decides, before anything runs, whether a loop over a plain `range` gives the same when it is staged once as a loop.

The plan of the body (`plans.py`) is followed with what is known of the values before the loop, turn by turn, until what
goes round is the same after a turn as before it (`turns.py`). Whatever is not certain raises `Unrolled`.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

import builtins
from collections.abc import Callable
from types import FrameType
from typing import Any

from rosejit.frontend import lifted, turns
from rosejit.frontend.control import HostFor, StagedFor, iterate
from rosejit.frontend.grids import Grid
from rosejit.frontend.lifted import Known, Number, Unrolled, unroll
from rosejit.frontend.operands import Partial
from rosejit.frontend.plans import Plan
from rosejit.frontend.ranges import StagedRange
from rosejit.frontend.tape import UNDEFINED, Tape
from rosejit.frontend.turns import Turns, bound_names
from rosejit.ir.types import INT, REAL
from rosejit.log import note


def roll(
    tape: Tape,
    items: Any,
    names: tuple[str, ...],
    exposed: int,
    plan: Plan | str,
    leaving: tuple[str, ...],
    frame: FrameType,
) -> HostFor | StagedFor:
    """The `for` over `items` in the user's `frame`: staged once where that gives the same. A text says why not."""
    if not _is_rolled(tape, items, names, plan, frame):
        return iterate(tape, items, names, exposed, leaving)
    return StagedFor(StagedRange(tape, items.start, items.stop, items.step), names, exposed, leaving)


def _is_rolled(tape: Tape, items: Any, names: tuple[str, ...], plan: Plan | str, frame: FrameType) -> bool:
    if items.__class__ is not range or len(items) < turns.FEWEST or tape.trying:
        return False
    reason = plan if isinstance(plan, str) else why_not(tape, items, names, plan, frame)
    if reason:
        note("compile", lambda: f"{tape.here()}: a loop of {len(items)} turns is unrolled, not rolled: {reason}")
    return not reason


def why_not(tape: Tape, items: range, names: tuple[str, ...], plan: Plan, frame: FrameType) -> str:
    """What keeps the loop from being rolled; nothing if it may be."""
    *loop, later = plan
    reader = _reader(frame, frozenset(bound_names((("for", (), *loop),))))
    widening: frozenset[str] = frozenset()
    try:
        while True:
            found = _widening(Turns(tape, reader, widening), items, names, tuple(loop), later)
            if found <= widening:
                return ""
            widening |= found
    except Unrolled as reason:
        return str(reason)


def _reader(frame: FrameType, bound: frozenset[str]) -> Callable[[str], Any]:
    """What a name is bound to in the frame of the loop; those that the loop binds are variables of the function."""
    variables = frame.f_locals

    def read(name: str) -> Any:
        if name in bound:
            return variables.get(name, UNDEFINED)
        for scope in (variables, frame.f_globals, vars(builtins)):
            if name in scope:
                return scope[name]
        return unroll(f"`{name}` is not bound")

    return read


def _widening(walk: Turns, items: range, names: tuple[str, ...], plan: Plan, later: tuple[str, ...]) -> frozenset[str]:
    """Follow the loop. Gives the names that are Ints before it and Reals after it."""
    before = {name: walk.found(name) for name in names}
    walk.settle(lifted.index(items), plan, names)
    widening = frozenset(name for name in names if _after(walk, name, before, names, name in later))
    if any(walk.contents[place].is_lifted for place in walk.written if place in walk.reached):
        unroll("an array is known to the host after the loop")
    return widening


def _after(walk: Turns, name: str, before: dict[str, Any], names: tuple[str, ...], is_read: bool) -> bool:
    """Whether a name widens; raises if it is not after the rolled loop what it is after the unrolled one.

    What the host knows of a name that is not read after the loop may go round as a number all the same.
    """
    was: Any = before[name]
    now: Any = walk.names[name]
    if now.__class__ is Partial:
        now = now.value
    if not is_read and now != was and lifted.is_known_number(now):
        now = lifted.number(now)
    if now.__class__ is Grid:
        _array_after(walk, name, was, now, names)
        return False
    if now.__class__ is not Number or (is_read and now.is_lifted):
        return False if now.__class__ is Known and now == was else unroll(f"the host knows `{name}` after the loop")
    kind = None if was is None or was.__class__ is Partial else lifted.number(was).kind
    if kind not in (None, now.kind) and (kind, now.kind) != (INT, REAL):
        unroll(f"`{name}` changes its kind")
    return kind is INT and now.kind is REAL


def _array_after(walk: Turns, name: str, was: Any, now: Grid, names: tuple[str, ...]) -> None:
    """An array that a name is bound to after the loop was made in it, or is the one from before."""
    if walk.contents[now.place].is_lifted:
        unroll(f"the host knows `{name}` after the loop")
    if was is not None and (was.__class__ is not Grid or (was.shape, was.kind) != (now.shape, now.kind)):
        unroll(f"`{name}` changes its shape")
    others = [walk.names[other] for other in names if other != name]
    if any(other.__class__ is Grid and other.place is now.place for other in others):
        unroll("two names share an array after a turn")
    if was is not None and was.place is now.place:
        if now.place in walk.written and walk.reached.get(now.place, set()) - {name}:
            unroll(f"`{name}` is written under another name too")
    elif not now.is_fresh or (was is not None and was.place in walk.written):
        unroll(f"`{name}` is bound to an array from outside, or to one that is written as well")
