"""The meaning of every form, on answers from mathematics; what a run costs; what an invalid program does."""

import math
import random
import struct
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosejit import interp
from rosejit.errors import (
    RoseAssertionError,
    RoseIndexError,
    RoseOverflowError,
    RoseRecursionError,
    RoseZeroDivisionError,
    VerifyError,
)
from rosejit.ir.builder import Builder
from rosejit.ir.syntax import Check, Failure, Function, Var, integer, real
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.ir.verify import verify_program
from rosejit.ops import PRIMITIVES
from rosejit.text import parse, parse_program
from tests.generate import random_arguments, random_function

CUMPROD = """
def cumprod(x: [5]Real): [5]Real =
  let y: [5]Real = copy x in
  let r: [5]Real = loop i < 4 carry (c: [5]Real = y) {
    let k: Int = i + 1 in
    let a: Real = c[i] in
    let b: Real = c[k] in
    let p: Real = a * b in
    let u: [5]Real = update c[k] = p in
    u
  } in
  r
"""


def run(text, *args, counters=None, **generics):
    f = parse(text, **generics)
    verify_program(f)
    return interp.run(f, args, counters)


# --- forms


def test_straight_line():
    assert run("def f(x: Real, y: Real): Real, Real = let s = x + y in let d = x - y in s * d, d", 3.0, 2.0) == (
        5.0,
        1.0,
    )


def test_cumulative_product_in_place():
    counters = interp.Counters()
    (y,) = run(CUMPROD, [1.0, 2.0, 3.0, 4.0, 5.0], counters=counters)
    assert y == [math.factorial(n) for n in range(1, 6)]
    assert (counters.copied, counters.allocations, counters.zeroed, counters.stacked) == (5, 1, 0, 0)


def test_arguments_are_not_written():
    x = [1.0, 2.0, 3.0, 4.0, 5.0]
    run(CUMPROD, x)
    a = np.array(x)
    assert run(CUMPROD, a) == run(CUMPROD, x)
    assert a.tolist() == x == [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize(("down", "carried"), [("", 123), ("down", 321)])
def test_loops_go_both_ways_and_stack_by_index(down, carried):
    text = f"""
def f(xs: [3]Real): Real, [3]Int =
  let s: Real, js: [3]Int = loop i < 3 {down} carry (c: Real = 0.0) scan (x in xs) {{
    let t = 10.0 * c in
    t + x, i * 2
  }} in
  s, js
"""
    assert run(text, [1.0, 2.0, 3.0]) == (carried, [0, 2, 4])


def test_loops_of_no_iteration():
    text = """
def f(n: Int, x: Real): Real, [*]Real =
  let y: Real, ys: [*]Real = loop i < n carry (c: Real = x) { c + 1.0, c } in
  y, ys
"""
    assert run(text, 3, 1.0) == (4.0, [1.0, 2.0, 3.0])
    assert run(text, 0, 1.0) == run(text, -5, 1.0) == (1.0, [])


def test_rows_that_a_loop_owns():
    text = """
def f(own a: [2][3]Real): [2][3]Real =
  let b: [2][3]Real = loop i < 2 scan (row: [3]Real from a) {
    let r: [3]Real = update row[i] = 9.0 in
    r
  } in
  b
"""
    counters = interp.Counters()
    assert run(text, [[1, 2, 3], [4, 5, 6]], counters=counters) == ([[9, 2, 3], [4, 9, 6]],)
    assert counters.copied == 0


def test_while_counts_iterations_and_stacks():
    text = """
def collatz(n: Int): Int, Int, [*]Int =
  let k: Int, last: Int, seen: [*]Int = while carry (c: Int = n) { c != 1 } {
    let even = c % 2 == 0 in
    let next: Int = if even { c // 2 } { 3 * c + 1 } in
    next, c
  } in
  k, last, seen
"""
    assert run(text, 6) == (8, 1, [6, 3, 10, 5, 16, 8, 4, 2])
    assert run(text, 1) == (0, 1, [])


def test_only_the_side_taken_runs():
    text = """
def f(x: Real, v: [2]Real): Real =
  let c = x > 0.0 in
  let y: Real = if c { sqrt x } { v[7] } in
  y
"""
    assert run(text, 4.0, [0.0, 0.0]) == (2.0,)
    with pytest.raises(RoseIndexError, match="index 7 is out of range for length 2"):
        run(text, -1.0, [0.0, 0.0])


SUMS = """
def f(c: Bool, x: Real): Real, Real =
  let s: Real|[2]Real, t: (Int|Bool) = if c {
    let a: Real|[2]Real = inl x in
    let b: (Int|Bool) = inl 7 in
    a, b
  } {
    let v: [2]Real = [x, 1.0] in
    let a: Real|[2]Real = inr v in
    let b: (Int|Bool) = inr true in
    a, b
  } in
  let p: &(Real|[2]Real) = accum (copy s) in
  let y: Real = case s, t, p { inl u, k, q ->
    let () = q += u in
    let () = q += 0.5 in
    u * 10.0
  } { inr v, b, q ->
    let () = q += v in
    let at: &Real = &q[1] in
    let () = at += 100.0 in
    v[0] * 100.0
  } in
  let held: Real|[2]Real = resolve p in
  let z: Real = case held { inl u -> u } { inr v -> v[0] + v[1] } in
  y, z
"""


def test_sums_and_places_in_them():
    assert run(SUMS, True, 3.0) == (30.0, 6.5)
    assert run(SUMS, False, 3.0) == (300.0, 108.0)


def test_out_of_a_sum():
    text = """
def f(own s: Real|[2]Real): [2]Real =
  let r: [2]Real = case s { inl u -> [u, u] } { inr v ->
    let w: [2]Real = outr s in
    let u: [2]Real = update w[0] = 5.0 in
    u
  } in
  r
"""
    assert run(text, (0, 3.0)) == ([3.0, 3.0],)
    assert run(text, (1, [1.0, 2.0])) == ([5.0, 2.0],)


def test_tuples():
    text = """
def f(own t: (Real, (Int, [2]Real))): Int, (Real, [2]Real) =
  let n: Int = t[.1, .0] in
  let u = update t[.1, .1, n] = 7.0 in
  let a: Real, p: (Int, [2]Real) = untuple u in
  let k: Int, v: [2]Real = untuple p in
  n, (a, v)
"""
    assert run(text, (1.5, (1, [2.0, 3.0]))) == (1, (1.5, [2.0, 7.0]))


def test_places():
    text = """
def add(p: &[2]Real, x: Real): Real =
  let q: &Real = &p[1] in
  let () = q += x in
  x
def f(v: [2]Real): [2]Real, Real =
  let z: [2]Real = zero in
  let p: &[2]Real = accum z in
  let () = p += v in
  let () = p += v in
  let y: Real = add(p, 10.0) in
  let r: [2]Real = resolve p in
  r, y
"""
    assert run(text, [1.0, 2.0]) == ([2.0, 14.0], 10.0)


def test_what_places_hold_comes_behind_the_results():
    f = parse("def f(p: &Real, q: &[2]Real, x: Real): Real = let () = p += x in let () = &q[0] += x in x * 2.0")
    assert interp.run(f, (1.0, [5.0, 6.0], 3.0)) == (6.0, 4.0, [8.0, 6.0])


def test_adding_leaves_ints_and_bools_alone():
    text = """
def f(a: (Real, Int, [2]Bool), b: (Real, Int, [2]Bool)): (Real, Int, [2]Bool) =
  let p = accum (copy a) in
  let () = p += b in
  resolve p
"""
    assert run(text, (1.0, 3, [True, False]), (0.5, 4, [True, True])) == ((1.5, 3, [True, False]),)


def test_zero_like():
    text = """
def f(n: Int): [*]Real, Int =
  let a: [*](Real, Int) = loop i < n { (1.5, i) } in
  let z: [*](Real, Int) = zero like a in
  let b: [*]Real = loop i < n scan (t in z) { t.0 } in
  let k: Int = loop i < n carry (c: Int = 0) scan (t in z) { c + t.1 } in
  b, k
"""
    counters = interp.Counters()
    assert run(text, 3, counters=counters) == ([0.0, 0.0, 0.0], 0)
    assert counters.zeroed == 6


def test_listing_7_of_the_paper():
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
    assert run(text, [1.0, 2.0, 3.5], n=3) == (6.5,)


# --- calls


def test_borrowed_and_owned_arguments():
    text = """
def set(own a: [2]Real, x: Real): [2]Real = let b = update a[0] = x in b
def first(a: [2]Real): Real = a[0]
def f(own v: [2]Real): Real, [2]Real =
  let x: Real = first(v) in
  let w: [2]Real = set(v, 9.0) in
  x, w
"""
    counters = interp.Counters()
    assert run(text, [1.0, 2.0], counters=counters) == (1.0, [9.0, 2.0])
    assert {f.name: count for f, count in counters.calls.items()} == {"first": 1, "set": 1}
    assert counters.copied == 0


def test_host_functions_see_arrays_of_numpy_in_program_order():
    seen = []

    def tell(x, a):
        seen.append((x, a.tolist(), a.dtype))
        assert not a.flags.writeable
        return a.sum() + x, np.arange(3.0)

    text = """
host def tell(x: Real, a: [2][2]Real): Real, [3]Real
host def silent(n: Int)
def f(a: [2][2]Real): Real, [3]Real =
  let () = silent(7) in
  let r: Real, v: [3]Real = tell(0.5, a) in
  let s: Real, w: [3]Real = tell(r, a) in
  s, w
"""
    f = parse(text, hosts={"tell": tell, "silent": seen.append})
    assert interp.run(f, ([[1, 2], [3, 4]],)) == (20.5, [0.0, 1.0, 2.0])
    assert seen == [7, (0.5, [[1, 2], [3, 4]], np.float64), (10.5, [[1, 2], [3, 4]], np.float64)]


DEPTH = """
def depth(n: Int): Int =
  let more = n > 0 in
  let y: Int = if more { let m = n - 1 in let k: Int = depth(m) in k + 1 } { 0 } in
  y
"""


def test_deep_recursion():
    assert run(DEPTH, 20_000) == (20_000,)


def test_endless_recursion_is_an_error():
    f = parse(DEPTH)
    with pytest.raises(RoseRecursionError):
        interp.run(f, (10**9,), depth_limit=1000)


def test_residuals_are_handed_on_however_deep():
    text = """
type Res = (Real, (Res|()))
def build(n: Int, x: Real): Real, Res =
  let more = n > 0 in
  let y: Real, rec: (Res|()) = if more {
    let a: Real, r: Res = build(n - 1, x) in
    let s: (Res|()) = inl r in
    a * x, s
  } { let s: (Res|()) = inr () in 1.0, s } in
  let r: Res = (y, rec) in
  y, r
def total(r: Res): Real =
  let rest: (Res|()) = r.1 in
  let y: Real = case rest { inl q -> total(q) } { inr u -> 0.0 } in
  y + r.0
"""
    program = parse_program(text)
    verify_program(*program.values())
    y, residual = interp.run(program["build"], (5, 2.0))
    assert y == 32.0
    assert interp.run(program["total"], (residual,)) == (63.0,)
    _, residual = interp.run(program["build"], (10_000, 1.0))
    assert interp.run(program["total"], (residual,)) == interp.run(program["total"], (residual,)) == (10_001.0,)


def test_long_programs():
    b, x = Builder(), Var(REAL, "x")
    y = x
    for _ in range(50_000):
        y = b.apply(PRIMITIVES["add"], y, real(1.0))
    counters = interp.Counters()
    assert interp.run(Function("f", (x,), (REAL,), b.block(y)), (0.0,), counters) == (50_000.0,)
    assert counters.operations == 50_000


# --- failures


def test_indices():
    text = "def f(a: [3]Real, i: Int): Real = a[i]"
    assert run(text, [1.0, 2.0, 3.0], 2) == (3.0,)
    for i, written in ((3, 3), (-1, -4)):  # a negative index comes with the length added
        with pytest.raises(RoseIndexError, match=f"index {written} is out of range for length 3"):
            run(text, [1.0, 2.0, 3.0], i)


def test_a_proven_index_is_held_to_it():
    f = parse("def f(a: [3]Real, i: Int): Real = a@[i]")
    with pytest.raises(VerifyError, match="proven"):
        interp.run(f, ([1.0, 2.0, 3.0], 3))


def test_integer_arithmetic():
    with pytest.raises(RoseOverflowError, match=r"`\*` does not fit 64 bits"):
        run("def f(i: Int): Int = i * i", 2**32)
    with pytest.raises(RoseZeroDivisionError):
        run("def f(i: Int): Int = i // 0", 1)


def test_checks():
    text = 'def f(x: Real): Real = let () = check x < 1.0, "assertion", "{0} is not below {1}", x, 1 in x'
    assert run(text, 0.5) == (0.5,)
    with pytest.raises(RoseAssertionError, match=r"2\.5 is not below 1"):
        run(text, 2.5)


class Mine(Exception):
    pass


@pytest.mark.parametrize("exception", [Mine("7 is bad"), lambda n: Mine(f"{n} is bad")])
def test_exceptions_of_users(exception):
    n, b = Var(INT, "n"), Builder()
    c = b.apply(PRIMITIVES["ilt"], n, integer(5))
    b.do(Check(c, Failure("raise", "", exception=exception), (n,)))
    f = Function("f", (n,), (INT,), b.block(n))
    assert interp.run(f, (3,)) == (3,)
    errors = []
    for _ in range(2):
        with pytest.raises(Mine, match="7 is bad") as caught:
            interp.run(f, (7,))
        errors.append(caught.value)
    assert errors[0] is not errors[1]


# --- programs that do not verify


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(own a: [2]Real): Real = let b = update a[0] = 1.0 in a[0]", "`a` is read after `a` was consumed"),
        ("def f(a: [2]Real): [2]Real = let b = update a[0] = 1.0 in b", "`a` is consumed, but only borrowed"),
        (
            "def f(own a: [2][2]Real): Real = let r = a[0] in let b = update a[0, 0] = 1.0 in r[0]",
            "`r` is read after `a`",
        ),
        ("def f(own a: [2][2]Real): [2]Real = a[0]", "consumed, but only borrowed"),
        ("def f(own a: [2]Real): [2]Real, [2]Real = a, a", "is read after `a` was consumed"),
        ("def f(p: &Real): Real = resolve p", "resolved, but only borrowed"),
        (
            "def f(x: Real): Real = let p = accum x in let y = resolve p in let () = p += x in y",
            "after `p` was resolved",
        ),
        ("def f(own s: (Real|Int)): Int = outr s", "it has side 0"),
        (
            "def f(n: Int, a: [*]Real): Real = loop i < n carry (c: Real = 0.0) scan (x in a) { c + x }",
            "scans an array",
        ),
    ],
)
def test_broken_rules_are_noticed(text, message):
    f = parse(text)
    values = {"a": [[1.0, 2.0], [3.0, 4.0]] if "[2][2]" in text else [1.0, 2.0], "s": (0, 1.0), "n": 3}
    with pytest.raises(VerifyError, match=message):
        interp.run(f, [values.get(p.hint, 1.0) for p in f.params])


def test_a_sum_is_added_to_one_of_the_same_side():
    f = parse(
        "def f(a: (Real|Real), b: (Real|Real)): (Real|Real) = let p = accum (copy a) in let () = p += b in resolve p"
    )
    assert interp.run(f, ((1, 1.0), (1, 2.0))) == ((1, 3.0),)
    with pytest.raises(VerifyError, match="tags differ"):
        interp.run(f, ((1, 1.0), (0, 2.0)))


# --- laws


@given(st.lists(st.floats(-2, 2), min_size=5, max_size=5))
def test_cumulative_products_are_those_of_itertools(x):
    assert run(CUMPROD, x) == (list(accumulate(x, lambda a, b: a * b)),)


@given(st.floats(), st.floats())
def test_reals_keep_every_bit(x, y):
    text = "def f(x: Real, y: Real): Real, [1]Real = let a = [x] in let b = update a[0] = y in x, b"
    first, (second,) = run(text, x, y)
    assert struct.pack("<2d", first, second) == struct.pack("<2d", x, y)


@given(st.integers(0, 10**6))
def test_random_programs_are_finite(seed):
    rng = random.Random(seed)
    f = random_function(rng)
    results = interp.run(f, random_arguments(rng, f))

    def finite(value):
        return all(map(finite, value)) if isinstance(value, list | tuple) else math.isfinite(value)

    assert finite(results)


def test_bools_stay_bools():
    x = Var(REAL, "x")
    b = Builder()
    c = b.apply(PRIMITIVES["lt"], x, real(1.0))
    assert interp.run(Function("f", (x,), (BOOL,), b.block(c)), (0.5,)) == (True,)
