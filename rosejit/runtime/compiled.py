"""An artifact and its host functions to Python functions: the door that the layers above use."""

from collections.abc import Callable, Sequence
from typing import Any

from rosejit.abi import Artifact, Tier
from rosejit.runtime import tiers
from rosejit.runtime.backend import Module
from rosejit.runtime.marshal import Signature, entry_function
from rosejit.runtime.tape import Tapes
from rosejit.runtime.tiers import Code


class Compiled:
    """A program that is loaded, and makes a Python function of each of its entries."""

    def __init__(self, artifact: Artifact, module: Code) -> None:
        self.artifact = artifact
        self.module = module
        self._tapes = Tapes(module, artifact)
        self.kept_as: tuple[str, list[Any]] | None = None
        """The digest under which it is on disk, and the exceptions that it names."""

    def function(self, entry: str, signature: Signature) -> Callable[..., Any]:
        """The entry as a function of Python values; see `marshal.py`. Raises `marshal.Mismatch` when called."""
        return entry_function(self.artifact, self.module, self._tapes, entry, signature)


Settled = Callable[[Compiled, Exception | None], None]
"""What is called when a program has its final native code, in another thread, or if that could not be made."""


def nobody(compiled: Compiled, error: Exception | None) -> None:
    """Wants to know nothing."""


def load(
    artifact: Artifact,
    hosts: Sequence[Callable[..., Any]] = (),
    tier: Tier = "best",
    settled: Settled = nobody,
) -> Compiled:
    """Compile `artifact`, whose imports are `hosts`, in order. Raises WasmTrap if the engine refuses the module."""
    return Compiled(artifact, tiers.compiled(artifact, hosts, tier, _told(artifact, settled)))


def restored(
    artifact: Artifact,
    module: Module,
    final: bool,
    hosts: Sequence[Callable[..., Any]],
    tier: Tier,
    settled: Settled,
) -> Compiled:
    """What was compiled earlier."""
    told = _told(artifact, settled)
    return Compiled(artifact, Code(module) if final else tiers.begun(module, artifact, hosts, tier, told))


def _told(artifact: Artifact, settled: Settled) -> tiers.Settled:
    return lambda code, error: settled(Compiled(artifact, code), error)
