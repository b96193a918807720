"""`own` inserts the copies that are missing, where RULES wants them, and no others."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosejit import interp
from rosejit.errors import VerifyError
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import consumed, operands, rebuild, scopes
from rosejit.ir.types import Ref, is_boxed
from rosejit.ir.verify import verify_program
from rosejit.text import parse, parse_program, show
from rosejit.transforms.passes.insert_copies import body_with_copies, consumed_positions, insert_copies
from tests.generate import random_arguments, random_function


def owned(text):
    f = parse(text)
    with pytest.raises(VerifyError):
        verify_program(f)
    g = insert_copies(f)
    verify_program(g)
    assert insert_copies(g) is g
    return show(g)


CASES = {
    "old value read later": """
def f(own y: [3]Real, w: Real): Real, [3]Real =
  let y2: [3]Real = update y[0] = w in
  let a: Real = y[1] in
  a, y2""",
    "borrowed": """
def f(y: [3]Real, w: Real): [3]Real =
  let y2: [3]Real = update y[0] = w in
  y2""",
    "result twice": """
def g(x: Real): [2]Real = [x, x]
def f(x: Real): [2]Real, [2]Real =
  let z: [2]Real = g(x) in
  z, z""",
    "twice in one let": """
def f(x: Real): ([2]Real, [2]Real) =
  let z: [2]Real = [x, x] in
  (z, z)""",
    "only a row is read later": """
def f(own a: [2][3]Real): Real, [2][3]Real =
  let r: [3]Real = a[1] in
  let b: [2][3]Real = update a[0, 0] = 1.0 in
  r[0], b""",
    "a row of a part": """
def f(own a: [2][2][3]Real): Real, [2][2][3]Real =
  let r: [2][3]Real = a[1] in
  let q: [3]Real = r[0] in
  let b: [2][2][3]Real = update a[0, 0, 0] = 1.0 in
  q[0], b""",
    "rows swapped": """
def f(own a: [2][3]Real): [2][3]Real =
  let r: [3]Real = a[0] in
  let q: [3]Real = a[1] in
  let b: [2][3]Real = update a[0] = q in
  let c: [2][3]Real = update b[1] = r in
  c""",
    "view returned": """
def f(a: [2][3]Real): [3]Real =
  a[1]""",
    "view returned from what dies": """
def f(own a: [2][3]Real): [3]Real, [2][3]Real =
  let r: [3]Real = a[1] in
  let b: [2][3]Real = update a[0, 0] = 1.0 in
  r, b""",
    "in one branch, read after": """
def f(own a: [3]Real, c: Bool): Real, Real =
  let s: Real = if c {
    let b: [3]Real = update a[0] = 1.0 in
    b[1]
  } {
    0.0
  } in
  s, a[0]""",
    "in a loop": """
def f(own a: [3]Real): [3][3]Real =
  let b: [3][3]Real = loop i < 3 {
    let d: [3]Real = update a[i] = 1.0 in
    d
  } in
  b""",
    "carried and captured": """
def f(own a: [3]Real): [3]Real =
  let b: [3]Real = loop i < 3 carry (c: [3]Real = a) {
    let x: Real = a[i] in
    let d: [3]Real = update c[0] = x in
    d
  } in
  b""",
    "carried, a row captured": """
def f(own a: [2][2]Real): [2][2]Real =
  let r: [2]Real = a[0] in
  let b: [2][2]Real = loop i < 2 carry (c: [2][2]Real = a) {
    let d: [2][2]Real = update c[i] = r in
    d
  } in
  b""",
    "next carry stacked too": """
def f(own a: [2]Real): [2]Real, [3][2]Real =
  let b: [2]Real, s: [3][2]Real = loop i < 3 carry (c: [2]Real = a) {
    let d: [2]Real = update c[0] = 1.0 in
    d, d
  } in
  b, s""",
    "scanned row stacked": """
def f(a: [2][3]Real): [2][3]Real =
  let b: [2][3]Real = loop i < 2 scan (r: [3]Real in a) {
    r
  } in
  b""",
    "payload of what is consumed": """
def f(own s: ([3]Real|Real)): Real =
  let y: Real = case s { inl a ->
    let b: [3]Real = outl s in
    let d: [3]Real = update b[0] = 9.0 in
    a[0] + d[0]
  } { inr x ->
    x
  } in
  y""",
    "condition of a while": """
def f(own a: [3]Real): Int =
  let k: Int, b: [3]Real = while carry (c: [3]Real = a) {
    let d: [3]Real = update c[0] = 1.0 in
    d[0] < c[0]
  } {
    c
  } in
  k""",
    "accumulator from what is read": """
def f(own a: [3]Real): Real, [3]Real =
  let p: &[3]Real = accum a in
  let () = p += a in
  let r: [3]Real = resolve p in
  a[0], r""",
    "argument that is read": """
def g(own a: [2]Real, b: [2]Real): [2]Real =
  let c: [2]Real = update a[0] = 1.0 in
  c
def f(own v: [2]Real): [2]Real =
  g(v, v)""",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_copies(text, golden):
    golden(owned(text))


WHOLE = {
    "branches": """
def f(own a: [3]Real, c: Bool): [3]Real =
  let s: [3]Real = if c {
    let b: [3]Real = update a[0] = 1.0 in
    b
  } {
    let x: Real = a[1] in
    let b: [3]Real = update a[2] = x in
    b
  } in
  s""",
    "views read before": """
def f(own a: [2][3]Real): Real, [2][3]Real =
  let r: [3]Real = a[1] in
  let x: Real = r[0] in
  let b: [2][3]Real = update a[0, 0] = x in
  x, b""",
    "places": "def f(p: &[3]Real, a: [3]Real): Real = let () = p += a in let () = p += a in a[0]",
    "recursion": """
def f(own a: [3]Real, n: Int): [3]Real =
  let more: Bool = n > 0 in
  let b: [3]Real = if more {
    let c: [3]Real = update a[0] = 1.0 in
    let m: Int = n - 1 in
    let d: [3]Real = f(c, m) in
    d
  } {
    a
  } in
  b""",
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_what_obeys_stays_itself(text):
    f = parse(text)
    verify_program(f)
    assert insert_copies(f) is f
    assert body_with_copies(f) is f.body


def test_callers_follow_their_callees():
    program = parse_program("""
def slope(x: Real, dx: Tan): Real, Tan = let y: Real = leaf(x) in y, dx
def leaf(x: Real): Real = x * 2.0
def bad(a: [2]Real): [2]Real = let b: [2]Real = update a[0] = 1.0 in b
def good(a: [2]Real): Real = a[0]
def ruled(x: Real): Real rule slope = x
def turn(n: Int, a: [2]Real): Real =
  let more: Bool = n > 0 in
  let y: Real = if more { let b: [2]Real = bad(a) in turn(n - 1, b) } { good(a) + ruled(1.0) } in
  y
def f(a: [2]Real): Real = turn(3, a) + good(a)
""")
    f = insert_copies(program["f"])
    verify_program(f)
    assert f is not program["f"]
    assert f is insert_copies(program["f"])
    made = {g.name: g for g in (insert_copies(g) for g in program.values())}
    unchanged = {name for name, g in program.items() if made[name] is g}
    assert unchanged == {"slope", "leaf", "good", "ruled"}
    calls = [let.expr.function for let in f.body.lets if isinstance(let.expr, ir.Call)]
    assert calls == [made["turn"], program["good"]]
    assert interp.run(f, ([4.0, 5.0],)) == (1.0 + 1.0 + 4.0,)


def test_rules_are_part_of_the_program():
    program = parse_program("""
def slope(x: Real, a: [2]Real, dx: Tan, da: [2]Tan): Real, Tan = let b: [2]Real = update a[0] = x in b[0], dx
def ruled(x: Real, a: [2]Real): Real rule slope = x
def f(x: Real, a: [2]Real): Real = ruled(x, a)
""")
    f = insert_copies(program["f"])
    verify_program(f)
    assert f is not program["f"]
    assert f.body.lets[0].expr.function.rule is insert_copies(program["slope"]) is not program["slope"]


def test_a_function_in_the_making():
    f = parse("def f(own a: [2]Real): [2]Real, [2]Real = a, a")
    f.body = body_with_copies(f)
    verify_program(f)


def copied_everywhere(f):
    """`f` with a copy before every consumption: what the program means when nothing is ever consumed."""

    def block(old):
        made = []

        def copy(a):
            new = ir.Var(a.type, a.hint)
            made.append(ir.Let((new,), ir.Copy(a)))
            return new

        for let in old.lets:
            taken = consumed_positions(let.expr)
            atoms = iter([copy(a) if i in taken else a for i, a in enumerate(operands(let.expr))])
            made.append(ir.Let(let.binders, rebuild(let.expr, lambda a, atoms=atoms: next(atoms), block=block)))
        return ir.Block(made, tuple([copy(a) if is_boxed(a.type) else a for a in old.results]))

    return ir.Function(f.name, f.params, f.results, block(f.body), f.own)


@given(st.integers(0, 10**6))
def test_the_meaning_stays(seed):
    rng = random.Random(seed)
    raw = random_function(rng, copies=False)
    everywhere = copied_everywhere(raw)
    verify_program(everywhere)
    args = random_arguments(rng, raw)
    f = insert_copies(raw)
    assert repr(interp.run(f, args)) == repr(interp.run(everywhere, args))
    assert insert_copies(f) is f


@given(st.integers(0, 10**6))
def test_positions_are_those_of_what_is_consumed(seed):
    f = random_function(random.Random(seed))
    todo = [f.body]
    while todo:
        for let in todo.pop().lets:
            atoms = operands(let.expr)
            heavy = [a for a in consumed(let.expr) if is_boxed(a.type)]
            assert [atoms[i] for i in consumed_positions(let.expr)] == heavy
            assert not any(isinstance(atoms[i].type, Ref) for i in consumed_positions(let.expr))
            todo += [block for _, block in scopes(let.expr)]
