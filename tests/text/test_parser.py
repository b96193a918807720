"""What the grammar accepts beyond what is printed, and where it says that a text is wrong."""

import pytest

from rosejit import interp
from rosejit.errors import ParseError
from rosejit.ir import syntax as ir
from rosejit.ir.types import INT, REAL, TAN, UNIT, Array, Ref, Sum, Tuple
from rosejit.ir.verify import verify_program
from rosejit.text import parse, parse_program, show


def value(text, *args, **generics):
    f = parse(text, **generics)
    verify_program(f)
    results = interp.run(f, args)
    return results[0] if len(results) == 1 else results


# --- the paper


SUM = """
def sum<n: Index>(v: [n]Real): Real =
  fst (accum a from 0.0 in [for i: n, a += v[i]])
"""


def test_generic_functions_are_instances_on_use():
    program = parse_program(SUM + "def f(v: [2]Real, w: [3]Real): Real = sum<2>(v) * sum<3>(w) + sum<2>(v)")
    assert list(program) == ["f", "sum_2", "sum_3"]
    assert interp.run(program["f"], ([1.0, 2.0], [1.0, 2.0, 3.0])) == (21.0,)


def test_generic_in_types_and_of_generic():
    text = (
        SUM + "def second<t: Type, u: Value>(p: (t, u)): u = snd p\n"
        "def total<n: Index>(p: (Int, [n]Real)): Real = sum<n>(second<Int, [n]Real>(p))\n"
        "def f(p: (Int, [3]Real)): Real = total<3>(p)"
    )
    program = parse_program(text.replace("): u = snd p", "): u = copy (snd p)"))
    verify_program(*program.values())
    assert interp.run(program["f"], ((7, [1.0, 2.0, 4.0]),)) == (7.0,)
    assert "second_Int__3_Real" in program


def test_the_last_function_may_be_generic():
    assert value(SUM, [1.0, 2.0], n=2) == 3.0
    with pytest.raises(ParseError, match="`sum` is generic: say what `n` is"):
        parse(SUM)


def test_projections_and_parts():
    text = """
def f(x: Real): (Real, Real) =
  let t: (Real, Real) = (x, 0.0) in
  let p: &(Real, Real) = accum t in
  let q: &Real = &snd p in
  let u: () = q += x in
  let v: () = &fst p += 10.0 in
  let r: (Real, Real) = resolve p in
  r
"""
    assert value(text, 1.5) == (11.5, 1.5)


def test_selection_runs_one_side():
    assert value("def f(x: Real, a: [1]Real): Real = let c = x > 0.0 in c ? x * 2.0 : a[5]", 3.0, [0.0]) == 6.0
    assert value("def f(x: Real): Real = x > 0.0 ? (x > 1.0 ? 2.0 : 1.0) : 0.0", 1.5) == 2.0


def test_indices_of_a_for_are_proven_where_they_are():
    f = parse("def f(a: [3]Real, b: [2]Real): [2]Real = [for i: 2, a[i] + b[i] + a[0]]")
    inside = f.body.lets[0].expr.body.lets
    assert [let.expr.checked for let in inside if isinstance(let.expr, ir.Index)] == [False, False, True]
    g = parse("def f(b: [2]Real): [3]Real = [for i: 3, b[i]]")
    assert g.body.lets[0].expr.body.lets[0].expr.checked


def test_unary_operations_without_parentheses():
    assert value("def f(x: Real): Real = let y = abs x in sqrt y + floor 1.5", -4.0) == 3.0


def test_nested_comprehension():
    assert value("def f(x: Real): [2][3]Real = [for i: 2, [for j: 3, x]]", 1.5) == [[1.5] * 3] * 2


def test_a_body_without_lets():
    assert parse("def f(x: Real): Real = x").body.lets == []
    assert parse("def f() =").body.results == ()
    assert show(parse("def f(u: ()): () = u")) == "def f(u: ()): () =\n  u"


# --- expressions


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1.0 + 2.0 * 3.0", 7.0),
        ("(1.0 + 2.0) * 3.0", 9.0),
        ("10.0 - 4.0 - 3.0", 3.0),
        ("-x * -x", 4.0),
        ("2 * x", 4.0),
        ("x * 2 - 1", 3.0),
        ("x / 4", 0.5),
        ("1e3", 1000.0),
        ("-1.5e-2", -0.015),
        ("-inf", -float("inf")),
        ("maximum(x, 3)", 3.0),
        ("x<3.0 ? 1.0 : 0.0", 1.0),
        ("not (x < 1.0) and x < 3.0 or false ? 1.0 : 0.0", 1.0),
        ("let y = x + 1 in let x = y * 2 in x", 6.0),
    ],
)
def test_expressions(expression, expected):
    assert value(f"def f(x: Real): Real = {expression}", 2.0) == expected


def test_integer_expressions():
    assert value("def f(i: Int): Int = -i % 3 + 7 // 2 * -1", 4) == -1
    assert value("def f(i: Int): Int, Int = -0, 9223372036854775807", 0) == (0, 2**63 - 1)


def test_operators_follow_types():
    f = parse("def f(x: Real, t: Tan, i: Int): Real, Tan, Tan, Int, Tan = x + x, t + t, x * t, i + i, -t")
    assert [let.expr.op.name for let in f.body.lets] == ["add", "tadd", "scale", "iadd", "tneg"]


def test_literals_follow_types():
    f = parse("""
def g(x: Real, i: Int): Real = x
def f(): Real, Int, Tan, Real, (Real, Int) =
  let a: Real = 3 in
  let t: Tan = 0 in
  let y: Real = if true { 1 } { 2.5 } in
  let p: (Real, Int) = (1, 2) in
  let z: Real = loop i < 3 carry (c: Real = 0) { 1 } in
  let w: [2]Real = [1, 2] in
  let v = update w[0] = 7 in
  g(1, 2), 1, t, z, p
""")
    verify_program(f)
    assert interp.run(f, ()) == (1.0, 1, 0.0, 1.0, (1.0, 2))


def test_calls_come_before_their_definition():
    text = """
def even(n: Int): Bool = n == 0 ? true : odd(n - 1)
def odd(n: Int): Bool = n == 0 ? false : even(n - 1)
def f(n: Int): Bool = even(n)
"""
    assert value(text, 7) is False
    assert value(text, 8) is True


def test_own_functions_hide_primitives():
    assert value("def sqrt(x: Real): Real = x + 1.0 def f(x: Real): Real = sqrt(x)", 3.0) == 4.0


def test_types():
    f = parse(
        "def f(a: [2][*]Int, b: &(Real|(Int|())), c: (,), d: (Real,), e: (Real), g: [3](), h: 5, k: Real|Int|Bool) ="
    )
    types = [p.type for p in f.params]
    assert types[:3] == [Array(2, Array(None, INT)), Ref(Sum(REAL, Sum(INT, UNIT))), Tuple(())]
    assert types[3:7] == [Tuple((REAL,)), REAL, Array(3, UNIT), INT]
    assert isinstance(types[7], Sum)
    assert isinstance(types[7].right, Sum)


def test_declared_types():
    f = parse("type A = (Real, B) type B = ((A|()),) def f(a: A, b: B, d: D.A, e: E.D.A) =")
    a, b, d, e = (p.type for p in f.params)
    assert a.fields == (REAL, b)
    assert d is a.tangent
    assert e is a.tangent.erased
    assert d.fields == (TAN, b.tangent)


def test_comments_and_names():
    assert value("-- a comment\ndef f(größe: Real, x_1: Real): Real = -- another\n größe - x_1", 3.0, 1.0) == 2.0


def test_scopes_end():
    text = "def f(x: Real): Real = let y: Real = if true { let x = 5.0 in x } { let z = 1.0 in z } in x + y"
    assert value(text, 1.0) == 6.0
    with pytest.raises(ParseError, match="there is no variable `z`"):
        parse(text.replace("x + y", "z"))


def test_a_host_function_that_is_not_given():
    f = parse("host def tell(x: Real): Real def f(x: Real): Real = tell(x)")
    with pytest.raises(LookupError, match="without a host function `tell`"):
        interp.run(f, (1.0,))


# --- errors


ERRORS = {
    "": ("a function is needed", (1, 0)),
    "let x": ("a function is needed", (1, 0)),
    "def f(x: Real): Real = y": ("there is no variable `y`", (1, 23)),
    "def f(x: Real): Real = x + true": ("`+` does not take Real and Bool", (1, 25)),
    "def f(x: Real): Real = g(x)": ("there is no function `g`", (1, 23)),
    "def f(x: Real): Real =\n  let y: Int = x in y": ("`y` is given a value of another type", (2, 6)),
    "def f(x: Real): Real =\n  let y: Int = x + x in y": ("a result is Int, where Real is needed", (2, 2)),
    "def f(x: Rea): Real = x": ("there is no type `Rea`", (1, 9)),
    "def f(x: Real): Real = let x x": ("`=` is needed, found `x`", (1, 29)),
    "def f(x: Real): Real = let y = x + x": ("`in` is needed, found the end", (1, 36)),
    "def f(x: Real): Real = let loop = x in x": (
        "a name is needed, found `loop`, which is a word of the language",
        (1, 27),
    ),
    "def f(x: Real): Real = x $ x": ("`$` means nothing here", (1, 25)),
    "def f(x: Real): Real = x x": ("this function has ended", (1, 25)),
    "def f(x: Real): Real = sqrt(x, x)": ("`sqrt` takes 1 operands, given 2", (1, 23)),
    "def f(x: Real): Real = let a, b = x + x in a": ("1 results are bound to 2 names", (1, 23)),
    "def f(x: Real): [2]Real = let z = zero in z": ("the type of `z` must be given", (1, 30)),
    "def f(x: Real): Real = let s = inl x in x": ("the type of `s` must be given", (1, 27)),
    "def f(x: Real): Real = x[0]": ("Real is indexed", (1, 24)),
    "def f(x: Real, x: Real): Real = x": ("two parameters are called `x`", (1, 15)),
    "def f() = def f() =": ("two functions are called `f`", (1, 14)),
    "type A = (Real,) type A = (Int,) def f() =": ("two types are called `A`", (1, 22)),
    "type A = (Real) def f() =": ("a declared type is a tuple: `(T,)`", (1, 9)),
    "def f(x: Real): [1]Real = []": ("an array literal has at least one item", (1, 27)),
    "def f<n: Real>(x: Real): Real = x def g() =": (None, None),
    "def f(x: D.Real) =": ("`D.` and `E.` are for types that are declared", (1, 9)),
    "def f<n: Index>(v: [n]Real) = def g(v: [2]Real) = f<2, 3>(v)": ("`f` has 1 generic names", (1, 50)),
    "def f(x: Real): Real rule g = x": ("there is no such function", (1, 26)),
    "def ä(é: Real): Real = é + ö": ("there is no variable `ö`", (1, 30)),
}


@pytest.mark.parametrize("text", [text for text, (message, _) in ERRORS.items() if message])
def test_errors(text):
    message, (line, col) = ERRORS[text]
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert caught.value.message == message
    assert (caught.value.span.line, caught.value.span.col) == (line, col)


def test_errors_quote_the_line():
    with pytest.raises(ParseError) as caught:
        parse("def f(x: Real): Real =\n  let y = x + true in\n  y")
    assert str(caught.value) == (
        "`+` does not take Real and Bool\n  <rose>:2:13\n    let y = x + true in\n              ^"
    )
    assert isinstance(caught.value, SyntaxError)
