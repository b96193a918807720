"""Tuples, arrays, sums, copies and zeros."""

import pytest

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.syntax import Var
from rosejit.ir.types import BOOL, INT, REAL, UNIT, Array, Nominal, Sum, Tuple
from rosejit.ops import PRIMITIVES as P
from rosejit.text import parse
from tests.codegen.machine import agrees


def test_tuples():
    agrees("def f(x: Real, i: Int, c: Bool): (Bool, Real, Int, Bool) = (c, x, i, c)", (0.5, 7, True))
    agrees("def f(t: (Real, Int)): Real, Int = t.0, t.1", ((0.5, 3),))
    agrees("def f(own t: (Real, [2]Real)): Real, [2]Real = let a, b = untuple t in a, b", ((0.5, [1.0, 2.0]),))
    agrees("def f(x: Real): () = ()", (1.0,))
    agrees("def f(x: Real): (Real, ()) = (x, ())", (1.0,))


def test_fields_move_in_and_out():
    text = """
def f(x: Real): Real =
  let a: [3]Real = [x, x, x] in
  let b: [100]Real = zero in
  let s: (Real|[3]Real) = inr a in
  let t: ([100]Real, (Real|[3]Real), Real) = (b, s, x) in
  let c, u, y = untuple t in
  let d = update c[99] = y in
  let v = outr u in
  d[99] + v[2] + y
"""
    agrees(text, (1.5,))


def test_dropped_fields_are_freed():
    agrees(
        "def f(own t: (Real, [2]Real, [90]Real)): Real = let a, b, c = untuple t in a", ((0.5, [1.0] * 2, [0.0] * 90),)
    )
    agrees("def f(x: Real): Real = let a: [3]Real = [x, x, x] in let t: ([3]Real, Real) = (a, x) in t.1", (1.0,))


def test_arrays_of_scalars():
    agrees("def f(x: Real, y: Real): [4]Real = [x, y, x + y, 1.0]", (0.5, 0.25))
    agrees("def f(c: Bool): [3]Bool = [c, true, false]", (False,))
    agrees(
        "def f(): [9]Real, [9]Int, [8]Bool = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, -0.0], "
        "[1, 2, 3, 4, 5, 6, 7, 8, -9], [true, false, true, true, false, false, true, true]",
        (),
    )


def test_constants_lie_in_the_module_once():
    items = ", ".join(f"{k}.5" for k in range(100))
    one = agrees(f"def f(): [100]Real = [{items}]", ())
    two = agrees(f"def f(): [100]Real, [100]Real = [{items}], [{items}]", ())
    assert len(two.artifact.wasm) < len(one.artifact.wasm) + 100


def test_constants_are_not_changed():
    text = """
def f(i: Int): Real =
  let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0] in
  let b = update a[i] = 9.0 in
  b[0] + b[1]
"""
    machine = agrees(text, (0,), (1,))
    assert machine(0) == (11.0,)
    assert machine(1) == (10.0,)


EIGHT = "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]"
READS = {
    "an element": f"let a = {EIGHT} in a[i]",
    "in a loop": f"let a = {EIGHT} in let s = loop j < 8 carry (s: Real = x) {{ s * a[j] }} in s",
    "in a branch": f"let a = {EIGHT} in if i > 3 {{ a[i] }} {{ x }}",
    "each in turn": f"let a = {EIGHT} in let s = loop j < 8 carry (s: Real = x) scan (y in a) {{ s + y }} in s",
    "by a call": f"let a = {EIGHT} in let s = g(a, i) in s + a[0]",
    "a copy": f"let a = {EIGHT} in let b = copy a in let c = update b[i] = x in c[0] + a[0]",
    "never": f"let a = {EIGHT} in x",
    "before it is changed": f"let a = {EIGHT} in let y = a[i] in let b = update a[i] = x in b[0] + y",
    "made in each iteration": f"let s = loop j < 8 carry (s: Real = x) {{ let a = {EIGHT} in s + a[j] }} in s",
}


@pytest.mark.parametrize("how", READS)
def test_tables_lie_where_they_are_read(how):
    text = f"def g(a: [8]Real, i: Int): Real = a[i]\ndef f(i: Int, x: Real): Real = {READS[how]}"
    machine = agrees(text, (0, 0.5), (7, 0.5), (0, 0.25))
    assert (b"\xfc\x0a" in machine.artifact.wasm) == (how in ("a copy", "before it is changed"))  # memory.copy


def test_arrays_of_rows():
    text = """
def f(x: Real): [3][2]Real, [2](Int, [2]Real) =
  let a = [x, 1.0] in let b = [2.0, x] in let c = copy a in
  let m = [a, b, c] in
  let d = [x, x] in let t = (1, d) in let u = copy t in
  m, [t, u]
"""
    agrees(text, (0.5,))


@pytest.mark.parametrize(("c", "expected"), [(True, 3.0), (False, 0.5)])
def test_sums(c, expected):
    text = """
def f(c: Bool, x: Real): Real =
  let s: (Real|(Real, Real)) = if c { let t = (x, x + 1.0) in inr t } { inl x } in
  case s { inl y -> y * 0.5 } { inr t -> t.0 + t.1 }
"""
    assert agrees(text, (c, 1.0))(c, 1.0) == (expected,)


VALUES = {
    "()": "()",
    "Bool": "true",
    "Int": "5",
    "Real": "x",
    "[2]Real": "[x, x]",
    "[100]Real": "zero",
    "[*]Real": "copy r",
    "(Real, [2]Real)": "(x, [x, x])",
    "(Int|Real)": "inr x",
}


@pytest.mark.parametrize("t", VALUES)
def test_sums_of_everything(t):
    text = f"""
def f(c: Bool, x: Real, n: Int): ({t}|Int) =
  let r: [*]Real = loop i < n {{ x }} in
  if c {{ let v: {t} = {VALUES[t]} in let u: ({t}|Int) = inl v in u }} {{ let u: ({t}|Int) = inr 3 in u }}
"""
    agrees(text, (True, 0.5, 2), (False, 0.5, 2))


def test_extraction():
    agrees("def f(own s: ([2]Real|Real)): [2]Real = outl s", ((0, [1.0, 2.0]),))
    agrees("def f(own s: ([2]Real|[9]Real)): [2]Real = outl s", ((0, [1.0, 2.0]),))
    agrees("def f(own s: (Real|[99]Real)): [99]Real = outr s", ((1, [1.5] * 99),))
    agrees("def f(own s: (Real|[99]Real)): Real = outl s", ((0, 2.5),))


def test_copies_share_nothing():
    text = """
def f(own t: [2]([*]Real, (Real|[100]Real))): [2]([*]Real, (Real|[100]Real)), [2]([*]Real, (Real|[100]Real)) =
  let u = copy t in
  let a = [7.0, 7.0] in
  u, t
"""
    value = [([1.0, 2.0, 3.0], (1, [0.5] * 100)), ([], (0, 4.0))]
    machine = agrees(text, (value,))
    assert machine(value) == (value, value)


def test_zeros():
    agrees("def f(): Real, Int, Bool = let x: Real = zero in let i: Int = zero in let c: Bool = zero in x, i, c", ())
    for n in (1, 2, 3, 8, 9, 100):
        agrees(f"def f(x: Real): [{n}]Real = let a: [{n}]Real = zero in update a[0] = x", (1.5,))
    agrees("def f(): (Real, [3]Bool, [100]Int) = let t: (Real, [3]Bool, [100]Int) = zero in t", ())
    agrees("def f(): [2](Real, [100]Real) = let t: [2](Real, [100]Real) = zero in t", ())


def test_zeros_like():
    value = [([1.0, 2.0, 3.0], (1, [0.5] * 100)), ([], (0, 4.0))]
    t = "[2]([*]Real, (Real|[100]Real))"
    machine = agrees(f"def f(v: {t}): {t} = let z: {t} = zero like v in z", (value,))
    assert machine(value)[0] == [([0.0] * 3, (1, [0.0] * 100)), ([], (0, 0.0))]
    agrees(
        "def f(v: [*][*](Int|Real)): [*][*](Int|Real) = let z: [*][*](Int|Real) = zero like v in z",
        ([[(0, 1)], [], [(1, 2.0), (0, 4)]],),
    )


def test_freed_memory_is_filled_again():
    """A zero is a zero even where something else has been."""
    text = """
def f(x: Real): [40]Real =
  let a: [40]Real = zero in
  let b = update a[3] = x in
  let c = if x > 0.0 { b[3] } { b[2] } in
  let z: [40]Real = zero in
  update z[0] = c
"""
    machine = agrees(text, (1.0,))
    machine(5.0)
    assert machine(2.0) == ([2.0] + [0.0] * 39,)


def test_nominals_own_their_fields():
    res = Nominal("Res")
    res.fields = (REAL, Array(2, REAL), BOOL, Tuple((INT, Array(3, REAL))), Array(None, REAL))
    make = parse("def make(n: Int, x: Real): [*]Real = loop i < n { x }")
    x, n = Var(REAL, "x"), Var(INT, "n")
    b = Builder()
    pair = b.bind(ir.MakeArray((x, x)), Array(2, REAL))
    triple = b.bind(ir.MakeArray((x, x, x)), Array(3, REAL))
    t = b.bind(ir.MakeTuple((n, triple)), res.fields[3])
    rows = b.bind(ir.Call(make, (n, x)), res.fields[4])
    r = b.bind(ir.MakeTuple((x, pair, b.apply(P["gt"], x, ir.real(0.0)), t, rows)), res)
    s = b.bind(ir.Copy(r), res)
    z = b.bind(ir.Zero(s), res)
    view = b.bind(ir.Index(r, (ir.Field(1),), False), res.fields[1])
    y = b.bind(ir.Index(view, (ir.integer(1),), False), REAL)
    fields = b.bind_all(ir.Untuple(s), res.fields)
    zero_row = b.bind(ir.Index(z, (ir.Field(4), ir.integer(0)), False), REAL)
    f = ir.Function("f", (n, x), (REAL, REAL, *res.fields), b.block(y, zero_row, *fields))
    agrees(f, (3, 0.5))


def listed():
    """A function that makes a list of n..0 by recursion, and one that adds it up; with the type."""
    res = Nominal("List")
    link = Sum(UNIT, res)
    res.fields = (REAL, link)
    n = Var(INT, "n")
    build = ir.Function("build", (n,), (res,))
    b, end, more = Builder(), Builder(), Builder()
    rest = more.bind(ir.Call(build, (more.apply(P["isub"], n, ir.integer(1)),)), res)
    longer = more.block(more.bind(ir.Inject(1, rest), link))
    last = end.block(end.bind(ir.Inject(0, ir.NOTHING), link))
    tail = b.bind(ir.If(b.apply(P["igt"], n, ir.integer(0)), longer, last), link)
    build.body = b.block(b.bind(ir.MakeTuple((b.apply(P["to_real"], n), tail)), res))
    r, nothing, inner = Var(res, "r"), Var(UNIT, "u"), Var(res, "i")
    total = ir.Function("total", (r,), (REAL,))
    b, right = Builder(), Builder()
    x = b.bind(ir.Index(r, (ir.Field(0),), False), REAL)
    view = b.bind(ir.Index(r, (ir.Field(1),), False), link)
    deeper = ir.Branch((inner,), right.block(right.bind(ir.Call(total, (inner,)), REAL)))
    side = b.bind(ir.Case((view,), ir.Branch((nothing,), Builder().block(ir.real(0.0))), deeper), REAL)
    total.body = b.block(b.apply(P["add"], x, side))
    return build, total, res


def test_recursive_types():
    build, total, res = listed()
    k = Var(INT, "k")
    b = Builder()
    built = b.bind(ir.Call(build, (k,)), res)
    copied = b.bind(ir.Copy(built), res)
    zeros = b.bind(ir.Zero(copied), res)
    sums = [b.bind(ir.Call(total, (v,)), REAL) for v in (built, copied, zeros)]
    machine = agrees(ir.Function("f", (k,), (REAL, REAL, REAL), b.block(*sums)), (0,), (5,))
    assert machine(1000) == (500500.0, 500500.0, 0.0)
