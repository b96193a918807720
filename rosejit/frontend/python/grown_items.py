"""Items of lists that have grown on some paths only: by index, slices, and what is taken away from their ends."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable
from typing import Any

from rosejit.frontend.control.grown_lists import any_there, each, ranks, refuse, there
from rosejit.frontend.control.truth import truth
from rosejit.frontend.control.undefined import split
from rosejit.frontend.python.assert_raise import raised_unless
from rosejit.frontend.python.lookups import of_sequence_at
from rosejit.frontend.python.ordering import both, choose, either
from rosejit.frontend.scalar_ops.faults import quietly
from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.scalars import Bool, Int, P, Real
from rosejit.frontend.values.tape import UNDEFINED, MaybeBound, Tape, unfailing
from rosejit.ir.syntax import FALSE

Read = Callable[[Any], Any]


def selected(tape: Tape, condition: Any, a: Any, b: Any) -> Any:
    """`a if condition else b` of two integers."""
    if condition.__class__ is not Bool:
        return a if condition else b
    return P["iselect"].__call__(condition, a, b)


def place(tape: Tape, items: Any, index: Any) -> tuple[Any, Any]:
    """The place of `items[index]` among those that may be there, and whether it is."""
    flags = [flag for _, flag in each(items)]
    count = len(items)
    first_open = next((k for k, flag in enumerate(flags) if flag is not True), count)
    if index.__class__ is int and 0 <= index < first_open:
        return index, True
    backwards = index.__class__ is int and index < 0
    order = range(count - 1, -1, -1) if backwards else range(count)
    if backwards:
        index = -1 - index
    before: list[Any] = ranks(tape, [items[k] for k in order])
    if index.__class__ is Int:
        index = selected(tape, index < 0, index + before[-1], index)
    at: Any = 0
    found: Any = False
    for k, rank in reversed([*zip(order, before, strict=False)]):
        hit = both(tape, flags[k], truth(tape, rank == index))
        at, found = selected(tape, hit, k, at), either(tape, hit, found)
    return at, found


def item(tape: Tape, items: Any, index: Any, read: Read) -> Any:
    """`items[index]`, where an index out of range is Python's error when the code runs."""
    if index.__class__ is slice:
        return sliced(tape, items, index)
    at, found = place(tape, items, index)
    kind = type(items).__name__
    return item_at(tape, items, at, found, read, (IndexError, f"{kind} index out of range"))


def item_at(tape: Tape, items: Any, at: Any, found: Any, read: Read, error: tuple[Any, str]) -> Any:
    """The item at a place, or the error where it was not found."""
    if found is False and not tape.is_staged:
        raise error[0](error[1])
    if found is False:  # whether this line is reached only running tells
        caught = raised_unless(tape, Bool(tape, FALSE), *error)
        tape.frame.diverges = tape.frame.diverges or not caught
        return Real(tape, tape.literal(0.0))  # nobody reads it
    if found is not True and raised_unless(tape, found, *error):
        at = choose(tape, found, at, 0, "index")
    values = [value for value, _ in each(items)]
    if at.__class__ is not Int:
        return read(values[at])
    with unfailing(tape):
        return of_sequence_at(tape, values, at, read)


def sliced(tape: Tape, items: Any, index: slice) -> Any:
    """`items[a:b]`, and `items[::-1]`."""
    kind = type(items)
    if index.step == -1 and index.start is None and index.stop is None:
        return items[::-1]
    is_plain = all(
        bound is None or bound.__class__ is Int or number_kind(bound) == "int" for bound in (index.start, index.stop)
    )
    if index.step not in (None, 1) or not is_plain:
        refuse(tape, "a slice with steps is taken of", items)
    before = ranks(tape, items)
    count = before.pop()

    def bound(value: Any) -> Any:
        if value.__class__ is Int:
            return selected(tape, value < 0, value + count, value)
        return value + count if value < 0 else value

    found = list(items)
    low = None if index.start is None else bound(index.start)
    high = None if index.stop is None else bound(index.stop)
    for k, (value, rank) in enumerate(zip(items, before, strict=True)):
        if low is not None:
            value = there(tape, value, truth(tape, rank >= low))
        if high is not None and value is not None:
            value = there(tape, value, truth(tape, rank < high))
        found[k] = value
    return kind([value for value in found if value is not None])


# --- what is taken away


def is_popped(args: tuple[Any, ...]) -> bool:
    """Whether these are arguments of `pop` for the last item, or the first."""
    return not args or (len(args) == 1 and args[0].__class__ is int and args[0] in (0, -1))


def popped(session: Any, owner: list[Any], index: int = -1) -> Any:
    """`owner.pop()` and `owner.pop(0)`: the last or the first that is there is there no more."""
    tape = session.tape
    at, found = place(tape, owner, index) if owner else (0, False)
    was_pending = tape.faults is not None and tape.faults.pending
    value = item_at(tape, owner, at, found, session.hooks.read_outer, (IndexError, "pop from empty list"))
    if was_pending:
        _take(session, owner, index)
    else:  # where it raises there is no item, and none is taken
        quietly(tape, _take, session, owner, index)
    return value


def _take(session: Any, owner: list[Any], index: int) -> None:
    tape, last = session.tape, len(owner) - 1
    before = list(owner)
    for k in range(last, -1, -1) if index else range(last + 1):
        others = before[k + 1 :] if index else before[:k]
        kept = there(tape, before[k], any_there(tape, others))
        if kept is None and not index:
            kept = MaybeBound(split(before[k])[0], Bool(tape, FALSE))
        if kept is not before[k]:
            session.hooks.replace(owner, k, UNDEFINED if kept is None else kept)
