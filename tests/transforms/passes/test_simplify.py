"""Each simplification by its text, and that nothing changes in any bit."""

import itertools
import math

import pytest

from rosejit import interp
from rosejit.ir.verify import verify_program
from rosejit.text import parse, show
from rosejit.transforms.passes.dce import dce
from rosejit.transforms.passes.simplify import simplify

HARD = [0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan, 5e-324]


def simplified(body: str, params: str = "x: Real, y: Real") -> str:
    """The body of a function of Reals, simplified, as it prints; the same bits at hard points."""
    f = parse(f"def f({params}): Real = {body}")
    new = dce(simplify(f))
    verify_program(new)
    for args in itertools.product(HARD, repeat=len(f.params)):
        (a,), (b,) = interp.run(f, list(args)), interp.run(new, list(args))
        assert (a != a and b != b) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))
    return " ".join(show(new).split(" =\n")[1].split())


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("let n: Real = -y in let s: Real = x + n in s", "let s: Real = x - y in s"),
        ("let n: Real = -x in let s: Real = n + y in s", "let s: Real = y - x in s"),
        ("let n: Real = -y in let s: Real = x - n in s", "let s: Real = x + y in s"),
        ("let n: Real = -x in let m: Real = -n in m", "x"),
        ("let n: Real = -x in let p: Real = n * y in let s: Real = x + p in s",
         "let x1: Real = x * y in let s: Real = x - x1 in s"),
        ("let n: Real = -x in let m: Real = -y in let p: Real = n * m in p", "let p: Real = x * y in p"),
        ("let n: Real = -x in let q: Real = n / y in let s: Real = y - q in s",
         "let x1: Real = x / y in let s: Real = y + x1 in s"),
        ("let n: Real = -x in let m: Real = -y in let s: Real = n + m in s",
         "let m: Real = -y in let s: Real = m - x in s"),
    ],
)  # fmt: skip
def test_signs_drown_in_sums(body: str, wanted: str) -> None:
    assert simplified(body) == wanted


def test_a_difference_of_something_negative_keeps_its_sign() -> None:
    body = "let n: Real = -x in let s: Real = n - y in s"  # -(x + y) is another zero at x = 0, y = -0
    assert simplified(body) == body


def test_constants_fold_and_ones_vanish() -> None:
    assert simplified("let a: Real = 2.0 * 3.0 in let b: Real = a * x in b", "x: Real") == "let b: Real = 6.0 * x in b"
    assert simplified("let a: Real = 1.0 * x in let b: Real = a / 1.0 in b", "x: Real") == "x"
    for kept in ("x * 0.0", "x + 0.0", "x - x", "x - 0.0"):
        assert simplified(f"let a: Real = {kept} in a", "x: Real") == f"let a: Real = {kept} in a"


def test_equal_expressions_are_shared() -> None:
    body = "let a: Real = x * y in let b: Real = x * y in let c: Real = a + b in c"
    assert simplified(body) == "let a: Real = x * y in let c: Real = a + a in c"


def test_what_was_read_is_not_read_again() -> None:
    body = (
        "let k: Int = 1 + n in let a: Real = v[k, 0] in let b: Real = v[k, 0] in let c: Real = v@[k, 0] in"
        " let d: Real = v[k, 1] in let s: Real = a * b in let t: Real = s * c in let r: Real = t * d in r"
    )
    f = parse(f"def f(v: [3][2]Real, n: Int): Real = {body}")
    args = [[[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]], 1]
    assert show(dce(simplify(f))).count("v") == 3
    assert interp.run(simplify(f), args) == interp.run(f, args) == (7.0**3 * 11.0,)


def test_an_array_that_has_changed_is_read_again() -> None:
    body = (
        "let u: [2]Real = [x, y] in let a: Real = u[0] in let w: [2]Real = update u[0] = y in let b: Real = w[0] in"
        " let r: Real = a / b in r"
    )
    assert simplified(body).count("[0]") == 3


def test_what_only_one_side_reads_the_other_side_does_not_know() -> None:
    body = (
        "let u: [2]Real = [x, y] in let c: Bool = x < y in"
        " let a: Real = if c { let b: Real = u[0] in b } { let b: Real = u[0] in let d: Real = u[0] in b - d } in a"
    )
    assert simplified(body).count("u[0]") == 2


def test_tuples_in_tuples_dissolve_at_once() -> None:
    body = "let t = (x, y) in let u = (t, x) in let v = u[.0] in let a: Real = v[.1] in let b: Real = u[.1] in a * b"
    assert simplified(body) == "let x1: Real = y * x in x1"


def test_a_tuple_in_a_tuple_that_a_loop_stacks_stays() -> None:
    body = (
        "let rs: [2]((Real,),) = loop i < 2 { let v = x * y in let t = (v,) in let u = (t,) in u } in"
        " let u = rs@[1] in let t = u[.0] in let r: Real = t[.0] in r"
    )
    assert "(t,)" in simplified(body)


@pytest.mark.parametrize(
    ("divisor", "wanted"),
    [
        ("4.0", "let q: Real = x * 0.25 in q"),
        ("-0.5", "let q: Real = x * -2.0 in q"),
        ("2.2250738585072014e-308", "let q: Real = x * 4.49423283715579e+307 in q"),
        ("8.98846567431158e+307", "let q: Real = x * 1.1125369292536007e-308 in q"),
        ("3.0", "let q: Real = x / 3.0 in q"),
        ("0.0", "let q: Real = x / 0.0 in q"),
        ("inf", "let q: Real = x / inf in q"),
        ("5e-324", "let q: Real = x / 5e-324 in q"),
    ],
)
def test_a_quotient_by_a_power_of_two_is_a_product(divisor: str, wanted: str) -> None:
    assert simplified(f"let q: Real = x / {divisor} in q", "x: Real") == wanted


ROWS = """
def f(n: Int, x: Real): Real =
  let rows: [*][3]Real = loop i < n {
    let row: [3]Real = loop j < 3 { 0.5 } in
    row
  } in
  let total: Real = loop i2 < n carry (s: Real = x) scan (r: [3]Real in rows) {
    let inner: Real = loop j2 < 3 carry (t: Real = s) scan (v: Real in r) {
      let p: Real = v * t in
      p
    } in
    let w: Real = r@[1] in
    let next: Real = inner + w in
    next
  } in
  total
"""


def test_numbers_that_all_iterations_stack_are_that_number() -> None:
    f = parse(ROWS)
    new = dce(simplify(f))
    verify_program(new)
    assert "rows" not in show(new)
    assert "inner + 0.5" in show(new)
    for n in (0, 3):
        assert interp.run(new, [n, 1.25]) == interp.run(f, [n, 1.25])
