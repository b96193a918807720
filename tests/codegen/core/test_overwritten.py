"""Zeros that loops write over, and zeros that somebody reads."""

import pytest

from rosejit import interp
from rosejit.codegen.core.overwritten import overwritten
from rosejit.text import parse
from tests.backends import bits, wasm

HEAD = "def f(x: [4]Real, k: Int): [4][3]Real =\nlet z: [4][3]Real = zero in\n"
ROW = "let b = update a@[i, 0] = 1.5 in let c = update b@[i, 1] = x@[i] in "

WHOLE = {
    "by element": "loop i < 4 carry (a: [4][3]Real = z) { " + ROW + "update c@[i, 2] = 2.0 }",
    "nested": "loop i < 4 carry (a: [4][3]Real = z) { loop j < 3 carry (b: [4][3]Real = a) { update b@[i, j] = 2.5 } }",
    "one loop after the other": "let y = loop i < 4 carry (a: [4][3]Real = z) { " + ROW + "c } in\n"
    "loop i < 4 carry (a: [4][3]Real = y) { update a@[i, 2] = 3.0 }",
    "by row": "loop i < 4 down carry (a: [4][3]Real = z) { let r: [3]Real = [1.0, 2.0, 3.0] in update a@[i] = r }",
    "columns": "let y = loop i < 3 carry (a: [4][3]Real = z) { update a@[0, i] = 1.0 } in\n"
    "loop i < 3 carry (a: [4][3]Real = y) {"
    " let b = update a@[1, i] = 1.5 in let c = update b@[2, i] = 2.0 in update c@[3, i] = 4.0 }",
}
PART = {
    "a column": "loop i < 4 carry (a: [4][3]Real = z) { " + ROW + "c }",
    "the same twice": "loop i < 4 carry (a: [4][3]Real = z) { " + ROW + "update c@[i, 1] = 2.0 }",
    "fewer iterations": "loop i < 3 carry (a: [4][3]Real = z) { " + ROW + "update c@[i, 2] = 2.0 }",
    "unknown iterations": "loop i < k carry (a: [4][3]Real = z) { " + ROW + "update c@[i, 2] = 2.0 }",
    "unknown place": "loop i < 4 carry (a: [4][3]Real = z) { " + ROW + "update c[i, k] = 2.0 }",
    "read before": "loop i < 4 carry (a: [4][3]Real = z) { let v = a@[3, 2] in " + ROW + "update c@[i, 2] = v }",
    "read between": "loop i < 4 carry (a: [4][3]Real = z) { " + ROW + "let v = c@[3, 2] in update c@[i, 2] = v }",
    "on one side": "loop i < 4 carry (a: [4][3]Real = z) { if i < 2 { " + ROW + "update c@[i, 2] = 1.0 } { a } }",
    "diagonal": "loop i < 3 carry (a: [4][3]Real = z) { update a@[i, i] = 2.0 }",
}


@pytest.mark.parametrize("name", [*WHOLE, *PART])
def test_zeros(name: str) -> None:
    f = parse(HEAD + {**WHOLE, **PART}[name])
    assert len(overwritten(f)) == (name in WHOLE)
    args: list[object] = [[1.5, -2.25, 0.3, 4.0], 1]
    expected = interp.run(f, args)
    run = wasm(f)
    assert bits(run(args)) == bits(expected) == bits(run(args))  # in memory that has been used, too
