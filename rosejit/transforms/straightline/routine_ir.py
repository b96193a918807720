"""The one form of straight-line programs behind the IR: routines, which are basic blocks after value numbering.

A step is a tuple of small integers, an operation and the numbers of its operands; calls, and what is added to arrays,
are steps too. A program is one routine or more: what one function computes is a program of one routine. No routine is
entered twice at a time, so what it takes and gives lies at fixed places. Data only: `numbered_gradient.py` makes the
gradient of one function, `build_routines.py` whatever the IR says, `codegen/straightline` the code of both.
"""

from dataclasses import field
from typing import NamedTuple

from rosejit.ir import syntax as ir
from rosejit.ir.types import Scalar, Type
from rosejit.lazy_dataclass import dataclass
from rosejit.transforms.straightline.value_numbering import Step

WORTHWHILE = 100
"""Lets: shorter code takes no time worth saving."""

# --- leaves


@dataclass(slots=True, frozen=True)
class ParameterLeaf:
    """What a routine is given."""

    number: int


@dataclass(slots=True, frozen=True)
class ByteOffset:
    """How far an element is from the start of its array, in bytes: what a routine is given for an index."""

    bytes: int


class ElementAddress(NamedTuple):
    """An element of the argument `array` of the whole program, or of the result `~array`: `bytes` behind its start, and
    as many more as the parameter `by` says."""

    array: int
    type: Scalar
    bytes: int
    by: int | None


@dataclass(slots=True, frozen=True)
class AccumulatedElement:
    """Where an element of a result lies that is added to, and what it is."""

    place: ElementAddress


Leaf = ir.Lit | ParameterLeaf | ByteOffset | ElementAddress | AccumulatedElement


# --- steps that are no primitives


@dataclass(slots=True, eq=False)
class AddToElement:
    """Adds its second operand to the first, an `AccumulatedElement`."""

    place: ElementAddress


@dataclass(slots=True, eq=False)
class Guard:
    """Goes on only if its operand is `side`, up to the `ZeroIfSkipped`."""

    side: bool


@dataclass(slots=True, eq=False)
class SetArgument:
    """Gives its first operand to a routine for its parameter `number`."""

    routine: "Routine"
    number: int


@dataclass(slots=True, eq=False)
class CallRoutine:
    """Calls a routine that has been given all it takes."""

    routine: "Routine"


@dataclass(slots=True, eq=False)
class ZeroIfSkipped:
    """Results of the routine are zero where a guard has kept it from being called."""

    routine: "Routine"


@dataclass(slots=True, eq=False)
class GetResult:
    """Is a result of the routine that was called last."""

    routine: "Routine"
    number: int


Action = AddToElement | Guard | SetArgument | CallRoutine | ZeroIfSkipped | GetResult


@dataclass(slots=True, eq=False)
class Routine:
    """A function as numbers: value `k` is `code[k]`, `~k` stands for `leaves[k]`. What has `~k` in place of the code of
    a primitive is action `k` of the program; its last operand may be a step that it is behind, and does not read."""

    function: ir.Function
    code: list[Step]
    leaves: list[Leaf]
    params: list[Scalar] = field(default_factory=list[Scalar])
    strides: dict[int, int] = field(default_factory=dict[int, int])
    """Of the parameters that are indices: bytes from one element to the next."""
    results: tuple[int, ...] = ()
    acts: list[int] = field(default_factory=list[int])
    """The steps that matter beside the results."""


@dataclass(slots=True, frozen=True)
class ResultNumbers:
    """A scalar or an array of Reals, by the numbers of its elements."""

    type: Type
    elements: tuple[int, ...]


@dataclass(slots=True)
class RoutineProgram:
    """Routines, callees first, the whole last; its results, and which of them are sums that start from zero."""

    routines: list[Routine]
    results: tuple[ResultNumbers | int, ...]
    """Numbers, and how many bytes an array has."""
    actions: list[Action] = field(default_factory=list[Action])
