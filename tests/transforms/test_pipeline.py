"""What is differentiated: reads that all iterations of a loop share stand in front of it, what has a slope does not."""

import math

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import callees, lets
from rosejit.text import parse, show
from rosejit.transforms.autodiff.derivative_programs import gradient
from rosejit.transforms.pipeline import optimise, prepared
from tests.laws import check_laws

PAIRS = """
def f(x: [12]Real): Real =
  let e: Real = loop i < 12 carry (s: Real = 0.0) {
    let r: Real = loop j < i carry (t: Real = s) {
      let a: Real = x[i] in
      let b: Real = x[j] in
      let d: Real = a - b in
      let q: Real = d * d in
      let n: Real = t + q in
      n
    } in
    r
  } in
  e
"""

NO_TURNS = """
def f(x: Real, n: Int): Real =
  let s: Real = loop i < n carry (t: Real = x) {
    let r: Real = sqrt(x) in
    let u: Real = t + r in
    u
  } in
  s
"""


def test_the_cotangent_of_what_all_iterations_read_is_a_sum() -> None:
    f = parse(PAIRS)
    check_laws(f, [[0.9 + 0.3 * math.sin(k) for k in range(12)]], order=2)
    (made,) = optimise(gradient(prepared(f), (True,), False))
    assert made.body is not None
    inner = [let.expr for let in lets(made.body) if isinstance(let.expr, ir.Loop) and not _has_loop(let.expr)]
    adds = [sum(isinstance(let.expr, ir.Add) for let in e.body.lets) for e in inner]
    assert adds == [1]


def _has_loop(e: ir.Loop) -> bool:
    return any(isinstance(let.expr, ir.Loop) for let in e.body.lets)


def test_no_iterations_poison_nothing() -> None:
    """The slope of the root is infinite at 0, where it is never taken."""
    f = prepared(parse(NO_TURNS))
    assert interp.run(gradient(f, (True, False), False), [0.0, 0]) == (1.0,)
    assert interp.run(gradient(f, (True, False), False), [0.0, 1]) == (math.inf,)


CHECKPOINTED = """
def g(x: [20]Real, y: Real): Real =
  let at, s = loop i < 20 carry (at: Int = 0, s: Real = 0.5) {
    let k = wrap_index(at, 20) in
    let v = x[k] in
    let w = v * y in
    let t = s * w in
    let next = at + 1 in
    next, t
  } in
  s
def f(x: [20]Real, y: Real): Real = let a = g(x, y) in let b = y * 2.0 in let c = g(x, b) in a * c
"""


def test_the_bodies_of_checkpointed_functions_are_prepared_too() -> None:
    f = parse(CHECKPOINTED)
    (g,) = callees(f)
    g.checkpoint = True
    check_laws(f, [[0.9 + 0.3 * math.sin(k) for k in range(20)], 0.8], order=2)
    (kept,) = callees(prepared(f))
    assert kept.checkpoint
    assert "wrap_index" not in show(kept)
