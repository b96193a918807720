"""Kernels, selections and comparisons for two lanes: the bits of one lane at a time."""

import itertools
import math
import random

import pytest

from rosejit.codegen.core.module_builder import ModuleContext
from rosejit.codegen.loops.simd_kernels import can_apply
from rosejit.ir.syntax import Var
from rosejit.ir.types import BOOL, REAL
from rosejit.ops import PRIMITIVES
from rosejit.text import parse
from rosejit.wasm.module import ModuleBuilder
from rosejit.wasm.opcodes import OP
from tests.codegen.machine import Machine, agrees

AWKWARD = (0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -1e-310, 1e300, -1e300, 710.0, -746.0, 1.0, -1.0, 1e22)


def in_lanes(op):
    variables = [Var(t) for t in op.params]
    return (
        can_apply(ModuleContext(ModuleBuilder(), 64), op, variables)
        and set(op.params) == {REAL}
        and op.result in (REAL, BOOL)
    )


@pytest.mark.parametrize("op", [op for op in PRIMITIVES.values() if in_lanes(op)], ids=lambda op: op.name)
def test_two_lanes_give_the_bits_of_one(op):
    """Usual lanes, rare ones, and one of each."""
    rng = random.Random(op.name)
    arity = len(op.params)
    usual = [tuple(rng.uniform(-3.0, 3.0) for _ in range(arity)) for _ in range(20)]
    points = [*usual, *[(x, *[rng.choice(AWKWARD) for _ in range(arity - 1)]) for x in AWKWARD]]
    mixed = [p for pair in itertools.zip_longest(points, usual[:9], fillvalue=usual[0]) for p in pair]
    points += mixed
    n, names = len(points), "xyz"[:arity]
    params = ", ".join(f"{name}: [{n}]Real" for name in names)
    args = ", ".join(f"{name}[i]" for name in names)
    body = f"{op.name}({args})" if not op.symbol else "-x[i]" if arity == 1 else f"x[i] {op.symbol} y[i]"
    chosen = f"select({body}, 1.0, 2.0)" if op.result is BOOL else body
    text = f"def f({params}): [{n}]Real = loop i < {n} {{ {chosen} }}"
    agrees(text, tuple(list(column) for column in zip(*points, strict=True)))


@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tan", "tanh", "pow", "atan2", "erf", "hypot", "select"])
def test_what_is_often_used_has_two_lanes(name):
    op = PRIMITIVES[name]
    assert can_apply(ModuleContext(ModuleBuilder(), 64), op, [Var(t) for t in op.params])


@pytest.mark.parametrize("n", [32, 33])
def test_selections_and_the_number_of_the_iteration(n):
    text = f"""
def f(x: [{n}]Real, k: Int, c: Bool): [{n}]Real =
  loop i < {n} scan (a in x) {{
    let even = (a > 0.5) and not (a < -0.25) or c in
    let j = wsub(i, k) in
    select(even, exp(a) * to_real(j), copysign(a, -1.0))
  }}
"""
    for c in (True, False):
        agrees(text, ([0.5 + 0.37 * k * (-1) ** k for k in range(n)], 3, c))
    assert OP["v128.bitselect"] in Machine(parse(text)).artifact.wasm


@pytest.mark.parametrize(("n", "two"), [(31, False), (32, True)])
def test_few_iterations_are_not_worth_a_second_kernel(n, two):
    text = f"def f(x: [{n}]Real): [{n}]Real = loop i < {n} {{ tan(x[i]) }}"
    assert ("tan.x2" in str(Machine(parse(text)).artifact.wasm)) == two


@pytest.mark.parametrize(("n", "two"), [(256, False), (600, True)])
@pytest.mark.parametrize("called", [False, True])
def test_few_iterations_that_run_often_are(n, two, called):
    inner = "loop i < 14 carry (s: Real = 0.0) scan (a in x) { let t = tan(a) in let u = s + t in u }"
    text = f"""
def one(x: [14]Real): Real =
  let t: Real = {inner} in
  t
def f(x: [14]Real): Real =
  loop j < {n} carry (sum: Real = 0.0) {{
    let t: Real = {"one(x)" if called else inner} in
    let u = sum + t in
    u
  }}
"""
    machine = Machine(parse(text))
    assert ("tan.x2" in str(machine.artifact.wasm)) == two
    agrees(text, ([0.3 * k - 2.0 for k in range(14)],))


@pytest.mark.parametrize("op", ["bell_by", "sech2_by"])
def test_neither_side_of_an_even_kernel_is_left(op):
    n = 40
    text = f"def f(x: [{n}]Real, y: [{n}]Real): [{n}]Real = loop i < {n} scan (a in x, b in y) {{ {op}(a, b) }}"
    x = [0.5 * (k - n // 2) for k in range(n)]
    agrees(text, (x, [math.tanh(a) for a in x]))
    assert "exp_rescaled.x2" in str(Machine(parse(text)).artifact.wasm)
