"""Loops through lists whose length only running tells: staged ranges of their indices."""

# Values of users are of any type: what they are is asked while staging.

from typing import Any

from rosejit.frontend.control.staged_range import StagedRange, number_at
from rosejit.frontend.lists.dynamic_array import DynamicArray
from rosejit.frontend.lists.dynamic_dict import DynamicDict
from rosejit.frontend.lists.list_rows import read
from rosejit.frontend.lists.list_steps import check_fresh, is_changed, refuse, stamp_of
from rosejit.frontend.soa.element_proxy import arrays_in
from rosejit.frontend.values.tape import Frame, Tape


def rows_of_list(tape: Tape, items: Any) -> StagedRange:
    """The items of such a list."""
    start: Any = items.start
    numbers = StagedRange(tape, 0, items.length, 1)

    def pick(index: Any) -> Any:
        return read(tape, items.rows, start + number_at(numbers, index))

    check_fresh(tape, items)
    through = (items, *items.behind)
    return StagedRange(tape, 0, items.length, 1, pick=pick, through=through, stamp=stamp_of(tape, through))


def gone_through(items: Any) -> Any:
    """The list that is gone through: of a dict that of its keys, of an array that which it is made of."""
    if items.__class__ is DynamicArray:
        return items.held
    return items.known if items.__class__ is DynamicDict else items


def check_unchanged(tape: Tape, items: StagedRange, frame: Frame) -> None:
    """Refuse lists whose length changes in the loop through them, and what was made of lists whose items do."""
    behind = [one for each in items.through for one in each.behind]
    for each in items.through:
        slots = tape.slots.get(id(each), {}).values()
        is_other = any([slot.owner is each and slot in frame.contents for slot in slots])
        if is_other or (
            any([each is one for one in behind]) and any([a.box in frame.contents for a in arrays_in(each.rows)])
        ):
            refuse(tape, "a loop goes through, and changes,")


def check_begins(tape: Tape, items: StagedRange) -> None:
    """Refuse an iterator over lists that have changed since it was made."""
    if items.through and is_changed(tape, items.through, items.stamp):
        refuse(tape, "an iterator goes through what has changed since it was made,")
