"""What the root calls calls nothing itself, and every bit is kept; a program that would grow too much stays."""

import pytest

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import callees
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.passes.inline_leaves import inline_leaves


def nest(depth: int) -> ir.Function:
    """Each function calls the one below it twice."""
    text = "def f0(x: Real): Real = let y: Real = sin(x) in y\n"
    for k in range(1, depth + 1):
        lets = f"let a: Real = f{k - 1}(x) in let b: Real = f{k - 1}(a) in let c: Real = a * b in c"
        text += f"def f{k}(x: Real): Real = {lets}\n"
    return parse(text)


@pytest.mark.parametrize("depth", [2, 3])
def test_callees_become_leaves(depth: int) -> None:
    f = nest(depth)
    made = inline_leaves(f, set())
    verify_program(made)
    assert [callees(g) for g in callees(made)] == [[]]
    assert interp.run(made, [0.7]) == interp.run(f, [0.7])


def test_what_has_no_nested_calls_stays() -> None:
    f = nest(1)
    assert inline_leaves(f, set()) is f


def test_what_would_grow_too_much_stays() -> None:
    f = nest(4)
    assert inline_leaves(f, set()) is f


def test_what_is_kept_is_still_called() -> None:
    f = nest(3)
    (second,) = callees(f)
    (first,) = callees(second)
    (leaf,) = callees(inline_leaves(f, {first}))
    assert callees(leaf) == [first]
