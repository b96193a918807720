"""`if` and `case`: results, frees on every path, rows built where they will lie."""

import pytest

from tests.codegen.machine import agrees


def test_results():
    agrees("def f(c: Bool, x: Real): Real = if c { x * 2.0 } { x }", (True, 3.0), (False, 3.0))
    text = "def f(c: Bool, x: Real, i: Int): Real, Int, Bool = if c { x, i, true } { x * 2.0, i + 1, c }"
    agrees(text, (True, 3.0, 1), (False, 3.0, 1))
    agrees("def f(c: Bool, x: Real): Real = let () = if c { } { } in x", (True, 3.0))
    agrees("def f(c: Bool, u: ()): (), Bool = if c { u, c } { (), true }", (True, None), (False, None))


def test_only_the_side_taken_runs():
    agrees("def f(a: [2]Real, i: Int): Real = if i < 2 { a[i] } { -1.0 }", ([1.0, 2.0], 1), ([1.0, 2.0], 9))


def test_what_one_side_consumes_the_other_frees():
    text = """
def f(c: Bool, x: Real): Real =
  let a = [x, 2.0, 3.0] in
  let y = if c { let b = update a[0] = 5.0 in b[0] + b[1] } { x } in
  y
"""
    agrees(text, (True, 1.0), (False, 1.0))
    text = """
def f(c: Bool, d: Bool, x: Real): [3]Real =
  let a = [x, 2.0, 3.0] in
  let b = [x, x, x] in
  let y = if c { if d { a } { let e = update b[0] = a[1] in e } } { let r = copy b in r } in
  y
"""
    for c in (True, False):
        agrees(text, (c, True, 1.0), (c, False, 1.0))


def test_a_read_behind_the_last_consumption_of_another():
    text = """
def f(c: Bool, x: Real): Real =
  let a = [x, 2.0] in
  let b = [3.0, x] in
  let y = if c { let d = update a[1] = b[0] in d[1] + b[1] } { a[0] + b[0] } in
  y
"""
    agrees(text, (True, 1.0), (False, 1.0))


@pytest.mark.parametrize("size", [2, 40, 100])
def test_structures_that_sides_make(size):
    text = f"""
def f(c: Bool, x: Real): [2]([{size}]Real|Real), Real =
  let s: ([{size}]Real|Real) = if c {{
    let z: [{size}]Real = zero in let w = update z[1] = x in let u: ([{size}]Real|Real) = inl w in u
  }} {{ let u: ([{size}]Real|Real) = inr x in u }} in
  let y = case s {{ inl v -> v[1] }} {{ inr v -> v * 2.0 }} in
  let t = copy s in
  let r = [s, t] in
  r, y
"""
    agrees(text, (True, 0.5), (False, 0.5))


def test_several_scrutinees_share_a_tag():
    text = """
def f(own s: (Real|[2]Real), t: (Int|Real), i: Int): Real =
  let s2 = copy s in
  case s, s2, t { inl x, y, n -> x + y } { inr a, b, y -> a[i] + b[0] * y }
"""
    agrees(text, ((0, 1.5), (0, 3), 1), ((1, [1.0, 2.0]), (1, 0.5), 1))


def test_payloads_may_be_kept_by_copying():
    text = """
def f(s: ([2]Real|[2]Real)): [2]Real =
  case s { inl a -> let b = copy a in b } { inr a -> let b: [2]Real = zero in b }
"""
    agrees(text, ((0, [1.0, 2.0]),), ((1, [1.0, 2.0]),))


def test_selection():
    agrees(
        "def f(c: Bool, x: Real, i: Int): Real, Int, Bool = select(c, x, 1.0), iselect(c, i, 2), bselect(c, false, c)",
        (True, 3.0, 9),
        (False, 3.0, 9),
    )
