"""Places of arrays that become places of numbers, and those that stay."""

import pytest

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms
from rosejit.ir.types import Array, Ref
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.scalarize.accumulator_replacement import scalarize_accumulators


def whole(text: str, *args: object) -> int:
    """How many places of arrays are still opened afterwards; the same results."""
    f = parse(text)
    new = scalarize_accumulators(f)
    verify_program(new)
    assert interp.run(new, list(args)) == interp.run(f, list(args))
    assert new.body is not None
    opened = [let.binders[0].type for let in forms(new.body) if isinstance(let.expr, ir.Accum)]
    return sum(isinstance(t, Ref) and isinstance(t.target, Array) for t in opened)


def touching(n: int, turn: str, result: str = "let y = z[1] in y", start: str = "zero") -> int:
    """As `whole`, of a place of n numbers that is added to."""
    text = f"let s: [{n}]Real = {start} in let p: &[{n}]Real = accum s in {turn} let z = resolve p in {result}"
    return whole(f"def f(x: Real, i: Int): Real = {text}", 1.5, 2)


ADDED = "let q = &p[1] in let () = q += x in let r = &p[0] in let () = r += x in"


def test_numbers_of_a_place_that_are_added_to_at_constants() -> None:
    assert touching(3, ADDED) == 0
    assert touching(3, ADDED, start="[x, x, x]") == 0
    assert touching(32, ADDED) == 0


def test_a_place_that_is_added_to_in_a_loop_and_in_a_branch() -> None:
    turn = "let u = x > 1.0 in let () = if u { let q = &p[1] in let () = q += x in } { } in"
    assert touching(3, f"let () = loop k < 4 {{ {turn} }} in") == 0


def test_a_place_of_rows() -> None:
    turn = "let p = accum s in let q = &p[1, 0] in let () = q += x in let z = resolve p in"
    assert whole(f"def f(x: Real): [2][2]Real = let s: [2][2]Real = zero in {turn} z", 1.5) == 0
    copied = f"def f(a: [2][2]Real, x: Real): Real = let s = copy a in {turn} let r = z[1] in let y = r[0] in y"
    assert whole(copied, [[1.0, 2.0], [3.0, 4.0]], 1.5) == 0
    row = "let r: [1]Real = [x] in let s: [1][1]Real = [r] in let p = accum s in let q = &p[0, 0] in let () = q += x in"
    assert whole(f"def f(x: Real): [1][1]Real = {row} let z = resolve p in z", 1.5) == 0


@pytest.mark.parametrize(
    ("n", "turn"),
    [
        (33, ADDED),
        (3, "let q = &p[i] in let () = q += x in"),
        (3, "let s2: [3]Real = [x, x, x] in let () = p += s2 in"),
    ],
)
def test_places_that_stay(n: int, turn: str) -> None:
    assert touching(n, turn) == 1


def test_what_is_read_whole_is_taken_apart_if_it_is_small() -> None:
    text = "let s: [{0}]Real = zero in let p = accum s in let q = &p[1] in let () = q += x in let z = resolve p in z"
    assert whole(f"def f(x: Real): [9]Real = {text.format(9)}", 1.5) == 0
    assert whole(f"def f(x: Real): [10]Real = {text.format(10)}", 1.5) == 1


def test_a_place_that_a_function_is_given_stays() -> None:
    text = "def g(p: &[3]Real, x: Real): () = let q = &p[1] in let () = q += x in ()\n"
    text += "def f(x: Real): Real = let s: [3]Real = zero in let p = accum s in let u = g(p, x) in "
    assert whole(text + "let z = resolve p in let y = z[1] in y", 1.5) == 1
