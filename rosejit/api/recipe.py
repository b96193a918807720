"""A derived function before it is derived: of what it is made, and how. The disk cache asks for no more than that."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rosejit.errors import NotDifferentiable
from rosejit.ir import syntax as ir
from rosejit.numeric import is_at_hand
from rosejit.transforms.numbering import Straight, straight
from rosejit.transforms.pipeline import prepared
from rosejit.transforms.rows import Rows, rows


@dataclass(slots=True, eq=False)
class Recipe:
    """The function that `make` makes of `base`; it takes the same parameters. `words` say all that `make` knows, so
    that equal words and equal bases give equal functions."""

    name: str
    base: "Program"
    words: tuple[Any, ...]
    make: Callable[[ir.Function], ir.Function]
    straight: Callable[[Rows], Straight | None] | None = None
    """As `make`, for long straight code; None where it is something else."""
    made: ir.Function | None = field(default=None, repr=False)


Program = ir.Function | Recipe


def function_of(program: Program) -> ir.Function:
    """The function itself, derived if it has not been. Raises `NotDifferentiable` where it cannot be."""
    if isinstance(program, ir.Function):
        return program
    if program.made is None:
        base = prepared(function_of(program.base))
        try:
            program.made = program.make(base)
        except NotDifferentiable as error:
            error.blames_call = True
            raise
    return program.made


LONG = 5_000
"""Rows, or lets, for which the passes take longer than to load NumPy."""


def straight_of(program: Program, source: Rows | None) -> Straight | None:
    """The function itself as numbers, if it is long straight code, or the gradient of such code. `source`: what it is
    made of, if that is known as rows. None where there is no NumPy: code is made of numbers in its columns."""
    base = program if isinstance(program, ir.Function) else program.base
    make = straight if isinstance(program, ir.Function) else program.straight
    if make is None or not isinstance(base, ir.Function):
        return None
    base = base if program is base else prepared(base)
    given = source if source and source.base is base else rows(base)
    return make(given) if given and is_at_hand(worth_loading=len(given.rows) >= LONG) else None


def source_of(program: Program) -> ir.Function:
    """The staged function that everything began with."""
    while isinstance(program, Recipe):
        program = program.base
    return program


def words_of(program: Program) -> list[Any]:
    """What is done to `source_of(program)`, the last step first."""
    found: list[Any] = []
    while isinstance(program, Recipe):
        found.append((program.name, *program.words))
        program = program.base
    return [*found, program.name]
