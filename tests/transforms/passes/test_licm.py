"""What leaves a loop, and what must not."""

import pytest

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import lets
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.passes.licm import licm
from rosejit.transforms.passes.range_checks import eliminate_range_checks

HEAD = "def f(x: [4]Real, y: Real, n: Int): Real =\n"


def inside(text: str, n: int = 4) -> list[int]:
    """How many lets are left in each loop, outermost first; the same result."""
    f = parse(HEAD + text)
    new = licm(eliminate_range_checks(f))
    verify_program(new)
    args: list[object] = [[1.5, -2.25, 0.5, 3.0], 0.75, n]
    assert interp.run(new, args) == interp.run(f, args)
    assert new.body is not None
    return [len(let.expr.body.lets) for let in lets(new.body) if isinstance(let.expr, ir.Loop)]


def test_arithmetic_goes_as_far_as_its_operands() -> None:
    text = """
  loop i < 4 carry (s: Real = 0.0) {
    let a = x[i] * y in
    loop j < n carry (t: Real = s) { let b = y * y in let c = a + b in let d = x[0] in t + c * d }
  }"""
    assert inside(text) == [5, 1]


def test_a_read_that_only_another_one_tests_stays() -> None:
    """In no iteration the first one fails, and the second one reads nothing."""
    text = "loop i < n carry (s: Real = 0.0) { let a = x[n] in let b = x@[n] in s + a + b }"
    assert inside(text, 0) == [4]


def test_what_a_branch_guards_stays() -> None:
    text = "loop i < 4 carry (s: Real = 0.0) { let c = y > 1.0 in let v = if c { sqrt(y) } { x[i] } in s + v }"
    assert inside(text) == [2]


@pytest.mark.parametrize("op", ["n // n", "n * n"])
def test_what_can_fail_stays(op: str) -> None:
    assert inside(f"loop i < n carry (s: Real = 0.0) {{ let k = {op} in let r = to_real(k) in s + r }}", 0) == [3]


def test_reads_of_what_changes_stay() -> None:
    text = """
  let z = copy x in
  let w: [4]Real = loop i < 4 carry (w: [4]Real = z) { let a = w[0] in let b = a + 1.0 in update w[i] = b } in
  w[3]"""
    assert inside(text) == [3]


def test_nothing_to_move_is_the_same_object() -> None:
    f = parse(HEAD + "loop i < 4 carry (s: Real = 0.0) { s * y }")
    assert licm(f) is f
