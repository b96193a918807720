"""What the iterations of a `while` keep for another loop lies side by side; the same bits either way."""

import pytest

from rosejit import interp
from rosejit.ir.verify import verify_program
from rosejit.text import parse, show
from rosejit.transforms.loops.residual_records import pack_residuals
from rosejit.transforms.passes.dce import dce

TURNS = """
def f(x: Real, n: Int): Real, [*]Real =
  let turns: Int, i: Int, y: Real, as: [*]Real, bs: [*]Bool, again: [*]Real, cs: [*]Real = while carry (k: Int = 0, z: Real = x) {
    let on: Bool = k < n in
    on
  } {
    let next: Int = k + 1 in
    let w: Real = z * z in
    let b: Bool = w > 0.5 in
    next, w, z, b, z, w
  } in
  let s: Real = loop j < turns down carry (t: Real = y) scan (a: Real in as, b: Bool in bs, c: Real in again) {
    let u: Real = t * a in
    let v: Real = u + c in
    let r: Real = select(b, u, v) in
    r
  } in
  s, cs
"""  # noqa: E501

RECORDS = """
def f(x: [5]Real): Real =
  let y: Real, rs: [5](Real, Real, Real) = loop i < 5 carry (s: Real = 0.5) {
    let v: Real = x@[i] in
    let r: (Real, Real, Real) = (v, s, v) in
    let w: Real = s * v in
    w, r
  } in
  let z: Real = loop i < 5 down carry (t: Real = y) scan (r: (Real, Real, Real) in rs) {
    let a: Real = r@[.0] in
    let b: Real = r@[.1] in
    let c: Real = r@[.2] in
    let d: Real = a * b in
    let e: Real = d + c in
    let g: Real = t * e in
    g
  } in
  z
"""

OF_TWO_LOOPS = """
def f(x: [5]Real): Real =
  let y: Real, rs: [5](Real, Real) = loop i < 5 carry (s: Real = 0.5) {
    let v: Real = x@[i] in
    let r: (Real, Real) = (v, s) in
    let w: Real = s * v in
    w, r
  } in
  let z: Real, qs: [5](Real, Real) = loop i < 5 carry (s: Real = y) {
    let v: Real = x@[i] in
    let q: (Real, Real) = (s, v) in
    let w: Real = s + v in
    w, q
  } in
  let l: Real = loop i < 5 down carry (t: Real = z) scan (r: (Real, Real) in rs, q: (Real, Real) in qs) {
    let a: Real = r@[.1] in
    let b: Real = q@[.0] in
    let d: Real = a * b in
    let e: Real = d + t in
    e
  } in
  l
"""

CONSTANTS = TURNS.replace("next, w, z, b, z, w\n", "next, w, 0.0, b, -0.0, w\n")


@pytest.mark.parametrize(
    ("text", "args", "tape"),
    [
        (TURNS, [0.9, 6], "tape: [*](Real, Bool)"),
        (CONSTANTS, [0.9, 6], "tape: [*](Real, Bool, Real)"),
        (RECORDS, [[0.3, -1.5, 2.0, 0.7, 1.1]], "tape: [5](Real, Real)"),
        (OF_TWO_LOOPS, [[0.3, -1.5, 2.0, 0.7, 1.1]], "tape1: [5](Real, Real)"),
    ],
)
def test_one_record_an_iteration(text: str, args: list[object], tape: str) -> None:
    f = parse(text)
    new = dce(pack_residuals(f))
    verify_program(new)
    assert tape in show(new)
    assert interp.run(new, args) == interp.run(f, args)


ALONE = TURNS.replace("as, b: Bool in bs, c: Real in again", "as").replace("+ c", "+ a").replace("b, u", "true, u")
WHOLE = RECORDS.replace("let a: Real = r@[.0] in", "let q: (Real, Real, Real) = copy r in let a: Real = q@[.0] in")


@pytest.mark.parametrize("text", [ALONE, WHOLE])
def test_what_stays(text: str) -> None:
    f = parse(text)
    assert pack_residuals(f) is f
