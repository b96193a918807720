"""Arrays that straight-line code touches at constants become variables: every bit stays, nothing else changes."""

import math
import random

import numpy as np
import pytest

import rosejit as rose
from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.scalarize.known_elements import with_known_elements
from rosejit.transforms.scalarize.scalar_replacement import scalarize_arrays


def is_taken_apart(text, args):
    """Whether no array is made or changed any more; the results are those of before, to the bit."""
    f = parse(text)
    made = scalarize_arrays(f)
    verify_program(made)
    assert repr(interp.run(made, args)) == repr(interp.run(f, args))
    return not any(isinstance(let.expr, ir.Update | ir.Zero | ir.Copy) for let in forms(made.body))


def touched(n, base="a0"):
    """Updates and reads of an array of `n` numbers at each place, from `a0` to `a{n}`."""
    return "".join(
        f"let x{k} = a{k}[{(k * 3) % n}] + x in let a{k + 1} = update a{k}[{k}] = x{k} in " for k in range(n)
    )


@pytest.mark.parametrize(
    ("origin", "end"),
    [
        ("zero", "a12[7]"),
        ("zero", "loop i < 12 carry (s: Real = 0.0) { let e = a12[i] in s + e }"),
        ("copy c", "a12[3]"),
        ("[x, 1.0, 2.0, x, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, x, 11.0]", "a12[0]"),
    ],
)
def test_arrays_of_every_origin_are_numbers(origin, end):
    text = f"def f(x: Real, c: [12]Real): Real = let a0: [12]Real = {origin} in {touched(12)} {end}"
    assert is_taken_apart(text, [0.7, [0.1 * k for k in range(12)]])


def test_what_is_read_whole_too_often_or_at_an_index_that_only_the_run_knows_stays():
    loops = "".join(f"let s{k} = loop i < 12 carry (s: Real = x) {{ let e = a12[i] in s + e }} in " for k in range(4))
    text = f"def f(x: Real): Real = let a0: [12]Real = zero in {touched(12)} {loops} s0 + s3"
    assert not is_taken_apart(text, [0.7])
    text = "def f(x: Real, n: Int): Real = let a: [12]Real = zero in let b = update a[n] = x in b[3]"
    assert not is_taken_apart(text, [0.7, 3])


def test_an_old_version_is_still_what_it_was():
    text = f"""
def f(x: Real): Real =
  let a0: [12]Real = zero in {touched(12)}
  let b = copy a12 in
  let c = update b[3] = 5.0 in
  let p = a12[3] in
  let q = c[3] in
  p * 100.0 + q
"""
    assert is_taken_apart(text, [0.7])


def test_a_program_without_such_arrays_is_the_same_object():
    f = parse("def f(x: Real, c: [12]Real): Real = let y = c[3] in x * y")
    assert with_known_elements(f) is f


# --- as people write them


def table(n):
    def f(x):
        R = np.zeros((n + 1, n + 1))
        for i in range(1, n + 1):
            for j in range(1, n + 1):
                R[i, j] = (x * i - j) ** 2 + min(R[i - 1, j], R[i, j - 1])
        return R[n, n]

    return f


def rows(x):
    R = np.full((6, 5), 0.5)
    for i in range(1, 6):
        row = R[i - 1].copy()
        for j in range(1, 5):
            row[j] = row[j - 1] * x + math.sin(j * x)
        R[i] = row
        R[i, 0] = row[4]
    return R[5, 4] + R[3, 0]


def shared(x):
    R = np.zeros((4, 4))
    first = R[0]
    for i in range(4):
        first[i] = x * i
        R[i, 3] += first[i] + R[0, i]
    return R[0, 1] + R[2, 3] * R[3, 3]


def whole(x):
    y = np.zeros(20)
    for i in range(1, 20):
        y[i] = math.sin(y[i - 1] + x)
    return y


def branched(x):
    y = np.zeros(20)
    for i in range(1, 20):
        y[i] = y[i - 1] * 0.9 + x
        if y[i] > 2.0:
            y[i] = 0.5 * x
    return y[19] + y[7]


@pytest.mark.parametrize("f", [table(6), rows, shared, whole, branched], ids=lambda f: f.__name__)
def test_the_bits_are_those_of_cpython(f):
    for x in (0.0, 0.3, 0.7, 1.9):
        assert np.array_equal(rose.jit(f)(x), f(x))


@pytest.mark.parametrize("seed", range(30))
def test_random_updates_keep_their_bits(seed):
    rng = random.Random(seed)
    shape = rng.choice([(11,), (4, 5), (3, 2, 4)])
    size = math.prod(shape)
    moves = [(rng.choice("wwwrcs"), rng.randrange(size), rng.randrange(size)) for _ in range(3 * size)]

    def f(x, given):
        a = [np.zeros(shape), given.copy(), np.full(shape, 0.25)]
        s = x
        for k, (move, i, j) in enumerate(moves):
            one, other = a[k % 3], a[(k + i) % 3]
            at, there = np.unravel_index(i, shape), np.unravel_index(j, shape)
            at, there = tuple(map(int, at)), tuple(map(int, there))
            if move == "w":
                one[at] = one[at] * 0.5 + other[there] + s
            elif move == "r":
                s = s * 0.7 + one[there]
            elif move == "s":
                one[at[0]] = other[there[0]]
            else:
                a[k % 3] = other.copy()
        return s + a[0][at] * a[1][there], a[2]

    given = np.arange(float(size)).reshape(shape) / size
    number, array = f(0.3, given)
    found = rose.jit(cache=False)(f)(0.3, given)
    assert found[0] == number
    assert np.array_equal(found[1], array)
