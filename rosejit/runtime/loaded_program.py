"""An artifact and its host functions to Python functions: the door that the layers above use."""

from collections.abc import Callable, Sequence
from typing import Any

from rosejit.abi import Artifact, Tier
from rosejit.runtime.backend import CompiledModule
from rosejit.runtime.handles import Tapes
from rosejit.runtime.marshalling.marshal import Signature, entry_function
from rosejit.runtime.residency import tiering
from rosejit.runtime.residency.tiering import Code


class Compiled:
    """A program that is loaded, and makes a Python function of each of its entries."""

    def __init__(self, artifact: Artifact, module: Code) -> None:
        self.artifact = artifact
        self.module = module
        self._tapes = Tapes(module, artifact)

    def function(self, entry: str, signature: Signature) -> Callable[..., Any]:
        """The entry as a function of Python values; see `marshal.py`. Raises `marshal.Mismatch` when called."""
        return entry_function(self.artifact, self.module, self._tapes, entry, signature)


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
    return Compiled(artifact, tiering.compiled(artifact, hosts, tier, _of_code(artifact, on_final)))


def restored(
    artifact: Artifact,
    module: CompiledModule,
    final: bool,
    hosts: Sequence[Callable[..., Any]],
    tier: Tier,
    on_final: OnFinal,
) -> Compiled:
    """What was compiled earlier."""
    on_final_code = _of_code(artifact, on_final)
    return Compiled(artifact, Code(module) if final else tiering.begun(module, artifact, hosts, tier, on_final_code))


def _of_code(artifact: Artifact, on_final: OnFinal) -> tiering.OnFinal:
    return lambda code, error: on_final(Compiled(artifact, code), error)
