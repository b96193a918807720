"""Lists that grow: those from before the loop, by one item an iteration (`control/growing_lists.py`), and those that an
iteration makes for itself."""

# Values of users are of any type: what they are is asked while staging.

from typing import Any

from rosejit.frontend.control.growing_lists import GrowingList
from rosejit.frontend.rolling.abstract_arrays import AbstractArray
from rosejit.frontend.rolling.abstract_numbers import AbstractNumber, Constant, is_known_number, unroll
from rosejit.frontend.rolling.abstract_records import leaves
from rosejit.frontend.syntax.loop_plan import Plan, bound_names


def growing(walk: Any, plan: Plan, names: tuple[str, ...]) -> dict[int, Plan]:
    """The statements at the top of the body that append to lists from before the loop, by `id` of the list."""
    found: dict[int, Plan] = {}
    own = bound_names(plan[1])
    for node in plan[1]:
        if node[0] == "append" and node[1][1] not in own:
            held = None if node[1][1] in names else walk.reader(node[1][1])
            if held.__class__ is not list or id(held) in found or plan[2]:
                unroll("a list grows in it otherwise than by one item an iteration")
            found[id(held)] = node
    return found


def append(walk: Any, node: Plan) -> None:
    """`items.append(value)`."""
    _, name, expression = node
    if name[1] in walk.made:
        _append_to_own(walk, name[1], walk.value(expression))
        return
    held = walk.lookup(name[1])
    if held.__class__ is not Constant or walk.growing.get(id(held.value)) is not node:
        unroll("a list grows in it otherwise than by one item an iteration")
    value = walk.value(expression)
    _, before = walk.grown.get(id(held.value), (None, None))
    if before is not None and _kind(before) != _kind(value):
        unroll("a list grows by items of several kinds")
    walk.grown[id(held.value)] = held.value, value


def note_made(walk: Any, target: Plan, expression: Plan) -> None:
    """A statement `target = expression` has made lists under names, if it has."""
    match target, expression:
        case ("name", name), (("pack", _, True) | ("list", *_)):
            walk.made[name] = walk.names[name], walk.opened
        case ("pack", targets), ("pack", items, False) if len(targets) == len(items):
            for one, item in zip(targets, items, strict=True):
                note_made(walk, one, item)
        case _:
            walk.made = {name: held for name, held in walk.made.items() if name not in bound_names((("bind", target),))}


def _append_to_own(walk: Any, name: str, value: Any) -> None:
    held, opened = walk.made.get(name, (None, -1))
    if held is not walk.names.get(name) or opened != walk.opened:
        unroll("a list grows in a block in which it was not made")
    walk.names[name] = longer = held.with_items([*held.items, value])
    walk.made[name] = longer, opened


def _kind(value: Any) -> Any:
    if value.__class__ is AbstractArray:
        return value.kind, value.shape
    return value.kind if value.__class__ is AbstractNumber and not value.is_lifted else "host"


def grown(walk: Any, length: int, later: list[str]) -> list[GrowingList]:
    """The lists with what they are given; `later` are names that are read after the loop."""
    return [_grown(walk, items, value, length, later) for items, value in walk.grown.values()]


def _grown(walk: Any, items: list[Any], value: Any, length: int, later: list[str]) -> GrowingList:
    if is_known_number(value):
        return GrowingList(items, known=[value.value] * length)
    if value.__class__ is AbstractNumber and not value.is_lifted:
        return GrowingList(items, value.kind)
    if value.__class__ is AbstractNumber and value.table is not None and value.table.size == length:
        return GrowingList(items, known=value.table.values())
    if value.__class__ is not AbstractArray or walk.contents[value.place].is_lifted:
        unroll("a list grows by what is no number and no array of the run")
    others = [leaf.place for name in later for leaf in leaves(walk.names[name]) if leaf.__class__ is AbstractArray]
    if not (value.is_whole and value.is_fresh) or value.place in walk.written or value.place in others:
        unroll("an array in a list that grows has another name, or is written")
    return GrowingList(items, value.kind, value.shape)
