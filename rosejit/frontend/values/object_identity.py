"""Which objects containers hold, compared at once, in C.

Lists, and what is in dicts and objects, are looked at where CPython has them (`held_memory`): 2 to 6 ns an element.
Else `gc.get_referents` lists what containers refer to in one call, and the addresses that such a list of ours holds
are compared like any bytes: 8 ns an element. Where Python is not laid out as CPython is, `id` is asked.
"""

import gc
import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from rosejit.frontend.values import held_memory
from rosejit.frontend.values.held_memory import Memory

Check = Callable[[], bool]
_dict_of = operator.attrgetter("__dict__")


def checks(
    lists: Sequence[Any], dicts: Sequence[Any], objects: Sequence[Any], slotted: Sequence[Any]
) -> Iterator[Check]:
    """Whether these hold the very objects that they hold now: lists and deques, dicts, objects with a dict, objects
    with slots."""
    memory = Memory()
    if held_memory.sees_lists():
        memory.lists([each for each in lists if type(each) is list])
        held_memory.of_slotted(memory, slotted)
        lists, slotted = [each for each in lists if type(each) is not list], ()
    if (dicts or objects) and held_memory.sees_dicts():
        own = list(map(_dict_of, objects))
        if held_memory.of_objects(memory, objects, own):
            dicts, objects = [*dicts, *own], ()
        held_memory.of_dicts(memory, [each for each in dicts if type(each) is dict])
        dicts = [each for each in dicts if type(each) is not dict]
    if memory:
        yield memory.is_same
    dicts = [*dicts, *map(_dict_of, objects)]
    if lists or dicts or slotted:
        yield HeldObjects([*lists, *dicts, *objects, *slotted]).is_same
    if dicts:
        yield HeldKeys(dicts).is_same
    for each in filter(None, (lists, dicts)):
        yield _counts(each)


def _counts(found: Sequence[Any]) -> Check:
    counts = list(map(len, found))
    return lambda: list(map(len, found)) == counts


def _addresses(objects: list[Any]) -> object:
    """The addresses of the objects in a list that nobody else has, as something to compare."""
    return held_memory.elements()(objects) if held_memory.sees_lists() else list(map(id, objects))


class HeldObjects:
    """The very objects that containers hold, to be compared with what they hold later; they are kept alive."""

    __slots__ = ("_containers", "_held", "_kept")

    def __init__(self, containers: Sequence[Any]) -> None:
        self._containers = containers
        self._kept = gc.get_referents(*containers)
        self._held = _addresses(self._kept)

    def is_same(self) -> bool:
        """Whether they hold the very objects that they held."""
        return _addresses(gc.get_referents(*self._containers)) == self._held


class HeldKeys:
    """The keys of dicts, in order, to be compared with what they are later."""

    __slots__ = ("_dicts", "_held", "_kept")

    def __init__(self, dicts: Sequence[dict[Any, Any]]) -> None:
        self._dicts = dicts
        self._kept = list(chain.from_iterable(dicts))
        self._held = _addresses(self._kept)

    def is_same(self) -> bool:
        """Whether they are the very keys that they were."""
        return _addresses(list(chain.from_iterable(self._dicts))) == self._held
