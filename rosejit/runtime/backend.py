"""What the runtime asks of an engine that runs Wasm: `engine.py` is one, `browser.py` another."""

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

from rosejit.abi import ADDRESS_SPACE, Artifact, Element
from rosejit.lazy_dataclass import dataclass

NO_FAILURE = -(1 << 31)
"""What stands at FAILURE_NUMBER until a module reports one: a module may also trap without a word."""


@dataclass(slots=True, frozen=True)
class Fault:
    """Why a call did not return; `functions` are the Wasm functions that were running, innermost first."""

    kind: Literal["unreachable", "stack", "other"]
    message: str
    functions: tuple[int, ...] = ()


class LinearMemory(Protocol):
    """The memory of an instance, as bytes that are copied."""

    def fetch(self, address: int, size: int) -> bytearray:
        """These bytes, which must exist."""
        ...

    def store(self, address: int, data: Any) -> None:
        """Write bytes, a buffer of them."""
        ...

    def size(self) -> int:
        """How many bytes it has now."""
        ...


class Instance(Protocol):
    """A module with a memory and a state of its own; used by one thread at a time."""

    reals: Any
    """The exchange block, and what lies before it, as f64: read and written by index, address / 8, outside of a call
    of an entry. Stays valid when the memory grows."""
    ints: Any
    words: Any
    octets: Any

    @property
    def memory(self) -> LinearMemory:
        """All of the memory."""
        ...

    trap: object
    """True, as a condition, after a call of an entry that trapped."""
    usable: bool
    """False once a call has failed: the allocator and the stack are then as the failure left them."""
    wide: bool
    """Whether addresses have 64 bits."""
    limit: int
    """The bytes that the memory may have."""
    stack: int
    """Bytes that the stack of a calling thread must have for it; 0 where the depth of calls is known."""

    def entry(self, name: str) -> Callable[[], int]:
        """The raw call of an export `() -> ()`; the result is 0, or what `fault` wants to know."""
        ...

    def array(self, address: int, shape: tuple[int, ...], element: Element) -> Any:
        """The elements at `address` in the exchange block, as a NumPy array that shares it."""
        ...

    def allocate(self, size: int) -> int:
        """The address of a block of memory, from the export `allocate(bytes) -> address`. Raises RoseMemoryError."""
        ...

    def release(self, name: str, address: int) -> None:
        """Call the export `name(address)`, which frees what the host owns."""
        ...

    def fault(self, status: int) -> Fault:
        """Why the last call failed, told once; `status` is what it gave."""
        ...

    def take_raised(self, status: int) -> BaseException | None:
        """The exception that a host function raised in the last call, told once and instead of `fault`."""
        ...

    def recover(self) -> None:
        """Be ready for a call although an earlier one failed."""
        ...

    def interrupt(self, now: bool = True) -> None:
        """Make the loops of a running call fail, or no longer; from any thread."""
        ...


class CompiledModule(Protocol):
    """Compiled code, of which instances are made."""

    def instantiate(self) -> Instance:
        """A fresh instance, for the stack of the calling thread. Raises RoseMemoryError."""
        ...

    def serialize(self) -> bytes:
        """The native code, for `Backend.restore`."""
        ...

    def unload(self) -> None:
        """Drop the native code until an instance is asked for; those that there are go on."""
        ...


class Backend(Protocol):
    """An engine."""

    @property
    def memory_limit(self) -> int:
        """The bytes that the memory of an instance may have now; of one whose addresses have 32 bits 4 GiB at most."""
        ...

    @property
    def identity(self) -> str:
        """Engine, version and platform: native code of another identity is never loaded."""
        ...

    def compile(self, artifact: Artifact, hosts: Sequence[Callable[..., Any]]) -> CompiledModule:
        """Native code for `artifact`, whose imports are `hosts`, in order."""
        ...

    def quick(self, artifact: Artifact, hosts: Sequence[Callable[..., Any]]) -> CompiledModule | None:
        """Native code with the same results, made at once and slower; None if this engine cannot do that."""
        ...

    def restore(
        self, data: bytes, size: int, artifact: Artifact, hosts: Sequence[Callable[..., Any]], quick: bool = False
    ) -> CompiledModule | None:
        """The module whose native code is the first `size` bytes of `data`, of `quick` or of `compile`; None if this
        engine does not take it."""
        ...


def current() -> Backend:
    """The engine of this process; importing it is left to the first call, since it takes 90 ms."""
    name = "browser" if sys.platform == "emscripten" else "engine"
    return importlib.import_module(f"rosejit.runtime.{name}").backend()


def may_be_wide() -> bool:
    """Whether there is now more memory than addresses of 32 bits reach, and an engine for those of 64."""
    return current().memory_limit > ADDRESS_SPACE[False]
