"""Elements that are read, added to and written again: their cotangents stay where they are."""

import math

import pytest

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import lets
from rosejit.ir.types import is_boxed
from rosejit.text import parse
from rosejit.transforms.autodiff.derivative_programs import gradient
from rosejit.transforms.pipeline import optimise
from tests.laws import check_laws

TRIANGLE = """
def f(x: [6]Real, b: [15]Real): Real =
  let z0: [6]Real = copy x in
  let at, z: [6]Real = loop j < 6 carry (at: Int = 0, z: [6]Real = z0) {{
    let a = j + 1 in
    let n = 6 - a in
    let y = x[j] in
    let at1, z1 = loop i < n carry (at: Int = at, z: [6]Real = z) {{
      let k = wadd(i, a) in
      let old = z[k] in
      let v = b[at] in
      let p = v * y in
      {new}
      let z1 = update z[{written}] = new in
      let at1 = at + 1 in
      at1, z1
    }} in
    at1, z1
  }} in
  let s = loop i < 6 carry (s: Real = 0.0) {{ let v = z[i] in let w = v * v in let t = s + w in t }} in
  s
"""

SUMS = [
    "let new = old + p in",
    "let new = p + old in",
    "let new = old - p in",
    "let t = old + p in let new = t - v in",
    "let t = v * v in let u = t + old in let new = u + p in",
    "let new = fadd(old, p) in",
]
OTHERS = [
    "let new = p - old in",
    "let new = old * p in",
    "let t = old + p in let u = t * old in let new = t + u in",
    "let t = old + p in let new = t + t in",
    "let new = p + v in",
]


def cleared(text: str) -> int:
    """How many elements of cotangents are made zero."""
    (made,) = optimise(gradient(parse(text), (True, True), False))
    assert made.body is not None
    return sum(isinstance(e := let.expr, ir.Update) and e.value == ir.real(0.0) for let in lets(made.body))


def check(text: str) -> None:
    x, b = ([0.9 + 0.3 * math.sin(k + n) for k in range(n)] for n in (6, 15))
    check_laws(parse(text), [x, b], order=2)


@pytest.mark.parametrize("new", SUMS)
def test_what_is_added_to_an_element_is_given_its_cotangent(new: str) -> None:
    text = TRIANGLE.format(new=new, written="k")
    assert cleared(text) == 0
    check(text)


@pytest.mark.parametrize("new", OTHERS)
def test_what_is_no_sum_is_undone_let_by_let(new: str) -> None:
    text = TRIANGLE.format(new=new, written="k")
    assert cleared(text) == 1
    check(text)


def test_another_element_is_another_one() -> None:
    text = TRIANGLE.format(new="let new = old + p in", written="j")
    assert cleared(text) == 1
    check(text)


def test_loops_that_only_add_turn_as_those_forwards_and_carry_nothing_heavy() -> None:
    (made,) = optimise(gradient(parse(TRIANGLE.format(new=SUMS[0], written="k")), (True, True), False))
    assert made.body is not None
    loops = [let.expr for let in lets(made.body) if isinstance(let.expr, ir.Loop)]
    adding = [e for e in loops if any(isinstance(let.expr, ir.Add) for let in e.body.lets)]
    assert adding
    assert not any(e.down or any(is_boxed(c.type) for c in e.carries) for e in adding)
