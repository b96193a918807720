"""Numbers chosen from the iterations of a loop: the same bits, and derivatives of one iteration."""

import math

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec, interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import lets
from rosejit.ir.types import INT
from rosejit.ir.verify import verify_program
from rosejit.text import parse, show
from rosejit.transforms.analysis.cost import stacked_bytes
from rosejit.transforms.autodiff.derivative_programs import gradient
from rosejit.transforms.loops.select_sinking import sink_selects
from rosejit.transforms.passes.insert_copies import insert_copies
from rosejit.transforms.pipeline import optimise
from tests.backends import wasm

NAN, INF = math.nan, math.inf

LEAST = """
def f(x: [{n}]Real, y: Real): Real, Bool =
  let found: Bool, least: Real = loop i < {n} {down} carry (b: Bool = false, m: Real = y) {scan} {{
    {read}
    let d = v * v - y in
    let less = m > d in
    let free = not b in
    let c = less or free in
    {choose}
    true, r
  }} in
  least, found
"""
CHOICES = [
    "let r = select(c, d, m) in",
    "let o = not c in let r = select(o, m, d) in",
    "let r = if c { d } { m } in",
    "let o = not c in let r = if o { m } { d } in",
]


def least(n: int, scans: bool = True, choose: str = CHOICES[0], down: str = "") -> str:
    scan, read = ("scan (v in x)", "") if scans else ("", "let v = x@[i] in")
    return LEAST.format(n=n, scan=scan, read=read, choose=choose, down=down)


def changed(text: str, *calls: tuple[object, ...]) -> str:
    """The text afterwards, whose results are the same bits, compiled too; empty if nothing has changed."""
    f = insert_copies(parse(text))
    new = sink_selects(f)
    verify_program(new)
    for args in calls:
        wanted = interp.run(f, [*args])
        assert repr(interp.run(new, [*args])) == repr(wanted)
        assert repr(wasm(new)([*args])) == repr(wanted)
    assert sink_selects(new) is new, "done once"
    return show(new) if new is not f else ""


@pytest.mark.parametrize("down", ["", "down"])
@pytest.mark.parametrize("scans", [True, False])
@pytest.mark.parametrize("choose", CHOICES)
def test_the_least_of_many(choose: str, scans: bool, down: str) -> None:
    calls = [
        ([3.0, -1.0, 0.5, 1.0, 0.5], 2.0), ([0.0, -0.0, 0.0, 0.0, -0.0], 0.0), ([NAN, 1.0, NAN, 0.5, NAN], 1.0),
        ([1.0, 2.0, NAN, INF, 0.0], NAN), ([2.0] * 5, -INF),
    ]  # fmt: skip
    text = changed(least(5, scans, choose, down), *calls)
    assert text.count(" * ") == 2, "in the loop, and behind it"
    assert "if none" in text


def test_a_loop_without_iterations() -> None:
    text = """
def f(n: Int, x: [5]Real, y: Real): Real =
  loop i < n carry (m: Real = y) {
    let v = x[0] in let d = v * y in let c = d < m in let r = select(c, d, m) in r
  }
"""
    assert not changed(text, (3, [1.0] * 5, 2.0)), "what may fail is not done again"
    calls = [(n, [0.5, 1.0, 2.0, 3.0, 4.0], 2.0) for n in (-1, 0, 1, 4)]
    assert changed(text.replace("x[0]", "x@[0]"), *calls)


@pytest.mark.parametrize(
    "body",
    [
        "let d = v * m in let c = d < m in let r = select(c, d, m) in r",  # of what was chosen before
        "let d = v * y in let c = d < m in let r = select(c, d, y) in r",  # not kept else
        "let d = v * y in let r = d + m in r",
    ],
)
def test_other_carries(body: str) -> None:
    text = f"def f(x: [5]Real, y: Real): Real = loop i < 5 carry (m: Real = y) scan (v in x) {{ {body} }}"
    assert not changed(text, ([1.0, 0.5, 3.0, -1.0, 2.0], 0.7))


def test_few_iterations_and_results_that_nobody_reads() -> None:
    assert not changed(least(3), ([3.0, 1.0, 2.0], 0.5))
    assert not changed(least(5).replace("  least, found\n", "  y, found\n"), ([3.0, 1.0, 2.0, 0.0, 1.0], 0.5))


def test_two_numbers_of_one_choice() -> None:
    text = """
def f(x: [6]Real): Real, Real =
  loop i < 6 carry (m: Real = 10.0, at: Real = -1.0) scan (v in x) {
    let c = v < m in let w = sin(v) in let r = select(c, v, m) in let s = select(c, w, at) in r, s
  }
"""
    made = changed(text, ([3.0, 1.0, 2.0, 0.5, 0.5, 4.0],), ([11.0] * 6,))
    assert made.count("iselect") == 1


def test_inner_loops_are_done_again() -> None:
    text = """
def f(x: [7][3]Real, y: [3]Real): Real =
  loop i < 7 carry (m: Real = inf) scan (row in x) {
    let d = loop j < 3 carry (s: Real = 0.0) scan (a in row, b in y) { let e = a - b in let q = e * e in s + q } in
    let c = d < m in
    let r = if c { d } { m } in
    r
  }
"""
    rows = [[math.sin(3.0 * k + j) for j in range(3)] for k in range(7)]
    assert changed(text, (rows, [0.1, 0.2, 0.3])).count("loop") == 3


@rose.jit
def nearest(x: Mat["n", 2], y: Mat["m", 2]) -> float:
    total = 0.0
    for i in rose.range(len(x)):
        total += min((x[i, 0] - y[j, 0]) ** 2 + (x[i, 1] - y[j, 1]) ** 2 for j in rose.range(len(y)))
    return total


@rose.jit
def by_hand(x: Mat["n", 2], y: Mat["m", 2]) -> float:
    total = 0.0
    for i in rose.range(len(x)):
        best = 1e300
        for j in rose.range(len(y)):
            d = math.exp(x[i, 0] - y[j, 0]) + (x[i, 1] - y[j, 1]) ** 2
            if d < best:
                best = d
        total += best
    return total


@pytest.mark.parametrize("f", [nearest, by_hand])
def test_nothing_is_kept_of_iterations_that_are_not_chosen(f: rose.Function) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(6, 2)), rng.normal(size=(9, 2))
    rose.check_grads(f, (x, y), order=2)
    kept: list[int] = []
    for n in (9, 90):
        (made,) = optimise(rose.grad(f, argnums=(0, 1)).lower(x, rng.normal(size=(n, 2))).ir.function)
        kept.append(stacked_bytes(made))
        turns = [let.expr for let in lets(made.body or ir.Block([], ())) if isinstance(let.expr, ir.Loop)]
        assert not [e for e in turns if e.down and e.trips == ir.Lit(n, INT)]
    assert kept[0] == kept[1]


def test_what_is_not_chosen_poisons_nothing() -> None:
    @rose.jit
    def f(x: Vec["n"]) -> float:
        return min(math.sqrt(x[j]) + 1.0 for j in rose.range(len(x)))

    x = np.array([4.0, 1.0, 9.0, 16.0, 1.0])
    assert rose.grad(f)(x).tolist() == [0.0, 0.5, 0.0, 0.0, 0.0]
    assert rose.grad(f)(np.array([4.0, 0.25, INF, 16.0, 1.0])).tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]


EXTREME = """
def f(x: [{n}]Real, y: Real): Real =
  loop i < {n} {down} carry (m: Real = y) scan (v in x) {{
    let d = v * 2.0 in
    let r = {op}({args}) in
    r
  }}
"""
SPECIAL = [
    ([3.0, -1.0, 0.5, 7.0, 7.0], 2.0), ([0.0, -0.0, 0.0, 0.0, -0.0], 0.0), ([0.0, -0.0, 0.0, -0.0, -0.0], -0.0),
    ([-0.0] * 5, 0.0), ([0.0] * 5, -0.0), ([NAN, 1.0, NAN, 0.5, NAN], 1.0), ([1.0, 2.0, NAN, INF, 0.0], NAN),
    ([2.0] * 5, -INF), ([2.0] * 5, INF), ([-3.0] * 5, -INF), ([1.0, NAN, 3.0, -3.0, 2.0], 0.0),
]  # fmt: skip


@pytest.mark.parametrize("down", ["", "down"])
@pytest.mark.parametrize("args", ["m, d", "d, m"])
@pytest.mark.parametrize("op", ["max", "min", "maximum", "minimum"])
def test_extremes(op: str, args: str, down: str) -> None:
    """As `if` does it; the slope is that of the iteration that the operation itself would choose."""
    text = EXTREME.format(n=5, op=op, args=args, down=down)
    assert "if none" in changed(text, *SPECIAL)
    plain = insert_copies(parse(text))
    mask = (True, True)
    one, other = gradient(plain, mask, True), gradient(sink_selects(plain), mask, True)
    for given in SPECIAL:
        assert repr(interp.run(one, [*given])) == repr(interp.run(other, [*given])), given


@rose.jit
def log_sum_exp(x: Vec["n"]) -> float:
    m = x[0]
    for i in rose.range(len(x)):
        m = max(m, x[i])
    s = 0.0
    for i in rose.range(len(x)):
        s += math.exp(x[i] - m)
    return m + math.log(s)


@rose.jit
def of_numpy(x: Vec["n"]) -> float:
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


@pytest.mark.parametrize("f", [log_sum_exp, of_numpy])
def test_a_maximum_keeps_nothing(f) -> None:
    x = np.sin(np.arange(100.0))
    assert rose.grad(f).lower(x).cost().tape_bytes <= 800
    assert np.allclose(rose.grad(f)(x), np.exp(x) / np.exp(x).sum(), rtol=1e-14)
