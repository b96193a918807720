"""Decides, before anything runs, whether a loop over a plain `range` gives the same when it is staged once as a loop.

The plan of the body (`loop_plan.py`) is followed by abstract interpretation, iteration by iteration, until the
loop-carried values are the same after an iteration as before it: a fixpoint (`abstract_run.py`). Whatever is not
certain raises `CannotRoll`.
"""

# Values of users are of any type: what they are is asked while staging.

import builtins
import linecache
from collections import ChainMap
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.arrays.host_lists import rolled_item
from rosejit.frontend.control.grown_lists import is_grown
from rosejit.frontend.control.if_for import HostFor, StagedFor, iterate, operations
from rosejit.frontend.control.row_iterators import Sources, as_staged, sources, use_up
from rosejit.frontend.control.staged_range import StagedRange, number_at
from rosejit.frontend.rolling import abstract_numbers, abstract_run
from rosejit.frontend.rolling.abstract_arrays import AbstractArray
from rosejit.frontend.rolling.abstract_helpers import AbstractClosure
from rosejit.frontend.rolling.abstract_lists import growing, grown
from rosejit.frontend.rolling.abstract_numbers import AbstractNumber, CannotRoll, Constant, TooLong, unroll
from rosejit.frontend.rolling.abstract_operands import MaybeBound
from rosejit.frontend.rolling.abstract_records import AbstractStructure, is_like, is_stored_to, leaves
from rosejit.frontend.rolling.abstract_run import AbstractRun
from rosejit.frontend.rolling.abstract_tables import Tables
from rosejit.frontend.rolling.tried_loops import TriedFor
from rosejit.frontend.syntax.loop_plan import Plan, bound_names
from rosejit.frontend.values.locations import Place
from rosejit.frontend.values.tape import UNDEFINED, Tape, refuse_outer_iterator
from rosejit.ir.syntax import Check, Var
from rosejit.ir.types import INT, REAL
from rosejit.lazy_dataclass import dataclass
from rosejit.logs import note

STRICT = False
"""Whether an error while a loop is followed goes to the user, and no check may be staged meanwhile: so that tests
find what is not thought of."""


def roll(
    tape: Tape,
    items: Any,
    names: tuple[str, ...],
    exposed: int,
    plan: Plan | str,
    leaving: tuple[str, ...],
    frame: FrameType,
) -> "HostFor | StagedFor | PeeledFor | TriedFor":
    """The `for` over `items` in the user's `frame`: staged once where that gives the same. A text says why not."""
    found = None if tape.has_grown and is_grown(items) else sources(tape, items)
    if found is None:
        return iterate(tape, items, names, exposed, leaving)
    if hasattr(items, "__next__"):
        refuse_outer_iterator(tape, items)
    before = len(tape.lets)
    why = _why_unrolled(tape, found, names, plan, frame)
    assert not STRICT or not any([isinstance(let.expr, Check) for let in tape.lets[before:]]), "a check was staged"
    if not why.reason:
        if hasattr(items, "__next__"):
            use_up(tape, items, bool(leaving))
        return _rolled(tape, found, names, exposed, leaving)
    may_roll_later = why.by_values or (why.is_short and found.length > 1 and not (tape.is_staged or tape.catching))
    if isinstance(plan, str) or not may_roll_later or leaving or items.__class__ is not range:
        reason = _noted(tape.here(), found.length, why.reason) if why.by_values else why.reason
        if why.is_short and any(isinstance(a, (list, tuple)) for a in found.each):
            reason = ""  # nothing that could be written would keep it a loop
        host = iterate(tape, items, names, exposed, leaving, reason)
        if items.__class__ is not range or not reason or not isinstance(host, HostFor):
            return host
        return TriedFor(tape, host, items, plan, names, exposed, leaving, place=tape.here())
    place = tape.here()

    def unrolled(items: range, reason: str) -> TriedFor:
        host = HostFor(tape, items, True, reason, place, peeled=1)
        return TriedFor(tape, host, items, plan, names, exposed, leaving, place=place)

    def rest(items: range, ops: int) -> TriedFor | StagedFor:
        if why.is_short and ops * len(items) < _MUCH:
            return unrolled(items, why.reason)
        left = Sources((items,), len(items), False)
        reason = _noted(place, found.length, why_not(tape, left, names, plan, frame))
        if reason:
            return unrolled(items, reason)
        return _rolled(tape, left, names, exposed, leaving)

    return PeeledFor(tape, items, rest)


_MUCH = 8_000
"""So many operations, by those of the first iteration, are no short loop, however few its iterations are."""


def _rolled(tape: Tape, found: Sources, names: tuple[str, ...], exposed: int, leaving: tuple[str, ...]) -> StagedFor:
    numbers = found.each[0]
    if isinstance(numbers, range) and not found.is_tuple:
        return StagedFor(as_staged(tape, numbers), names, exposed, leaving, None, found)
    pick: Callable[[Var], Any] = lambda index: _item(tape, found, index)  # noqa: E731  # given away at once
    counted = StagedRange(tape, 0, found.length, 1)
    return StagedFor(counted, names, exposed, leaving, pick, found)


class PeeledFor:
    """A loop over a range whose first iteration is staged by itself (loop peeling): what the host knows before it is
    staged after it, and `rest` may roll the others."""

    def __init__(self, tape: Tape, items: range, rest: Callable[[range, int], TriedFor | StagedFor]) -> None:
        self._tape = tape
        self._items = items
        self._decide = rest
        self._rest: TriedFor | StagedFor | None = None

    @property
    def staged(self) -> bool:
        """Whether the others are rolled."""
        return self._rest is not None and self._rest.staged

    def __iter__(self) -> Iterator[Any]:
        before = operations(self._tape)
        yield self._items[0]
        self._rest = rest = self._decide(self._items[1:], operations(self._tape) - before)
        yield from rest

    def enter(self, names: tuple[Any, ...]) -> tuple[Any, ...]:
        """Begin the body of the staged loop."""
        assert self._rest is not None
        return self._rest.enter(names)

    def back(self, names: tuple[Any, ...]) -> tuple[Any, ...]:
        """End an iteration."""
        return names if self._rest is None else self._rest.back(names)


@dataclass(slots=True, frozen=True)
class Refusal:
    """Why a loop is not rolled, if it is not; whether that follows from what values are when it begins, or from how
    short it is."""

    reason: str
    by_values: bool = False
    is_short: bool = False


def _item(tape: Tape, items: Sources, index: Var) -> Any:
    """The item of an iteration of a staged loop."""
    at = number_at(StagedRange(tape, 0, items.length, 1), index)
    each = [_item_of(tape, a, index, at) for a in items.each]
    return tuple(each) if items.is_tuple else each[0]


def _item_of(tape: Tape, source: Any, index: Var, at: Any) -> Any:
    if isinstance(source, range):
        return number_at(as_staged(tape, source), index)
    if source.__class__ is Array:
        return get(source, at)
    return rolled_item(tape, source, at, tape.session.hooks.containers.getitem)


def _why_unrolled(tape: Tape, items: Sources, names: tuple[str, ...], plan: Plan | str, frame: FrameType) -> Refusal:
    """Why the loop is not rolled."""
    if isinstance(plan, str):
        return Refusal(plan if items.length < abstract_run.FEWEST else _noted(tape.here(), items.length, plan))
    numbers = items.each[0] if isinstance(items.each[0], range) else range(items.length)
    work = abstract_run.OUTER if tape.rolled is None else abstract_run.INNER
    if not abstract_run.is_long(numbers, plan, ChainMap(frame.f_locals, frame.f_globals).get, work):
        return Refusal(f"loops of less than {abstract_run.FEWEST} iterations are short", is_short=True)
    if tape.catching:
        return Refusal("it is inside a `try`")
    return Refusal(why_not(tape, items, names, plan, frame), by_values=True)


def _noted(place: Place | None, length: int, reason: str) -> str:
    if reason:
        note("compile", lambda: f"{place}: a loop of {length} iterations is unrolled, not rolled: {reason}")
    return reason


def why_not(tape: Tape, items: Sources, names: tuple[str, ...], plan: Plan, frame: FrameType) -> str:
    """What keeps the loop from being rolled; nothing if it may be."""
    if tape.rolled is None:
        tape.columns.clear()
        tape.rows.clear()  # fields and elements may have been assigned since the loop before
    *loop, later = plan
    bound = frozenset(bound_names((("for", (), *loop),)))
    reader = _reader(frame, bound)
    widening: frozenset[str] = frozenset()
    try:
        while True:
            found = _widening(
                AbstractRun(tape, reader, widening, bound=bound, around=frame.f_globals, tables=Tables(tape)),
                items,
                names,
                tuple(loop),
                later,
            )
            if found <= widening:
                return ""
            widening |= found
    except TooLong as reason:
        if tape.rolls_more:
            return _told(reason, frame)
    except CannotRoll as reason:
        return _told(reason, frame)
    except Exception as error:  # the loop's own, which it raises again when it runs; or a fault here
        if STRICT:
            raise
        return f"following it ended in {type(error).__name__}: {error}"
    tape.rolls_more = True  # from now on: staging takes the inner loops as the walk has taken them
    return why_not(tape, items, names, plan, frame)


def _told(refusal: CannotRoll, frame: FrameType) -> str:
    """Why a loop is not rolled, with the expression and the line of it that it is for."""
    file = refusal.file or frame.f_code.co_filename
    shown = linecache.getline(file, refusal.line).strip() if refusal.line else ""
    expression = f" (`{refusal.expression}`)" if refusal.expression and refusal.expression != shown else ""
    elsewhere = f" of {file}" if file != frame.f_code.co_filename else ""
    where = f", in line {refusal.line}{elsewhere}" if refusal.line else ""
    return f"{refusal}{expression}{where}{f': `{shown}`' if shown else ''}"


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


def _widening(
    walk: AbstractRun, items: Sources, names: tuple[str, ...], plan: Plan, later: tuple[str, ...]
) -> frozenset[str]:
    """Follow the loop. Gives the names that are Ints before it and Reals after it."""
    before = {name: walk.carried(name) for name in names}
    each = [a if isinstance(a, range) else walk.classified(a, "*") for a in items.each]
    walk.growing = growing(walk, plan, names)
    if any(id(a) in walk.growing for a in items.each):
        unroll("the list that the loop goes through grows in it")
    items.inductions = walk.run_to_fixpoint(*walk.iterations(each, items.is_tuple, plan), plan, before)
    if any(a.place in walk.written for a in each if isinstance(a, AbstractArray)):
        unroll("the array that the loop goes through is written in it")
    if not walk.picked.isdisjoint(walk.written):
        unroll("an array of a list is written")
    _require_one_name(walk, names)
    is_left = any([_is_staged(walk.names.get(flag)) for flag in plan[2]])
    widening = frozenset(
        name
        for name in names
        if name not in items.inductions and _after(walk, name, before, names, name in later, is_left)
    )
    items.growing = grown(walk, items.length, [name for name in names if name in later])
    items.written = frozenset(place for place in walk.written if place in walk.reached)
    if any(walk.contents[place].is_lifted for place in walk.written if place in walk.reached):
        unroll("an array is known to the host after the loop")
    return widening


def _require_one_name(walk: AbstractRun, names: tuple[str, ...]) -> None:
    """Raise where an array that is written may be one that another name has, by which side of an `if` has run."""
    held: dict[Any, set[Any]] = {walk.same.of(place): set() for place in walk.written}
    for name, value in walk.names.items():
        for leaf in leaves(value) if name in names or name not in walk.bound else ():
            if leaf.__class__ is AbstractArray and walk.same.of(leaf.place) in held:
                held[walk.same.of(leaf.place)].add(leaf.place)
    if any(len(places) > 1 for places in held.values()):
        unroll("an array is written that may be another one")


def _is_staged(flag: Any) -> bool:
    return flag.__class__ is AbstractNumber and not flag.is_lifted


def _after(
    walk: AbstractRun, name: str, before: dict[str, Any], names: tuple[str, ...], is_read: bool, is_left: bool
) -> bool:
    """Whether a name widens; raises if it is not after the rolled loop what it is after the unrolled one.

    What the host knows of a name that is not read after the loop may be carried as a number all the same; so may what
    it knows in each iteration, if only running tells in which one the loop is left.
    """
    was: Any = before[name]
    now: Any = walk.names[name]
    if now.__class__ is MaybeBound:
        now = now.value
    if now.__class__ is AbstractStructure:
        _structure_after(walk, name, was, now, names)
        return False
    if now.__class__ is AbstractClosure and was is None:  # it reads names as they are when it is called
        return False
    if not is_read and now != was and abstract_numbers.is_known_number(now):
        now = abstract_numbers.number(now)
    if now.__class__ is AbstractArray:
        _array_after(walk, name, was, now, names)
        return False
    if now.__class__ is not AbstractNumber or (is_read and now.is_lifted and not is_left):
        return False if now.__class__ is Constant and now == was else unroll(f"the host knows `{name}` after the loop")
    kind = None if was is None or was.__class__ is MaybeBound else abstract_numbers.number(was).kind
    if kind not in (None, now.kind) and (kind, now.kind) != (INT, REAL):
        unroll(f"`{name}` changes its kind")
    return kind is INT and now.kind is REAL


def _structure_after(walk: AbstractRun, name: str, was: Any, now: AbstractStructure, names: tuple[str, ...]) -> None:
    """A tuple or a record that a name is bound to after the loop is made in it, of what is staged."""
    if was is not None and not is_like(was, now):
        unroll(f"`{name}` becomes another structure")
    if now.made is list:
        unroll(f"`{name}` is a list")
    if now.is_mutable and is_stored_to(now.made, now.keys, walk.around):
        unroll(f"fields of a `{now.made.__name__}` are assigned somewhere, and `{name}` is one")
    arrays = [leaf.place for leaf in leaves(now) if leaf.__class__ is AbstractArray]
    if len({*arrays}) < len(arrays):
        unroll(f"an array is in `{name}` twice")
    for k, item in enumerate(now.items):
        _item_after(walk, name, None if was is None else was.items[k], item, names)


def _item_after(walk: AbstractRun, name: str, was: Any, now: Any, names: tuple[str, ...]) -> None:
    """What is in a tuple or a record after the loop is what was there, or is staged, in its kind and shape."""
    if now.__class__ is AbstractStructure:
        _structure_after(walk, name, was, now, names)
    elif now.__class__ is AbstractArray:
        _array_after(walk, name, was, now, names)
    elif now is was and now.__class__ is Constant:
        return
    elif now.__class__ is not AbstractNumber or now.is_lifted:
        if now is not was:
            unroll(f"the host knows what is in `{name}` after the loop")
    elif was is not None and (was.__class__ is not AbstractNumber or was.kind is not now.kind):
        unroll(f"what is in `{name}` changes its kind")


def _array_after(walk: AbstractRun, name: str, was: Any, now: AbstractArray, names: tuple[str, ...]) -> None:
    """An array that a name is bound to after the loop was made in it, or is the one from before."""
    if walk.contents[now.place].is_lifted:
        unroll(f"the host knows `{name}` after the loop")
    if was is not None and (was.__class__ is not AbstractArray or (was.shape, was.kind) != (now.shape, now.kind)):
        unroll(f"`{name}` changes its shape")
    others = [leaf for other in names if other != name for leaf in leaves(walk.names[other])]
    if any(other.__class__ is AbstractArray and other.place is now.place for other in others):
        unroll("two names share an array after an iteration")
    if was is not None and was.place is now.place:
        if now.place in walk.written and walk.reached.get(now.place, set()) - {name}:
            unroll(f"`{name}` is written under another name too")
    elif not now.is_fresh or (was is not None and was.place in walk.written):
        unroll(f"`{name}` is bound to an array from outside, or to one that is written as well")
