"""Names, layout, and that the text is the identity of a program."""

import random
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.traversal import Renaming
from rosejit.ir.types import INT, REAL, TAN, Array, Nominal, Sum, Tuple
from rosejit.ir.verify import verify_program
from rosejit.ops import PRIMITIVES
from rosejit.span import Span
from rosejit.text import parse, show
from tests.generate import random_arguments, random_function

EVERYTHING = r"""type Res = (Real, (Res|()), [*]Real)
def square_rule(x: Real, dx: Tan): Real, Tan =
  x, dx
checkpoint def square(x: Real): Real rule square_rule =
  let y: Real = x * x in
  y
host def tell(x: Real, a: [2]Real): Real
def grow(x: Real, own a: [2]Real, p: &[2]Real): Real, [2]Real =
  let q: &Real = &p[1] in
  let () = q += x in
  x, a
def nothing(p: &[2]Real) =
def f(x: Real, n: Int, c: Bool, own a: [2]Real, t: Tan, r: Res, dr: D.Res like r, er: E.D.Res): Real, [2]Real, Int =
  let b: Bool = not c in
  let m: Bool = b and c in
  let i: Int = n % 2 in
  let y: Real = neg(-1.0) in
  let z: Real = -y in
  let u: Tan = 2.0 * t in
  let v: Tan = u + 0.0t in
  let e: Real = a@[i] in
  let g: Real = square(e) in
  let w: Real = tell(g, a) in
  let o: (Int, [2]Real) = (n, a) in
  let k: Int = o[.0] in
  let j: Real = o[.1, k] in
  let n1: Int, a1: [2]Real = untuple o in
  let a2: [2]Real = update a1[i] = j in
  let a3: [2]Real = copy a2 in
  let one: (Real,) = (e,) in
  let none: (,) = (,) in
  let zeros: [2]Real = zero in
  let dz: D.Res = zero like dr in
  let rows: [2][2]Real = [a3, zeros] in
  let out: [2]Real, s: [2]Real, nil: [2]() = loop i1 < 2 down carry (c1: [2]Real = a2) scan (row: [2]Real from rows) {
    let e1: Real = row[i1] in
    c1, e1, ()
  } in
  let turns: Int, last: Int, seen: [*]Real = while carry (c3: Int = n) {
    let more: Bool = c3 > 0 in
    more
  } {
    let less: Int = c3 - 1 in
    less, x
  } in
  let again: [*]Real = loop i2 < turns scan (s1: Real in seen) {
    s1
  } in
  let l: (Real|[2]Real) = if m {
    let l1: (Real|[2]Real) = inl x in
    l1
  } {
    let l2: (Real|[2]Real) = inr out in
    l2
  } in
  let p: &(Real|[2]Real) = accum l in
  let () = case l, p { inl d, p1 ->
    let () = p1 += d in
  } { inr d1, p2 ->
    let at: &Real = &p2@[1] in
    let () = at += x in
    let () = check b, "assertion", "\"{0}\" is\nbad \u221e", x, 3 in
  } in
  let l3: (Real|[2]Real) = resolve p in
  let h: [2]Real = outr l3 in
  let p3: &[2]Real = accum h in
  let y1: Real, a4: [2]Real = grow(x, a3, p3) in
  let () = nothing(p3) in
  x, out, last
"""


def function(build, *params, name="f", results=None):
    b = Builder()
    atoms = build(b)
    return ir.Function(name, params, results or tuple(a.type for a in atoms), b.block(*atoms))


def test_every_form():
    assert show(parse(EVERYTHING)) == EVERYTHING.rstrip("\n")


def test_listing_7(golden):
    text = """
def sum<n: Index>(v: [n]Real): Real =
  let z: Real = 0.0 in
  let t: (Real, [n]()) =
    accum a from z in
      [for i: n,
        let x: Real = v[i] in
        let u: () = a += x in
        u
      ]
  in
  let y: Real = fst t in
  y
"""
    printed = show(parse(text, n=3))
    golden(printed)
    assert show(parse(printed)) == printed


def test_names_are_hints_then_numbers():
    x = ir.Var(REAL, "x")

    def build(b):
        y = b.apply(PRIMITIVES["neg"], x)
        z = b.apply(PRIMITIVES["neg"], y, hint="x1")
        return [b.apply(PRIMITIVES["neg"], z), y]

    assert show(function(build, x)).splitlines()[1:] == [
        "  let x1: Real = -x in",
        "  let x11: Real = -x1 in",
        "  let x2: Real = -x11 in",
        "  x2, x1",
    ]


@pytest.mark.parametrize(
    ("hint", "name"),
    [("loop", "loop1"), ("a b", "a_b"), ("3d", "_3d"), ("", "x"), ("α", "α"), ("xor", "xor1"), ("sin", "sin")],
)
def test_any_hint_is_made_a_name(hint, name):
    x = ir.Var(REAL, hint)
    text = show(ir.Function("f", (x,), (REAL,), ir.Block([], (x,))))
    assert text == f"def f({name}: Real): Real =\n  {name}"
    assert show(parse(text)) == text


def test_names_of_functions():
    x = ir.Var(REAL, "x")
    inner = [
        ir.Function(name, (x,), (REAL,), ir.Block([], (x,))) for name in ("<lambda>", "<lambda>", "sqrt", "let", "f")
    ]

    def build(b):
        y = x
        for g in inner:
            y = b.bind(ir.Call(g, (y,)), REAL)
        return [y]

    text = show(function(build, x))
    names = [line.split("(")[0] for line in text.splitlines() if line.startswith("def")]
    assert names == ["def lambda", "def lambda1", "def sqrt1", "def let1", "def f", "def f1"]
    assert show(parse(text)) == text


def test_names_of_types():
    first, second = Nominal("Real"), Nominal("Res")
    third = Nominal("Res")
    first.fields = (REAL, second)
    second.fields = (Sum(third, third), REAL)
    third.fields = ()
    x = ir.Var(first.tangent, "x")
    text = show(ir.Function("f", (x,), (), ir.Block([], ())))
    assert text.splitlines()[:-1] == [
        "type Real1 = (Real, Res)",
        "type Res = ((Res1|Res1), Real)",
        "type Res1 = (,)",
    ]
    assert "x: D.Real1" in text
    assert show(parse(text)) == text


@given(st.integers(0, 2**64 - 1))
@example(0x8000000000000000)  # -0.0
@example(0x7FF0000000000000)  # inf
@example(0xFFF0000000000000)
@example(0x7FF8000000000000)  # nan
@example(0xFFF8000000000000)
@example(1)  # the least of all
def test_reals_read_back_bit_by_bit(bits):
    (value,) = struct.unpack("<d", struct.pack("<Q", bits))
    f = ir.Function("f", (), (REAL,), ir.Block([], (ir.real(value),)))
    (back,) = parse(show(f)).body.results
    assert struct.pack("<d", back.value) == struct.pack("<d", value)
    assert back.type is REAL


@given(st.integers(-(2**63), 2**63 - 1))
def test_ints_read_back(value):
    (back,) = parse(show(ir.Function("f", (), (INT,), ir.Block([], (ir.integer(value),))))).body.results
    assert (back.value, back.type) == (value, INT)


@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, float("inf"), float("-inf"), float("nan")])
def test_tangents_read_back(value):
    (back,) = parse(show(ir.Function("f", (), (TAN,), ir.Block([], (ir.Lit(value, TAN),))))).body.results
    assert (repr(back.value), back.type) == (repr(value), TAN)


def test_operators_of_literals():
    def build(b):
        one, minus = ir.real(1.0), ir.real(-1.0)
        names = [("neg", (one,)), ("neg", (minus,)), ("sub", (one, minus)), ("sub", (minus, one)), ("not", (ir.TRUE,))]
        return [b.apply(PRIMITIVES[name], *args) for name, args in names]

    text = show(function(build))
    assert [line.split(" = ")[1] for line in text.splitlines()[1:-1]] == [
        "neg(1.0) in",
        "neg(-1.0) in",
        "1.0 - -1.0 in",
        "-1.0 - 1.0 in",
        "not(true) in",
    ]
    assert show(parse(text)) == text


def test_every_primitive_reads_back():
    for op in PRIMITIVES.values():
        params = tuple(ir.Var(t, "x") for t in op.params)
        text = show(function(lambda b, op=op, params=params: [b.apply(op, *params)], *params))
        assert parse(text).body.lets[0].expr.op is op


def test_equal_programs_print_equal_text():
    f = parse(EVERYTHING)
    copy = Renaming()
    params = tuple(copy.fresh(p) for p in f.params)
    g = ir.Function(f.name, params, f.results, copy.block(f.body), frozenset(copy.atom(p) for p in f.own))
    assert show(g).replace(" like r,", ",") == show(f).replace(" like r,", ",")


def test_alone():
    f = parse("def g(x: Real): Real = -x def f(x: Real): Real = g(x)")
    assert show(f, alone=True) == "def f(x: Real): Real =\n  let x1: Real = g(x) in\n  x1"
    assert show(f).startswith("def g(x: Real): Real =\n  let x1: Real = -x in\n  x1\ndef f(")
    assert show(f, f.body.lets[0].expr.function) == show(f)


# --- what reaches an artifact


def failing(span=None, exception=None, message="m", help=None, name="f"):
    a, i = ir.Var(Array(3, REAL), "a"), ir.Var(INT, "i")
    b = Builder(span)
    x = b.bind(ir.Index(a, (i,)), REAL)
    c = b.apply(PRIMITIVES["lt"], x, ir.real(1.0))
    b.do(ir.Check(c, ir.Failure("raise", message, span, help, exception)))
    j = b.apply(PRIMITIVES["iadd"], i, i)
    return ir.Function(name, (a, i), (REAL, INT), b.block(x, j))


HERE, THERE = Span("a.py", 1, 2, 1, 5, "f"), Span("a.py", 2, 2, 2, 5, "f")


def test_the_complete_text_holds_what_the_text_does_not():
    variants = [
        failing(HERE),
        failing(THERE),
        failing(HERE, ValueError("no")),
        failing(HERE, ValueError("yes")),
        failing(HERE, KeyError("no")),
        failing(HERE, KeyError),
        failing(HERE, help="do this"),
        failing(HERE, name="<f>"),
    ]
    assert len({show(f) for f in variants}) == 1
    texts = [show(f, complete=True) for f in variants]
    assert len(set(texts)) == len(variants)
    assert texts == [show(f, complete=True) for f in variants]
    assert show(failing(message="n")) != show(failing())
    for f, text in zip(variants, texts, strict=True):
        assert show(parse(text)) == show(f)


def test_what_has_no_identity_never_has_the_same_text_twice():
    f = failing(HERE, lambda: ValueError())
    assert show(f, complete=True) != show(f, complete=True)
    g = failing(HERE, ValueError(object()))
    assert show(g, complete=True) != show(g, complete=True)


# --- laws


@given(st.integers(0, 10**6))
def test_random_programs_read_back(seed):
    rng = random.Random(seed)
    f = random_function(rng, places=rng.random() < 0.2)
    text = show(f)
    g = parse(text)
    assert show(g) == text
    verify_program(g)
    args = random_arguments(rng, f)
    assert repr(interp.run(g, args)) == repr(interp.run(f, args))


def test_a_long_program():
    x = ir.Var(REAL, "x")

    def build(b):
        y = x
        for _ in range(20_000):
            y = b.apply(PRIMITIVES["add"], y, x)
        return [y]

    text = show(function(build, x))
    assert show(parse(text)) == text


def test_tuple_types():
    types = [
        Tuple(()),
        Tuple((REAL,)),
        Tuple((REAL, Tuple((INT,)))),
        Sum(Sum(REAL, INT), Sum(REAL, INT)),
        Array(2, Sum(REAL, INT)),
    ]
    params = tuple(ir.Var(t, "p") for t in types)
    f = ir.Function("f", params, (), ir.Block([], ()))
    assert tuple(p.type for p in parse(show(f)).params) == tuple(types)
