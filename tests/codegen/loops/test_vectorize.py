"""Loops that do two iterations at a time: the same bits, for even and odd lengths, and only where iterations do not
touch.
"""

import math

import pytest

from rosejit.codegen.core.split_long import CHUNK, LONGEST
from rosejit.codegen.loops import unroll_legality
from rosejit.text import parse
from rosejit.wasm.opcodes import OP
from rosejit.wasm.wat import wat
from tests.codegen.machine import Machine, agrees

LENGTHS = (4, 5, 8, 9, 31)


def values(n, start=0.5):
    return [start + 0.37 * k * (-1) ** k for k in range(n)]


def paired(f):
    """Whether a program uses vectors."""
    return OP["f64x2.mul"] in Machine(parse(f) if isinstance(f, str) else f).artifact.wasm


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("down", ["", "down "])
def test_maps(n, down):
    text = f"""
def f(x: [{n}]Real, y: [{n}]Real, c: Real): [{n}]Real, [{n}]Real =
  loop i < {n} {down}scan (a in x) {{
    let b = y[i] in
    let d = a * b - c in
    let e = sqrt(abs(d)) + maximum(a, -b) / 3.0 in
    d, e
  }}
"""
    agrees(text, (values(n), values(n, -1.0), 0.25))
    assert paired(text)


@pytest.mark.parametrize("down", ["", "down "])
def test_lengths_that_only_the_run_knows(down):
    text = f"""
def f(n: Int, c: Real): [*]Real =
  let r: [*]Real = loop i < n {{ to_real(i) }} in
  loop i < n {down}scan (a in r) {{ a * c + a }}
"""
    agrees(text, *[(n, 1.5) for n in (-2, 0, 1, 2, 3, 4, 5, 10, 11)])
    assert paired(text)


@pytest.mark.parametrize("n", LENGTHS)
def test_places(n):
    """One of them twice, through two parameters."""
    text = f"""
def add(x: [{n}]Real, p: &[{n}]Real, q: &[{n}]Real, c: Real): () =
  let k = loop i < {n} down carry (k: Real = c) scan (a in x) {{
    let at = &p[i] in
    let () = at += a * k in
    let also = &q[i] in
    let () = also += k in
    k
  }} in
  ()
def f(x: [{n}]Real, c: Real): [{n}]Real, [{n}]Real =
  let z = copy x in
  let w: [{n}]Real = zero in
  let p = accum z in
  let q = accum w in
  let u = add(x, p, q, c) in
  let v = add(x, p, p, c) in
  let a = resolve p in
  let b = resolve q in
  a, b
"""
    agrees(text, (values(n), 0.75))
    assert paired(text)


@pytest.mark.parametrize(
    "body",
    [
        "carry (c: Real = 0.0) { c * x[i] + x[i] }",  # nothing but a chain
        "{ let k = 7 - i in x[k] * 2.0 }",
        "{ let y = if x[i] > 0.0 { x[i] * 1.0 } { 2.0 } in y }",
        "{ gamma(x[i]) * 2.0 }",  # it has loops
    ],
)
def test_what_stays_one_at_a_time(body):
    t = "Real" if "carry" in body else "[8]Real"
    text = f"def f(x: [8]Real): {t} = loop i < 8 {body}"
    agrees(text, (values(8),))
    assert not paired(text)


@pytest.mark.parametrize("c", ["-0.0", "0.0"])
def test_constants_keep_their_sign(c):
    text = f"def f(x: [8]Real): [8]Real = loop i < 8 {{ x[i] * {c} }}"
    agrees(text, (values(8),))
    assert paired(text)


def test_short_loops_stay_as_they_are():
    assert not paired(f"def f(x: [3]Real): [3]Real = loop i < {unroll_legality.FEWEST - 1} {{ x[i] * 2.0 }}")


def test_every_operation_has_its_twin():
    for name in ("add", "sub", "mul", "div", "neg", "abs", "sqrt", "floor", "ceil", "trunc", "nearest", "min", "max"):
        assert f"f64x2.{name}" in OP


RARE = (800.0, -800.0, math.inf, -math.inf, math.nan, -745.0, 709.5)


@pytest.mark.parametrize("n", [32, 33])
@pytest.mark.parametrize("places", [(), (0,), (1,), (31,), (6, 7), (6, 9), (7, 8), range(32), range(0, 32, 2)])
def test_iterations_in_which_something_rare_happens_are_done_alone_and_once(n, places):
    text = f"""
def add(x: [{n}]Real, p: &[{n}]Real): [{n}]Real =
  let r: [{n}]Real = loop i < {n} scan (a in x) {{
    let at = &p[i] in
    let () = at += a * 0.5 in
    let e = exp(a) in
    let () = at += e in
    let l = log1p(a) in
    e * to_real(i) + l
  }} in
  r
def f(x: [{n}]Real, y: [{n}]Real): [{n}]Real, [{n}]Real =
  let z = copy y in
  let p = accum z in
  let r = add(x, p) in
  let s = resolve p in
  r, s
"""
    x = [0.25 + 0.1 * k for k in range(n)]
    for k in places:
        x[k] = RARE[k % len(RARE)]
    agrees(text, (x, values(n)))
    assert paired(text)


def test_lengths_that_only_the_run_knows_with_rare_iterations():
    text = """
def f(n: Int, c: Real): [*]Real =
  let r: [*]Real = loop i < n { to_real(i) } in
  loop i < n scan (a in r) { exp(a * c) + a }
"""
    agrees(text, *[(n, c) for n in (-1, 0, 1, 2, 3, 10, 11) for c in (1.5, 300.0, 1e300)])
    assert paired(text)


@pytest.mark.parametrize("n", [4, 5, 9])
@pytest.mark.parametrize("width", [2, 3, 5])
@pytest.mark.parametrize("order", [1, -1])
def test_numbers_that_lie_side_by_side_in_rows(n, width, order):
    """Read, and added to, in any order; one of them twice."""
    columns = range(width)[::order]
    reads = " ".join(f"let x{k} = x[i, {k}] in let y{k} = x{k} * c in" for k in columns)
    adds = " ".join(f"let at{k} = &p[i, {k}] in let () = at{k} += y{k} in" for k in columns)
    mixed = "let again = &p[i, 1] in let m = -y0 in let () = again += m in let () = at1 += y1 in"
    text = f"""
def f(x: [{n}][{width}]Real, c: Real): [{n}][{width}]Real =
  let z = copy x in
  let p = accum z in
  let () = loop i < {n} {{ {reads} {adds} {mixed} }} in
  resolve p
"""
    agrees(text, ([values(width, 0.3 * k) for k in range(n)], 1.75))
    assert paired(text)
    assert OP["i8x16.shuffle"] in Machine(parse(text)).artifact.wasm


@pytest.mark.parametrize("op", ["exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tanh", "sigmoid"])
def test_a_kernel_with_tables_twice_in_an_iteration(op):
    """Each time the rows of its table are those of its own argument."""
    text = f"""
def f(x: [33]Real, c: Real): [33]Real, [33]Real, [33]Real =
  loop i < 33 scan (a in x) {{
    let b = a * c in
    let p = {op}(a) in
    let q = {op}(b) in
    let r = {op}(p + q + 1.0) in
    p, q, r
  }}
"""
    agrees(text, ([0.02 + 0.27 * k for k in range(33)], 1.37))
    assert paired(text)


@pytest.mark.parametrize("n", [4, 5, 6, 7, 40, 41])
def test_rows_of_bools(n):
    """Of what the iterations do one after the other, of what two of them do side by side, and constant ones."""
    steps = " ".join([f"let c{k + 1} = c{k} * 0.5 + a in" for k in range(16)])
    for body, value in (("", "c0"), (steps, "c16")):
        text = f"""
def f(x: [{n}]Real, b: Bool): Real, [{n}]Bool, [{n}]Bool, [{n}]Bool, [{n}]Bool, [{n}]Real =
  let m: Real, bs: [{n}]Bool, cs: [{n}]Bool, ds: [{n}]Bool, es: [{n}]Bool, y: [{n}]Real =
    loop i < {n} carry (top: Real = 0.0, seen: Bool = false) scan (a in x) {{
      let c0 = a * a in
      {body}
      let large = {value} > top in
      let new = large or not seen in
      let next = select(new, {value}, top) in
      let low = a < 0.25 in
      next, true, new, low, true, b, {value}
    }} in
  m, bs, cs, ds, es, y
""".replace("let m: Real, bs", "let m: Real, s: Bool, bs")
        machine = agrees(text, ([0.3 * (k * 7 % 5) - 0.6 for k in range(n)], True), ([math.nan] * n, False))
        assert OP["f64x2.mul"] in machine.artifact.wasm


@pytest.mark.parametrize("n", [4, 5, 7, 40])
def test_rows_of_bools_of_iterations_that_all_wait(n):
    text = f"""
def f(x: [{n}]Real): Real, [{n}]Bool, [{n}]Bool =
  loop i < {n} carry (top: Real = 0.0) scan (a in x) {{
    let large = a > top in
    let next = select(large, a, top) in
    next, large, true
  }}
"""
    machine = agrees(text, ([0.3 * (k * 7 % 5) - 0.6 for k in range(n)],))
    assert OP["v128.load"] not in machine.artifact.wasm


@pytest.mark.parametrize("n", [4, 5, 9])
@pytest.mark.parametrize("order", ["012", "210", "120", "102", "0122"])
def test_rows_of_three_are_read_and_added_to_whole(n, order):
    """A row that is read across its end, too; what is added to twice is added in order."""
    adds = " ".join([f"let at{m} = &p[i, {k}] in let () = at{m} += y{k} in" for m, k in enumerate(order)])
    text = f"""
def f(x: [{n + 1}][3]Real, z: [{n}][3]Real): [{n}][3]Real, [{n}]Real =
  let w = copy z in
  let p = accum w in
  let r: [{n}]Real = loop i < {n} {{
    let j = wadd(i, 1) in
    let x1 = x[i, 1] in let x2 = x[i, 2] in let x3 = x@[j, 0] in let x0 = x[i, 0] in
    let y0 = x0 * x1 in let y1 = x1 * x2 in let y2 = x2 * x3 in
    {adds}
    let r0 = y0 + y1 in
    r0
  }} in
  let s = resolve p in
  s, r
"""
    x = [[0.3 * (3 * k + c) * (-1) ** k for c in range(3)] for k in range(n + 1)]
    agrees(text, (x, x[:n]))
    assert paired(text)


@pytest.mark.parametrize("n", LENGTHS)
def test_numbers_of_the_frame_are_doubled_in_front_of_the_loop(n):
    count, long = 40, LONGEST + CHUNK
    chain = "".join(f"let c{k + 1} = sin(c{k}) in\n" for k in range(long))
    numbers = [f"c{k * (long // count)}" for k in range(count)]
    sums = "".join(f"let s{k + 1} = s{k} * a + {c} in\n" for k, c in enumerate(numbers))
    text = f"""
def f(x: [{n}]Real, c0: Real): [{n}]Real, Real =
  {chain}let ys = loop i < {n} scan (a in x) {{
    let s0 = a + 1.0 in
    {sums}s{count}
  }} in
  ys, c{long}
"""
    machine = agrees(text, (values(n), 0.25), (values(n, -1.0), 0.5))
    *_, body = wat(machine.artifact.wasm).split("loop\n")
    assert "f64x2.mul" in body
    assert "f64x2.splat" not in body.split("br_if")[0]
