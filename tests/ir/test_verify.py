"""Every invariant of docs/ir.md is checked: a program that keeps it, and the ones that break it."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosejit.errors import VerifyError
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.traversal import lets, rebuild
from rosejit.ir.types import BOOL, INT, REAL, TAN, UNIT, Array, Nominal, Ref, Sum, Tuple
from rosejit.ir.verify import verify, verify_program
from rosejit.ops import PRIMITIVES
from rosejit.text import parse, parse_program
from rosejit.transforms.passes.insert_copies import insert_copies
from tests.generate import random_function

V3 = Array(3, REAL)


def refuses(text, message):
    with pytest.raises(VerifyError, match=re.escape(message)):
        verify(parse(text))


# --- ownership


VALID = {
    "consumed in one branch": """
def f(own a: [3]Real, c: Bool): Real =
  let s: Real = if c { let b = update a[0] = 1.0 in b[1] } { a[2] } in
  s""",
    "consumed in both": """
def f(own a: [3]Real, c: Bool): [3]Real =
  let b: [3]Real = if c { let b = update a[0] = 1.0 in b } { a } in
  b""",
    "view read before": """
def f(own a: [2][3]Real): Real, [2][3]Real =
  let r: [3]Real = a[1] in
  let x = r[0] in
  let b = update a[0, 0] = x in
  x, b""",
    "carry": """
def f(own a: [3]Real, n: Int): [3]Real =
  let b: [3]Real = loop i < n carry (c: [3]Real = a) { let d = update c[0] = 1.0 in d } in
  b""",
    "places may be aliased": """
def g(p: &Real, q: &Real) = let () = p += 1.0 in
def f(x: Real): Real =
  let p = accum x in
  let () = g(p, p) in
  resolve p""",
    "resolved on both sides": """
def f(x: Real, c: Bool): Real =
  let p = accum x in
  let y: Real = if c { resolve p } { let () = p += 1.0 in let r = resolve p in r } in
  y""",
    "scanned and consumed row by row": """
def f(own a: [2][3]Real): [2][3]Real =
  let b: [2][3]Real = loop i < 2 scan (r: [3]Real from a) { r } in
  b""",
    "scrutinee consumed in a side": """
def f(own s: (Real|[3]Real)): [3]Real =
  let a: [3]Real = case s { inl x -> [x, x, x] } { inr v -> outr s } in
  a""",
    "a count that became known": """
def f(x: Real): [*]Real =
  let a: [*]Real, b: [3]Real = loop i < 3 { x, x } in
  let c: [*]Real = loop i < 3 scan (y in a) { y } in
  c""",
    "scalar results may repeat and be captured": "def f(x: Real): Real, Real, Int = x, x, 3",
    "condition of a while reads what the body consumes": """
def f(own a: [3]Real): Int =
  let k: Int, b: [3]Real = while carry (c: [3]Real = a) { c[0] < 9.0 } { let d = update c[0] = 9.0 in d } in
  k""",
}


@pytest.mark.parametrize("text", VALID.values(), ids=VALID)
def test_valid(text):
    verify_program(*parse_program(text).values())


INVALID = {
    "read after": (
        "def f(own a: [3]Real): Real = let b = update a[0] = 1.0 in a[0]",
        "`a` is read after `a` was consumed",
    ),
    "view after": (
        "def f(own a: [2][3]Real): Real = let r = a[0] in let b = update a[0, 0] = 1.0 in r[0]",
        "`r` is read after `a` was consumed",
    ),
    "view of a view after": (
        "def f(own a: [2][2][3]Real): Real = let r = a[0] in let q = r[1] in let c = update a[0, 0, 0] = 1.0 in q[0]",
        "`q` is read after `a` was consumed",
    ),
    "twice": (
        "def f(own a: [3]Real): [3]Real, [3]Real = let b = update a[0] = 1.0 in let c = update a[1] = 1.0 in b, c",
        "`a` is read after `a` was consumed",
    ),
    "twice in one let": ("def f(own a: [3]Real): ([3]Real, [3]Real) = (a, a)", "`a` is consumed twice"),
    "borrowed": ("def f(a: [3]Real): [3]Real = let b = update a[0] = 1.0 in b", "`a` is only borrowed, and consumed"),
    "borrowed result": ("def f(a: [3]Real): [3]Real = a", "`a` is only borrowed, and consumed"),
    "view": ("def f(own a: [2][3]Real): [3]Real = let r = a[0] in r", "`r` is a view, and consumed"),
    "results repeat": ("def f(own a: [3]Real): [3]Real, [3]Real = a, a", "was consumed"),
    "in a loop": (
        "def f(own a: [3]Real): Real = let s: Real = loop i < 3 carry (c: Real = 0.0) "
        "{ let b = update a[i] = c in b[0] } in s",
        "`a` comes from outside of the loop, and is consumed in it",
    ),
    "in a branch, then read": (
        "def f(own a: [3]Real, c: Bool): Real = let s: Real = if c { let b = update a[0] = 1.0 in b[1] } { 0.0 } in "
        "let y = a[0] in y",
        "`a` is read after `a` was consumed",
    ),
    "in the second branch, then read": (
        "def f(own a: [3]Real, c: Bool): Real = let s = if c { 0.0 } { let b = update a[0] = 1.0 in b[1] } in a[0]",
        "`a` is read after `a` was consumed",
    ),
    "nested branches, then read": (
        "def f(own a: [3]Real, c: Bool): Real = let s: Real = if c { let t: Real = if c { 1.0 } "
        "{ let b = update a[0] = 1.0 in b[1] } in t } { 0.0 } in a[0]",
        "`a` is read after `a` was consumed",
    ),
    "a row of itself": (
        "def f(own a: [2][3]Real): [2][3]Real = let r = a[0] in let b = update a[1] = r in b",
        "another one is the same or a view of it",
    ),
    "carried and captured": (
        "def f(own a: [3]Real): [3]Real = let b: [3]Real = loop i < 3 carry (c: [3]Real = a) "
        "{ let x = a[0] in let d = update c[0] = x in d } in b",
        "`a` is read after `a` was consumed",
    ),
    "carried and scanned": (
        "def f(own a: [3]Real): [3]Real = let b: [3]Real = loop i < 3 carry (c: [3]Real = a) scan (x in a) { c } in b",
        "another one is the same or a view of it",
    ),
    "scanned view": (
        "def f(own a: [2][3]Real): [3]Real = let b: [2][3]Real = loop i < 2 scan (r in a) { r } in b[0]",
        "`r` is a view, and consumed",
    ),
    "payload": (
        "def f(own s: ([3]Real|Real)): [3]Real = case s { inl a -> a } { inr x -> [x, x, x] }",
        "`a` is a view",
    ),
    "payload after its sum": (
        "def f(own s: ([3]Real|Real)): Real = case s { inl a -> let b = outl s in a[0] } { inr x -> x }",
        "`a` is read after `s` was consumed",
    ),
    "condition of a while": (
        "def f(own a: [3]Real): Int = let k: Int, b: [3]Real = while carry (c: [3]Real = a) "
        "{ let d = update c[0] = 1.0 in d[0] < 2.0 } { c } in k",
        "is only borrowed, and consumed",
    ),
    "place of a caller": ("def f(p: &Real): Real = resolve p", "`p` is only borrowed, and consumed"),
    "place as a result": (
        "def f(x: Real): Real = let p = accum x in let q: &Real = if true { p } { p } in x",
        "a place leaves",
    ),
    "place after its end": (
        "def f(x: Real): Real = let p = accum x in let y = resolve p in let () = p += y in y",
        "`p` is read after `p` was consumed",
    ),
    "part of a place after its end": (
        "def f(own a: [3]Real): Real = let p = accum a in let q = &p[0] in let b = resolve p in "
        "let () = q += 1.0 in b[0]",
        "`q` is read after `p` was consumed",
    ),
    "place resolved in a loop": (
        "def f(x: Real): Real = let p = accum x in let s: Real = loop i < 3 carry (c: Real = x) { resolve p } in s",
        "comes from outside of the loop",
    ),
    "own argument twice": (
        "def g(own a: [3]Real, b: [3]Real): Real = a[0] def f(own v: [3]Real): Real = g(v, v)",
        "another one is the same or a view of it",
    ),
}


@pytest.mark.parametrize(("text", "message"), INVALID.values(), ids=INVALID)
def test_ownership(text, message):
    refuses(text, message)


def without(f, victim):
    """`f` less a copy."""
    atoms = {victim.binders[0]: victim.expr.value}

    def atom(a):
        return atoms.get(a, a) if isinstance(a, ir.Var) else a

    def block(b):
        kept = [ir.Let(let.binders, rebuild(let.expr, atom, block=block)) for let in b.lets if let is not victim]
        return ir.Block(kept, tuple(map(atom, b.results)))

    return ir.Function(f.name, f.params, f.results, block(f.body), f.own)


@given(st.integers(0, 10**6))
def test_no_copy_that_own_inserts_can_be_taken_out(seed):
    """So `verify` misses nothing that `own` mends, and `own` mends nothing that was whole."""
    raw = random_function(random.Random(seed), copies=False)
    f = insert_copies(raw)
    written = {let.binders for let in lets(raw.body) if isinstance(let.expr, ir.Copy)}
    inserted = [let for let in lets(f.body) if isinstance(let.expr, ir.Copy) and let.binders not in written]
    for let in inserted:
        with pytest.raises(VerifyError):
            verify(without(f, let))


# --- scope and types, which a text cannot get wrong


def function(build, *params, own=(), results=(REAL,)):
    b = Builder()
    return ir.Function("f", params, results, b.block(*build(b)), frozenset(own))


def test_names():
    x, y = ir.Var(REAL, "x"), ir.Var(REAL, "y")
    with pytest.raises(VerifyError, match="`y` is read, but not in scope"):
        verify(function(lambda b: [b.apply(PRIMITIVES["neg"], y)], x))
    twice = [ir.Let((y,), ir.Apply(PRIMITIVES["neg"], (x,))) for _ in range(2)]
    with pytest.raises(VerifyError, match="`y` is bound twice"):
        verify(ir.Function("f", (x,), (REAL,), ir.Block(twice, (y,))))
    with pytest.raises(VerifyError, match="`x` is bound twice"):
        verify(ir.Function("f", (x, x), (REAL,), ir.Block([], (x,))))


def test_scope_ends_with_the_block():
    x, c, inner = ir.Var(REAL, "x"), ir.Var(BOOL, "c"), ir.Var(REAL, "inner")
    side = ir.Block([ir.Let((inner,), ir.Apply(PRIMITIVES["neg"], (x,)))], (inner,))

    def build(b):
        b.bind(ir.If(c, side, ir.Block([], (x,))), REAL)
        return [inner]

    with pytest.raises(VerifyError, match="`inner` is read, but not in scope"):
        verify(function(build, x, c))
    carry, index = ir.Var(REAL, "c"), ir.Var(INT, "i")

    def loop(b):
        b.bind(ir.Loop(ir.integer(3), index, (carry,), (x,), (), ir.Block([], (carry,))), REAL)
        return [carry]

    with pytest.raises(VerifyError, match="`c` is read, but not in scope"):
        verify(function(loop, x))


X, N, C, T, A = ir.Var(REAL, "x"), ir.Var(INT, "n"), ir.Var(BOOL, "c"), ir.Var(TAN, "t"), ir.Var(V3, "a")
D = ir.Var(Array(None, REAL), "d")
P, Q = ir.Var(Ref(V3), "p"), ir.Var(Ref(REAL), "q")
S, LS = ir.Var(Sum(REAL, V3), "s"), ir.Var(Sum(TAN, UNIT), "ls")
EMPTY = ir.Block([], ())
RES = Nominal("Res")
RES.fields = (REAL, INT)

ILL_TYPED = {
    "operand": (ir.Apply(PRIMITIVES["add"], (X, N)), (REAL,), "an operand of `add` is Int, where Real is needed"),
    "operands": (ir.Apply(PRIMITIVES["add"], (X,)), (REAL,), "2 needed, 1 given"),
    "tangent in a nonlinear operation": (ir.Apply(PRIMITIVES["mul"], (X, T)), (REAL,), "is Tan, where Real is needed"),
    "result": (ir.Apply(PRIMITIVES["add"], (X, X)), (INT,), "a result is Int, where Real is needed"),
    "literal": (ir.Apply(PRIMITIVES["add"], (X, ir.Lit(1, REAL))), (REAL,), "1 is no Real"),
    "number of results": (ir.Apply(PRIMITIVES["add"], (X, X)), (REAL, REAL), "1 results are bound to 2 variables"),
    "index": (ir.Index(A, (X,)), (REAL,), "an index is an Int, not Real"),
    "too deep": (ir.Index(A, (N, N)), (REAL,), "Real is indexed"),
    "field": (ir.Index(A, (ir.Field(0),)), (REAL,), "[3]Real has no field .0"),
    "nowhere": (ir.Index(A, ()), (V3,), "a path has no steps"),
    "place read": (ir.Index(P, (N,)), (REAL,), "&[3]Real is indexed"),
    "update": (ir.Update(A, (N,), N), (V3,), "the value of an `update` is Int"),
    "light copy": (ir.Copy(X), (REAL,), "`copy` of a scalar value"),
    "place in a tuple": (ir.MakeTuple((Q,)), (Tuple((REAL,)),), "a place in a tuple"),
    "fields": (ir.MakeTuple((X, X)), (RES,), "a field of Res is Real, where Int is needed"),
    "untuple": (ir.Untuple(A), (REAL,), "`untuple` of no tuple"),
    "mixed items": (ir.MakeArray((X, N)), (Array(2, REAL),), "an item is Int, where Real is needed"),
    "no items": (ir.MakeArray(()), (Array(0, REAL),), "an array literal without items"),
    "side": (ir.Inject(1, X), (Sum(REAL, V3),), "the value of a sum is Real, where [3]Real is needed"),
    "no sum": (ir.Extract(0, A), (REAL,), "[3]Real is no sum"),
    "linear case": (
        ir.Case((LS,), ir.Branch((ir.Var(TAN),), EMPTY), ir.Branch((ir.Var(UNIT),), EMPTY)),
        (),
        "branches on a linear value",
    ),
    "payload": (
        ir.Case((S,), ir.Branch((ir.Var(INT),), EMPTY), ir.Branch((ir.Var(V3),), EMPTY)),
        (),
        "the variable of a payload is Int, where Real is needed",
    ),
    "zero of unknown length": (ir.Zero(), (Array(None, REAL),), "`zero` of [*]Real needs a `like`"),
    "zero like another": (ir.Zero(A), (Array(None, REAL),), "cannot have the lengths and tags of [3]Real"),
    "condition": (ir.If(X, EMPTY, EMPTY), (), "a condition is Real, where Bool is needed"),
    "sides": (ir.If(C, ir.Block([], (X,)), ir.Block([], (N,))), (REAL,), "a result of the second block is Int"),
    "trips": (ir.Loop(X, ir.Var(INT), (), (), (), EMPTY), (), "a trip count is Real"),
    "scan": (
        ir.Loop(ir.integer(2), ir.Var(INT), (), (), (ir.Scan(ir.Var(REAL), A),), EMPTY),
        (),
        "a loop scans [3]Real",
    ),
    "scan of unknown many": (
        ir.Loop(N, ir.Var(INT), (), (), (ir.Scan(ir.Var(REAL), A),), EMPTY),
        (),
        "a loop scans [3]Real",
    ),
    "stack": (ir.Loop(N, ir.Var(INT), (), (), (), ir.Block([], (X,))), (V3,), "where [*]Real is needed"),
    "carry": (
        ir.Loop(N, ir.Var(INT), (ir.Var(REAL),), (X,), (), ir.Block([], (N,))),
        (REAL,),
        "the next carry is Int, where Real is needed",
    ),
    "condition of while": (ir.While((), (), ir.Block([], (X,)), EMPTY), (INT,), "a condition is Real"),
    "accum of a place": (ir.Accum(Q), (Ref(REAL),), "`accum` of a place"),
    "add": (ir.Add(P, X), (), "what is added is Real, where [3]Real is needed"),
    "add to no place": (ir.Add(X, X), (), "Real is no place"),
    "check": (ir.Check(C, ir.Failure("assertion", ""), (A,)), (), "at most four values, all scalar"),
}


@pytest.mark.parametrize(("expr", "types", "message"), ILL_TYPED.values(), ids=ILL_TYPED)
def test_types(expr, types, message):
    params = (X, N, C, T, A, D, P, Q, S, LS)
    f = ir.Function("f", params, (), ir.Block([ir.Let(tuple(map(ir.Var, types)), expr)], ()))
    with pytest.raises(VerifyError, match=re.escape(message)):
        verify(f)


def test_zero_may_be_like_the_value_it_is_a_tangent_of():
    r, dr = ir.Var(RES, "r"), RES.tangent
    for t in (dr, dr.erased, RES):
        verify(function(lambda b, t=t: [b.bind(ir.Zero(r), t)] and [X], r, X))
    other = Nominal("Other")
    other.fields = (REAL, INT)
    with pytest.raises(VerifyError, match="cannot have the lengths"):
        verify(function(lambda b: [b.bind(ir.Zero(r), other)] and [X], r, X))


def test_signatures():
    with pytest.raises(VerifyError, match="the types of the results"):
        verify(ir.Function("f", (N,), (REAL,), ir.Block([], (N,))))
    with pytest.raises(VerifyError, match="a place inside"):
        verify(ir.Function("f", (ir.Var(Tuple((Ref(REAL),))),), (), EMPTY))
    with pytest.raises(VerifyError, match="`own` is for boxed parameters"):
        verify(ir.Function("f", (X,), (), EMPTY, frozenset((X,))))
    with pytest.raises(VerifyError, match="without a body"):
        verify(ir.Function("f", (X,), ()))
    verify(ir.Function("f", (X,), (), host=print))
    rule = ir.Function("rule", (ir.Var(REAL), ir.Var(TAN)), (REAL,), host=print)
    with pytest.raises(VerifyError, match="`rule` does not fit `f`"):
        verify(ir.Function("f", (X,), (REAL,), ir.Block([], (X,)), rule=rule))


def test_rules_are_part_of_the_program():
    x, dx = ir.Var(REAL), ir.Var(TAN)
    rule = ir.Function("rule", (x, dx), (REAL, TAN), ir.Block([], (x, x)))
    f = ir.Function("f", (X,), (REAL,), ir.Block([], (X,)), rule=rule)
    verify(f)
    with pytest.raises(VerifyError, match="the types of the results"):
        verify_program(f)


def test_the_message_shows_the_place():
    f = parse(
        "def f(own a: [3]Real, i: Int): Real = let b = update a[i] = 1.0 in let y: Real = if true { a[0] } { 0.0 } in y"
    )
    with pytest.raises(VerifyError) as caught:
        verify(f)
    lines = str(caught.value).splitlines()
    assert lines[0] == "`a` is read after `a` was consumed"
    assert lines[1] == "  def f(a: [3]Real, i: Int): Real own a"
    assert lines[lines.index("      ^ here") - 1].strip().startswith("let x: Real = Index")
