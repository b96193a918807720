"""Entries that give or take handles (a forward pass and its pullbacks) to calls on one and the same instance.

What a handle stands for lives in the memory of the instance that made it. So these instances are kept apart from
those of the pools, and every call on one holds its lock: a handle may be used, and collected, in any thread.
"""

import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Any

from rosejit.abi import EXCHANGE, Artifact
from rosejit.errors import RoseRecursionError
from rosejit.runtime.backend import Instance
from rosejit.runtime.blocks import fetch, store
from rosejit.runtime.interrupt import watch
from rosejit.runtime.residency.instance_pool import Binder, Bound
from rosejit.runtime.residency.stack_limit import here
from rosejit.runtime.residency.tiering import Code


class Tape:
    """An instance whose memory handles point into."""

    def __init__(self, owner: "Tapes", shelf: "list[Tape]", instance: Instance, exchange: tuple[int, int]) -> None:
        self.owner = owner
        self.shelf = shelf
        self.instance = instance
        self.lock = threading.RLock()
        self._exchange = exchange
        self._depth = 0
        self._since = 0.0
        self._bound: dict[Binder, Bound] = {}
        self._garbage: deque[tuple[str, int]] = deque()
        _tapes.add(self)

    @property
    def idle(self) -> bool:
        """Whether no call is running; to be asked with the lock held."""
        return not self._depth

    @property
    def fits(self) -> bool:
        """Whether the stack of this thread is enough for the instance, which was made in another thread perhaps."""
        return self.instance.stack <= here.share

    def enter(self) -> bytearray:
        """Begin a call; what it gives is for `leave`. Raises RoseRecursionError where the thread has too little stack.

        A host function may call back into the very instance that called it: the arguments and results of the outer
        call are then set aside.
        """
        if not self.fits:
            raise RoseRecursionError(
                "the pullback of a function that calls itself is called in a thread with less stack than it may need",
                facts=(f"it may need {self.instance.stack:,} bytes, and the thread has {here.share:,}",),
                help="call it in the thread that made it, or give the thread more (`threading.stack_size`)",
            )
        self.lock.acquire()
        self._since = perf_counter()
        outer = self.instance.memory.fetch(*self._exchange) if self._depth else bytearray()
        self._depth += 1
        if not self.instance.usable:
            self.instance.recover()  # what its handles stand for is still there
        return outer

    def leave(self, outer: bytearray) -> None:
        """End a call."""
        self._depth -= 1
        if outer:
            self.instance.memory.store(EXCHANGE, outer)
        if self.idle:
            self._sweep()
            self.owner.module.spent(perf_counter() - self._since)
        self.lock.release()

    def bound(self, binder: Binder) -> Bound:
        """What `binder` makes of the instance, made once."""
        found = self._bound.get(binder)
        return found or self._bound.setdefault(binder, binder(self.instance))

    def discard(self, release: str, address: int) -> None:
        """Free the record of a handle, now or when the running call ends; from any thread, at any moment."""
        self._garbage.append((release, address))
        if self.lock.acquire(blocking=False):
            try:
                if self.idle:
                    self._sweep()
            finally:
                self.lock.release()

    def _sweep(self) -> None:
        while self._garbage and self.instance.usable and self.fits:
            self.instance.release(*self._garbage.popleft())


class Handle:
    """What compiled code has kept for a later call; freed when it is collected. `Tapes.handle` makes one of the bytes
    that another gives."""

    __slots__ = ("__weakref__", "_release", "address", "tape")

    def __init__(self, tape: Tape, address: int, release: str) -> None:
        self.tape = tape
        self.address = address
        self._release = release

    def content(self) -> bytes:
        """What it stands for, as bytes that do not depend on where it lies."""
        outer = self.tape.enter()
        try:
            return fetch(self.tape.instance, self.tape.owner.artifact.blocks, self._release, self.address)
        finally:
            self.tape.leave(outer)

    def __reduce__(self) -> Any:
        raise TypeError("what a pullback keeps cannot be copied or pickled")

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            self.tape.discard(self._release, self.address)


class Tapes:
    """The tapes of a module that no call is making handles on."""

    def __init__(self, module: Code, artifact: Artifact) -> None:
        slots = [s for entry in artifact.entries.values() for s in (*entry.params, *entry.results)]
        self._exchange = EXCHANGE, max((s.offset + s.bytes for s in slots), default=EXCHANGE) - EXCHANGE
        self.module, self.artifact = module, artifact
        self.renew()
        module.keep(self)
        _shelves.add(self)

    def renew(self) -> None:
        """Make new tapes from now on: those that there are live as long as their handles."""
        self.free: list[Tape] = []

    @property
    def count(self) -> int:
        """How many tapes are free."""
        return len(self.free)

    def cool(self) -> None:
        """Tapes are taken by `take`, which sees that."""

    def take(self) -> Tape:
        """A tape that no other call is using."""
        shelf = self.free
        self.module.warm = True
        for _ in range(len(shelf)):
            try:
                tape = shelf.pop()
            except IndexError:  # another thread was faster
                break
            if not tape.instance.usable:  # a pullback has failed: its handles keep it
                continue
            if tape.fits and tape.lock.acquire(blocking=False):
                idle = tape.idle
                tape.lock.release()
                if idle:
                    return tape
            shelf.insert(0, tape)
        watch()
        return Tape(self, shelf, self.module.instantiate(), self._exchange)

    def handle(self, content: bytes) -> Handle:
        """One that stands for what another, of the same program, has said is its content. Raises RoseMemoryError."""
        made = [slot for entry in self.artifact.entries.values() for slot in entry.results if slot.kind == "handle"]
        release = made[0].release  # a program has one forward pass
        tape = self.take()
        outer = tape.enter()
        try:
            address = store(tape.instance, self.artifact.blocks, release, content)
        finally:
            tape.leave(outer)
            self.give(tape)
        return Handle(tape, address, release)

    def of(self, *handles: Handle) -> Tape:
        """The tape on which `handles` were made."""
        tape = handles[0].tape
        if any(handle.tape is not tape for handle in handles) or tape.owner is not self:
            raise ValueError("the handles belong to another function")
        return tape

    def give(self, tape: Tape) -> None:
        """Take `tape` back; its handles keep it if nobody else does."""
        if tape.instance.usable:
            tape.shelf.append(tape)


_tapes: "weakref.WeakSet[Tape]" = weakref.WeakSet()
_shelves: "weakref.WeakSet[Tapes]" = weakref.WeakSet()


def _forget() -> None:
    """In the child of a fork: nothing is shared with the parent, and the threads that held locks do not exist."""
    for tapes in _shelves:
        tapes.free.clear()
    for tape in _tapes:
        tape.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
