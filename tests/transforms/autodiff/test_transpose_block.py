"""The pullback of numbers that were selected from: what was not selected costs nothing."""

import math

import pytest

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import lets, scopes
from rosejit.text import parse
from rosejit.transforms.autodiff.derivative_programs import gradient
from rosejit.transforms.pipeline import optimise
from tests.laws import check_laws

NEAREST = """
def f(x: [11]Real, y: [12][11]Real): Real =
  let m: Real = loop k < 12 carry (least: Real = 100.0) {
    let d: Real = loop i < 11 carry (s: Real = 0.0) {
      let p: Real = x@[i] in
      let q: Real = y@[k, i] in
      let r: Real = p - q in
      let e: Real = r * r in
      let n: Real = s + e in
      n
    } in
    let c: Bool = d < least in
    let new: Real = select(c, d, least) in
    new
  } in
  m
"""

BOTH = """
def g(x: [12]Real, c: Real): Real =
  let s: Real = loop i < 12 carry (t: Real = 0.0) {
    let v: Real = x@[i] in
    let w: Real = v * c in
    let u: Real = sqrt(w) in
    let n: Real = t + u in
    n
  } in
  s
def f(x: [12]Real, y: Real): Real =
  let z: Real = y * 3.0 in
  let a: Real = g(x, z) in
  let b: Real = loop i < 12 carry (t: Real = y) { let v: Real = x@[i] in let n: Real = t * v in n } in
  let c: Bool = a < b in
  let r: Real = select(c, a, b) in
  let q: Real = select(c, b, y) in
  let o: Real = r * q in
  o
"""

TEXTS = {"nearest": NEAREST, "both": BOTH}


def args(name: str):
    values = [0.9 + 0.3 * math.sin(k) for k in range(11 * 13)]
    if name == "both":
        return [values[:12], 1.3]
    return [values[:11], [values[11 * k : 11 * k + 11] for k in range(1, 13)]]


@pytest.mark.parametrize("name", TEXTS)
def test_laws(name: str) -> None:
    check_laws(parse(TEXTS[name]), args(name), order=2)


def test_a_loop_that_was_not_selected_does_not_turn() -> None:
    f = parse(NEAREST)
    (made,) = optimise(gradient(f, (True, True), False))
    assert made.body is not None
    loops = [let.expr for let in lets(made.body) if isinstance(let.expr, ir.Loop)]
    guarded = [
        inner
        for let in lets(made.body)
        if isinstance(let.expr, ir.If)
        for _, block in scopes(let.expr)
        for inner in block.lets
        if isinstance(inner.expr, ir.Loop)
    ]
    assert (len(loops), len(guarded)) == (4, 1)


def test_what_was_not_selected_cannot_poison() -> None:
    """The square root of the side that is not taken has an infinite slope."""
    f = parse(BOTH.replace("select(c, b, y)", "select(c, y, y)"))
    x, y = [0.0] + 11 * [0.5], 1.3
    by_x, by_y = interp.run(gradient(f, (True, True), False), [x, y])
    assert all(map(math.isfinite, [*by_x, by_y]))
