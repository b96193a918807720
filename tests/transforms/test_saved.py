"""What a reverse pass keeps: arrays once rather than what each turn reads of them, and never more than that."""

import pytest

from rosejit.text import parse
from rosejit.transforms.cost import stacked_bytes
from rosejit.transforms.derive import cotangents, differentiable
from rosejit.transforms.pipeline import optimise
from tests.laws import check_laws

PRODUCT = """
def f(a: [6][5]Real, x: [5]Real): [6]Real =
  let y: [6]Real = loop i < 6 {
    let s: Real = loop j < 5 carry (t: Real = 0.0) {
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
def f(a: [6][5]Real, b: [4][5]Real): Real =
  let y: Real = loop i < 6 carry (s: Real = 0.0) {
    let row: [5]Real = a@[i] in
    let z: Real = loop k < 4 carry (t: Real = s) {
      let w: Real = loop j < 5 carry (u: Real = t) {
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
def f(x: [3]Real, at: [4]Int): Real =
  let y: Real = loop i < 4 carry (s: Real = 1.0) {
    let k: Int = at@[i] in
    let p: Real = x@[k] in
    let q: Real = s * p in
    q
  } in
  y
"""

LOCAL = """
def f(x: [3]Real): Real =
  let y: Real = loop t < 5 carry (s: Real = 1.0) {
    let z: [3]Real = loop i < 3 { let p: Real = x@[i] in let q: Real = p * s in q } in
    let w: Real = loop i < 4 carry (u: Real = s) {
      let v: Real = loop j < 3 carry (g: Real = u) {
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
def f(x: [9]Real): Real =
  let y: Real = loop i < 3 carry (s: Real = 1.0) {
    let p: Real = x@[8] in
    let q: Real = s * p in
    q
  } in
  y
"""


def numbers(*shape):
    values = iter(range(1, 1000))

    def made(shape):
        return [made(shape[1:]) for _ in range(shape[0])] if shape else 0.1 * next(values) - 0.7

    return made(shape)


# name -> text, arguments, bytes of all arrays that the loops of its reverse pass stack, results among them
KEPT = {
    "a product keeps nothing, its operands are passed again": (PRODUCT, [numbers(6, 5), numbers(5)], 48),
    "differences are computed again from what they are differences of": (DISTANCES, [numbers(6, 5), numbers(4, 5)], 0),
    "indices from tables are read again": (TABLES, [numbers(3), [0, 2, 2, 1]], 4 * 8),
    "an array made in a loop is kept once, not each read": (LOCAL, [numbers(3)], 1384),
    "one element of a long array is kept, not the array": (LAST, [numbers(9)], 48),
}


@pytest.mark.parametrize("name", KEPT)
def test_laws(name):
    text, args, _ = KEPT[name]
    check_laws(parse(text), args, order=2)


@pytest.mark.parametrize("name", KEPT)
def test_bytes(name):
    text, _, expected = KEPT[name]
    f = parse(text)
    (reverse,) = optimise(cotangents(f, differentiable(f)))
    assert stacked_bytes(reverse) == expected
