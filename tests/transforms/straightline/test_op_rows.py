"""Straight-line functions as rows: which functions have some, and a text that tells each from all others."""

import struct

import pytest

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.traversal import callees
from rosejit.ir.types import INT, REAL, Array
from rosejit.ops import PRIMITIVES as P
from rosejit.span import Span
from rosejit.text import parse
from rosejit.transforms.straightline.op_rows import CALL, ELEMENT, OPS, RESULT, rows


def function(make, types=(REAL, REAL), name="f", span=None):
    params = tuple([ir.Var(t, f"p{k}") for k, t in enumerate(types)])
    b = Builder()
    results = make(b, *params)
    return ir.Function(name, params, tuple([r.type for r in results]), b.block(*results), span=span)


def test_rows_are_ops_and_places():
    def make(b, x, a):
        y = b.bind(ir.Index(a, (ir.integer(1),)), REAL)
        z = b.apply(P["mul"], x, y)
        return (b.apply(P["select"], b.apply(P["lt"], z, x), z, ir.real(2.0)), x)

    made = rows(function(make, (REAL, Array(3, REAL))))
    assert made is not None
    names = {ELEMENT: "element"} | {k: op.name for k, op in enumerate(OPS)}
    assert [(names[code], *operands) for code, *operands in made.rows] == [
        ("element", ~1, ~2),
        ("mul", ~0, 0),
        ("lt", 1, ~0),
        ("select", 2, 1, ~3),
    ]
    assert made.constants == [ir.integer(1), ir.real(2.0)]
    assert [made.constant(place) for place in (0, ~1, ~2, ~3)] == [None, None, ir.integer(1), ir.real(2.0)]
    assert made.results == (3, ~0)


def test_a_call_has_a_row_for_each_result():
    g, f = "def g(x: Real): Real, Real = x, x", "def f(x: Real): Real = let a: Real, b: Real = g(2.0) in"
    made = rows(parse(f"{g}\n{f} let y: Real = a * b in y"))
    assert [row[0] for row in made.rows[:2]] == [CALL, RESULT]
    assert (made.rows[0][1:], made.rows[2][1:]) == ((~1,), (0, 1))
    assert [h.name for h in made.calls] == ["g"]


def two(op, other="add", swapped=False):
    def make(b, x, y):
        z = b.apply(P[op], *((y, x) if swapped else (x, y)))
        return (b.apply(P[other], z, x),)

    return make


def with_constant(value):
    return lambda b, x, y: (b.apply(P["mul"], b.apply(P["add"], x, ir.real(value)), y),)


def shared(again):
    """x y + x y, by one product or by two: the reverse pass adds in another order."""

    def make(b, x, y):
        first = b.apply(P["mul"], x, y)
        second = b.apply(P["mul"], x, y)
        return (b.apply(P["add"], first, second if again else first),)

    return make


def nan_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


DIFFERENT = [
    function(two("mul")),
    function(two("sub")),
    function(two("sub", swapped=True)),
    function(two("mul", "sub")),
    function(two("mul"), name="g"),
    function(two("mul"), span=Span("file.py", 1, 0, 2, 0, "f")),
    function(two("mul"), span=Span("file.py", 2, 0, 3, 0, "f")),
    function(two("mul")),
    function(lambda b, x, y, z: two("mul")(b, x, y), (REAL, REAL, REAL)),
    function(lambda b, x, y, z: two("mul")(b, x, y), (REAL, REAL, INT)),
    function(lambda b, x, y, z: two("mul")(b, x, y), (REAL, REAL, Array(2, REAL))),
    function(lambda b, x, y, z: two("mul")(b, x, y), (REAL, REAL, Array(3, REAL))),
    function(lambda b, x, y: (*two("mul")(b, x, y), x)),
    function(lambda b, x, y: (*two("mul")(b, x, y), y)),
    function(shared(again=True)),
    function(shared(again=False)),
    *[function(with_constant(value)) for value in (0.0, -0.0, 1.0, 2.0, float("inf"))],
    *[function(with_constant(nan_of(bits))) for bits in (0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001)],
]


def test_texts_tell_functions_apart():
    texts = [rows(f).text({}) for f in DIFFERENT]
    same = [7]  # made as the first one is
    assert texts[7] == texts[0]
    assert len(set(texts)) == len(texts) - len(same)


def test_own_arrays_and_checkpoints_are_told_apart():
    f = function(lambda b, x, a: (b.apply(P["mul"], x, x),), (REAL, Array(2, REAL)))
    plain = rows(f).text({})
    f.own = frozenset(f.params[1:])
    own = rows(f).text({})
    f.own, f.checkpoint = frozenset(), True
    assert len({plain, own, rows(f).text({})}) == 3


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
    return [rows(g).text(numbers) for g in found]


def test_names_of_variables_do_not_matter():
    assert text(PROGRAM) == text(PROGRAM.replace("w:", "other:").replace("-w", "-other"))


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


def test_constants_are_no_part_of_the_code():
    f, g = parse(PROGRAM), parse(PROGRAM.replace("2.5", "7.0").replace("x[2, 1]", "x[0, 0]"))
    made = [rows(callees(h)[0]) for h in (f, g)]
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
def test_what_is_more_has_no_rows(body):
    assert rows(parse(f"def f(x: [3]Real, s: Real, k: Int): Real = {body}")) is None
