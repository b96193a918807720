"""What turns add to the Ints that a loop carries, and what comes of it: fewer checks, carries that the iterations
count.
"""

import pytest

from rosejit import interp
from rosejit.ir.syntax import Loop
from rosejit.ir.verify import verify_program
from rosejit.text import parse, show
from rosejit.transforms.analysis.integer_ranges import MOST, after, growth
from rosejit.transforms.passes.range_checks import eliminate_range_checks


def grown(body: str, result: str) -> tuple[int, int] | None:
    """What an iteration of a loop of five adds to its carry `c`."""
    text = f"def f(n: Int, p: Bool): Int =\n  loop i < 5 carry (c: Int = n) {{ {body} {result} }}"
    f = parse(text)
    assert f.body is not None
    loop = f.body.lets[0].expr
    assert isinstance(loop, Loop)
    return growth(loop, {}).get(loop.carries[0])


@pytest.mark.parametrize(
    ("body", "result", "added"),
    [
        ("", "c", (0, 0)),
        ("let a = c + 1 in", "a", (1, 1)),
        ("let a = 2 + c in let b = a - 5 in", "b", (-3, -3)),
        ("let a = c + i in", "a", (0, 4)),
        ("let a = c - i in", "a", (-4, 0)),
        ("let a = if p { let b = c + 1 in b } { c } in", "a", (0, 1)),
        ("let k = if p { 3 } { 7 } in let a = c + k in", "a", (3, 7)),
        ("let m = 4 - i in let a = loop j < m carry (d: Int = c) { let e = d + 2 in e } in", "a", (0, 8)),
        ("let m = loop j < 3 carry (d: Int = 1) { let e = d + 2 in e } in let a = c + m in", "a", (1, 7)),
    ],
)
def test_what_an_iteration_adds(body: str, result: str, added: tuple[int, int]) -> None:
    assert grown(body, result) == added


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("let a = c * 2 in", "a"),
        ("let a = c + n in", "a"),
        ("let a = c + c in", "a"),
        ("let a = 3 - c in", "a"),
        ("let a = if p { c } { 1 } in", "a"),
        ("let a = loop j < n carry (d: Int = c) { let e = d + 1 in e } in", "a"),
    ],
)
def test_what_is_not_known(body: str, result: str) -> None:
    assert grown(body, result) is None


def test_what_is_too_large_is_not_known() -> None:
    assert after((0, 3), (-1, 2), 5) == (-5, 13)
    assert after((0, 0), (0, 2), MOST) is None


COUNTED = """
def f(x: [30]Real): Real, Int =
  let at, s = loop i < 6 carry (at: Int = 0, s: Real = 0.5) {
    let a = i + 1 in
    let n = 6 - a in
    let at2, t = loop j < n carry (at1: Int = at, t: Real = s) {
      let k = wrap_index(at1, 30) in
      let v = x[k] in
      let h = j + a in
      let w = x[h] in
      let u = v * w in
      let t1 = t + u in
      let at2 = at1 + 1 in
      at2, t1
    } in
    at2, t
  } in
  s, at
"""


def test_a_counter_is_counted_by_the_iterations() -> None:
    f = parse(COUNTED)
    new = eliminate_range_checks(f)
    verify_program(new)
    text = show(new)
    assert "wrap_index" not in text
    assert text.count("carry (at") == 1, "only that of the loop of which turns are not alike"
    assert "x@[h]" in text, "below n, since j is below n - a"
    given = [[0.25 * k for k in range(30)]]
    assert interp.run(new, given) == interp.run(f, given)


@pytest.mark.parametrize("trips", [-2, 0, 1, 5])
@pytest.mark.parametrize("step", [1, -1, 3])
def test_what_a_counter_is_behind_the_loop(trips: int, step: int) -> None:
    text = f"""
def f(n: Int, x: [40]Real): Int, Int, Real =
  let m = imin(n, 6) in
  let a, s = loop i < m carry (c: Int = 20, s: Real = 0.0) {{
    let v = x[c] in let t = s + v in let d = c + {step} in d, t
  }} in
  let b = loop i < {trips} carry (c: Int = 3) {{ let d = c + {step} in d }} in
  a, b, s
"""
    f = parse(text)
    new = eliminate_range_checks(f)
    verify_program(new)
    assert "carry (c" not in show(new)
    for n in (-3, 0, 1, 6, 9):
        given = [n, [0.5 * k for k in range(40)]]
        assert interp.run(new, given) == interp.run(f, given)


def test_a_counter_that_might_overflow_stays() -> None:
    f = parse("def f(k: Int): Int =\n  loop i < 8 carry (c: Int = k) { let d = c + 1 in d }")
    assert "c + 1" in show(eliminate_range_checks(f))
    with pytest.raises(OverflowError):
        interp.run(eliminate_range_checks(f), [2**63 - 3])


def test_iterations_that_go_down_are_not_counted() -> None:
    text = "def f(x: [9]Real): Real =\n  let c, s = loop i < 8 down carry (c: Int = 0, s: Real = 0.0) "
    text += "{ let v = x[c] in let t = s * v in let u = t + v in let d = c + 1 in d, u } in s"
    f = parse(text)
    new = eliminate_range_checks(f)
    given = [[0.5 * k for k in range(9)]]
    assert "x@[c1]" in show(new)
    assert interp.run(new, given) == interp.run(f, given)
