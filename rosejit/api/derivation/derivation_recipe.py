"""A derived function before it is derived: of what it is made, and how. The disk cache asks for no more than that."""

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from rosejit.api.deferred import numbered_gradient, pipeline
from rosejit.errors import NotDifferentiable
from rosejit.ir import syntax as ir
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import is_at_hand
from rosejit.transforms.passes.lengths_to_variables import with_open_lengths
from rosejit.transforms.straightline.op_rows import OpRows, rows

if TYPE_CHECKING:
    from rosejit.transforms.straightline.routine_ir import RoutineProgram


@dataclass(slots=True, eq=False)
class Recipe:
    """The function that `make` makes of `base`; it takes the same parameters. `words` say all that `make` knows, so
    that equal words and equal bases give equal functions."""

    name: str
    base: "Program"
    words: tuple[Any, ...]
    make: Callable[[ir.Function], ir.Function]
    value_number: "Callable[[OpRows], RoutineProgram | None] | None" = None
    """As `make`, for long straight-line code; None where it is something else."""
    function: ir.Function | None = field(default=None, repr=False)


Program = ir.Function | Recipe


def function_of(program: Program) -> ir.Function:
    """The function itself, derived if it has not been. Raises `NotDifferentiable` where it cannot be."""
    if isinstance(program, ir.Function):
        return program
    if program.function is None:
        base = pipeline.prepared(with_open_lengths(function_of(program.base)))
        try:
            program.function = program.make(base)
        except NotDifferentiable as error:
            error.blames_call = True
            raise
    return program.function


LONG = 5_000
"""Rows, or lets, for which the passes take longer than to load NumPy."""


def numbered_of(program: Program) -> "RoutineProgram | None":
    """A staged function that is long straight-line code, or the gradient of such a function, as a routine. None for all
    else, and where there is no NumPy: code is made of routines in its columns."""
    base = program if isinstance(program, ir.Function) else program.base
    make = numbered_gradient.value_numbered if isinstance(program, ir.Function) else program.value_number
    if make is None or not isinstance(base, ir.Function):
        return None
    given = rows(base if program is base else pipeline.prepared(base))
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
