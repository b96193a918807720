"""What a reverse pass keeps: arrays once rather than what each iteration reads of them, and never more than that."""

import math

import numpy as np
import pytest

import rosejit as rose
from rosejit import interp
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.analysis.cost import stacked_bytes
from rosejit.transforms.autodiff import residuals
from rosejit.transforms.autodiff.derivative_programs import cotangents, differentiable
from rosejit.transforms.pipeline import optimise
from tests.backends import flat
from tests.frontend.oracle import define
from tests.laws import check_laws

PRODUCT = """
def f(a: [16][15]Real, x: [15]Real): [16]Real =
  let y: [16]Real = loop i < 16 {
    let s: Real = loop j < 15 carry (t: Real = 0.0) {
      let p: Real = a@[i, j] in
      let q: Real = x@[j] in
      let r: Real = p * q in
      let u: Real = t + r in
      u
    } in
    s
  } in
  y
"""

DISTANCES = """
def f(a: [16][15]Real, b: [14][15]Real): Real =
  let y: Real = loop i < 16 carry (s: Real = 0.0) {
    let row: [15]Real = a@[i] in
    let z: Real = loop k < 14 carry (t: Real = s) {
      let w: Real = loop j < 15 carry (u: Real = t) {
        let p: Real = row@[j] in
        let q: Real = b@[k, j] in
        let d: Real = p - q in
        let e: Real = d * d in
        let v: Real = u + e in
        v
      } in
      w
    } in
    z
  } in
  y
"""

TABLES = """
def f(x: [13]Real, at: [14]Int): Real =
  let y: Real = loop i < 14 carry (s: Real = 1.0) {
    let k: Int = at@[i] in
    let p: Real = x@[k] in
    let q: Real = s * p in
    q
  } in
  y
"""

LOCAL = """
def f(x: [13]Real): Real =
  let y: Real = loop t < 15 carry (s: Real = 1.0) {
    let z: [13]Real = loop i < 13 { let p: Real = x@[i] in let q: Real = p * s in q } in
    let w: Real = loop i < 14 carry (u: Real = s) {
      let v: Real = loop j < 13 carry (g: Real = u) {
        let a: Real = z@[j] in
        let b: Real = sin(a) in
        let c: Real = a * b in
        let d: Real = g + c in
        d
      } in
      v
    } in
    let n: Real = w * 0.01 in
    n
  } in
  y
"""

LAST = """
def f(x: [29]Real): Real =
  let y: Real = loop i < 13 carry (s: Real = 1.0) {
    let p: Real = x@[28] in
    let q: Real = s * p in
    q
  } in
  y
"""

MATRICES = """
def f(q: [5][4]Real, x: [12][4]Real): Real =
  let m: [5][4][4]Real = loop a < 5 {
    let n: [4][4]Real = loop i < 4 {
      let r: [4]Real = loop j < 4 {
        let u: Real = q@[a, i] in
        let v: Real = q@[a, j] in
        let w: Real = u * v in
        let z: Real = sin(w) in
        z
      } in
      r
    } in
    n
  } in
  let y: Real = loop k < 12 carry (s: Real = 0.0) {
    let g: Real = loop a < 5 carry (t: Real = s) {
      let one: [4][4]Real = m@[a] in
      let h: Real = loop i < 4 carry (b: Real = t) {
        let z: Real = loop j < 4 carry (c: Real = 0.0) {
          let o: Real = one@[i, j] in
          let p: Real = x@[k, j] in
          let d: Real = o * p in
          let e: Real = c + d in
          e
        } in
        let l: Real = z * z in
        let n: Real = b + l in
        n
      } in
      h
    } in
    g
  } in
  y
"""


TRIANGLE = """
def f(x: [40]Real, b: [820]Real): Real =
  let y: Real = loop j < 40 carry (s: Real = 0.0) {
    let v: Real = x@[j] in
    let a: Int = j * 20 in
    let w: Real = loop i < j carry (t: Real = s) {
      let k: Int = wadd(i, a) in
      let p: Real = b[k] in
      let q: Real = p * p in
      let r: Real = q * v in
      let u: Real = t + r in
      u
    } in
    w
  } in
  y
"""


CHAIN = """
def f(x: [13]Real): Real =
  let y: Real = loop i < 13 carry (s: Real = 1.0) {
    let p: Real = x@[i] in
    let a: Real = s * p in
    let b: Real = a + p in
    let c: Real = a * b in
    let d: Real = b * c in
    let e: Real = sin(d) in
    e
  } in
  y
"""

CELL = """
def f(w: [14]Real, h: [14]Real): Real =
  let h0: [14]Real = copy h in
  let m: Real, last: [14]Real = loop t < 15 carry (s: Real = 0.0, g: [14]Real = h0) {
    let n: [14]Real = loop i < 14 scan (p: Real in w, q: Real in g) {
      let a: Real = p * q in
      let b: Real = a + p in
      let c: Real = sigmoid(b) in
      let d: Real = tanh(q) in
      let e: Real = c * d in
      e
    } in
    let z: Real = loop i < 14 carry (k: Real = s) scan (a: Real in n) {
      let b: Real = a * a in
      let c: Real = k + b in
      c
    } in
    z, n
  } in
  m
"""

OUTPUTS = """
def f(w: [14]Real, h: [14]Real): Real =
  let h0: [14]Real = copy h in
  let m: Real, last: [14]Real = loop t < 15 carry (s: Real = 0.0, g: [14]Real = h0) {
    let n: [14]Real, o: [14]Real = loop i < 14 scan (p: Real in w, q: Real in g) {
      let a: Real = p * q in
      let b: Real = a + p in
      let c: Real = sigmoid(b) in
      let d: Real = tanh(q) in
      let e: Real = c * d in
      let k: Real = e + d in
      OUTPUTS
    } in
    let z: Real = loop i < 14 carry (k: Real = s) scan (a in n, b in o) {
      let b1: Real = a * b in
      let b2: Real = b1 * b1 in
      let c: Real = k + b2 in
      c
    } in
    z, n
  } in
  m
"""


def numbers(*shape):
    values = iter(range(1, 1000))

    def made(shape):
        return [made(shape[1:]) for _ in range(shape[0])] if shape else 0.9 + 0.2 * math.sin(next(values))

    return made(shape)


# name -> text, arguments, at most so many bytes that the loops of its reverse pass stack, results among them
KEPT = {
    "a product keeps nothing, its operands are passed again": (PRODUCT, [numbers(16, 15), numbers(15)], 16 * 8),
    "differences are computed again from what they are differences of": (
        DISTANCES,
        [numbers(16, 15), numbers(14, 15)],
        0,
    ),
    "indices from tables are read again": (TABLES, [numbers(13), [0, 2, 2, 1, *range(10)]], 14 * 8),
    "an array made in a loop is kept once, not each read": (
        LOCAL,
        [numbers(13)],
        8 * (15 * (1 + 13 + 2 * 14 * 13) + 2 * 14 * 13 + 2 * 13 + 13),
    ),
    "rows of an array made before are read again": (
        MATRICES,
        [numbers(5, 4), numbers(12, 4)],
        8 * 2 * (5 * 4 * 4 + 4 * 4 + 4),
    ),
    "an array is read again in loops of which only the run knows the iterations": (
        TRIANGLE,
        [numbers(40), numbers(820)],
        0,
    ),
    "what a chain of products makes of a carry is made of it again": (CHAIN, [numbers(13)], 2 * 13 * 8),
    "a product of what is kept anyway": (CELL, [numbers(14), numbers(14)], 8 * 14 * (15 * 5 + 6)),
    "one element of a long array is kept, not the array": (LAST, [numbers(29)], 2 * 13 * 8),
}


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("name", KEPT)
def test_laws(name, far, monkeypatch):
    """Also as if the caches held nothing, when more is made again."""
    if far:
        monkeypatch.setattr(residuals, "CACHES", 0)
    text, args, _ = KEPT[name]
    check_laws(parse(text), args, order=2)


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("given", ["e, k", "k, e", "k, k", "e, p", "p, p"])
def test_several_outputs_of_one_loop_are_made_again(given, far, monkeypatch):
    """Those first that others are made of, and none of itself, stacked twice."""
    if far:
        monkeypatch.setattr(residuals, "CACHES", 0)
    check_laws(parse(OUTPUTS.replace("OUTPUTS", given)), [numbers(14), numbers(14)], order=1)


def test_slopes_and_outputs_are_made_again_where_the_caches_end(monkeypatch):
    """A cell of a recurrent network: kept are its two functions and its state, not their slopes, nor their product."""
    near = _reverse(CELL)
    monkeypatch.setattr(residuals, "CACHES", 0)
    far = _reverse(CELL)
    step = 8 * 14
    assert stacked_bytes(near) <= 15 * 5 * step + 4 * step + 2 * step
    assert stacked_bytes(far) <= 15 * 3 * step + 2 * step + 2 * step
    args = [numbers(14), numbers(14), 1.0]
    assert list(flat(interp.run(near, args))) == list(flat(interp.run(far, args)))


def _reverse(text):
    f = parse(text)
    (made,) = optimise(cotangents(f, differentiable(f)))
    verify_program(made)
    return made


@pytest.mark.parametrize("name", KEPT)
def test_bytes(name):
    text, _, most = KEPT[name]
    assert stacked_bytes(_reverse(text)) <= most


_COMPARED = {
    "a number": "u = math.sqrt(x)",
    "of a loop": "u = x\n        for _ in rose.range(3):\n            u = math.sqrt(u)",
    "of an array": "u = np.sqrt(np.array([x, y])).max() if np.argmax(np.sqrt(np.array([x, y]))) == 0 else 0.0",
}


@pytest.mark.parametrize("number", _COMPARED)
@pytest.mark.parametrize("x", [0.0, -1.0, 0.25])
def test_numbers_that_one_side_only_compares(number, x):
    """Their factors, infinite or nan, meet the zero cotangent of a slot that both sides share."""
    lines = f"{_COMPARED[number]}\n        t = x * x if u > 3.0 else 2.0 * x"
    text = f"def f(x: float, y: float) -> float:\n    if x > 1.0:\n        t = x / y\n    else:\n        {lines}\n"
    f = rose.jit(define(text + "    return t * x", math=math, rose=rose, np=np))
    assert rose.grad(f)(x, -1.0) == 4.0 * x
    assert rose.grad(rose.grad(f))(x, -1.0) == 4.0
    assert rose.grad(rose.grad(rose.grad(f)))(x, -1.0) == 0.0
