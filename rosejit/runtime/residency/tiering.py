"""Native code that is made twice: at once, and then well, in a thread beside the calls that it serves already.

Winch takes 2-4 µs for an operation of a gradient where Cranelift takes 22; its code runs two to three times as long,
with the same bits. So a program that never runs for long begins with the one, and goes on with the other once its calls
have taken as long as that takes: then what is spent in all is never much more than twice what had to be.
"""

import math
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from rosejit.abi import Artifact, Tier
from rosejit.lazy_dataclass import dataclass
from rosejit.runtime import backend
from rosejit.runtime.backend import CompiledModule, Instance
from rosejit.runtime.residency.resident_code import Keeper, resident

SMALL = 1_000
"""Bytes of Wasm that both compilers take as long for."""


def price(size: int) -> float:
    """The seconds that Cranelift takes for so many bytes of Wasm, about."""
    return 1e-3 + 0.5e-6 * size


class Code:
    """What instances of a program are made of now. As a `CompiledModule`, but it may become a better one."""

    def __init__(self, module: CompiledModule, final: bool = True) -> None:
        self.final = final
        """Whether this is as good as it gets."""
        self._module = module
        self._keepers: list[weakref.ref[Keeper]] = []
        self._left = math.inf
        self._jobs: list[_Job] = []
        self.warm = True
        """Whether it was used since it was cooled."""
        resident.add(self)

    def better(self, job: "_Job", after: float) -> None:
        """Do `job`, which makes better code, when calls have taken so many seconds."""
        self._jobs, self._left = [job], after
        _later.add(self)
        self.spent(0.0)

    def spent(self, seconds: float) -> None:
        """A call has taken so long."""
        self._left -= seconds
        if self._left <= 0:
            self.begin()

    def begin(self) -> None:
        """Make better code now, if there can be such; once."""
        self._left = math.inf
        _later.discard(self)
        try:
            job = self._jobs.pop()
        except IndexError:  # another thread was faster
            return
        _waiting.add(job)

    def shelf(self) -> list[Any]:
        """A list for instances that are free, which tells how long they were not."""
        return [] if self._left == math.inf else _Timed(self)

    def instantiate(self) -> Instance:
        """A fresh instance of the best code that there is."""
        if not self.final:
            _waiting.go_on()
        resident.made(self)
        return resident.with_room(self._module.instantiate)

    def serialize(self) -> bytes:
        """The native code."""
        return self._module.serialize()

    def keep(self, keeper: Keeper) -> None:
        """Tell `keeper` when there is better code, or too much."""
        self._keepers.append(weakref.ref(keeper))

    def kept(self) -> list[Keeper]:
        """Those that are told."""
        return [keeper for known in self._keepers if (keeper := known()) is not None]

    def unload(self) -> None:
        """Drop the native code and the free instances; the next call compiles it again."""
        for keeper in self.kept():
            keeper.renew()
        self._module.unload()

    def improve(self, module: CompiledModule) -> None:
        """From now on make instances of `module`. Calls that are running end on the instances that they have."""
        self._module, self.final = module, True
        for keeper in self.kept():  # one that comes meanwhile has no instance yet
            keeper.renew()


class _Timed(list[Any]):
    """The free instances of code that may become better: between `pop` and `append` there is a call. With calls in
    many threads that is less than they take, which does no harm."""

    __slots__ = ("_code", "_since")

    def __init__(self, code: Code) -> None:
        super().__init__()
        self._code, self._since = code, 0.0

    def pop(self) -> Any:  # type: ignore[override]  # nobody takes another one than the last
        self._since = perf_counter()
        return super().pop()

    def append(self, item: Any) -> None:
        super().append(item)
        self._code.spent(perf_counter() - self._since)


OnFinal = Callable[[Code, Exception | None], None]
"""What is called when code has become final, or could not."""


@dataclass(slots=True, frozen=True)
class _Job:
    """Code to improve, unless nobody needs it any more."""

    code: weakref.ref[Code]
    artifact: Artifact
    hosts: Sequence[Callable[..., Any]]
    on_final: OnFinal

    def run(self) -> None:
        if self.code() is None:
            return
        error: Exception | None = None
        module: CompiledModule | None = None
        try:
            module = backend.current().compile(self.artifact, self.hosts)
        except Exception as caught:  # the code that there is gives the same results
            error = caught
        code = self.code()
        if code is not None:
            if module is not None:
                code.improve(module)
            self.on_final(code, error)


class _Waiting:
    """Jobs, done one after the other in a thread that ends with the last of them.

    A daemon: a process that ends does not wait for it. After a fork the child does again what was not finished, when it
    makes its first instance.
    """

    def __init__(self) -> None:
        self._jobs: deque[_Job] = deque()
        self.begin()

    def begin(self) -> None:
        """With no thread: in the child of a fork there is none, and who held the lock does not exist."""
        self._lock = threading.Lock()
        self._idle = threading.Event()
        self._idle.set()

    def add(self, job: _Job) -> None:
        """Do it soon."""
        self._jobs.append(job)
        self.go_on()

    def go_on(self) -> None:
        """See to it that a thread works while there is something to do."""
        with self._lock:
            if not self._jobs or not self._idle.is_set():
                return
            self._idle.clear()
        try:
            threading.Thread(target=self._work, name="rosejit-compiler", daemon=True).start()
        except RuntimeError:  # the interpreter is ending
            self._idle.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether all that was begun is done, after so many seconds at most."""
        return self._idle.wait(seconds)

    def _work(self) -> None:
        while not self._idle.is_set():
            try:
                self._jobs[0].run()
            finally:
                with self._lock:
                    self._jobs.popleft()
                    if not self._jobs:
                        self._idle.set()


_waiting = _Waiting()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_waiting.begin)

_later: weakref.WeakSet[Code] = weakref.WeakSet()
"""What can become better, and has not been used enough for that."""

idle = _waiting.wait
"""Until nothing is being made, for so many seconds at most: for tests and benchmarks."""


def wait(seconds: float | None = None) -> bool:
    """Until all code is final, used or not, for so many seconds at most: for tests and benchmarks."""
    for code in list(_later):
        code.begin()
    return idle(seconds)


def compiled(artifact: Artifact, hosts: Sequence[Callable[..., Any]], tier: Tier, on_final: OnFinal) -> Code:
    """Native code for `artifact`. Raises WasmTrap if the engine refuses the module."""
    engine = backend.current()
    soon = tier == "fast" or (tier == "auto" and len(artifact.wasm) > SMALL and not artifact.lasting)
    quick = engine.quick(artifact, hosts) if soon else None
    if quick is None:
        return Code(resident.with_room(lambda: engine.compile(artifact, hosts)))
    return begun(quick, artifact, hosts, tier, on_final)


def begun(
    module: CompiledModule, artifact: Artifact, hosts: Sequence[Callable[..., Any]], tier: Tier, on_final: OnFinal
) -> Code:
    """What `module`, which the quick compiler has made, begins with."""
    code = Code(module, final=False)
    if tier == "auto":
        code.better(_Job(weakref.ref(code), artifact, hosts, on_final), price(len(artifact.wasm)))
    return code
