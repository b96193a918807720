"""Small arrays become numbers, short loops straight-line code, and every bit stays."""

import random

import pytest

from rosejit import interp
from rosejit.ir.types import has_real
from rosejit.ir.verify import verify_program
from rosejit.text import parse, show
from rosejit.transforms.autodiff.derivative_programs import cotangents, differentiable
from rosejit.transforms.pipeline import optimise, prepared
from rosejit.transforms.scalarize.scalar_replacement import scalarize_arrays
from tests.backends import flat
from tests.generate import random_arguments, random_function
from tests.transforms.programs import PROGRAMS


def agrees(f, args):
    made = scalarize_arrays(f)
    verify_program(made)
    assert repr(interp.run(made, args)) == repr(interp.run(f, args))
    assert [p.type for p in made.params] == [p.type for p in f.params]
    assert made.results == f.results
    return made


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_keep_their_bits(seed):
    rng = random.Random(seed)
    f = random_function(rng, rng.choice((10, 25, 50)))
    agrees(f, random_arguments(rng, f))


@pytest.mark.parametrize(
    "turn",
    [
        "let x = a[1] in let y = x + 0.0 in let u = fsub(y, 0.3) in update a[1] = u",
        "loop j < 3 carry (b: [2]Real = a) { let x = b[0] in let y = fadd(0.7, x) in update b[0] = y }",
        "loop j < 1 carry (b: [2]Real = a) { let x = b[0] in let t = 1.0 / to_real(i) in update b[0] = fadd(x, t) }",
    ],
)
def test_what_becomes_a_running_sum_keeps_its_order(turn):
    f = parse(f"def f(c: [2]Real, n: Int): [2]Real = loop i < n carry (a: [2]Real = copy c) {{ {turn} }}")
    for n in (0, 3, 5, 17, 18):
        agrees(f, [[0.1, 0.2], n])


def test_running_sums_of_unrolled_loops_keep_their_order():
    f = parse("""
def f(x: Real, n: Int): Real =
  loop i < n carry (s: Real = 0.1) { loop j < 3 carry (t: Real = s) { fadd(t, x) } }
""")
    for n in (0, 3, 5, 17, 18):
        agrees(f, [0.7, n])


@pytest.mark.parametrize("seed", [*range(20), 60, 80, 95, 98, 106, 229, 343])
def test_derivatives_of_what_is_prepared(seed):
    rng = random.Random(seed)
    f = random_function(rng, rng.choice((10, 25, 50)))
    args, mask = random_arguments(rng, f), differentiable(f)
    cts = [value for value, t in zip(interp.run(f, args), f.results, strict=True) if has_real(t)]
    plain = list(flat(interp.run(cotangents(f, mask), [*args, *cts])))
    (made,) = optimise(cotangents(prepared(f), mask))
    verify_program(made)
    assert list(flat(interp.run(made, [*args, *cts]))) == pytest.approx(plain, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_keep_their_bits(name):
    text, args = PROGRAMS[name]
    f = parse(text)
    agrees(f, args)
    assert repr(interp.run(prepared(f), args)) == repr(interp.run(f, args))


TURNED = """
def turn(p: [2]Real, c: Real): [2]Real =
  let x: Real = p@[0] in
  let y: Real = p@[1] in
  let z: Real = y * c in
  let q: [2]Real = [z, x] in
  q
def f(p: [2]Real, n: Int): [2]Real =
  let a: [2]Real = copy p in
  let r: [2]Real = loop i < n carry (q: [2]Real = a) {
    let c: Bool = i > 1 in
    let s: [2]Real = if c { let t: [2]Real = turn(q, 2.0) in t } { let u: [2]Real = copy q in u } in
    let v: [2]Real = loop k < 2 down scan (x: Real in s) { let w: Real = x + 1.0 in w } in
    v
  } in
  r
"""


def test_calls_branches_and_loops_hand_on_numbers():
    f = parse(TURNED)
    made = agrees(f, [[0.5, 2.0], 5])
    text = show(made)
    assert "def turn(p: Real, p1: Real, c: Real): Real, Real =" in text
    inside = text.split("def f(")[1].split("\n", 1)[1]
    assert inside.count("]Real") == inside.count("[2]Real = [r, r1]") == 1
    assert inside.count("loop") == 1


DYNAMIC = """
def f(i: Int, x: Real): Real =
  let a: [3]Real = [x, 2.0, 3.0] in
  let b: [3]Real = update a[i] = 7.0 in
  let y: Real = b@[0] in
  let z: Real = b[i] in
  let w: Real = y * z in
  w
"""


def test_an_array_with_an_index_of_the_run_stays_an_array():
    made = agrees(parse(DYNAMIC), [1, 0.5])
    assert "update" in show(made)
    with pytest.raises(IndexError):
        interp.run(made, [3, 0.5])


CONSTANT = """
def f(x: [2][2]Real, y: [2]Real): [2]Real =
  let z: [2]Real = loop i < 2 {
    let s: Real = loop j < 2 carry (t: Real = 0.0) {
      let k: Int = wadd(j, 1) in
      let l: Int = wsub(k, 1) in
      let p: Real = x[i, l] in
      let q: Real = y@[j] in
      let r: Real = p * q in
      let u: Real = t + r in
      u
    } in
    s
  } in
  z
"""


def test_indices_that_unrolling_makes_constant():
    made = agrees(parse(CONSTANT), [[[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0]])
    assert "loop" not in show(made)
    assert "wadd" not in show(made)


LARGE = """
def f(x: [40]Real): Real =
  let y: Real = loop i < 40 carry (s: Real = 0.0) scan (v: Real in x) { let t: Real = s + v in t } in
  y
"""


def test_what_has_no_small_array_stays_itself():
    f = parse(LARGE)
    assert scalarize_arrays(f) is f


def test_made_once():
    f = parse(CONSTANT)
    assert scalarize_arrays(f) is scalarize_arrays(f)
    g = parse(TURNED)
    assert prepared(g) is prepared(g)
