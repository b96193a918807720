"""One name for each array: what is the same array, and what is not; the same results."""

import pytest

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.passes.dce import dce
from rosejit.transforms.passes.drop_copies import drop_copies

HEAD = "def f(x: [3]Real, m: [2][3]Real, n: Int): [3]Real, Real =\n"
READ = "let r: Real = a@[1] in a, r"

SAME = {
    "copy": "let y: [3]Real = loop i < 3 { let v: Real = x@[i] in let w: Real = v * v in w } in let a = copy y in ",
    "scan": "let y: [3]Real = loop i < 3 { 1.5 } in let a: [3]Real = loop i < 3 scan (v: Real in y) { v } in ",
    "read": "let y: [3]Real = zero in let a: [3]Real = loop i < 3 down { let v: Real = y@[i] in v } in ",
    "rows": """
let y: [3][3]Real = zero in
let b: [3]Real = y@[0] in let c: [3]Real = y@[1] in let d: [3]Real = y@[2] in
let z: [3][3]Real = [copy b, copy c, copy d] in let e: [3]Real = z@[2] in let a = copy e in """,
}


def copies(f: ir.Function) -> int:
    assert f.body is not None
    return sum(isinstance(let.expr, ir.Copy | ir.MakeArray) for let in forms(f.body))


def loops(f: ir.Function) -> int:
    assert f.body is not None
    return sum(isinstance(let.expr, ir.Loop) for let in forms(f.body))


def changed(text: str) -> ir.Function:
    f = parse(HEAD + text)
    new = dce(drop_copies(f))
    verify_program(new)
    args: list[object] = [[1.5, -2.25, 0.3], [[1.0, -0.0, 3.0], [4.0, 5.0, 6.0]], 3]
    assert repr(interp.run(new, args)) == repr(interp.run(f, args))
    return new


@pytest.mark.parametrize("name", SAME)
def test_what_is_the_same_array(name: str) -> None:
    f = parse(HEAD + SAME[name] + READ)
    new = changed(SAME[name] + READ)
    assert (copies(new), loops(new)) < (copies(f), loops(f)) or loops(new) < loops(f)


def test_what_is_borrowed_is_copied_once() -> None:
    new = changed("let a: [3]Real = loop i < 3 scan (v: Real in x) { v } in " + READ)
    assert (loops(new), copies(new)) == (0, 1)


@pytest.mark.parametrize(
    "text",
    [
        "let a: [3]Real = loop i < 3 { let v: Real = m@[1, i] in v } in ",  # a row that nobody has a name for
        "let y: [4]Real = zero in let a: [3]Real = loop i < 3 { let v: Real = y@[i] in v } in ",  # a part
        "let a: [3]Real = loop i < 3 { let k: Int = wsub(2, i) in let v: Real = x@[k] in v } in ",  # backwards
        "let b: [3]Real, a: [3]Real = loop i < 3 carry (c: [3]Real = copy x) {"  # what each had before it was changed
        " let v: Real = c@[i] in let d: [3]Real = update c@[i] = 0.0 in d, v } in ",
    ],
)
def test_what_is_another_array(text: str) -> None:
    assert loops(changed(text + READ)) == 1


def test_a_copy_that_is_changed_stays_a_copy() -> None:
    new = changed("let b = copy x in let a: [3]Real = update b@[0] = 7.0 in let r: Real = x@[0] in a, r")
    assert copies(new) == 1


def test_rows_in_another_order_are_another_array() -> None:
    text = """
let y: [2][3]Real = copy m in let b: [3]Real = y@[1] in let c: [3]Real = y@[0] in
let z: [2][3]Real = [copy b, copy c] in let e: [3]Real = z@[0] in let a = copy e in """
    assert copies(changed(text + READ)) >= 2


def test_nothing_to_do() -> None:
    f = parse(HEAD + "let a = copy x in " + READ)
    assert drop_copies(f) is f
