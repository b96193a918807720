"""What `fastmath` makes of a function, by text, and that its derivatives are as relaxed."""

import pytest

from rosejit import interp
from rosejit.ir.verify import verify_program
from rosejit.text import parse, show
from rosejit.transforms.derive import cotangents, gradient
from rosejit.transforms.pipeline import optimise
from rosejit.transforms.relax import relax, settled
from tests.machines import wasm


def body(text: str) -> str:
    return show(relax(parse(f"def f(x: Real, y: Real): Real = {text}")))


def test_primitives_have_relaxed_twins() -> None:
    assert "fadd(" in body("x + y")
    assert "fsub(" in body("x - y")
    assert "fdiv(1.0, y)" in body("x / y")
    assert "fsqrt(" in body("sqrt(x)")


def test_what_is_zero_for_all_numbers_is_zero() -> None:
    for text in ("x - x", "x * 0.0", "let a = x * 0.0 in a * y"):
        assert "let" not in body(text)


def test_a_gradient_divides_once() -> None:
    f = relax(parse("def f(x: Real, y: Real): Real = let r = sqrt(x) in let q = y / r in q * q"))
    (g,) = optimise(gradient(f, (True, True), value=True))
    assert show(g).count("fdiv(") == 1
    assert " / " not in show(g)


def test_which_sums_are_in_lanes_is_settled_once() -> None:
    turn = "let v = x[i] in let t = fadd(s, v) in let r = t * 2.0 in t"
    loop = f"let y = loop i < n carry (s: Real = 0.0) {{ {turn} }} in y"
    text = "def f(x: [50]Real, n: Int): Real = "
    kept = settled(parse(text + loop))
    assert "fadd" not in show(kept)
    assert settled(kept) is kept
    free = settled(parse(text + loop.replace("let r = t * 2.0 in ", "")))
    assert "ladd" in show(free)
    assert settled(free) is free
    many = parse(text + loop.replace("let r = t * 2.0 in ", "").replace("i < n", "i < 40"))
    assert settled(many) is many
    called = parse(text.replace(" f(", " g(") + loop + "\n" + text + "let y = g(x, n) in y")
    assert "fadd" in show(called)
    assert "fadd" not in show(settled(called))
    verify_program(settled(called))


@pytest.mark.parametrize("count", ["let k = 5", "let k = few(n)", "let k = if n < 9 { 5 } { 5 }"])
def test_sums_stay_in_lanes_when_their_turns_become_known(count: str) -> None:
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
