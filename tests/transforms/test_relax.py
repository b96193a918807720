"""What `fastmath` makes of a function, by text, and that its derivatives are as relaxed."""

from rosejit.ir.verify import verify_program
from rosejit.text import parse, show
from rosejit.transforms.derive import gradient
from rosejit.transforms.pipeline import optimise
from rosejit.transforms.relax import relax, settled


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
    free = parse(text + loop.replace("let r = t * 2.0 in ", ""))
    assert settled(free) is free
    called = parse(text.replace(" f(", " g(") + loop + "\n" + text + "let y = g(x, n) in y")
    assert "fadd" in show(called)
    assert "fadd" not in show(settled(called))
    verify_program(settled(called))
