"""Which objects containers hold, compared at once: the addresses of all, as one string of bytes.

`gc.get_referents` lists what containers refer to in one call in C, and the addresses that such a list of ours holds are
compared like any bytes: 8 ns an element in place of 40. Where Python is not laid out as CPython is, `id` is asked.
"""

import gc
import sys
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import Any

LONG = 100
"""Lists of so many elements are copied one by one, which takes a third of the time."""

_Addresses = Callable[[list[Any]], object]


@cache
def _addresses() -> _Addresses:
    """What gives the addresses of the objects in a list that nobody else has, as something to compare."""

    def asked(objects: list[Any]) -> object:
        return list(map(id, objects))

    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return asked
    try:
        import ctypes
    except ImportError:  # a Python without it
        return asked
    pointer = ctypes.c_void_p
    width = ctypes.sizeof(pointer)
    place, read, string_at = list.__basicsize__ - 2 * width, pointer.from_address, ctypes.string_at

    def as_bytes(objects: list[Any]) -> object:
        return string_at(read(id(objects) + place).value or 0, width * len(objects))

    sample: list[Any] = [object(), "a", asked, *range(9)]
    held = b"".join([id(each).to_bytes(width, sys.byteorder) for each in sample])
    return as_bytes if read(id(sample) + width).value == id(list) and as_bytes(sample) == held else asked


class HeldObjects:
    """The very objects that containers hold, to be compared with what they hold later; they are kept alive."""

    __slots__ = ("_addresses", "_containers", "_held", "_kept", "_long")

    def __init__(self, containers: Sequence[Any]) -> None:
        self._addresses = _addresses()
        self._long = [each for each in containers if type(each) is list and len(each) >= LONG]
        self._containers = [each for each in containers if type(each) is not list or len(each) < LONG]
        self._kept = [gc.get_referents(*self._containers), *map(list.copy, self._long)]
        self._held = list(map(self._addresses, self._kept))

    def is_same(self) -> bool:
        """Whether they hold the very objects that they held."""
        addresses, held = self._addresses, self._held
        if addresses(gc.get_referents(*self._containers)) != held[0]:
            return False
        return all([addresses(found.copy()) == then for found, then in zip(self._long, held[1:], strict=True)])


class HeldKeys:
    """The keys of dicts, in order, to be compared with what they are later."""

    __slots__ = ("_addresses", "_dicts", "_held", "_kept")

    def __init__(self, dicts: list[dict[Any, Any]]) -> None:
        self._addresses = _addresses()
        self._dicts = dicts
        self._kept = list(chain.from_iterable(dicts))
        self._held = self._addresses(self._kept)

    def is_same(self) -> bool:
        """Whether they are the very keys that they were."""
        return self._addresses(list(chain.from_iterable(self._dicts))) == self._held
