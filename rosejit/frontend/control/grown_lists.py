"""Lists that grow on some paths only: how many items they have only running tells.

Python's list has an item for each that may be there, in order: an item itself, or a `MaybeBound` with the flag that
says whether it is there. What is not there takes no place: the index of an item is the number of those before it.
"""

# Values of users are of any type: what they are is asked while staging.

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from types import GeneratorType
from typing import Any, NoReturn

from rosejit.errors import StagingTypeError
from rosejit.frontend.control.row_iterators import RowIterator
from rosejit.frontend.control.undefined import Poison, split
from rosejit.frontend.values.pytree import is_object, members
from rosejit.frontend.values.scalars import Bool, Int, P
from rosejit.frontend.values.tape import MaybeBound, Tape
from rosejit.ir.syntax import Lit
from rosejit.ir.types import INT

HELP = (
    "`len`, `sum`, `max`, `min`, `any`, `all`, `next`, `sorted`, indices, slices, `in`, and loops and comprehensions "
    "through it work; or keep all items, with a truth value beside each"
)


def is_grown(value: Any) -> bool:
    """Whether only running tells which items a list or a tuple has."""
    kind = value.__class__
    if kind is not list and kind is not tuple and kind is not deque:
        return False
    found = next((item for item in value if item.__class__ is MaybeBound), None)
    if found is not None and isinstance(value[-1], MaybeBound) and isinstance(value[-1].flag, Poison):
        value[-1].flag.__rose_use__()
    return found is not None


def holds_grown(value: Any) -> bool:
    """Whether such a list is in a value, itself or inside structures and objects."""
    pending, seen = [value], set[int]()
    while pending:
        item = pending.pop()
        if item.__class__ is MaybeBound:
            return True
        if id(item) not in seen:
            seen.add(id(item))
            pending += (members(item) if is_object(item) or hasattr(item, "__len__") else None) or ()
    return False


def goes_through_grown(iterator: Any) -> bool:
    """Whether such a list is gone through, by an iterator of Python's of iterators."""
    pending = [iterator]
    while pending:
        item = pending.pop()
        if is_grown(item):
            return True
        if isinstance(item, _ITERATORS):
            pending += item.__reduce__()[1]
        elif item.__class__ is RowIterator:
            pending.append(item.source)
        elif item.__class__ is GeneratorType and item.gi_frame is not None:
            pending += item.gi_frame.f_locals.values()
    return False


_ITERATORS = (enumerate, zip, map, filter, reversed, type(iter([])), type(iter(())), type(reversed([])))


def refuse(tape: Tape, what: str, *items: Any) -> NoReturn:
    """Raise for what is not staged with such a list, one of `items`, unless it can be one with rows."""
    for each in items:
        if is_grown(each):
            tape.sites.opens(tape, each)
    raise tape.fault(StagingTypeError, f"{what} a list whose length only running tells", help=HELP)


def _number(tape: Tape, flag: Any) -> Any:
    return Int(tape, tape.apply(P["iselect"], flag.atom, Lit(1, INT), Lit(0, INT)), 0) if flag.__class__ is Bool else 1


def ranks(tape: Tape, items: Sequence[Any]) -> list[Any]:
    """How many items are there before each, and of all of them."""
    made: list[Any] = [0]
    for item in items:
        made.append(made[-1] + _number(tape, split(item)[1]))
    return made


def any_there(tape: Tape, items: Any) -> Any:
    """Whether there is an item."""
    found: Any = False
    for item in items:
        flag = split(item)[1]
        if flag is True:
            return True
        known: Any = flag
        found = known if found is False else Bool(tape, tape.apply(P["or"], found.atom, known.atom))
    return found


def there(tape: Tape, item: Any, condition: Any) -> Any:
    """An item that is there where it was and a condition holds; None if that is nowhere."""
    value, flag = split(item)
    if condition.__class__ is not Bool:
        return item if condition else None
    both = tape.apply(P["and"], flag.atom, condition.atom) if isinstance(flag, Bool) else condition.atom
    return MaybeBound(value, Bool(tape, both))


def each(items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """The items, each with its flag."""
    return map(split, items)
