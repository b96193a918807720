"""Reads, views and writes at paths, and which indices are tested."""

import pytest

from rosejit.text import parse
from tests.codegen.machine import Machine, agrees, fails

A = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_reads():
    agrees("def f(a: [2][3]Real, i: Int, j: Int): Real = a[i, j] + a[1, 0] + a[j, 2]", (A, 1, 0), (A, 0, 1))
    agrees("def f(a: [3]Bool, b: [2]Int, i: Int): Bool, Int = a[i], b[i]", ([True, False, True], [7, -7], 1))


def test_views():
    agrees("def f(a: [2][3]Real, i: Int): Real = let v = a[i] in let w = v in v[0] + v[i] * w[2]", (A, 0), (A, 1))
    agrees(
        "def f(a: [2][3]Real): Real = let b = copy a in let v = b[1] in let c: [3]Real = copy v in c[2] + v[0]", (A,)
    )


def test_paths_through_tuples():
    t = (5, [(0.5, [1.0, 2.0]), (0.25, [3.0, 4.0])])
    text = """
def f(t: (Int, [2](Real, [2]Real)), i: Int): Real =
  let v = t.1 in
  let w = v[i] in
  t[.1, i, .1, 1] + v[i, .0] + w.0 + w[.1, i]
"""
    agrees(text, (t, 0), (t, 1))


def test_updates():
    text = """
def f(a: [2][3]Real, i: Int, x: Real): [2][3]Real =
  let b = copy a in
  let c = update b[i, 2] = x in
  let d = update c[0, i] = a[i, 2] in
  let row: [3]Real = [x, x, x] in
  let e = update d[1] = row in
  e
"""
    agrees(text, (A, 0, 9.0), (A, 1, 9.0))
    agrees("def f(i: Int): [3]Bool = let z: [3]Bool = zero in let y = update z[i] = true in y", (2,))


def test_updates_of_what_owns_memory():
    """The old row is freed, the new one copied."""
    text = """
def rows(n: Int): [*]Real = let r: [*]Real = loop i < n { 1.5 } in r
def f(n: Int): Real =
  let a = rows(n) in let b = rows(2) in
  let t: [2][*]Real = [a, b] in
  let c = rows(3) in
  let u = update t[1] = c in
  let v = update u[0] = c in
  v[0, 2] + v[1, 1] + c[0]
"""
    agrees(text, (4,))
    text = """
def f(x: Real): Real =
  let a: [100]Real = zero in let b: [100]Real = zero in
  let p: (Real, [100]Real) = (x, a) in
  let q: (Real, [100]Real) = (x, b) in
  let z: [2](Real, [100]Real) = [p, q] in
  let c: [100]Real = zero in
  let d = update c[7] = x in
  let y = update z[1, .1] = d in
  let r: (Real, [100]Real) = (x, d) in
  let w = update y[0] = r in
  w[1, .1, 7] + w[0, .1, 7] + r.0
"""
    agrees(text, (2.5,))


@pytest.mark.parametrize("index", [-1, 2, 2**40, -(2**63)])
def test_indices_out_of_range(index):
    assert fails("def f(a: [2]Real, i: Int): Real = a[i]", [1.0, 2.0], index).values == [index, 2]
    assert fails("def f(i: Int): [2]Real = let z: [2]Real = zero in update z[i] = 1.0", index).values == [index, 2]
    text = (
        "def f(i: Int, x: Real): [2]Real = let z: [2]Real = zero in let p = accum z in let () = &p[i] += x in resolve p"
    )
    assert fails(text, index, 1.0).values == [index, 2]
    text = "def f(n: Int, i: Int): Real = let a: [*]Real = loop k < n { 1.0 } in a[i]"
    assert fails(text, 2, index).values == [index, 2]


def test_the_first_of_two_indices_fails_first():
    text = "def f(a: [2][3]Real, i: Int, j: Int): Real = a[i, j]"
    assert fails(text, A, 2, 3).values == [2, 2]
    assert fails(text, A, 1, 3).values == [3, 3]


def test_a_length_inside_a_structure():
    text = """
def f(n: Int, i: Int, j: Int): Real =
  let a: [*][*]Real = loop k < n { let r: [*]Real = loop l < k { 0.5 } in r } in
  a[i, j]
"""
    agrees(text, (4, 3, 2))
    assert fails(text, 4, 3, 3).values == [3, 3]
    assert fails(text, 4, 4, 0).values == [4, 4]


def sites(text):
    """How many indices a program tests."""
    code = Machine(parse(text)).artifact
    return sum(failure.kind == "index" for failure in code.failures)


def test_what_is_proven_is_not_tested():
    assert sites("def f(a: [2]Real): Real = a[1] + a[0]") == 0
    assert sites("def f(a: [9]Real): Real = loop i < 9 carry (s: Real = 0.0) { s + a[i] }") == 0
    assert sites("def f(a: [9]Real): Real = loop i < 10 carry (s: Real = 0.0) { s + a[i] }") == 1
    assert sites("def f(a: [9]Real, i: Int): Real = a@[i]") == 0
    text = "def f(a: [9]Real, i: Int): Real = let x = a[i] in let y = a[i] in x + y"
    again = text.replace("let y = a[i]", "let j = wadd(i, 0) in let y = a[j]")
    assert len(Machine(parse(text)).artifact.wasm) < len(Machine(parse(again)).artifact.wasm) - 8


def test_a_test_in_a_branch_proves_nothing_behind_it():
    text = """
def f(a: [2]Real, c: Bool, i: Int): Real =
  let x = if c { a[i] } { 0.0 } in
  x + a[i]
"""
    agrees(text, ([1.0, 2.0], True, 1), ([1.0, 2.0], False, 1))
    fails(text, [1.0, 2.0], False, 2)
    text = """
def f(a: [2]Real, n: Int, i: Int): Real =
  let s = loop k < n carry (s: Real = 0.0) { s + a[i] } in
  s + a[i]
"""
    fails(text, [1.0, 2.0], 0, 2)


@pytest.mark.parametrize("index", ["-2", "2", "1000000000000", "-9223372036854775808"])
@pytest.mark.parametrize("t", ["[2]Real", "[0]Real", "[2][2]Real", "[0][2]Real", "[*]Real"])
def test_what_is_out_of_range_and_not_tested_in_iterations_that_never_come(index, t):
    """A derivative reads again what its function has tested."""
    row = t.count("[") > 1
    step = f"{index}, 1" if row else index
    text = f"""
def g(a: {t}, n: Int): Real =
  loop i < n carry (s: Real = 1.0) {{ let y = a@[{step}] in s * y }}
def f(n: Int): Real = let a: {t} = zero in g(a, n)
"""
    text = text.replace("let a: [*]Real = zero", "let a: [*]Real = loop i < n { 1.0 }")
    agrees(text, (0,), (-1,))


@pytest.mark.parametrize("k", [2, 1000000000000, 9223372036854775000])
def test_elements_behind_the_own_one_of_iterations_that_never_come(k):
    text = f"""
def f(a: [2]Real, n: Int): Real =
  loop i < n carry (s: Real = 1.0) {{ let j = wadd(i, {k}) in let x = a@[j] in let y = x * x in s * y }}
"""
    agrees(text, ([1.0, 2.0], 0))


def test_a_shorter_array_is_tested_again():
    text = "def f(a: [3]Real, b: [2]Real, i: Int): Real = let x = a[i] in x + b[i]"
    fails(text, [1.0] * 3, [1.0] * 2, 2)
    agrees(text, ([1.0] * 3, [1.0] * 2, 1))


def test_dead_reads_fail_too():
    fails("def f(a: [2]Real, i: Int): Real = let x = a[i] in 1.0", [1.0, 2.0], 5)
