"""A module to instances that are free to run a function, taken and given back without a lock.

Taking is `list.pop` and giving back `list.append`, which no thread can come between. An instance in use is in no
list: a call that comes in through a host function finds another one, and one that a failure or a signal has left
half way is forgotten.
"""

import os
import threading
import weakref
from dataclasses import dataclass
from typing import Any

from rosejit.abi import Slot
from rosejit.runtime.backend import Instance, Module
from rosejit.runtime.interrupt import watch

Bound = tuple[Any, ...]
"""An instance, and what the function that it is bound to needs of it."""


@dataclass(slots=True, frozen=True, eq=False)
class Binder:
    """An instance to what the function of an entry needs of it: the call, the memory, and arrays in the memory."""

    entry: str
    memories: tuple[str, ...]
    views: tuple[Slot, ...]

    def __call__(self, instance: Instance) -> Bound:
        """The instance, its call and trap, then the memories, then the arrays."""
        memories = [getattr(instance, name) for name in self.memories]
        arrays = [instance.array(slot.offset, slot.shape, slot.element) for slot in self.views]
        return (instance, instance.entry(self.entry), instance.trap, *memories, *arrays)


class _Everywhere:
    """Free instances for all threads."""

    def __init__(self) -> None:
        self.free: list[Bound] = []


class _PerThread(threading.local):
    """Free instances for each thread, which go when it ends."""

    def __init__(self) -> None:
        self.free: list[Bound] = []


class Pool:
    """The free instances of one function; `per_thread` where the stack of the thread decides what they may take."""

    def __init__(self, module: Module, binder: Binder, per_thread: bool) -> None:
        self.per_thread = per_thread
        self.place = _PerThread() if per_thread else _Everywhere()
        self._module = module
        self._binder = binder
        _pools.add(self)

    def fresh(self) -> Bound:
        """An instance made now."""
        watch()
        return self._binder(self._module.instantiate())


_pools: "weakref.WeakSet[Pool]" = weakref.WeakSet()


def _forget() -> None:
    """In the child of a fork: nothing is shared with the parent."""
    for pool in _pools:
        pool.place.free.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
