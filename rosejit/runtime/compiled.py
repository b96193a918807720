"""An artifact and its host functions to Python functions: the door that the layers above use."""

from collections.abc import Callable, Sequence
from typing import Any

from rosejit.abi import Artifact
from rosejit.runtime import backend
from rosejit.runtime.backend import Module
from rosejit.runtime.marshal import Signature, entry_function
from rosejit.runtime.tape import Tapes


class Compiled:
    """A program that is loaded, and makes a Python function of each of its entries."""

    def __init__(self, artifact: Artifact, module: Module) -> None:
        self.artifact = artifact
        self.module = module
        self._tapes = Tapes(module, artifact)

    def function(self, entry: str, signature: Signature) -> Callable[..., Any]:
        """The entry as a function of Python values; see `marshal.py`. Raises `marshal.Mismatch` when called."""
        return entry_function(self.artifact, self.module, self._tapes, entry, signature)


def load(artifact: Artifact, hosts: Sequence[Callable[..., Any]] = ()) -> Compiled:
    """Compile `artifact`, whose imports are `hosts`, in order. Raises WasmTrap if the engine refuses the module."""
    return Compiled(artifact, backend.current().compile(artifact, hosts))
