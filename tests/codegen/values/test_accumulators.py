"""Accumulators: in locals, in the frame, in the memory of a value; shared, aliased, seen through views."""

from tests.codegen.machine import agrees


def test_scalars():
    agrees("def f(x: Real): Real = let p = accum x in let () = p += 1.5 in let () = p += x in resolve p", (2.0,))
    agrees("def f(i: Int): Int = let p = accum i in resolve p", (5,))
    agrees("def f(c: Bool): Bool = let p = accum c in resolve p", (True,))
    agrees("def f(x: Real): Real = let p = accum x in let () = p += x in x", (2.0,))


def test_in_loops_and_branches():
    text = """
def f(x: Real, n: Int): Real, Real =
  let p = accum 0.0 in
  let q = accum x in
  let s = loop i < n carry (c: Real = x) {
    let () = p += c in
    let d = if c > 4.0 { let () = q += c in c * 0.5 } { c + 1.0 } in
    d
  } in
  let r = resolve p in
  let u = resolve q in
  r + s, u
"""
    agrees(text, (0.5, 0), (0.5, 7))


def test_a_value_that_adds_to_the_place_it_is_added_to():
    text = """
def bump(x: Real, p: &Real): Real = let () = p += x in x * 2.0
def f(x: Real): Real =
  let p = accum 1.0 in
  let y = bump(x, p) in
  let () = p += y in
  let z = if x > 0.0 { let () = p += 100.0 in 5.0 } { 6.0 } in
  let () = p += z in
  resolve p
"""
    agrees(text, (3.0,), (-3.0,))


def test_parts():
    text = """
def f(x: Real, i: Int): (Real, [3]Real, Int) =
  let a = [x, 0.0, 1.0] in
  let t = (x, a, 7) in
  let p = accum t in
  let q = &p.1 in
  let () = &q[i] += x in
  let () = &p[.1, 2] += 0.5 in
  let () = &p.0 += 1.0 in
  resolve p
"""
    agrees(text, (0.25, 0), (0.25, 2))


def test_whole_structures():
    text = """
def f(x: Real, n: Int): (Real, [5]Real, Int, [2][2]Real), [*]Real =
  let a: [5]Real = [x, x, x, x, x] in
  let m: [2][2]Real = zero in
  let t = (x, a, 7, m) in
  let u = copy t in
  let p = accum t in
  let () = p += u in
  let b = [[x, 1.0], [2.0, x]] in
  let () = &p.3 += b in
  let r: [*]Real = loop i < n { x } in
  let s = copy r in
  let q = accum r in
  let () = q += s in
  let v = resolve p in
  let w = resolve q in
  v, w
"""
    agrees(text, (0.25, 3), (0.25, 0), (-1.0, 4))


def test_sums():
    text = """
def f(c: Bool, x: Real): ((Real, [90]Real)|Real), Real =
  let s: ((Real, [90]Real)|Real) =
    if c { let z: [90]Real = zero in let t = (x, z) in let u: ((Real, [90]Real)|Real) = inl t in u }
    { let u: ((Real, [90]Real)|Real) = inr x in u } in
  let v = copy s in
  let p = accum s in
  let () = p += v in
  let y = case v, p {
    inl a, q -> let () = &q[.1, 3] += a.0 in let () = &q.0 += 1.0 in 1.0
  } { inr b, q -> let () = q += 10.0 in 2.0 } in
  let r = resolve p in
  r, y
"""
    agrees(text, (True, 0.5), (False, 0.5))


def test_aliases():
    """Two parameters may be one place: what is added through one is seen through the other."""
    text = """
def both(x: Real, p: &Real, q: &Real): () = let () = p += x in let () = q += 2.0 * x in ()
def f(x: Real): Real =
  let p = accum 1.0 in
  let u = both(x, p, p) in
  resolve p
"""
    agrees(text, (3.0,))


def test_places_through_calls_and_recursion():
    text = """
def sink(k: Int, x: Real, p: &[3]Real, q: &Real): Int =
  if k > 0 {
    let i = k % 3 in
    let () = &p[i] += x in
    let () = q += 1.0 in
    let y = x * 0.5 in
    sink(k - 1, y, p, q)
  } { k }
def f(k: Int, x: Real): [3]Real, Real =
  let z: [3]Real = zero in
  let p = accum z in
  let q = accum 0.0 in
  let i = sink(k, x, p, q) in
  let a = resolve p in
  let b = resolve q in
  a, b
"""
    agrees(text, (0, 1.0), (7, 1.0))


def test_places_that_nobody_resolves_are_freed():
    agrees("def f(x: Real): Real = let a = [x, x] in let p = accum a in let () = &p[0] += x in x", (1.0,))
    agrees("def f(x: Real, n: Int): Real = let a: [*]Real = loop i < n { x } in let p = accum a in x", (1.0, 4))


def test_units_are_left_alone():
    text = """
def f(x: Real): (Real, ()) =
  let t = (x, ()) in
  let u = copy t in
  let p = accum t in
  let () = p += u in
  resolve p
"""
    agrees(text, (1.0,))
