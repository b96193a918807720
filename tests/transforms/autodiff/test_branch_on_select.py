"""Straight-line code of which only one side is selected: the pullback of the other is not walked."""

import math

import pytest

import rosejit as rose
from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import lets, scopes
from rosejit.text import parse
from rosejit.transforms.autodiff.branch_on_select import SHORT
from rosejit.transforms.autodiff.derivative_programs import gradient
from rosejit.transforms.pipeline import optimise
from tests.laws import check_laws


def nearest(n: int, inside: str = "", result: str = "s") -> str:
    """The least of sums over the rows of a table, one element after the other."""
    sums = [f"let e{k} = t[i, {k}] - x[{k}] in let q{k} = e{k} * e{k} in" for k in range(n)]
    total = " + ".join(f"q{k}" for k in range(n))
    return f"""
def f(x: [{n}]Real, t: [9][{n}]Real): Real =
  let best: Real = loop i < 9 carry (m: Real = 100.0) {{
    {" ".join(sums)} let s: Real = {total} in {inside}
    let c: Bool = s < m in
    let o: Real = select(c, {result}, m) in
    o
  }} in
  best
"""


def walked_in_branches(text: str) -> int:
    """How many products are in branches of the gradient."""
    (made,) = optimise(gradient(parse(text), (True, False), False))
    assert made.body is not None
    sides = [block for let in lets(made.body) if isinstance(let.expr, ir.If) for _, block in scopes(let.expr)]
    return sum(isinstance(e := let.expr, ir.Apply) and e.op.name == "mul" for side in sides for let in side.lets)


def args(n: int) -> list[object]:
    values = [0.9 + 0.3 * math.sin(k) for k in range(10 * n)]
    return [values[:n], [values[n * k : n * k + n] for k in range(1, 10)]]


@pytest.mark.parametrize("result", ["s", "exp(s)"])
def test_what_was_not_selected_is_not_walked(result: str) -> None:
    assert walked_in_branches(nearest(12, result=result)) >= 12
    check_laws(parse(nearest(12, result=result)), args(12), order=2)


def test_what_is_short_or_read_elsewhere_is_walked() -> None:
    assert walked_in_branches(nearest(SHORT // 12)) == 0
    shared = nearest(12).replace("select(c, s, m) in", "select(c, s, m) in let o: Real = o + 0.001 * s in")
    assert walked_in_branches(shared) == 0
    check_laws(parse(shared), args(12), order=1)


def test_what_was_not_selected_cannot_poison() -> None:
    """The square roots of the rows, none of which is below the start, have an infinite slope."""
    text = (
        nearest(12, "let r: Real = sqrt(s - s) + s in").replace("100.0", "-1.0").replace("select(c, s", "select(c, r")
    )
    (slopes,) = interp.run(gradient(parse(text), (True, False), False), args(12))
    assert slopes == [0.0] * 12


def test_an_element_is_read_before_its_array_changes() -> None:
    """What is put into its place later has a cotangent of its own."""
    steps = " ".join(f"let b{k + 1} = sin(b{k}) + a * b{k} in" for k in range(SHORT))
    text = f"""
def f(x: [3][1]Real, y: Real): Real =
  let s = copy x in
  let row: [1]Real = s[0] in
  let a: Real = row[0] in
  let b0 = a * 0.5 in
  {steps}
  let t = update s[0, 0] = y in
  let c: Bool = y > 0.0 in
  let z: Real = t[0, 0] in
  let o: Real = select(c, b{SHORT}, y) in
  o + z * 2.0
"""
    check_laws(parse(text), [[[0.1], [0.2], [0.3]], 0.7], order=2)
    check_laws(
        parse(text.replace("let row: [1]Real = s[0] in", "").replace("row[0]", "s[0, 0]")), [[[0.1], [0.2], [0.3]], 0.7]
    )


@pytest.mark.parametrize("n", [50, 300])
def test_a_chain_of_selections_is_no_deeper_than_passes_can_walk(n: int) -> None:
    """The greatest of numbers each of which is made of the one before: a branch in a branch for each would be."""

    def greatest(x: float) -> float:
        path: list[float] = []
        for _ in rose.unroll(range(n)):
            x = x * 1.001 if x < 5.0 else x - 1.0
            path.append(x * x)
        return max(path)

    assert rose.grad(greatest)(0.3) == pytest.approx(2.0 * 0.3 * 1.001 ** (2 * n), rel=1e-12)
    assert rose.grad(rose.grad(greatest))(0.3) == pytest.approx(2.0 * 1.001 ** (2 * n), rel=1e-12)
