"""A derived function before it is derived: of what it is made, and how. The disk cache asks for no more than that."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rosejit.errors import NotDifferentiable
from rosejit.ir import syntax as ir
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


def straight_of(program: Program, source: Rows | None) -> Straight | None:
    """The function itself as numbers, if it is long straight code, or the gradient of such code. `source`: what it is
    made of, if that is known as rows."""
    if isinstance(program, ir.Function):
        given = source or rows(program)
        return straight(given) if given else None
    if program.straight is None or not isinstance(program.base, ir.Function):
        return None
    base = prepared(program.base)
    given = source if source and source.base is base else rows(base)
    return program.straight(given) if given else None


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
