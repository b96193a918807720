"""What a program will need: bytes of types, what loops keep in each iteration, of recursive programs too."""

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec
from rosejit.errors import NotDifferentiable
from rosejit.ir.types import BOOL, INT, REAL, UNIT, Array, Nominal, Sum, Tuple
from rosejit.transforms.analysis.cost import ADDRESS, bytes_of
from tests.programs import recursion
from tests.programs.record import Program


def chain() -> Nominal:
    """A record with a record of its own kind, or nothing, in it."""
    made = Nominal("Res")
    made.fields = (REAL, Sum(UNIT, made), Array(3, made))
    return made


@pytest.mark.parametrize(
    ("t", "size"),
    [
        (UNIT, 0),
        (BOOL, 1),
        (INT, 8),
        (Array(3, Array(4, REAL)), 96),
        (Array(None, REAL), 0),
        (Tuple((REAL, BOOL)), 9),
        (Sum(REAL, Array(2, REAL)), 17),
        (chain(), 8 + (1 + ADDRESS) + 3 * ADDRESS),
    ],
    ids=str,
)
def test_bytes_of_types(t, size) -> None:
    assert bytes_of(t) == size


@pytest.mark.parametrize("program", recursion.PROGRAMS, ids=lambda program: program.name)
def test_derivatives_of_recursive_functions_have_a_cost(program: Program) -> None:
    derived = [rose.grad(program.function), rose.grad(rose.grad(program.function))]
    for f in derived:
        try:
            assert f.lower(*program.calls[0]).cost().ops > 0
        except NotDifferentiable:
            pass


@rose.jit
def product(x: Vec["n"]) -> float:
    y = 1.0
    for i in rose.range(len(x)):
        y *= x[i]
    return y


def test_what_an_iteration_keeps() -> None:
    (tape,) = rose.grad(product).lower(np.ones(1000)).cost().loops
    assert (tape.bytes_per_iteration, tape.iterations) == (8, 1000)
    assert tape.where.split(":")[0] == __file__
    assert product.lower(np.ones(1000)).cost().loops == ()
