"""An artifact and its host functions to Python functions: the door that the layers above use."""

from collections.abc import Callable, Sequence
from typing import Any

from rosejit.abi import Artifact, Tier
from rosejit.runtime import tiers
from rosejit.runtime.marshal import Signature, entry_function
from rosejit.runtime.tape import Tapes
from rosejit.runtime.tiers import Code


class Compiled:
    """A program that is loaded, and makes a Python function of each of its entries."""

    def __init__(self, artifact: Artifact, module: Code) -> None:
        self.artifact = artifact
        self.module = module
        self._tapes = Tapes(module, artifact)

    def function(self, entry: str, signature: Signature) -> Callable[..., Any]:
        """The entry as a function of Python values; see `marshal.py`. Raises `marshal.Mismatch` when called."""
        return entry_function(self.artifact, self.module, self._tapes, entry, signature)


Settled = Callable[[Compiled, Exception | None], None]
"""What is called when a program has its final native code, in another thread, or if that could not be made."""


def load(
    artifact: Artifact,
    hosts: Sequence[Callable[..., Any]] = (),
    tier: Tier = "best",
    settled: Settled = lambda compiled, error: None,
) -> Compiled:
    """Compile `artifact`, whose imports are `hosts`, in order. Raises WasmTrap if the engine refuses the module."""
    code = tiers.compiled(artifact, hosts, tier, lambda code, error: settled(Compiled(artifact, code), error))
    return Compiled(artifact, code)
