"""The steps that lists whose length only running tells are written in: each is staged as one."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable
from typing import Any, NoReturn

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.arrays.access import copy
from rosejit.frontend.lists.list_rows import Unlike, anew, joined, read, room_in, template_of, template_of_rows, write
from rosejit.frontend.lists.list_sites import made_list
from rosejit.frontend.soa.element_proxy import arrays_in
from rosejit.frontend.soa.struct_of_arrays import map_arrays
from rosejit.lazy_dataclass import dataclass

HELP = (
    "indices, slices, loops, comprehensions, methods of lists, and `len`, `sum`, `max`, `min`, `any`, `all`, `sorted`, "
    "`reversed`, `enumerate`, `zip` and `heapq` work; other code needs an array of a known length"
)


@dataclass(slots=True, frozen=True, eq=False)
class Step:
    """What staged code calls as a function."""

    stage: Callable[..., Any]

    def __rose_stage__(self, session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.stage(session, *args)


def refuse(tape: Any, what: str) -> NoReturn:
    """Raise for what is not staged with such a list."""
    raise tape.type_fault(f"{what} a list whose length only running tells", HELP)


class Refusing:
    """What Python's lists, dicts and sets have, and those whose length only running tells do not."""

    kind: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(vars(self).get("kind"), name):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)
        refuse(_tape_of(self), f"`{name}` is called of")

    def _operator(self, other: Any) -> NoReturn:
        refuse(_tape_of(self), "an operator is used of")

    __or__ = __ror__ = __ior__ = __and__ = __rand__ = __iand__ = __xor__ = __rxor__ = __ixor__ = _operator
    __sub__ = __rsub__ = __isub__ = _operator


def _tape_of(items: Any) -> Any:
    rows = items.known.rows if hasattr(items, "known") else items.rows
    return next(array.tape for array in arrays_in(rows))


def _store(session: Any, items: Any, row: Any, item: Any) -> None:
    tape, rows = session.tape, items.rows
    had = template_of_rows(rows)
    try:
        needed = joined(had, template_of(item))
    except Unlike as error:
        raise tape.fault(
            UnsupportedSyntax,
            "this list holds, in each run, as many items as a staged loop puts in it, and they are not alike",
            facts=(str(error),),
            help="let its items be numbers, or tuples or records of numbers, of the same kinds; arrays of one shape",
        ) from None
    if needed != had:
        tape.sites.widen(items.site, needed)
        refuse(tape, "a float is put among the ints of")
    write(tape, rows, row, item)


def _like(session: Any, items: Any, kind: Any = None) -> Any:
    return made_list(session, anew(items.rows, session.tape), items.site, items.kind if kind is None else kind)


def _side_by_side(session: Any, *lists: Any) -> Any:
    """Lists that have the same rows as one of tuples."""
    first = lists[0]
    rows = tuple([map_arrays(each.rows, copy) for each in lists])
    made = made_list(session, rows, first.site, list)
    made.start, made.length = first.start, first.length
    return made


def stamp_of(tape: Any, lists: Any) -> list[Any]:
    """What lists hold now: it is another thing after each change."""
    boxes = [array.box for each in lists for array in arrays_in(each.rows)]
    return [each.start for each in lists] + [each.length for each in lists] + [tape.content(box) for box in boxes]


def is_changed(tape: Any, lists: Any, stamp: list[Any]) -> bool:
    """Whether lists hold something else than they did."""
    pairs = zip(stamp, stamp_of(tape, lists), strict=True)
    return any([a is not b and (a.__class__ is not int or b.__class__ is not int or a != b) for a, b in pairs])


def check_fresh(tape: Any, items: Any) -> None:
    """Refuse a view of lists that have changed since it was made."""
    if items.behind and is_changed(tape, items.behind, items.stamp):
        refuse(tape, "a view, or an iterator, is used of what has changed since it was made,")


def _view(session: Any, made: Any, *lists: Any) -> Any:
    made.behind, made.stamp = lists, stamp_of(session.tape, lists)
    return made


def _length(session: Any, items: Any) -> Any:
    check_fresh(session.tape, items)
    return items.length


def _element(session: Any, items: Any, row: Any) -> Any:
    check_fresh(session.tape, items)
    return read(session.tape, items.rows, row)


def _refused(session: Any, items: Any) -> NoReturn:
    refuse(session.tape, "what is done here needs each item of")


element: Any = Step(_element)
"""The item in a row."""
length_of: Any = Step(_length)
"""How many items there are."""
view: Any = Step(_view)
"""Notes of a list what it shows."""
store: Any = Step(_store)
"""Puts an item in a row."""
room_of: Any = Step(lambda session, items: room_in(items.rows))
"""For how many items there is room."""
empty_like: Any = Step(_like)
"""An empty list for the same kind of items, with as much room."""
side_by_side: Any = Step(_side_by_side)
"""Several lists as one of tuples."""
iterated: Any = Step(_refused)
"""Refuses what goes through a list as Python does."""
