"""A function for given arguments, opened up: its IR, its Wasm, what it costs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rosejit.abi import Artifact
from rosejit.api.derivation.derivation_recipe import Program, function_of, source_of
from rosejit.api.options import Options
from rosejit.api.programs import compiled, html_views, program_codec
from rosejit.api.programs.borders import borders_of
from rosejit.api.programs.compile_and_load import compile_program
from rosejit.api.programs.program_codec import ENTRY
from rosejit.errors import StagingTypeError
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import reachable, size
from rosejit.runtime.marshalling.marshal import Signature as Interface
from rosejit.text import parse, show
from rosejit.transforms.analysis.cost import LineCost, LoopTape, line_costs, loop_tapes, stacked_bytes
from rosejit.transforms.passes.insert_copies import insert_copies
from rosejit.transforms.passes.lengths_to_variables import open_names
from rosejit.transforms.pipeline import optimise
from rosejit.wasm.wat import wat


class Ir:
    """The IR of a function: prints as text, the functions that it calls first; its length is the number of operations.

    >>> import rosejit as rose
    >>> len(rose.make_ir(lambda x: x * x + 1.0)(3.0))
    2
    """

    def __init__(self, function: ir.Function) -> None:
        self.function = function

    @classmethod
    def of_text(cls, text: str) -> "Ir":
        """The IR that prints so."""
        return cls(insert_copies(parse(text)))

    def __str__(self) -> str:
        return show(self.function)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_views.listing(self.function.name, str(self))

    def __reduce__(self) -> Any:
        """By its text, which is all there is to it unless it calls functions of Python."""
        if any(f.host is not None for f in reachable(self.function)):
            raise StagingTypeError(
                "IR that calls functions of Python cannot be pickled", help="pickle the function, and lower it again"
            )
        return Ir.of_text, (str(self),)

    def __deepcopy__(self, memo: Any) -> "Ir":
        """Itself: programs do not change."""
        return self

    def __len__(self) -> int:
        """The number of operations, those of callees counted once each."""
        return sum(size(f) for f in reachable(self.function))


@dataclass(frozen=True)
class Cost:
    """Operations of the optimised IR; bytes that loops keep for a reverse pass, as far as lengths are known; bytes of
    the module; what the loops of the program keep in each iteration; what each line of the source costs.

    >>> import rosejit as rose
    >>> rose.jit(lambda x: x * x + 1.0).lower(3.0).cost().ops
    2
    """

    ops: int
    tape_bytes: int
    module_bytes: int
    loops: tuple[LoopTape, ...] = ()
    lines: tuple[LineCost, ...] = field(default=(), repr=False)

    def _repr_html_(self) -> str:
        totals = f"{self.ops:,} operations, {self.tape_bytes:,} bytes kept, {self.module_bytes:,} bytes of module"
        return html_views.listing(totals, "") + html_views.by_lines(self.lines)


def cost(function: ir.Function, wasm: bytes) -> Cost:
    """What a function costs, and its module."""
    (optimised,) = optimise(function)
    lines = line_costs(optimised)
    return Cost(len(Ir(optimised)), stacked_bytes(optimised), len(wasm), loop_tapes(optimised), lines)


def require_lengths(program: Program) -> None:
    """Refuse to compile for this process what takes arrays of any length."""
    names = open_names(source_of(program))
    if names:
        shown = ", ".join(f"`{name}`" for name in names)
        raise StagingTypeError(
            f"the length {shown} of `{program.name}` is open: it is not compiled for calls from Python",
            source_of(program).span,
            help="call the function, which is compiled for each length; or `rose.export` it, as it is lowered here",
        )


class Lowered:
    """A function staged for given arguments. Everything is made when it is asked for.

    >>> import rosejit as rose
    >>> lowered = rose.jit(lambda x: x * x).lower(3.0)
    >>> lowered.wasm[:4], lowered.compile()(5.0)
    (b'\\x00asm', 25.0)
    """

    def __init__(self, program: Program, interface: Interface, statics: tuple[Any, ...], options: Options) -> None:
        self._program = program
        self._interface = interface
        self._statics = statics
        self._options = options

    @cached_property
    def ir(self) -> Ir:
        """The program before it is optimised."""
        return Ir(function_of(self._program))

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
            help="pickle what `.compile()` gives, or `.ir`, `.wasm`",
        )

    @cached_property
    def _compiled(self) -> tuple[Artifact, tuple[Callable[..., Any], ...]]:
        """The module with its entry, and the host functions that it imports, in order."""
        require_lengths(self._program)
        return compile_program({ENTRY: self._program}, borders=borders_of({ENTRY: self._interface}))

    @property
    def wasm(self) -> bytes:
        """The module."""
        return self._compiled[0].wasm

    def wat(self) -> str:
        """The module as text."""
        return wat(self.wasm)

    def cost(self) -> Cost:
        """What it costs."""
        return cost(self.ir.function, self.wasm)

    def compile(self) -> compiled.Compiled:
        """A function for arguments of exactly these types and shapes, bound to what was read from outside."""
        tier = "fast" if self._options.tier == "fast" else "best"
        program = program_codec.Program(
            *self._compiled,
            self._interface,
            self._statics,
            lambda: str(self.ir),
            self._options.tier,
            self._options.cache,
        )
        return compiled.made(program, tier)

    def __repr__(self) -> str:
        return f"<rose.Lowered {self._program.name}: {len(self.ir)} ops>"

    def _repr_html_(self) -> str:
        return html_views.listing(repr(self), str(self.ir))
