"""A module to instances that are free to run a function, taken and given back without a lock.

Taking is `list.pop` and giving back `list.append`, which no thread can come between. An instance in use is in no
list: a call that comes in through a host function finds another one, and one that a failure or a signal has left
half way is forgotten.
"""

import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

from rosejit.abi import Slot
from rosejit.lazy_dataclass import dataclass
from rosejit.runtime.backend import Instance
from rosejit.runtime.interrupt import watch
from rosejit.runtime.marshalling.result_buffers import copier
from rosejit.runtime.residency.memory import AT_ONCE, place
from rosejit.runtime.residency.tiering import Code

Bound = tuple[Any, ...]
"""An instance, and what the function that it is bound to needs of it."""


@dataclass(slots=True, frozen=True, eq=False)
class Binder:
    """An instance to what the function of an entry needs of it: the call, the memory, and the arrays in the memory."""

    entry: str
    memories: tuple[str, ...]
    params: tuple[Slot, ...]
    results: tuple[Slot, ...]

    def __call__(self, instance: Instance) -> Bound:
        """The instance, its call and trap, the memories, the arrays (of parameters of few bytes the places), and for
        each result what copies it."""
        memories = [getattr(instance, name) for name in self.memories]
        params = [
            place(instance.octets, slot.offset, slot.bytes) if slot.bytes <= AT_ONCE else _array(instance, slot)
            for slot in self.params
        ]
        results = [_array(instance, slot) for slot in self.results]
        run = instance.entry(self.entry)
        return (instance, run, instance.trap, *memories, *params, *results, *map(copier, results))


def _array(instance: Instance, slot: Slot) -> Any:
    return instance.array(slot.offset, slot.shape, slot.element)


class ByThread(dict[int, list[Bound]]):
    """Free instances for each thread, by its number. Lists of ended threads are dropped.

    Not a `threading.local`, what is in one is never garbage: instances know host functions, and those may know the
    function that the instances belong to.
    """

    def __init__(self, shelf: Callable[[], list[Bound]]) -> None:
        self._shelf = shelf

    def __missing__(self, thread: int) -> list[Bound]:
        if not hasattr(_here, "end"):
            _here.end = _End(thread)
        return self.setdefault(thread, self._shelf())


class Pool:
    """The free instances of one function; `by_thread` where the stack of a thread decides what they may take."""

    def __init__(self, module: Code, binder: Binder, by_thread: bool) -> None:
        self.by_thread = by_thread
        self._module = module
        self._binder = binder
        self.renew()
        module.keep(self)
        _pools.add(self)

    def renew(self) -> None:
        """Forget all instances: calls that are running give theirs back to what nobody looks into."""
        self.aside: list[Bound] | ByThread = []
        self.free = self._shelf()

    def _shelf(self) -> "list[Bound] | ByThread":
        return ByThread(self._module.shelf) if self.by_thread else self._module.shelf()

    @property
    def count(self) -> int:
        """How many instances are free."""
        return sum([sum(map(len, each.values())) if isinstance(each, dict) else len(each) for each in self._all()])

    def _all(self) -> "tuple[list[Bound] | ByThread, ...]":
        return self.free, self.aside

    def end(self, thread: int) -> None:
        """Forget the instances of a thread that has ended."""
        for each in self._all():
            if isinstance(each, ByThread):
                each.pop(thread, None)

    def cool(self) -> None:
        """Put the free instances aside."""
        self.free, self.aside = self._shelf(), self.free

    def fresh(self) -> Bound:
        """An instance that was put aside, or one made now."""
        aside = self.aside
        found = aside.get(threading.get_ident()) if isinstance(aside, ByThread) else aside
        self._module.warm = True
        if found:
            try:
                return list[Bound].pop(found)
            except IndexError:  # another thread was faster
                pass
        watch()
        return self._binder(self._module.instantiate())


class _End:
    """In a `threading.local`: goes with its thread."""

    def __init__(self, thread: int) -> None:
        self._thread = thread

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if finalizing():
            return
        for pool in list(_pools):
            pool.end(self._thread)


_pools: "weakref.WeakSet[Pool]" = weakref.WeakSet()
_here = threading.local()


def _forget() -> None:
    """In the child of a fork: nothing is shared with the parent."""
    for pool in _pools:
        for each in (pool.free, pool.aside):
            each.clear()
        pool.renew()  # instances that are lent go back to the old list


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
