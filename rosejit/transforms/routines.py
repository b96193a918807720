"""Routines: straight-line functions as numbers, in which calls, and what is added to arrays, are steps too.

A routine is never entered twice at a time, so that what it takes and gives lies at fixed places. Data only: `link.py`
makes them.
"""

from dataclasses import dataclass, field

from rosejit.ir import syntax as ir
from rosejit.ir.types import Scalar
from rosejit.transforms.numbering import Result
from rosejit.transforms.sharing import Step

# --- leaves


@dataclass(slots=True, frozen=True)
class Param:
    """What a routine is given."""

    number: int


@dataclass(slots=True, frozen=True)
class Offset:
    """How far an element is from the start of its array, in bytes: what a routine is given for an index."""

    bytes: int


@dataclass(slots=True, frozen=True)
class Place:
    """An element of the argument `array` of the whole program, or of the result `~array`: `bytes` behind its start, and
    as many more as the parameter `by` says."""

    array: int
    type: Scalar
    bytes: int
    by: int | None


@dataclass(slots=True, frozen=True)
class Sum:
    """Where an element of a result lies that is added to, and what it is."""

    place: Place


# --- steps that are no primitives


@dataclass(slots=True, eq=False)
class Add:
    """Adds its second operand to the first, a `Sum`."""

    place: Place


@dataclass(slots=True, eq=False)
class Guard:
    """Goes on only if its operand is `side`, up to the `End`."""

    side: bool


@dataclass(slots=True, eq=False)
class Give:
    """Gives its first operand to a routine for its parameter `number`."""

    routine: "Routine"
    number: int


@dataclass(slots=True, eq=False)
class Invoke:
    """Calls a routine that has been given all it takes."""

    routine: "Routine"


@dataclass(slots=True, eq=False)
class End:
    """Results of the routine are zero where a guard has kept it from being called."""

    routine: "Routine"


@dataclass(slots=True, eq=False)
class Out:
    """Is a result of the routine that was called last."""

    routine: "Routine"
    number: int


Action = Add | Guard | Give | Invoke | End | Out


@dataclass(slots=True, eq=False)
class Routine:
    """A function as numbers: value `k` is `code[k]`, `~k` stands for `leaves[k]`. What has `~k` in place of the code of
    a primitive is action `k` of the program; its last operand may be a step that it is behind, and does not read."""

    function: ir.Function
    code: list[Step]
    leaves: list[object]
    params: list[Scalar] = field(default_factory=list[Scalar])
    strides: dict[int, int] = field(default_factory=dict[int, int])
    """Of the parameters that are indices: bytes from one element to the next."""
    results: tuple[int, ...] = ()
    acts: list[int] = field(default_factory=list[int])
    """The steps that matter beside the results."""


@dataclass(slots=True)
class Program:
    """Routines, callees first, the whole last; its results, and which of them are sums that start from zero."""

    routines: list[Routine]
    results: tuple[Result | int, ...]
    """Numbers, and how many bytes an array has."""
    actions: list[Action] = field(default_factory=list[Action])
