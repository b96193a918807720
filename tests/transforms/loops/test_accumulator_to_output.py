"""Places that begin as what a loop gives, and those that begin as zeros still."""

import math

import pytest

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.loops.accumulator_to_output import accumulators_to_outputs
from rosejit.transforms.passes.range_checks import eliminate_range_checks

HEAD = "def f(x: [3]Real, y: Real): [3]Real =\n  let z: [3]Real = zero in let p = accum z in\n  "
FILLS = "let () = loop i < 3 {down} {{ let v = x[i] * y in let q = &p[i] in let () = q += v in }} in "


def zeros(rest: str) -> int:
    """How many arrays of zeros are there afterwards; the same bits."""
    f = parse(HEAD + rest)
    new = accumulators_to_outputs(eliminate_range_checks(f))
    verify_program(new)
    for args in ([[1.5, -2.25, 0.5], 0.75], [[0.0, -0.0, math.inf], -0.0]):
        assert repr(interp.run(new, args)) == repr(interp.run(f, args))
    assert new.body is not None
    return sum(isinstance(let.expr, ir.Zero) for let in forms(new.body))


@pytest.mark.parametrize("down", ["", "down"])
def test_a_loop_adds_to_all_elements_first(down: str) -> None:
    fills = FILLS.format(down=down)
    assert zeros(fills + "resolve p") == 0
    assert zeros(fills + "let q = &p[1] in let () = q += y in resolve p") == 0
    assert zeros(fills + fills + "resolve p") == 0


def test_two_places_of_a_loop() -> None:
    loop = "let a = &p[i] in let () = a += v in let b = &q[i] in let () = b += y in"
    loop = f"let () = loop i < 3 {{ let v = x[i] in {loop} }} in "
    last = "let r = resolve p in let s = resolve q in let t = s[1] in update r[0] = t"
    assert zeros("let w: [3]Real = zero in let q = accum w in " + loop + last) == 0


@pytest.mark.parametrize(
    "rest",
    [
        "let q = &p[1] in let () = q += y in " + FILLS.format(down="") + "resolve p",
        "let () = loop i < 2 { let q = &p[i] in let () = q += y in } in resolve p",
        "let () = loop i < 3 { let q = &p[0] in let () = q += y in } in resolve p",
        "let () = loop i < 3 { let q = &p[i] in let () = q += y in let () = q += y in } in resolve p",
        "let c = y > 1.0 in "
        "let () = loop i < 3 { let () = if c { let q = &p[i] in let () = q += y in } { } in } in resolve p",
        "let () = p += x in resolve p",
    ],
)
def test_others_begin_as_zeros(rest: str) -> None:
    assert zeros(rest) == 1


def test_zeros_that_something_else_reads_stay() -> None:
    rest = FILLS.format(down="") + "let r = resolve p in r"
    text = (HEAD + rest).replace("let p = accum z in", "let c = copy z in let e = c[0] in let p = accum z in")
    f = parse(text)
    assert accumulators_to_outputs(f) is f
