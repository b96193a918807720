"""What is derived of a function is the same bytes whatever was derived before it, of it or of what it calls."""

import os
from collections.abc import Callable, Iterator

import pytest

import rosejit as rose
from rosejit.api.programs.compile_and_load import compile_roots
from rosejit.errors import RoseError
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import reachable
from rosejit.ir.types import REAL, has_real
from rosejit.transforms.autodiff.derivative_programs import cotangents, differentiable, gradient, pushforward
from rosejit.transforms.jacobians.dense import jacobian
from rosejit.transforms.pipeline import prepared
from tests.backends import staged
from tests.programs import PROGRAMS, recursion
from tests.programs.record import Program

Mask = tuple[bool, ...]
Make = Callable[[ir.Function], ir.Function]


def masks(f: ir.Function) -> list[Mask]:
    """All parameters, each of the first three alone, and all but the first."""
    whole = differentiable(f)
    on = [k for k, active in enumerate(whole) if active]
    single = [tuple(i == k for i in range(len(whole))) for k in on[:3]]
    rest = tuple(active and k not in on[:1] for k, active in enumerate(whole))
    return [mask for mask in dict.fromkeys([whole, *single, rest]) if any(mask)]


def derivations(f: ir.Function) -> Iterator[Make]:
    for mask in masks(f):
        yield lambda g, mask=mask: pushforward(g, mask)
        yield lambda g, mask=mask: cotangents(g, mask)
        if f.results and f.results[0] is REAL:
            yield lambda g, mask=mask: gradient(g, mask, False)
        yield lambda g, mask=mask: jacobian(g, mask, "fwd")


def derive(f: ir.Function, make: Make) -> ir.Function | None:
    try:
        return make(prepared(f))
    except RoseError:
        return None  # its Jacobian has no shape, or it has no derivative


def code(f: ir.Function, make: Make) -> bytes | None:
    made = derive(f, make)
    return None if made is None else compile_roots({"main": made}, True)[0].wasm


def forget(f: ir.Function) -> None:
    """Everything that was derived of `f`, and of what it reaches."""
    for g in reachable(f):
        for h in (g, *(reachable(g.rule) if g.rule else ())):
            h.derived.clear()


SOME = PROGRAMS if "ROSE_ALL_PROGRAMS" in os.environ else [*PROGRAMS[::9], *recursion.PROGRAMS]
"""All 500 take most of a minute."""


@pytest.mark.parametrize("program", list(dict.fromkeys(SOME)), ids=lambda program: program.name)
def test_a_derivative_is_the_same_bytes_whatever_was_derived_before(program: Program) -> None:
    f, _ = staged(program.function, program.calls[0])
    makes = list(derivations(f)) if any(map(has_real, f.results)) else []
    wanted = [makes[k] for k in dict.fromkeys((1, len(makes) - 1))] if makes else []
    alone: list[bytes | None] = []
    for make in wanted:
        forget(f)
        alone.append(code(f, make))
    forget(f)
    for g in reachable(f)[::-1]:
        if g.body is not None and g.rule is None and any(map(has_real, g.results)):
            for make in [*derivations(g)][::-1]:
                if make not in wanted:
                    derive(g, make)
    assert [code(f, make) for make in wanted] == alone


@rose.jit
def step(a: float, b: float, c: float, d: float, n: int) -> tuple[float, float, float, float]:
    for _ in rose.range(n):
        a, b, c, d = a * b + c, b * 0.5 + d, c * d, d * 0.25 + 1.0
    return a, b, c, d


@rose.jit
def four(a: float, b: float, c: float, d: float) -> float:
    x, y, z, w = step(a, b * 2.0, c, d, 5)
    return x * y + step(x, y, z, w, 6)[0]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_four_arguments_cost_the_same_in_every_order(order: tuple[int, ...]) -> None:
    f, _ = staged(four, (1.0, 2.0, 3.0, 4.0))
    sizes = {}
    for k in order:
        forget(f)
        mask = tuple(i == k for i in range(4))
        sizes[k] = code(f, lambda g, mask=mask: jacobian(g, mask, "fwd"))
    forget(f)
    for k in order:
        mask = tuple(i == k for i in range(4))
        assert code(f, lambda g, mask=mask: jacobian(g, mask, "fwd")) == sizes[k]
