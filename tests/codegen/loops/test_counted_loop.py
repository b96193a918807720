"""Counted loops and `while`: carries, scans, stacks, rows, directions, and what they cost in memory."""

from itertools import pairwise

import pytest

from rosejit.abi import INTERRUPTED
from rosejit.codegen.core.function_facts import LONG
from rosejit.text import parse
from rosejit.wasm.instructions import memory_copy
from tests.codegen.machine import Failed, Machine, agrees

A = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize("n", ["0", "1", "5", "n", "0 - n"])
@pytest.mark.parametrize("down", ["", "down "])
def test_carries_and_the_index(n, down):
    bound, trips = ("", n) if n.isdigit() else (f"let m = {n} in", "m")
    turn = f"loop i < {trips} {down}carry (c: Real = x, k: Int = 1) {{ c * 0.5 + x, k * 2 + i }}"
    text = f"def f(n: Int, x: Real): Real, Int = {bound} {turn}"
    agrees(text, (3, 0.25), (0, 0.25))


@pytest.mark.parametrize("down", ["", "down "])
def test_scans_and_stacks(down):
    text = f"""
def f(x: [4]Real, y: [4]Int, c: [4]Bool, m: [4][2]Real): [4]Real, [4]Bool, [4][2]Real, Real =
  let s, z, d, r = loop i < 4 {down}carry (s: Real = 0.0) scan (a in x, k in y, b in c, row in m) {{
    let t = s + a * row[1] in
    let e = k > i in
    let v = a + s in
    let w = [t, row[0]] in
    t, v, e, w
  }} in
  z, d, r, s
"""
    agrees(text, ([1.0, 2.0, 3.0, 4.0], [0, 5, 1, 9], [True, False, True, True], [[0.5, 1.5]] * 4))


def test_carries_swap_all_at_once():
    agrees(
        "def f(x: Real, y: Real, n: Int): Real, Real = loop i < n carry (a: Real = x, b: Real = y) { b, a }",
        (1.0, 2.0, 3),
    )
    text = """
def f(x: Real, n: Int): [2]Real, [2]Real =
  let a = [x, 1.0] in let b = [2.0, x] in
  loop i < n carry (u: [2]Real = a, v: [2]Real = b) { let w = update u[0] = v[1] in v, w }
"""
    agrees(text, (1.0, 0), (1.0, 3))


def test_stacks_of_unknown_length():
    text = """
def f(n: Int, x: Real): [*]Real, [*]Bool, [*][2]Real, [*]() =
  loop i < n { let r = [x, x * 0.5] in let y = x * 2.0 in let c = i > 1 in y, c, r, () }
"""
    agrees(text, (0, 1.0), (1, 1.0), (5, 1.0), (-3, 1.0))


def test_rows_of_every_kind():
    text = """
def f(n: Int, x: Real): [3](Real|[2]Real), [3][*]Real, [3](Int, [70]Real), [3][2][2]Real =
  loop i < 3 {
    let s: (Real|[2]Real) =
      if i > 1 { let u: (Real|[2]Real) = inl x in u } { let a = [x, x] in let u: (Real|[2]Real) = inr a in u } in
    let r: [*]Real = loop k < i { x } in
    let z: [70]Real = zero in
    let t = (i, z) in
    let m: [2][2]Real = loop p < 2 { let q: [2]Real = loop l < 2 { x * 2.0 } in q } in
    s, r, t, m
  }
"""
    agrees(text, (3, 0.5))


def test_rows_that_were_something_else_before():
    """An array that goes through a carry, a call and an update before it becomes a row."""
    text = """
def twice(own a: [2]Real): [2]Real = let y = a[0] * 2.0 in update a[0] = y
def f(x: Real): [3][2]Real, [3][2]Real =
  let a = [x, 1.0] in
  let b = [x, 1.0] in
  let last, m, o = loop i < 3 carry (c: [2]Real = a) {
    let d = copy c in
    let e = twice(d) in
    let g = update e[1] = x in
    let h = copy b in
    let k = copy g in
    k, g, h
  } in
  m, o
"""
    agrees(text, (0.5,))


def test_rows_taken_out():
    text = """
def f(own m: [3][2]Real, own r: [3][*]Real, own v: [3]Real): Real, [3][2]Real =
  let s, o = loop i < 3 down carry (s: Real = 0.0) scan (a from m, q from r, x from v) {
    let b = update a[0] = x in
    let t = if i > 0 { q[0] + s } { s } in
    t, b
  } in
  s, o
"""
    agrees(text, ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[], [1.5], [2.5, 3.5]], [7.0, 8.0, 9.0]))


def test_rows_only_read_are_freed_with_their_array():
    text = """
def f(n: Int, x: Real): Real =
  let r: [*][*]Real = loop i < n { let m = i + 1 in let q: [*]Real = loop k < m { x } in q } in
  loop i < n carry (s: Real = 0.0) scan (q from r) { s + q[i] }
"""
    agrees(text, (4, 0.5), (0, 0.5))


def test_carries_that_a_body_ignores():
    text = """
def f(x: Real, n: Int): [2]Real =
  let a = [x, x] in
  loop i < n carry (c: [2]Real = a) { let b = [x, 1.0] in b }
"""
    agrees(text, (2.0, 0), (2.0, 3))


def test_results_that_nobody_wants():
    text = """
def f(x: Real, n: Int): Real =
  let a = [x, x] in
  let c, s, z, r = loop i < n carry (c: [2]Real = a, s: Real = x) { let q = [x, s] in let y = s * 0.5 in c, y, x, q } in
  s
"""
    agrees(text, (2.0, 0), (2.0, 3))


def test_nested_loops_with_indices_of_both():
    text = """
def f(m: [2][3]Real): [3][2]Real, Real =
  let t: [3][2]Real = loop j < 3 { let r: [2]Real = loop i < 2 { m[i, j] } in r } in
  let s = loop i < 2 carry (s: Real = 0.0) {
    let u = loop j < 3 down carry (u: Real = s) { u * 0.5 + m[i, j] * t[j, i] } in u
  } in
  t, s
"""
    agrees(text, (A,))


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 100])
def test_while(n):
    text = """
def f(n: Int, x: Real): Int, Int, Real, [*]Real, [*][2]Real, [*](Real|[2]Real) =
  while carry (i: Int = 0, c: Real = x) { i < n } {
    let r = [c, x] in
    let s: (Real|[2]Real) =
      if i > 3 { let u: (Real|[2]Real) = inl c in u } { let a = copy r in let u: (Real|[2]Real) = inr a in u } in
    let k = i + 1 in let d = c * 0.5 in
    k, d, c, r, s
  }
"""
    agrees(text, (n, 1.5))


def test_while_that_only_looks_at_its_array():
    text = """
def f(x: Real): Int =
  let a = [x, x] in
  let k, c, b = while carry (c: Real = x, b: [2]Real = a) { c < b[0] + 3.0 } {
    let d = [x, c] in let e = c + 1.0 in e, d
  } in
  k
"""
    agrees(text, (0.5,))
    text = """
def f(x: Real): Real =
  let a = [x, x] in
  let k, b, c = while carry (b: [2]Real = a, c: Real = x) { c < 9.0 } { let d = c + b[0] in b, d } in
  c
"""
    agrees(text, (0.5,))


def test_loops_of_one_array_stay_in_place():
    text = """
def f(own x: [50]Real, n: Int): [50]Real =
  loop k < n carry (y: [50]Real = x) {
    loop i < 49 carry (z: [50]Real = y) { let j = i + 1 in let v = z[i] * 0.5 + z[j] in update z[j] = v }
  }
"""
    agrees(text, ([1.0] * 50, 3))


@pytest.mark.parametrize(
    "text",
    [
        "def f(n: Int): Int = loop i < n carry (c: Int = 0) { c + i }",
        f"def f(n: Int): Int = loop i < {LONG} carry (c: Int = 0) {{ let a = c + i in let b = a - i in b + n }}",
        "def f(n: Int): Int = let k, i = while carry (i: Int = 0) { i < n } { i + 1 } in i",
        "def f(n: Int): Int = if n > 0 { f(n - 1) } { n }",
    ],
)
def test_what_may_take_long_can_be_interrupted(text):
    machine = Machine(parse(text))
    machine(3)
    machine.interrupt()
    with pytest.raises(Failed) as caught:
        machine(3)
    assert caught.value.number == INTERRUPTED


def test_short_loops_do_not_look():
    machine = Machine(parse("def f(n: Int): Int = loop i < 100 carry (c: Int = 0) { c + i }"))
    machine.interrupt()
    assert machine(3) == (4950,)


FILLED = "let b = to_real(i) * x in let u = update s[i] = b in"


@pytest.mark.parametrize(
    ("turn", "copies"),
    [
        (f"{FILLED} u", 0),
        (f"{FILLED} let c = b > 2.0 in let v = if c {{ update u[0] = b }} {{ u }} in v", 0),
        (f"{FILLED} loop j < i carry (t: [5]Real = u) {{ let b = x + t[j] in update t[j] = b }}", 0),
        (f"{FILLED} let c = b > 2.0 in let v = if c {{ let w: [5]Real = zero in w }} {{ u }} in v", 1),
        ("let w: [5]Real = zero in let b = s[i] in update w[i] = b", 1),
    ],
)
def test_an_array_that_loops_change_is_built_where_the_host_reads_it(turn, copies):
    """Through two loops, of which the second has no iteration at times."""
    text = f"""
def f(x: Real, n: Int): [5]Real =
  let z: [5]Real = zero in
  let a = loop i < 5 carry (s: [5]Real = z) {{ {turn} }} in
  loop k < n carry (r: [5]Real = a) {{ let b = r[k] * 2.0 in update r[k] = b }}
"""
    agrees(text, (1.5, 0), (1.5, 3))
    wasm = Machine(parse(text)).artifact.wasm
    assert wasm.count(memory_copy) == copies


def chain(name: str, start: str, length: int) -> str:
    """So many lets, the last of which binds `name`."""
    names = [start, *[f"{name}{k}" for k in range(length - 1)], name]
    return "\n".join(f"  let {b}: Real = {a} * 1.0625 - {start} in" for a, b in pairwise(names))


@pytest.mark.parametrize(
    "lengths", [(600, 0, 0), (0, 600, 0), (0, 0, 600), (300, 20, 300), (30, 300, 300), (260, 240, 1)]
)
def test_that_array_is_built_there_by_functions_that_are_cut(lengths):
    """Wherever the cuts are: in front of the loops, between or behind them; a loop may lie in a part or between two."""
    one, two, three = [
        chain(name, "x", length) if length else f"  let {name} = x in"
        for name, length in zip("abc", lengths, strict=True)
    ]
    text = f"""
def f(x: Real, n: Int): [5]Real, Real =
  let z: [5]Real = zero in
{one}
  let r: [5]Real = loop i < 5 carry (s: [5]Real = z) {{ let b = to_real(i) * a in update s[i] = b }} in
{two}
  let t: [5]Real = loop k < n carry (s: [5]Real = r) {{ let d = s[k] * b in let u = update s[k] = d in
    loop j < k carry (v: [5]Real = u) {{ let e = v[j] + a in update v[j] = e }} }} in
{three}
  let w: [5]Real = update t[0] = c in
  w, b
"""
    agrees(text, (0.75, 0), (0.75, 4))
    assert Machine(parse(text)).artifact.wasm.count(memory_copy) == 0


def test_arrays_that_loops_swap_go_to_their_places_in_the_end():
    text = """
def f(x: [3]Real, y: [3]Real, n: Int): [3]Real, [3]Real =
  let a = copy x in
  let b = copy y in
  loop i < n carry (p: [3]Real = a, q: [3]Real = b) { let r = update p[0] = 7.5 in q, r }
"""
    agrees(text, *[([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], n) for n in (0, 1, 2, 3)])
