"""Iterations of a loop that are made one: the same bits, and what several iterations read is read once."""

import math

import pytest

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import lets
from rosejit.ir.verify import verify_program
from rosejit.text import parse, show
from rosejit.transforms.loops.unroll_and_jam import unroll_and_jam
from rosejit.transforms.passes.insert_copies import insert_copies
from tests.backends import wasm


def values(*shape: int, start: float = 0.3):
    """Numbers of which no two are alike, in lists of a shape."""
    if not shape:
        return start
    return [values(*shape[1:], start=math.sin(7.0 * start + k)) for k in range(shape[0])]


def jammed(text: str, *args: object) -> str:
    """The text afterwards, whose results are the same bits, compiled too."""
    f = insert_copies(parse(text))
    new = unroll_and_jam(f)
    verify_program(new)
    wanted = interp.run(f, list(args))
    assert interp.run(new, list(args)) == wanted
    assert wasm(f)(list(args)) == wanted
    return show(new) if new is not f else ""


def steps(text: str) -> int:
    """The iterations of the outermost loop that several have become."""
    f = parse(text)
    assert f.body is not None
    trips = [let.expr.trips for let in lets(f.body) if isinstance(let.expr, ir.Loop)]
    assert isinstance(trips[0], ir.Lit)
    return int(trips[0].value or 0)


ROWS = """
def f(a: [{n}][20]Real, x: [20]Real): [{n}]Real =
  loop i < {n} {{
    let s: Real = loop j < 20 carry (s: Real = 0.5) {{
      let v = a@[i, j] in let w = x@[j] in let p = v * w in {add}
    }} in
    s
  }}
"""


@pytest.mark.parametrize("n", [8, 9, 10, 11, 12])
@pytest.mark.parametrize("add", ["s + p", "fadd(s, p)", "let t = s * w in t + p"])
def test_sums_of_several_rows(n: int, add: str) -> None:
    text = jammed(ROWS.format(n=n, add=add), values(n, 20), values(20))
    assert steps(text) == n // 4
    assert text.count("x@[") == (1 if n % 4 == 0 else 2), "once for all iterations, and once for those that are left"


def test_longer_iterations_go_two_by_two() -> None:
    long = "let a1 = w * 2.0 in let a2 = a1 * v in let a3 = a2 - p in s + a3"
    assert steps(jammed(ROWS.format(n=9, add=long), values(9, 20), values(20))) == 4
    longest = "".join(f"let b{k} = p * {k}.5 in " for k in range(9))
    assert not jammed(ROWS.format(n=9, add=longest + "s + b8"), values(9, 20), values(20))


PRODUCT = """
def f(a: [9][9]Real, b: [9][16]Real): [9][16]Real =
  let c0: [9][16]Real = zero in
  loop i < 9 carry (c: [9][16]Real = c0) {{
    loop k < 9 carry (c: [9][16]Real = c) {{
      let u = a@[i, k] in
      loop j < 16 carry (c: [9][16]Real = c) {{
        let s = c@[{read}] in let v = b@[k, j] in let p = u * v in let t = s + p in update c@[{write}] = t
      }}
    }}
  }}
"""


def test_elements_that_all_iterations_add_to_are_read_and_written_once() -> None:
    text = jammed(PRODUCT.format(read="i, j", write="i, j"), values(9, 9), values(9, 16))
    assert text.count("update ") == 2, "in four iterations, and in the one that is left"


@pytest.mark.parametrize(("read", "write"), [("i, j", "k, j"), ("k, j", "i, j"), ("i, 3", "i, j"), ("i, j", "i, 3")])
def test_not_where_an_iteration_may_read_what_another_one_wrote(read: str, write: str) -> None:
    assert not jammed(PRODUCT.format(read=read, write=write), values(9, 9), values(9, 16))


NEAREST = """
def f(a: [{n}][12]Real, x: [12]Real): Real, Int, [{n}]Real =
  let z: [{n}]Real = zero in
  loop i < {n} carry (m: Real = inf, at: Int = -1, y: [{n}]Real = z) scan (row: [12]Real in a) {{
    let first = row@[0] in
    let s: Real = loop j < 12 carry (s: Real = first) scan (v: Real in row, w: Real in x) {{
      let d = v - w in let q = d * d in s + q
    }} in
    let c = s < m in
    let n, k = if c {{ let r = s * 1.0 in r, i }} {{ m, at }} in
    let old = y@[0] in
    let new = old + s in
    let y1 = update y@[i] = new in
    n, k, y1
  }}
"""


@pytest.mark.parametrize("n", [8, 11])
def test_what_is_done_behind_the_inner_loop_is_done_in_order(n: int) -> None:
    text = jammed(NEAREST.format(n=n), values(n, 12), values(12))
    assert steps(text) == n // 4


REFUSED = {
    "few iterations": ROWS.format(n=7, add="s + p"),
    "few iterations inside": ROWS.format(n=12, add="s + p").replace("20", "7"),
    "downwards": ROWS.format(n=12, add="s + p").replace("i < 12", "i < 12 down"),
    "downwards inside": ROWS.format(n=12, add="s + p").replace("j < 20", "j < 20 down"),
    "a test": ROWS.format(n=12, add="s + p").replace("a@", "a"),
    "other lengths": ROWS.format(n=12, add="s + p").replace("j < 20", "j < i"),
    "kernels": ROWS.format(n=12, add="let e = exp(p) in s + e"),
    "nothing to wait for": ROWS.format(n=12, add="s"),
    "a sum in lanes": """
def f(a: [20][20]Real, x: [20]Real): Real =
  loop i < 20 carry (t: Real = 0.0) {
    let s: Real = loop j < 20 carry (s: Real = 0.5) { let v = a@[i, j] in let w = x@[j] in let p = v * w in s + p } in
    fadd(t, s)
  }
""",
    "a start from the iteration before": """
def f(a: [20][20]Real, x: [20]Real): Real =
  loop i < 20 carry (t: Real = 0.0) {
    loop j < 20 carry (s: Real = t) { let v = a@[i, j] in let w = x@[j] in let p = v * w in s + p }
  }
""",
    "what the iteration before wrote": """
def f(a: [20][20]Real, x: [20]Real): [20]Real =
  let z = copy x in
  loop i < 20 carry (y: [20]Real = z) {
    let s: Real = loop j < 20 carry (s: Real = 0.5) { let v = a@[i, j] in let w = y@[j] in let p = v * w in s + p } in
    update y@[i] = s
  }
""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_loops_that_stay(name: str) -> None:
    f = insert_copies(parse(REFUSED[name]))
    assert unroll_and_jam(f) is f
