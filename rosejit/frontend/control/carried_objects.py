"""Objects that a staged loop carries, of which an iteration changes one in place and leaves another under its name.

Copies are carried in their stead, which nothing else is and the body may change: the objects themselves are given
up.
"""

# Values of users are of any type: what they are is asked while staging.

from collections import Counter
from collections.abc import Callable
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.control.undefined import label
from rosejit.frontend.values.pytree import is_alike, members, objects, with_parts
from rosejit.frontend.values.scalars import NUMBERS
from rosejit.frontend.values.tape import UNDEFINED, AttributeSlot, Frame, Tape, loaded

Row = tuple[Any, Any, Any, str]
"""What a place holds before the loop, in the body and after an iteration, and what it is called."""


def is_changed_in_place(tape: Tape, value: Any) -> bool:
    """Whether iterations of a staged loop are known to change an object that they carry under a name."""
    return value is not None and tape.changed_in_place.get(id(value)) is value


def leaves_another(tape: Tape, v: Any, p: Any, x: Any) -> bool:
    """Whether an iteration leaves another object `x` in the place of one that it changes, which stands for itself."""
    if x is p or v.__class__ in NUMBERS or v.__class__ is Array:
        return False
    if p is v and is_changed_in_place(tape, v):
        return True
    inside = [members(value) or () for value in (v, p, x)]
    if not is_alike(v, x) or len({*map(len, inside)}) != 1:
        return False
    return any([leaves_another(tape, *parts) for parts in zip(*inside, strict=True)])


class Moved:
    """Copies of some of the objects that a loop carries, which were given up for these: nothing else is one of them."""

    def __init__(self, tape: Tape, carried: list[Any], moving: list[Any], name: str) -> None:
        self._tape = tape
        self._copies: dict[int, tuple[Any, Any]] = {}
        self._name = name
        given_up = [found for value in moving for found in objects(value)]
        self._moving = {id(found): found for found in given_up}
        places = Counter([id(found) for value in carried for found in objects(value)])
        self._refuse_unless(all(places[key] <= 1 for key in self._moving))
        self._refuse_unless(all(tape.identities.home(found) is not None for found in self._moving.values()))
        for value in moving:
            self.copy(value)
        for found in self._moving.values():
            self._refuse_unless(tape.identities.take(found))

    def _refuse_unless(self, condition: bool) -> None:
        if not condition:
            raise _other(self._tape, self._name)

    def copy(self, value: Any) -> Any:
        """What takes the place of a carried value."""
        known = self._copies.get(id(value))
        if known is not None:
            return known[1]
        inside = members(value) if not isinstance(value, Array) else None
        if not inside:
            return value
        parts = [self.copy(part) for part in inside]
        is_moving = id(value) in self._moving
        if not is_moving and all(one is other for one, other in zip(parts, inside, strict=True)):
            return value
        made = with_parts(value, parts)
        self._copies[id(value)] = value, made
        if is_moving:
            self._tape.moved[id(made)] = made
            self._tape.sites.stands(self._tape, made, value)
            self._tape.record_allocation(made)
        return made


def copier(tape: Tape, rows: list[Row], moving: dict[int, Any]) -> Callable[[Any], Any] | None:
    """What makes copies of the objects that iterations change and exchange, of those that the loop carries; None where
    there are none, but for `moving` ones."""
    if not moving and not any([leaves_another(tape, v, p, x) for v, p, x, _ in rows]):
        return None
    exchanged = [v for v, p, x, _ in rows if x is not p and x is not v]
    return Moved(tape, [row[0] for row in rows], [*exchanged, *moving.values()], rows[0][3]).copy


def check_changed(tape: Tape, frame: Frame, rows: list[Row]) -> None:
    """Refuse an iteration that changes an object under one name, and leaves it under another, which it reads."""
    changed = {
        id(slot.owner)
        for slot, content in frame.contents.items()
        if slot.__class__ is AttributeSlot
        and frame.allocated.get(id(slot.owner)) is not slot.owner
        and loaded(content) is not frame.entry_values.get(slot, (UNDEFINED,))[0]
    }
    if not changed:
        return
    for v, p, x, name in rows:
        if x is p or x is v:
            continue
        known = {id(found) for found in objects(p)}
        reached = [found for item in objects(x) for found in (item, *tape.identities.outside_of(item, frame))]
        if any([id(found) in changed and id(found) not in known for found in reached]):
            what = f"an iteration changes an object, and leaves it as {label(name)}, which is read in the next one"
            raise tape.fault(UnsupportedSyntax, what, help="leave a copy of it there: `copy.copy(it)`, `items[:]`")


def check_apart(tape: Tape, frame: Frame, owned: dict[int, Any], rows: list[Row], read: list[Row]) -> None:
    """Refuse an iteration that leaves objects under two names, or others than those that it began with or has made."""
    left = Counter([id(found) for _, _, x, _ in rows for found in objects(x)])
    apart = tape.identities.are_apart([found for _, _, x, _ in read for found in objects(x)])
    for _, p, x, name in rows:
        if not any([id(found) in owned for found in objects(p)]):
            continue
        for found in objects(x):
            if not apart or left[id(found)] != 1 or tape.identities.outside_of(found, frame):
                raise _other(tape, name)


def _other(tape: Tape, name: str) -> Exception:
    what = f"an iteration changes {label(name)} in place, and leaves another object under that name"
    help = "either assign its attributes, or make a new object each time"
    return tape.fault(UnsupportedSyntax, what, help=help)


def refuse_other(tape: Tape, value: Any, name: str) -> None:
    """Refuse another object under the name of one that iterations change in place."""
    if is_changed_in_place(tape, value):
        raise _other(tape, name)
