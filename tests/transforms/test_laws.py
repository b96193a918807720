"""The laws of derivatives on every form, to order 3; sizes and costs that stay linear."""

import pytest

from rosejit import interp
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.autodiff.derivative_programs import cotangents, differentiable, pushforward
from rosejit.transforms.pipeline import optimise
from tests.laws import check_laws
from tests.transforms.programs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_laws_hold_to_order_3(name: str) -> None:
    text, args = PROGRAMS[name]
    check_laws(parse(text), args, order=3)


@pytest.mark.parametrize("name", PROGRAMS)
def test_optimised_derivatives_give_the_same_bits(name: str) -> None:
    text, args = PROGRAMS[name]
    f = parse(text)
    mask = differentiable(f)
    tangents = [a for a, on in zip(args, mask, strict=True) if on]
    forward = pushforward(f, mask)
    for program, given in (
        (f, args),
        (forward, [*args, *tangents]),
        (pushforward(forward, differentiable(forward)), [*args, *tangents, *tangents, *tangents]),
    ):
        (optimised,) = optimise(program)
        verify_program(optimised)
        assert interp.run(optimised, given) == interp.run(program, given)
    backward = cotangents(f, mask)
    cts = [interp.run(f, args)[k] for k, t in enumerate(f.results)]
    (optimised,) = optimise(backward)
    verify_program(optimised)
    assert interp.run(optimised, [*args, *cts]) == interp.run(backward, [*args, *cts])
