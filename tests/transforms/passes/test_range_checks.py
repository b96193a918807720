"""Checks that ranges prove needless, and those that stay, by text."""

import pytest

from rosejit import interp
from rosejit.ir.verify import verify_program
from rosejit.text import parse, show
from rosejit.transforms.passes.range_checks import eliminate_range_checks


def after(body: str) -> str:
    """The body of a loop over an array of ten, as text."""
    f = parse(f"def f(x: [10]Real, k: Int): Real =\n  loop i < 8 carry (s: Real = 0.0) {{ {body} }}")
    new = eliminate_range_checks(f)
    verify_program(new)
    assert interp.run(new, [[0.5] * 10, 3]) == interp.run(f, [[0.5] * 10, 3])
    return show(new)


@pytest.mark.parametrize(
    "body",
    [
        "let v = x[i] in s + v",
        "let j = i + 2 in let v = x[j] in s + v",
        "let j = 9 - i in let v = x[j] in s + v",
        "let j = i * 2 in let h = j // 2 in let v = x[h] in s + v",
        "let j = i % 5 in let v = x[j] in s + v",
        "let n = i + 1 in loop j < n carry (t: Real = s) { let v = x[j] in t + v }",
    ],
)
def test_what_is_in_range_is_not_tested(body: str) -> None:
    text = after(body)
    assert "x@[" in text
    assert "x[i" not in text.replace("x: [10]", "")


@pytest.mark.parametrize("body", ["let j = i + 3 in let v = x[j] in s + v", "let v = x[k] in s + v"])
def test_what_may_be_out_of_range_is(body: str) -> None:
    text = "def f(x: [10]Real, k: Int): Real =\n  loop i < 8 carry (s: Real = 0.0) { " + body + " }"
    assert "x@[" not in show(eliminate_range_checks(parse(text)))


def test_sums_of_constants_are_one_and_do_not_overflow() -> None:
    text = after("let a = i + 1 in let b = a + 1 in let c = b - 2 in let v = x[c] in let w = x[b] in s + v * w")
    assert "x@[i]" in text
    assert "wadd(i, 2)" in text


def test_an_int_that_may_be_too_large_stays_checked() -> None:
    assert "k + 1" in after("let j = k + 1 in let r = to_real(j) in s + r")


def test_an_int_that_is_a_real_is_compared_as_one() -> None:
    text = after("let r = to_real(k) in let c = rlt(i, r) in if c { s } { let t = s + 1.0 in t }")
    assert "to_real(i)" in text
    assert "rlt" not in text
    assert "rge" in after("let r = to_real(i) in let c = rge(k, r) in if c { s } { let t = s + 1.0 in t }")


def test_straight_code_is_not_looked_at() -> None:
    f = parse("def f(x: [2]Real, k: Int): Real = x[k]")
    assert eliminate_range_checks(f) is f
