"""Which carries are sums in lanes, and in which order they are then added."""

import pytest

from rosejit import interp
from rosejit.ir.lane_sums import EMPTY, FEWEST, in_lanes, total
from rosejit.ir.syntax import Loop
from rosejit.text import parse
from tests.backends import wasm


def lanes(body: str, trips: object = 20) -> list[bool]:
    """Of the carries of a loop."""
    f = parse(f"def f(x: Real, n: Int): Real = let s: Real = loop i < {trips} carry (s: Real = x) {{ {body} }} in s")
    assert f.body is not None
    loop = f.body.lets[0].expr
    assert isinstance(loop, Loop)
    return in_lanes(loop)


def test_sums_and_chains_of_them() -> None:
    assert lanes("fadd(s, x)") == [True]
    assert lanes("fadd(x, s)") == [True]
    assert lanes("let a = fadd(s, x) in let b = x * x in fsub(a, b)") == [True]
    assert lanes("fadd(s, x)", "n") == [True]


@pytest.mark.parametrize(
    "body",
    [
        "s + x",
        "fsub(x, s)",
        "let a = fadd(s, x) in a * x",
        "let a = fadd(s, x) in fadd(a, s)",
        "let b = s * x in fadd(s, b)",
        "let c = s > x in if c { s } { x }",
    ],
)
def test_what_has_an_order(body: str) -> None:
    assert lanes(body) == [False]


@pytest.mark.parametrize(("s", "t"), [("fadd(s, t)", "t * x"), ("fadd(t, s)", "t * x"), ("fsub(s, t)", "fadd(t, x)")])
def test_a_term_may_be_another_carry(s: str, t: str) -> None:
    text = f"loop i < 20 carry (s: Real = x, t: Real = x) {{ let a = {s} in let b = {t} in a, b }}"
    f = parse(f"def f(x: Real): Real, Real = let s: Real, t: Real = {text} in s, t")
    assert f.body is not None
    loop = f.body.lets[0].expr
    assert isinstance(loop, Loop)
    assert in_lanes(loop) == [True, False]


def test_short_loops_add_in_order() -> None:
    assert lanes("fadd(s, x)", FEWEST - 1) == [False]


@pytest.mark.parametrize("n", [0, 1, FEWEST - 1, FEWEST, FEWEST + 3])
def test_whether_iterations_are_few_only_the_run_may_know(n: int) -> None:
    x = [1e16 * (-1.0) ** k + 1.0 / (k + 3) for k in range(20)]
    text = "def f(x: [20]Real, n: Int): Real = loop i < {} carry (s: Real = 0.1) {{ let v = x[i] in fadd(s, v) }}"
    unknown, known = parse(text.format("n")), parse(text.format(n))
    wanted = interp.run(known, [x, n])
    assert interp.run(unknown, [x, n]) == wanted
    for tier in ("best", "fast"):
        assert wasm(unknown, tier=tier)([x, n]) == wanted


def test_what_is_kept_of_each_iteration_has_an_order() -> None:
    text = "let s: Real, a: [20]Real = loop i < 20 carry (s: Real = x) { let t = fadd(s, x) in t, s } in s"
    f = parse(f"def f(x: Real): Real = {text}")
    assert f.body is not None
    loop = f.body.lets[0].expr
    assert isinstance(loop, Loop)
    assert in_lanes(loop) == [False]


def test_iteration_t_adds_to_lane_t_mod_4() -> None:
    n = FEWEST + 3
    x = [1.0 / (k + 3) ** 3 for k in range(n)]
    f = parse(f"def f(x: [{n}]Real, y: Real): Real = loop i < {n} carry (s: Real = y) {{ let v = x[i] in fadd(s, v) }}")
    parts = [7.5, EMPTY, EMPTY, EMPTY]
    for k, v in enumerate(x):
        parts[k % 4] += v
    assert interp.run(f, [x, 7.5]) == ((parts[0] + parts[2]) + (parts[1] + parts[3]),)
    assert total(parts) == total(parts[1:] + parts[:1])
