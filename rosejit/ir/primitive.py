"""The record that says everything about one primitive; the primitives themselves are in `rosejit.ops`."""

from collections.abc import Callable
from dataclasses import field
from typing import Any

from rosejit.ir.types import TAN, Scalar
from rosejit.lazy_dataclass import dataclass


@dataclass(slots=True, frozen=True)
class Instr:
    """One or more Wasm instructions without immediates, by name, applied to the operands in order."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "names", names)


@dataclass(slots=True, frozen=True)
class Kernel:
    """An IR function of `rosejit.ops.kernels`, compiled into the module. `even`: neither side of its branch is rare."""

    name: str
    even: bool = False


@dataclass(slots=True, frozen=True)
class Emit:
    """An instruction sequence that the code generator knows under this name (checked integer arithmetic)."""

    name: str


@dataclass(slots=True, frozen=True)
class Table:
    """A column, 0 or 1, of a table of constants of `rosejit.ops.tables`; the operand, modulo its length, is the row."""

    name: str
    column: int


Rule = Callable[..., tuple[Any, ...]]


class Staged:
    """A number that is not known yet. A primitive called with one is not computed: the number stages it."""

    __slots__ = ()

    def stage(self, op: "Primitive", args: tuple[Any, ...]) -> Any:
        """The staged result of `op` on `args`, some of them staged and the others Python numbers."""
        raise AssertionError(f"{type(self).__name__} does not say how `{op.name}` is staged")


@dataclass(slots=True, frozen=True, eq=False, repr=False)
class Primitive:
    """A scalar operation.

    `partials(*args, result)` gives one factor an argument, None for a derivative of zero. `tangent(args, result,
    tangents)` replaces it where the tangent is not a sum of factors times tangents (a selection, say); absent
    tangents are None. Both are generic: on floats they give numbers, on staged values they emit IR. With neither
    the derivative is zero. `transpose(ct, *args)` gives one cotangent an argument, None for the nonlinear ones.
    """

    name: str
    params: tuple[Scalar, ...]
    result: Scalar
    doc: str
    evaluate: Callable[..., Any]
    wasm: Instr | Kernel | Emit | Table
    partials: Rule | None = None
    tangent: Callable[[tuple[Any, ...], Any, tuple[Any, ...]], Any] | None = None
    transpose: Rule | None = None
    symbol: str = ""
    """How it prints between (or before) its operands; `name(...)` without one."""
    word: str = ""
    """What users call it; its symbol, or its name, if not given."""
    rose: str = ""
    """The public function that it is: `rose.NAME`, of numbers and of the elements of arrays."""
    numpy: str = ""
    """NumPy's functions of elements that it is, their names with spaces between."""
    math: str = ""
    """The function of Python's `math` that it is."""
    js: str = ""
    """The JavaScript that computes it in a page whose mathematics is wanted (`math="js"`)."""
    erased: str = ""
    """Of a linear primitive: the name of the one that does the same on Reals."""
    failure: str = ""
    """The kinds of `Failure` it can end in, `|` between, with the let's line; such an op is never dropped or moved.

    Its kernel gives a second result, an Int: 0, or the number of the kind, from 1. `evaluate` raises Python's own
    exceptions.
    """
    unchecked: str = ""
    """Of an op that can fail: the name of the one that does the same where it is proven not to."""
    gathers: tuple[int, ...] = ()
    """Of a sum whose order is free: the operands that may be a running sum; see `sums.py`."""
    relaxed: Callable[..., Any] | None = None
    """The same for functions that need not keep to the last bit (`fastmath`), from the operands; generic, as rules."""
    adds: tuple[int, ...] = ()
    """Of a sum of Ints: the sign that each operand has in it."""
    bounds: Callable[..., tuple[int, int] | None] | None = None
    """Of other Ints: the least and the largest result, from those of each operand, if no number were too large."""
    cheap: bool = False
    """One flop or less: recomputed in the linear half rather than stored."""
    selects: bool = False
    """Gives its second operand where the first is true, else the third."""
    sharing: tuple[str, str] = ("", "")
    """Another op of the same operand, and the op that gives the same bits as this one from the operand and its result,
    which are at hand where this is the slope of that."""
    commutes: bool = False
    neutral: tuple[float | int | bool | None, ...] = ()
    """For each operand the constant that makes the result the other operand, bit for bit; None where there is none."""
    negates: bool = False
    """Gives minus its operand."""
    minus: tuple[str, ...] = ()
    """For each operand the name of the op that does the same, bit for bit, where that operand is minus something and
    loses its sign: `-` before it if the result then has the other sign, `~` if operands change places; or nothing."""
    inverse: str = ""
    """Of a quotient: the name of the product that gives the same bits where the divisor is a power of two, with its
    reciprocal."""
    differentiable: bool = field(init=False)
    """Whether the derivative may differ from zero."""
    linear: tuple[int, ...] = field(init=False)
    """The positions of the operands that are Tans."""
    nonlinear: tuple[int, ...] = field(init=False)
    """The others."""

    def __copy__(self) -> "Primitive":
        """Itself: two of one name would be two operations."""
        return self

    def __deepcopy__(self, memo: object) -> "Primitive":
        """As `__copy__`."""
        return self

    def __post_init__(self) -> None:
        object.__setattr__(self, "word", self.word or self.symbol or self.name)
        object.__setattr__(self, "differentiable", self.partials is not None or self.tangent is not None)
        object.__setattr__(self, "linear", tuple([k for k, t in enumerate(self.params) if t is TAN]))
        object.__setattr__(self, "nonlinear", tuple([k for k, t in enumerate(self.params) if t is not TAN]))
        if (self.transpose is not None) != (TAN in self.params):
            raise ValueError(
                f"`{self.name}`: a transpose rule belongs to a primitive with a Tan operand, and to no other"
            )
        if (TAN in self.params) != (self.erased != ""):
            raise ValueError(f"`{self.name}`: a primitive on Tans names its twin on Reals")

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    def __call__(self, *args: Any) -> Any:
        """The number, or a staged result where an argument is staged: rules and kernels are written with calls."""
        for arg in args:
            if isinstance(arg, Staged):
                return arg.stage(self, args)
        return self.evaluate(*args)
