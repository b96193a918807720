"""Equal functions have equal shapes and texts, and any difference that matters tells them apart."""

import pytest

from rosejit.ir.walk import callees
from rosejit.text import parse
from rosejit.transforms.shapes import shape

PROGRAM = """
def g(x: [3][2]Real, k: Int): Real, Real =
  let v: Real = x[2, 1] in let w: Real = v * 2.5 in let n: Real = -w in let y: Real = max(n, 0.0) in y, v
def f(x: [3][2]Real, s: Real): Real =
  let a: Real, b: Real = g(x, 1) in let c: Real = a - s in let d: Real = c * b in d
"""


def text(program):
    """Of all functions of a program."""
    f = parse(program)
    found = [*callees(f), f]
    numbers = {g: k for k, g in enumerate(found)}
    shapes = [shape(g) for g in found]
    return [None if made is None else made.text(g, numbers) for g, made in zip(found, shapes, strict=True)]


def test_names_of_variables_do_not_matter():
    assert text(PROGRAM) == text(PROGRAM.replace("w:", "other:").replace("-w", "-other"))
    assert None not in text(PROGRAM)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2.5", "2.25"),
        ("max(n, 0.0)", "max(n, -0.0)"),
        ("max(n, 0.0)", "max(0.0, n)"),
        ("max(n, 0.0)", "min(n, 0.0)"),
        ("in y, v", "in v, y"),
        ("x[2, 1]", "x[1, 1]"),
        ("a - s", "s - a"),
        ("g(x, 1)", "g(x, 2)"),
        ("def f(", "def h("),
        ("[3][2]", "[4][2]"),
        ("s: Real)", "s: Real, t: Real)"),
        ("let d: Real = c * b in d", "let d: Real = c * b in c"),
    ],
)
def test_what_differs_has_another_text(old, new):
    assert old in PROGRAM
    assert text(PROGRAM) != text(PROGRAM.replace(old, new))


def test_constants_are_no_part_of_a_shape():
    f, g = parse(PROGRAM), parse(PROGRAM.replace("2.5", "7.0").replace("x[2, 1]", "x[0, 0]"))
    made = [shape(callees(h)[0]) for h in (f, g)]
    assert made[0].code == made[1].code
    assert [a.value for a in made[0].constants] == [2, 1, 2.5, 0.0]
    assert [a.value for a in made[1].constants] == [0, 0, 7.0, 0.0]


@pytest.mark.parametrize(
    "body",
    [
        "let y: Real = if true { s } { 0.0 } in y",
        "let y: Real = x[k] in y",
        "let k2: Int = k // k in let y: Real = to_real(k2) in y",
        "let z: [3]Real = zero in s",
    ],
)
def test_what_is_more_has_no_shape(body):
    assert shape(parse(f"def f(x: [3]Real, s: Real, k: Int): Real = {body}")) is None
