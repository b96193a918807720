"""Sines and cosines that are made together: the same bits, in one call, and only where a block takes both."""

import math

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec, interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import lets
from rosejit.ir.verify import verify_program
from rosejit.ops.kernels import KERNELS
from rosejit.text import parse
from rosejit.transforms.passes.sincos import fuse_sincos
from rosejit.wasm.opcodes import OP
from tests.codegen.machine import Machine, agrees

ANGLES = [0.0, -0.0, 1e-9, 0.7, -2.5, 3.141592653589793, 1e4, 2.0**20, -1e300, 5e-324, math.inf, math.nan]

TURN = """
def f(x: Real): Real, Real, Real =
  let c = cos(x) in
  let d = c * 2.0 in
  let s = sin(x) in
  s, c, d
"""


def calls(f: ir.Function) -> int:
    assert f.body is not None
    kernel = KERNELS["sin_cos"]()
    return len([let for let in lets(f.body) if isinstance(let.expr, ir.Call) and let.expr.function is kernel])


def left(f: ir.Function) -> list[str]:
    assert f.body is not None
    return [
        let.expr.op.name
        for let in lets(f.body)
        if isinstance(let.expr, ir.Apply) and let.expr.op.name in ("sin", "cos")
    ]


def test_one_call_gives_both():
    f = parse(TURN)
    before = [interp.run(f, [x]) for x in ANGLES]
    fuse_sincos(f)
    verify_program(f)
    assert (calls(f), left(f)) == (1, [])
    assert repr([interp.run(f, [x]) for x in ANGLES]) == repr(before)
    agrees(f, *[(x,) for x in ANGLES])


@pytest.mark.parametrize(
    ("text", "made", "alone"),
    [
        ("let s = sin(x) in let c = cos(y) in s + c", 0, ["sin", "cos"]),
        ("let s = sin(x) in let r = if x < y { let c = cos(x) in c } { y } in s + r", 0, ["sin", "cos"]),
        ("if x < y { let c = cos(x) in let s = sin(x) in c + s } { y }", 1, []),
        ("let s = sin(x) in let t = sin(x) in let c = cos(x) in let u = s + t in u + c", 1, ["sin"]),
    ],
)
def test_where(text: str, made: int, alone: list[str]):
    f = parse(f"def f(x: Real, y: Real): Real = {text}")
    fuse_sincos(f)
    assert (calls(f), left(f)) == (made, alone)
    agrees(f, (0.3, 0.5), (0.5, 0.3))


LOOP = """
def f(x: [{n}]Real): [{n}]Real, [{n}]Real =
  loop i < {n} scan (a in x) {{
    let b = a * 1.5 in let s = sin(b) in let c = cos(b) in let t = s * c in t, c
  }}
"""


@pytest.mark.parametrize("n", [32, 33])
def test_two_iterations_of_a_loop_at_a_time(n: int):
    f = parse(LOOP.format(n=n))
    fuse_sincos(f)
    angles = [[0.3 * k for k in range(n)], [1e5 * k for k in range(n)], (ANGLES * 3)[:n]]
    agrees(f, *[(values,) for values in angles])
    assert OP["f64x2.mul"] in Machine(f).artifact.wasm


def test_a_chain_of_iterations():
    text = "def f(n: Int, x: Real): Real = loop i < n carry (a: Real = x) { let s = sin(a) in let c = cos(a) in s - c }"
    f = parse(text)
    fuse_sincos(f)
    agrees(f, *[(n, 0.4) for n in (0, 1, 7, 100)])


def test_programs_of_users_and_their_derivatives():
    @rose.jit
    def swing(x: Vec["n"]) -> float:
        total = 0.0
        for i in rose.range(len(x)):
            angle = x[i]
            if angle > 0.0:
                total += math.sin(angle) * math.cos(angle)
        return total

    x = np.linspace(-1.0, 2.0, 101)
    lowered = swing.lower(x)
    assert "$sin_cos" in lowered.wat()
    assert "$sin_cos" not in str(lowered.ir)
    assert lowered.compile()(x) == pytest.approx(sum(np.sin(x) * np.cos(x) * (x > 0)))
    rose.check_grads(swing, (x,), order=2)
