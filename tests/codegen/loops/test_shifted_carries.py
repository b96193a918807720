"""Carries that an iteration before has made go two at a time: the same bits for all lengths; recurrences
stay serial."""

import pytest

from rosejit.codegen.loops.shifted_carries import schedule, shifted_carries
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms
from rosejit.text import parse
from rosejit.wasm.opcodes import OP
from tests.codegen.machine import Machine, agrees

LENGTHS = (4, 5, 6, 7, 8, 9, 15, 16, 31)
BODIES = {
    "the number before": ("p: Real = c", "let b = a * p in let d = b + c in a, d", "p"),
    "what the number before makes": (
        "p: Real = c, q: Real = 2.0",
        "let b = a * p in let s = a + b in let d = s * q in let e = d - p in a, s, e",
        "pq",
    ),
    "read before it is made": (
        "p: Real = c, q: Real = 0.5",
        "let d = q * 3.0 in let s = a * p in let e = d + s in a, s, e",
        "pq",
    ),
    "two iterations before": ("p: Real = c, q: Real = 0.5", "let d = q * a in let e = d - p in a, p, e", "pq"),
    "beside a recurrence": (
        "p: Real = c, r: Real = 0.5",
        "let h = r * 0.5 in let s = h + p in let d = a * p in a, s, d",
        "p",
    ),
    "beside a sum in lanes": ("p: Real = c, t: Real = 0.5", "let d = a * p in let s = fadd(t, d) in a, s, d", "p"),
    "with a kernel": ("p: Real = c", "let d = exp(p) in let e = d * a in a, e", "p"),
    "a recurrence of two": ("p: Real = c, q: Real = 0.5", "let d = q * a in let e = d - p in e, p, e", ""),
}


def results(carries, length):
    return "Real, " * carries.count("=") + f"[{length}]Real"


def program(name, n):
    carries, body, _ = BODIES[name]
    head = f"def f(x: [{n}]Real, n: Int, c: Real): {results(carries, n)}"
    return f"{head} = loop i < {n} carry ({carries}) scan (a in x) {{ {body} }}"


def arguments(n):
    return [0.5 + 0.37 * k * (-1) ** k for k in range(n)], n, -0.25


@pytest.mark.parametrize("name", BODIES)
def test_same_bits(name):
    for n in LENGTHS:
        agrees(program(name, n), arguments(n))


@pytest.mark.parametrize("name", BODIES)
def test_rare_sides_and_lengths_of_the_run(name):
    carries, body, _ = BODIES[name]
    text = f"""
def f(n: Int, c: Real): {results(carries, "*")} =
  let x: [*]Real = loop j < n {{ let r = to_real(j) in let s = r * 300.0 in s }} in
  loop i < n carry ({carries}) scan (a in x) {{ {body} }}
"""
    agrees(text, *[(n, 0.5) for n in (0, 1, 2, 3, 4, 17, 18, 33)])


@pytest.mark.parametrize("name", BODIES)
def test_which_are_shifted(name):
    (loop,) = [let.expr for let in forms(parse(program(name, 8)).body)]
    assert isinstance(loop, ir.Loop)
    found = shifted_carries(loop)
    assert "".join(c.hint for c in loop.carries if c in found) == BODIES[name][2]
    order = schedule(loop, found)
    assert len(order) == len(loop.body.lets) + len(found)
    assert {*order} == {*loop.body.lets, *found}


def test_vectors_are_used_in_place():
    text = """
def f(x: [32]Real, y: [32]Real, c: Real): [32]Real, Real, [31]Real =
  let z = copy y in
  loop i < 31 carry (u: [32]Real = z, p: Real = c) {
    let m = wadd(i, 1) in
    let a = x@[m] in
    let v = u@[m] in
    let b = a * p in
    let s = v + b in
    let w = update u@[m] = s in
    w, v, p
  }
"""
    args = [0.25 * k for k in range(32)], [1.0 - 0.5 * k for k in range(32)], -1.0
    agrees(text, args)
    assert OP["f64x2.mul"] in Machine(parse(text)).artifact.wasm
