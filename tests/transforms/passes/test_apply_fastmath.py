"""What `fastmath` makes of a function, by text, and that its derivatives are as relaxed."""

import math

import pytest

from rosejit import interp
from rosejit.ir.verify import verify_program
from rosejit.text import parse, show
from rosejit.transforms.autodiff.derivative_programs import cotangents, gradient
from rosejit.transforms.passes.apply_fastmath import apply_fastmath, fix_sum_order
from rosejit.transforms.pipeline import optimise
from tests.backends import wasm
from tests.laws import check_laws


def body(text: str) -> str:
    return show(apply_fastmath(parse(f"def f(x: Real, y: Real): Real = {text}")))


def test_primitives_have_relaxed_twins() -> None:
    assert "fadd(" in body("x + y")
    assert "fsub(" in body("x - y")
    assert "fdiv(1.0, y)" in body("x / y")
    assert "fsqrt(" in body("sqrt(x)")


def test_what_is_zero_for_all_numbers_is_zero() -> None:
    for text in ("x - x", "x * 0.0", "let a = x * 0.0 in a * y"):
        assert "let" not in body(text)


def test_a_gradient_divides_once() -> None:
    f = apply_fastmath(parse("def f(x: Real, y: Real): Real = let r = sqrt(x) in let q = y / r in q * q"))
    (g,) = optimise(gradient(f, (True, True), value=True))
    assert show(g).count("fdiv(") == 1
    assert " / " not in show(g)


def test_which_sums_are_in_lanes_is_settled_once() -> None:
    turn = "let v = x[i] in let t = fadd(s, v) in let r = t * 2.0 in t"
    loop = f"let y = loop i < n carry (s: Real = 0.0) {{ {turn} }} in y"
    text = "def f(x: [50]Real, n: Int): Real = "
    kept = fix_sum_order(parse(text + loop))
    assert "fadd" not in show(kept)
    assert fix_sum_order(kept) is kept
    free = parse(text + loop.replace("let r = t * 2.0 in ", ""))
    assert fix_sum_order(free) is free
    many = parse(text + loop.replace("let r = t * 2.0 in ", "").replace("i < n", "i < 40"))
    assert fix_sum_order(many) is many
    called = parse(text.replace(" f(", " g(") + loop + "\n" + text + "let y = g(x, n) in y")
    assert "fadd" in show(called)
    assert "fadd" not in show(fix_sum_order(called))
    verify_program(fix_sum_order(called))


TERMS = ["let r = fadd(s, u)", "let m = -t in let r = fadd(s, m)", "let m = t * 1.0 in let r = fadd(m, s)"]


@pytest.mark.parametrize("turns", ["n", "40", "18 down"])
@pytest.mark.parametrize("term", TERMS)
def test_sums_of_what_another_carry_is_stay_in_lanes(turns: str, term: str) -> None:
    f = parse(f"""
def f(x: [40]Real, n: Int): Real, Real =
  loop i < {turns} carry (s: Real = 0.5, t: Real = 0.1) {{
    let v = x[i] in let h = t * 0.5 in let a = fadd(v, h) in let u = fadd(t, a) in {term} in
    r, u
  }}
""")
    args = [[0.7 + math.sin(k) for k in range(40)], 40]
    wanted = interp.run(f, args)
    assert interp.run(fix_sum_order(f), args) == wanted
    assert fix_sum_order(fix_sum_order(f)) is fix_sum_order(f)
    assert interp.run(optimise(f)[0], args) == wanted
    for tier in ("best", "fast"):
        assert wasm(f, tier=tier)(args) == wanted


@pytest.mark.parametrize("count", ["let k = 5", "let k = few(n)", "let k = if n < 9 { 5 } { 5 }"])
def test_sums_keep_their_order_when_their_iterations_become_known(count: str) -> None:
    program = parse(
        "def few(n: Int): Int = 5\n"
        "def sum(x: [50]Real, n: Int): Real = loop i < n carry (s: Real = 0.0) { let v = x[i] in fadd(s, v) }\n"
        f"def f(x: [50]Real, n: Int): Real = {count} in let y = sum(x, k) in y"
    )
    x = [1e16, 1.0, -1e16, 3.0, 7.0, *[0.0] * 45]
    wanted = interp.run(program, [x, 5])
    (g,) = optimise(program)
    assert interp.run(g, [x, 5]) == wanted
    for tier in ("best", "fast"):
        assert wasm(program, tier=tier)([x, 5]) == wanted
    slopes = cotangents(program, (True, False))
    assert wasm(slopes)([x, 5, 1.5]) == interp.run(slopes, [x, 5, 1.5])


COLUMN = """
def f(x: [40]Real, z: [40]Real, y: Real, n: Int): [40]Real =
  let z0: [40]Real = copy z in
  loop i < {turns} carry (z: [40]Real = z0) {{
    let v = x[i] in let a = {term} in let o = z[i] in let n = o + a in update z[i] = n
  }}
"""


@pytest.mark.parametrize("turns", ["n", "40"])
def test_cotangents_of_what_all_iterations_read_are_added_up_in_lanes(turns: str) -> None:
    f = parse(COLUMN.format(turns=turns, term="v * y"))
    (back,) = optimise(cotangents(f, (False, False, True, False)))
    assert "fadd(" in show(back)
    x = [0.9 + 0.3 * math.sin(k) for k in range(40)]
    args = [x, x[::-1], 1.3, 40]
    check_laws(f, args, order=2)
    given = [*args, x]
    assert wasm(back)(given) == interp.run(back, given)


LONG = "let p0 = v * y in " + " ".join(f"let p{k + 1} = p{k} * v in" for k in range(17))
BRANCH = "let c = v < 0.0 in let b = if c { let p = v * y in p } { let p = y * 2.0 in p } in"


@pytest.mark.parametrize(("turns", "before", "term"), [("15", "", "v * y"), ("40", BRANCH, "b"), ("40", LONG, "p17")])
def test_not_those_of_few_iterations_nor_of_long_ones(turns: str, before: str, term: str) -> None:
    text = COLUMN.format(turns=turns, term=f"{term} * 1.5").replace("let a =", f"{before} let a =")
    (back,) = optimise(cotangents(parse(text), (False, False, True, False)))
    assert "fadd(" not in show(back)
