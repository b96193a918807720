"""An artifact and its host functions to Python functions: the door that the layers above use."""

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

from rosejit.abi import Artifact, Tier
from rosejit.list_room import Outgrown as ListOutgrown
from rosejit.runtime import backend
from rosejit.runtime.backend import CompiledModule
from rosejit.runtime.handles import Handle, Tapes
from rosejit.runtime.marshalling.marshal import Signature, entry_function
from rosejit.runtime.residency import tiering
from rosejit.runtime.residency.tiering import Code


class Compiled:
    """A program that is loaded, and makes a Python function of each of its entries."""

    def __init__(self, artifact: Artifact, module: Code, hosts: Sequence[Callable[..., Any]]) -> None:
        self.artifact = artifact
        self.module = module
        self.hosts = tuple(hosts)
        self.wider: Callable[[], Compiled] | None = None
        """What makes the same program with addresses of 64 bits."""
        self.repeats = True
        """Whether a call may be made again that has failed half way: nobody has seen anything of it."""
        self.outgrown = False
        """Whether a call needed more memory than addresses of 32 bits reach, so that `grow` helps."""
        self._tapes = Tapes(module, artifact)
        self._lock = threading.Lock()

    def function(self, entry: str, signature: Signature) -> Callable[..., Any]:
        """The entry as a function of Python values; see `marshal.py`. Raises `marshal.Mismatch` when called."""
        again = self.repeats and not any(slot.kind == "handle" for slot in self.artifact.entries[entry].params)
        outgrown = functools.partial(self._outgrow, self.artifact, again)
        return entry_function(self.artifact, self.module, self._tapes, entry, signature, outgrown)

    def handle(self, content: bytes) -> Handle:
        """What a handle of this program stands for, here: see `Tapes.handle`."""
        return self._tapes.handle(content)

    def _outgrow(self, artifact: Artifact, again: bool, room: ListOutgrown | None = None) -> bool | None:
        """Code of `artifact` has exhausted its memory, or its `room` for a list: whether the call may be made `again`;
        None where no code can have more."""
        if room is not None:
            return again if room.grow() else None
        with self._lock:
            if artifact is not self.artifact:  # another call was first
                return again
            self.outgrown = self.wider is not None and not artifact.wide and backend.may_be_wide()
            return again if self.outgrown else None

    def grow(self) -> None:
        """From now on make functions whose addresses have 64 bits."""
        with self._lock:
            if self.outgrown and self.wider is not None:
                made = self.wider()
                self.artifact, self.module, self._tapes = made.artifact, made.module, made._tapes
                self.hosts = made.hosts
                self.outgrown = False


OnFinal = Callable[[Compiled, Exception | None], None]
"""What is called when a program has its final native code, in another thread, or if that could not be made."""


def nobody(compiled: Compiled, error: Exception | None) -> None:
    """Wants to know nothing."""


def load(
    artifact: Artifact,
    hosts: Sequence[Callable[..., Any]] = (),
    tier: Tier = "best",
    on_final: OnFinal = nobody,
) -> Compiled:
    """Compile `artifact`, whose imports are `hosts`, in order. Raises WasmTrap if the engine refuses the module."""
    return Compiled(artifact, tiering.compiled(artifact, hosts, tier, _of_code(artifact, hosts, on_final)), hosts)


def restored(
    artifact: Artifact,
    module: CompiledModule,
    final: bool,
    hosts: Sequence[Callable[..., Any]],
    tier: Tier,
    on_final: OnFinal,
) -> Compiled:
    """What was compiled earlier."""
    on_final_code = _of_code(artifact, hosts, on_final)
    code = Code(module) if final else tiering.begun(module, artifact, hosts, tier, on_final_code)
    return Compiled(artifact, code, hosts)


def _of_code(artifact: Artifact, hosts: Sequence[Callable[..., Any]], on_final: OnFinal) -> tiering.OnFinal:
    return lambda code, error: on_final(Compiled(artifact, code, hosts), error)
