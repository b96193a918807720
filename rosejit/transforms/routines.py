"""Routines: straight-line functions as numbers, in which calls, and what is added to arrays, are steps too.

A routine is never entered twice at a time, so that what it takes and gives lies at fixed addresses. Data only:
`link.py` makes them.
"""

from dataclasses import dataclass, field
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.types import Scalar
from rosejit.transforms.numbering import Result

Step = tuple[Any, ...]
"""What is done, the code of a primitive or one of the steps below, and the numbers of operands."""


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


@dataclass(slots=True, eq=False)
class Add:
    """A step that adds its operand to an element of a result."""

    place: Place


@dataclass(slots=True, eq=False)
class Invoke:
    """A step that calls a routine: operands are what it is given, behind the condition that must be `side`, if that is
    known."""

    routine: "Routine"
    side: bool | None


@dataclass(slots=True, eq=False)
class Out:
    """A step that is a result of the one that it reads; zero where that did not run."""

    number: int


@dataclass(slots=True, eq=False)
class Routine:
    """A function as numbers: value `k` is `code[k]`, `~k` stands for `leaves[k]`."""

    function: ir.Function
    code: list[Step] = field(default_factory=list[Step])
    leaves: list[object] = field(default_factory=list[object])
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
