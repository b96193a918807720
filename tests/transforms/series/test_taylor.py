"""Taylor coefficients against forward mode in itself, on every primitive, every form and random programs."""

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.types import REAL, has_real
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.autodiff.derivative_programs import differentiable, pushforward
from rosejit.transforms.passes.insert_copies import insert_copies
from rosejit.transforms.pipeline import optimise
from rosejit.transforms.series.taylor import taylor
from tests.laws import direction, numbers, with_numbers
from tests.ops.points import for_each, inside
from tests.random_ir import sample
from tests.transforms.programs import PROGRAMS

ORDER = 3


def zeros_like(values: Any) -> Any:
    return with_numbers(values, iter(lambda: 0.0, None))


def by_nesting(f: ir.Function, args: Sequence[Any], v: Sequence[Any], order: int) -> list[list[float]]:
    """For each order the numbers of the derivatives of all results along `v`, by forward mode in itself."""
    mask = differentiable(f)
    found = [list(numbers(real_results(f, interp.run(f, args))))]
    along, given, moving = f, list(args), list(v)
    for _ in range(order):
        along = pushforward(along, differentiable(along))
        verify_program(along)
        given, moving = [*given, *moving], [*moving, *zeros_like(moving)]
        results = interp.run(along, given)
        found.append(list(numbers(results[-sum(has_real(t) for t in f.results) :])))
    assert len(mask) == len(args)
    return found


def real_results(f: ir.Function, results: Sequence[Any]) -> list[Any]:
    return [y for y, t in zip(results, f.results, strict=True) if has_real(t)]


def by_series(f: ir.Function, args: Sequence[Any], v: Sequence[Any], order: int, optimised: bool) -> list[list[float]]:
    derived = taylor(f, differentiable(f), order)
    program = insert_copies(derived.function)
    verify_program(program)
    if optimised:
        (program,) = optimise(program)
        verify_program(program)
    n = len(f.results)
    results = interp.run(program, [*args, *v])
    rest = iter(results[n:])
    found = [list(numbers(real_results(f, results[:n])))]
    rows = [
        [next(rest) for _ in range(order)] if on else [zeros_like(y)] * order
        for y, on, t in zip(results[:n], derived.results, f.results, strict=True)
        if has_real(t)
    ]
    for k in range(order):
        found.append([math.factorial(k + 1) * c for row in rows for c in numbers(row[k])])
    return found


def agree(f: ir.Function, args: Sequence[Any], order: int = ORDER, seed: int = 0, scale: float = 1.0) -> None:
    mask = differentiable(f)
    v = direction(random.Random(seed), [a for a, on in zip(args, mask, strict=True) if on])
    wanted = by_nesting(f, args, v, order)
    for optimised in (False, True):
        got = by_series(f, args, v, order, optimised)
        for k, (these, those) in enumerate(zip(got, wanted, strict=True)):
            size = max(map(abs, those), default=0.0)
            assert these == pytest.approx(those, rel=1e-9, abs=1e-9 * scale * (1.0 + size), nan_ok=True), k


@for_each(lambda op: op.result is REAL and REAL in op.params)
def test_primitives(op) -> None:
    params = tuple(ir.Var(t, f"x{k}") for k, t in enumerate(op.params))
    y = ir.Var(op.result, "y")
    f = ir.Function(op.name, params, (op.result,), ir.Block([ir.Let((y,), ir.Apply(op, params))], (y,)))
    rng = random.Random(1)
    args = inside(op, rng)
    if op.name == "polygamma":
        args[0] = 1
    agree(f, args, scale=100.0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_forms(name: str) -> None:
    text, args = PROGRAMS[name]
    agree(parse(text), args, order=3)


@pytest.mark.parametrize("seed", range(16))
def test_random_programs(seed: int) -> None:
    f, args = sample(seed)
    agree(f, args, order=3, seed=seed)
