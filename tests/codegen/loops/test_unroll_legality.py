"""Loops of which several iterations are one: the bits of the interpreter, whatever the number of iterations, and only
where iterations do not meet."""

import pytest

from rosejit import interp
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.passes.insert_copies import insert_copies
from rosejit.wasm.opcodes import OP
from rosejit.wasm.wat import wat
from tests.backends import outcome, wasm
from tests.codegen.machine import Machine, agrees, fails
from tests.random_rows import program

LENGTHS = (4, 5, 6, 7, 16, 17, 18, 19)


def values(n, start=0.5):
    return [start + 0.37 * k * (-1) ** k for k in range(n)]


def wide(text):
    """Whether two iterations go side by side."""
    return OP["f64x2.mul"] in Machine(parse(text)).artifact.wasm


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("add", ["fadd(s, p)", "s + p", "let q = p * s in q + x[0]"])
def test_sums_in_lanes_and_in_order(n, add):
    text = f"""
def f(x: [{n}]Real, y: [{n}]Real, s0: Real): Real =
  loop i < {n} carry (s: Real = s0) {{ let a = x[i] in let b = y[i] in let c = a * b in let p = c * b in {add} }}
"""
    agrees(text, (values(n), values(n, -1.0), 0.25))
    assert wide(text)


@pytest.mark.parametrize("n", LENGTHS)
def test_chains_alone_and_what_they_pass_on(n):
    text = f"""
def f(x: [{n}]Real, s0: Real): Real, [{n}]Real, [{n}]Real =
  loop i < {n} carry (s: Real = s0, before: Real = 1.0) {{
    let a = x[i] in
    let t = s * a in
    let u = t + before in
    u, s, s, t
  }}
"""
    text = text.replace("Real, [", "Real, Real, [", 1)
    agrees(text, (values(n), 0.25))


@pytest.mark.parametrize("op", ["fadd(s, q)", "s + q"])
def test_lengths_that_only_the_run_knows(op):
    text = f"""
def f(n: Int, x: [20]Real): Real =
  loop i < n carry (s: Real = 0.5) {{ let r = to_real(i) in let q = r * x[3] in {op} }}
"""
    agrees(text, *[(n, values(20)) for n in (-1, 0, 1, 2, 3, 4, 5, 7, 8, 16, 19)])


@pytest.mark.parametrize("n", LENGTHS)
def test_neighbours_rows_and_columns(n):
    text = f"""
def f(a: [{n + 2}][3]Real, b: [3][{n + 2}]Real, k: Int): [{n}]Real =
  loop i < {n} {{
    let j = wadd(i, 1) in
    let h = wadd(j, 1) in
    let x = a@[h, 1] in
    let y = b@[2, j] in
    let z = b@[1, i] in
    let p = x * y in
    p - z
  }}
"""
    agrees(text, ([[float(i - j) for j in range(3)] for i in range(n + 2)], [values(n + 2)] * 3, 1))
    assert wide(text)


SCATTER = """
def f(x: [{n}]Real, k: Int): [{n}][2]Real =
  let z: [{n}][2]Real = zero in
  let p = accum z in
  let () = loop i < {n} {{
    let () = loop j < i {{
      let v = x@[j] * x@[i] in
      let w = -v in
      let a = &p@[j, 0] in
      let () = a += w in
      let b = &p@[{other}, {column}] in
      let () = b += v in
    }} in
  }} in
  resolve p
"""


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize(("other", "column"), [("i", 0), ("i", 1), ("j", 1), ("k", 0), ("0", 0), ("j", 0)])
def test_places_that_iterations_add_to(n, other, column):
    """`k` and 0 may be what another iteration adds to: then iterations go one after the other."""
    text = SCATTER.format(n=n, other=other, column=column)
    agrees(text, (values(n), 2))


def test_iterations_that_meet_go_one_after_the_other():
    for other, together in (("i", True), ("j", True), ("k", False), ("0", False)):
        assert wide(SCATTER.format(n=8, other=other, column=0)) == together


VIEWS = """
def f(x: [{n}]Real, k: Int): [2][{n}]Real =
  let z: [2][{n}]Real = zero in
  let p = accum z in
  let q = &p[{row}] in
  let o = &q[k] in
  let () = loop i < {n} {{
    let v = x@[i] * 1.5 in
    let a = &p@[1, i] in
    let () = a += v in
    let () = {other} += x@[i] in
  }} in
  resolve p
"""


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("row", ["0", "1", "k"])
@pytest.mark.parametrize("other", ["o", "&q@[0]", "&q@[k]", "&q@[i]"])
def test_parts_of_a_place_are_what_that_place_is(n, row, other):
    text = VIEWS.format(n=n, row=row, other=other)
    agrees(text, (values(n), 1), (values(n), 0))
    assert wide(text) == (row == "0" or other == "&q@[i]")


@pytest.mark.parametrize("n", LENGTHS)
def test_arrays_that_are_changed_in_place(n):
    text = f"""
def f(x: [{n}]Real, y: Real): [{n}]Real =
  let z = copy x in
  loop i < {n} carry (z: [{n}]Real = z) {{ let a = z@[i] in let b = a * y in let c = b + x[i] in update z@[i] = c }}
"""
    agrees(text, (values(n), 0.75))
    assert wide(text)
    chain = text.replace("z@[i] in", "z@[0] in").replace("a * y", "a * y")
    agrees(chain, (values(n), 0.75))
    assert not wide(chain)


def test_what_was_written_in_the_iteration_is_read_in_it():
    text = """
def f(x: [9]Real, y: Real): [9]Real =
  let z = copy x in
  loop i < 9 carry (z: [9]Real = z) {
    let u = update z@[i] = y in
    let a = u@[i] in
    let b = a * x[i] in
    update u@[i] = b
  }
"""
    agrees(text, (values(9), 0.75))


def test_rare_iterations_leave_sums_as_they_are():
    text = """
def f(x: [40]Real): Real =
  loop i < 40 carry (s: Real = 0.5) { let e = exp(x[i]) in let q = e * x[i] in fadd(s, q) }
"""
    rare = values(40)
    rare[5] = -800.0
    rare[6] = 710.0
    rare[38] = float("inf")
    agrees(text, (values(40),), (rare,))


RANGE = """
def f(x: [20]Real, first: Int, end: Int, at: Int): [20]Real, Real =
  let n = wsub(end, first) in
  let z = copy x in
  let z1, s = loop i < n carry (z: [20]Real = z, s: Real = 0.5) {{
    let k = wadd(first, i) in
    let h = wadd(i, at) in
    let g = wadd(h, 1) in
    let a = z[k] in
    let b = x[h] in
    let c = x[g] in
    let d = b * c in
    let e = a + d in
    let z1 = update z[k] = e in
    {add} in
    z1, t
  }} in
  z1, s
"""


@pytest.mark.parametrize("add", ["let t = fadd(s, d)", "let t = s + d", "let q = d * s in let t = q + d"])
def test_rows_that_start_behind_a_variable(add):
    text = RANGE.format(add=add)
    agrees(
        text,
        *[(values(20), start, start + n, at) for n in (0, 1, 3, 4, 7, 8, 10) for start, at in ((0, 5), (9, 0), (3, 9))],
    )
    assert wide(text)


@pytest.mark.parametrize(
    ("start", "end", "at"),
    [
        (0, 21, 0),
        (-1, 5, 3),
        (3, 12, 11),
        (0, 8, -1),
        (0, 8, -(2**63)),
        (-(2**63), 5 - 2**63, 0),
        (0, 2**62, 0),
        (19, 25, 0),
    ],
)
def test_tests_in_front_of_all_iterations_fail_where_one_of_an_iteration_does(start, end, at):
    fails(RANGE.format(add="let t = s + d"), values(20), start, end, at)


def test_rows_of_constant_length_behind_a_variable():
    text = """
def f(x: [20]Real, y: [9]Real, at: Int, k: Int): [9]Real =
  loop i < 9 { let h = wadd(i, at) in let a = x[h] in let b = y[k] in let c = a * b in c + x[k] }
"""
    agrees(text, *[(values(20), values(9), at, k) for at in (0, 4, 11) for k in (0, 8)])
    assert wide(text)
    for at, k in ((-1, 0), (12, 0), (2**62, 0), (0, 9), (0, -1)):
        fails(text, values(20), values(9), at, k)


@pytest.mark.parametrize("st", [-21, -12, -5, -1, 9, 20, 2**63 - 12])
def test_downwards_the_last_iteration_is_the_first_to_fail(st):
    text = """
def f(x: [20]Real, st: Int): [12]Real =
  loop i < 12 down { let j = wadd(i, st) in let a = x[j] in a * 1.5 }
"""
    agrees(text, *[(values(20), at) for at in (0, 3, 8)])
    fails(text, values(20), st)


@pytest.mark.parametrize("other", ["j", "h"])
def test_rows_of_one_array_behind_several_variables_may_meet(other):
    text = f"""
def f(x: [20]Real, at: Int, behind: Int): [20]Real =
  let z = copy x in
  loop i < 8 carry (z: [20]Real = z) {{
    let j = wadd(i, at) in
    let h = wadd(i, behind) in
    let a = z[{other}] in
    let b = a * 1.5 in
    update z[j] = b
  }}
"""
    agrees(text, *[(values(20), at, behind) for at in (0, 1, 9) for behind in (0, 2, 3)])
    assert wide(text) == (other == "j")


def test_the_number_of_an_iteration_behind_a_variable_is_a_value_too():
    text = """
def f(x: [20]Real, at: Int): [9]Real =
  loop i < 9 { let h = wadd(i, at) in let r = to_real(h) in let a = x[h] in a * r }
"""
    agrees(text, *[(values(20), at) for at in (0, 4, 11)])
    assert wide(text)


@pytest.mark.parametrize(("n", "two"), [(8, 2), (9, 2), (10, 3), (11, 3)])
@pytest.mark.parametrize("add", ["s + p", "fadd(s, p)"])
def test_two_iterations_that_are_left_go_side_by_side(n, two, add):
    text = f"""
def f(x: [{n}]Real, s0: Real): Real, [{n}]Real =
  loop i < {n} carry (s: Real = s0) {{ let a = x[i] in let p = a * 3.0 in let t = {add} in t, p }}
"""
    machine = agrees(text, (values(n), 0.25))
    assert wat(machine.artifact.wasm).count("f64x2.mul") == two


def test_rows_that_are_a_constant_apart_have_one_address():
    text = """
def f(x: [10][20]Real): [8][20]Real =
  loop i < 8 {
    let up = wadd(i, 1) in
    let upper = wadd(i, 2) in
    loop j < 20 { let a = x@[i, j] in let b = x@[up, j] in let c = x@[upper, j] in let d = a * b in d + c }
  }
"""
    machine = agrees(text, ([values(20, 0.3 * k) for k in range(10)],))
    code = wat(machine.artifact.wasm)
    assert "v128.load offset=160" in code
    assert "v128.load offset=320" in code


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("turns", ["i < 6", "i < 6 down"])
def test_rows_behind_multiples_of_an_index(n, turns):
    text = f"""
def f(x: [12][{n}]Real): [6][{n}]Real =
  loop {turns} {{
    let k = wmul(i, 2) in
    let up = wadd(k, 1) in
    loop j < {n} {{ let a = x@[k, j] in let b = x@[up, j] in a * b }}
  }}
"""
    agrees(text, ([values(n, 0.3 * k) for k in range(12)],))


def test_rows_behind_negative_numbers_keep_their_addresses():
    """An offset is added to an address without wrapping around."""
    text = """
def f(x: [10][20]Real, k: Int): [20]Real =
  let up = k + 3 in
  loop j < 20 { let a = x[up, j] in a * a }
"""
    agrees(text, *[([values(20, 0.3 * k) for k in range(10)], k) for k in (-3, -2, 0, 6)])


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("one", ["", "-"])
def test_what_is_added_to_one_place_twice_is_written_once(n, one):
    text = f"""
def f(x: [{n}]Real, y: [{n}]Real): [{n}]Real =
  let z = copy y in
  let p = accum z in
  let () = loop i < {n} {{
    let a = x@[i] in
    let b = a * 3.0 in
    let c = {one}a in
    let at = &p@[i] in
    let () = at += b in
    let () = at += c in
  }} in
  resolve p
"""
    machine = agrees(text, (values(n), values(n, -0.1)))
    assert wat(machine.artifact.wasm).count("v128.store") == (3 if n % 4 > 1 else 2)


def test_random_loops_over_parts_of_rows():
    """The bits of the interpreter, or its error."""
    for seed in range(200):
        text, args = program(seed)
        f = insert_copies(parse(text))
        verify_program(f)
        assert outcome(lambda: wasm(f)(args)) == outcome(lambda: interp.run(f, args)), f"seed {seed}"
