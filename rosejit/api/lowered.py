"""A function for given arguments, opened up: its IR, its Wasm, what it costs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rosejit.abi import Artifact
from rosejit.api.program import compile_roots
from rosejit.errors import StagingTypeError
from rosejit.ir import syntax as ir
from rosejit.ir.walk import reachable, size
from rosejit.runtime.compiled import Compiled
from rosejit.runtime.compiled import load as load_artifact
from rosejit.text import parse, show
from rosejit.transforms.cost import stacked_bytes
from rosejit.transforms.own import own
from rosejit.transforms.pipeline import optimise
from rosejit.wasm.wat import wat


class Ir:
    """The IR of a function: prints as text, the functions that it calls first."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function

    def __str__(self) -> str:
        return show(self.function)

    __repr__ = __str__

    def __reduce__(self) -> Any:
        """By its text, which is all there is to it unless it calls functions of Python."""
        if any(f.host is not None for f in reachable(self.function)):
            raise StagingTypeError(
                "IR that calls functions of Python cannot be pickled", help="pickle the function, and lower it again"
            )
        return _read, (str(self),)

    def __deepcopy__(self, memo: Any) -> "Ir":
        """Itself: programs do not change."""
        return self

    def __len__(self) -> int:
        """The number of operations, those of callees counted once each."""
        return sum(size(f) for f in reachable(self.function))


def _read(text: str) -> Ir:
    return Ir(own(parse(text)))


@dataclass(frozen=True)
class Cost:
    """Operations of the optimised IR; bytes that loops keep for a reverse pass, as far as lengths are known; bytes of
    the module."""

    ops: int
    tape_bytes: int
    module_bytes: int


class Lowered:
    """A function staged for given arguments. Everything is made when it is asked for."""

    def __init__(self, function: ir.Function, interface: Callable[[Compiled], Callable[..., Any]]) -> None:
        self.ir = Ir(function)
        self._interface = interface

    def __copy__(self) -> "Lowered":
        """Itself: it does not change."""
        return self

    def __deepcopy__(self, memo: Any) -> "Lowered":
        """As `__copy__`."""
        return self

    def __reduce__(self) -> Any:
        """Never: how a caller sees it belongs to this process."""
        raise StagingTypeError(
            "what `lower` gives cannot be pickled",
            help="pickle `.ir`, `.wasm`, or the function, and lower it again",
        )

    @cached_property
    def compiled(self) -> tuple[Artifact, tuple[Callable[..., Any], ...]]:
        """The module with its entries, and the host functions that it imports, in order."""
        return compile_roots({"main": self.ir.function})

    @property
    def wasm(self) -> bytes:
        """The module."""
        return self.compiled[0].wasm

    def wat(self) -> str:
        """The module as text."""
        return wat(self.wasm)

    def cost(self) -> Cost:
        """What it costs."""
        (optimised,) = optimise(self.ir.function)
        return Cost(len(Ir(optimised)), stacked_bytes(optimised), len(self.wasm))

    def compile(self) -> Callable[..., Any]:
        """A function for arguments of exactly these types and shapes."""
        artifact, hosts = self.compiled
        return self._interface(load_artifact(artifact, hosts))

    def __repr__(self) -> str:
        return f"<rose.Lowered {self.ir.function.name}: {len(self.ir)} ops>"
