"""Equal operations once: within a block and the blocks inside, never across the sides of a branch or linear ones."""

from rosejit.text import parse, show
from rosejit.transforms.autodiff.derivative_programs import gradient
from rosejit.transforms.passes.share_operations import share_operations

TEXT = """def f(x: Real, c: Bool): Real =
  let a: Real = 1.0 / x in
  let y: Real = if c {
    let b: Real = 1.0 / x in
    let d: Real = b * b in
    d
  } {
    let e: Real = a * a in
    e
  } in
  let g: Real = 1.0 / x in
  let h: Real = g * g in
  let z: Real = y + h in
  z
"""


def test_within_a_block_and_inside_it():
    f = parse(TEXT)
    assert f.body is not None
    f.body = share_operations(f.body)
    text = show(f)
    assert text.count("1.0 / x") == 1
    assert text.count("*") == 3


def test_zeros_of_both_signs_differ():
    lets = "let a: Real = x + 0.0 in\nlet b: Real = x + -0.0 in\nlet c: Real = a / b in\n"
    f = parse(f"def f(x: Real): Real =\n{lets}c\n")
    assert f.body is not None
    assert share_operations(f.body) is f.body


def test_a_quotient_and_its_slope_keep_one_number():
    """The slope of 1 / x has two quotients of its own."""
    text = """def f(w: Real, n: Int): Real =
  let y: Real = loop i < n carry (x: Real = w) {
    let s: Real = sqrt(x) in
    let r: Real = 1.0 / s in
    let q: Real = r + w in
    q
  } in
  y
"""
    kept = show(gradient(parse(text), (True, False), value=False))
    assert kept.count("scan (") == 1
    (line,) = [line for line in kept.splitlines() if "scan (" in line]
    assert line.split("scan (")[1].count(" in ") == 1, line
