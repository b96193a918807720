"""Two iterations of a loop around loops that are made one: the same bits, and what both read is read once."""

import pytest

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import lets
from rosejit.ir.verify import verify_program
from rosejit.text import parse, show
from rosejit.transforms.loops.unroll_and_jam import unroll_outer
from rosejit.transforms.passes.insert_copies import insert_copies
from rosejit.transforms.pipeline import optimise
from tests.backends import wasm
from tests.transforms.loops.test_unroll_and_jam import values


def nested(text: str, *args: object) -> str:
    """The text afterwards, whose results are the same bits, compiled too; nothing where it stays."""
    f = insert_copies(parse(text))
    new = unroll_outer(f)
    verify_program(new)
    wanted = interp.run(f, list(args))
    assert interp.run(new, list(args)) == wanted
    assert interp.run(optimise(f)[0], list(args)) == wanted
    assert wasm(f)(list(args)) == wanted
    return show(new) if new is not f else ""


def trips(text: str) -> list[int]:
    """The iterations of all loops, outer ones first."""
    f = parse(text)
    assert f.body is not None
    found = [let.expr.trips for let in lets(f.body) if isinstance(let.expr, ir.Loop)]
    return [int(n.value or 0) for n in found if isinstance(n, ir.Lit)]


PRODUCT = """
def f(a: [{n}][9]Real, b: [9][{m}]Real): [{n}][{m}]Real =
  let c0: [{n}][{m}]Real = zero in
  loop i < {n} carry (c: [{n}][{m}]Real = c0) {{
    loop k < 9 carry (c: [{n}][{m}]Real = c) {{
      let u = a@[i, k] in
      loop j < {m} carry (c: [{n}][{m}]Real = c) {{
        let s = c@[i, j] in let v = b@[k, j] in let p = u * v in let t = s + p in update c@[i, j] = t
      }}
    }}
  }}
"""


@pytest.mark.parametrize("n", [8, 9])
@pytest.mark.parametrize("m", [8, 10, 11])
def test_a_product_of_matrices_reads_its_second_one_once_for_two_rows(n: int, m: int) -> None:
    text = nested(PRODUCT.format(n=n, m=m), values(n, 9), values(9, m))
    assert trips(text)[:3] == [n // 2, 9, m]
    assert text.count("b@[") == 1 + n % 2
    assert text.count("update ") == 2 + n % 2


def test_loops_of_a_few_iterations_beside_the_innermost() -> None:
    """What is left over by joined iterations of the loop inside."""
    two = PRODUCT.replace("k < 9", "k < 8").replace(
        "    }}\n  }}\n",
        "    }} in\n    loop k < 1 carry (c: [{n}][{m}]Real = d) {{\n      let u = a@[i, 8] in\n"
        "      loop j < {m} carry (c: [{n}][{m}]Real = c) {{\n"
        "        let s = c@[i, j] in let v = b@[8, j] in let p = u * v in let t = s + p in update c@[i, j] = t\n"
        "      }}\n    }}\n  }}\n",
        1,
    )
    two = two.replace("    loop k < 8", "    let d: [{n}][{m}]Real = loop k < 8")
    text = nested(two.format(n=8, m=8), values(8, 9), values(9, 8))
    assert trips(text) == [4, 8, 8, 1, 8]


BACK = """
def f(a: [9][10]Real, b: [10][{m}]Real, ct: [9][{m}]Real): [9][10]Real, [10][{m}]Real =
  let za: [9][10]Real = zero in
  let zb: [10][{m}]Real = zero in
  let da = accum za in
  let db = accum zb in
  let () = loop i < 9 {{
    let () = loop k < 10 {{
      let u = a@[i, k] in
      let d: Real = loop j < {m} carry (d: Real = 0.0) {{
        let v = b@[k, j] in
        let g = ct@[i, j] in
        let p = u * g in
        let q = v * g in
        let r = {add} in
        let at = &db@[{into}] in
        let () = at += p in
        r
      }} in
      let at = &da@[i, k] in
      let () = at += d in
    }} in
  }} in
  let ra = resolve da in
  let rb = resolve db in
  ra, rb
"""


@pytest.mark.parametrize("m", [8, 17, 18])
@pytest.mark.parametrize("add", ["d + q", "fadd(d, q)"])
def test_the_way_back_of_a_product(m: int, add: str) -> None:
    args = values(9, 10), values(10, m), values(9, m)
    text = nested(BACK.format(m=m, add=add, into="k, j"), *args)
    assert trips(text)[:3] == [4, 10, m]
    assert text[: text.index("resolve")].split("+=")[0].count("= b@[") == 1, "once for both iterations"


def test_numbers_that_an_iteration_adds_to_more_than_once() -> None:
    """Iterations of the outer loop would add to them in another order; those of the inner one have rows of their
    own.
    """
    text = nested(BACK.format(m=12, add="d + q", into="k, 3"), values(9, 10), values(10, 12), values(9, 12))
    assert trips(text) == [9, 5, 12]


def test_two_places_that_may_be_one() -> None:
    given = BACK.format(m=12, add="d + q", into="k, j")
    start, end = given.index("  let za"), given.index("  let () = loop i")
    given = given[:start] + given[end : given.index("  let ra")] + "  ()\n"
    head = "def f(a: [9][10]Real, b: [10][12]Real, ct: [9][12]Real, da: &[9][10]Real, db: &[10][12]Real): () =\n"
    f = parse(head + given[given.index("  let () =") :])
    assert unroll_outer(f) is f


STAYS = {
    "few iterations": PRODUCT.format(n=7, m=8),
    "few iterations inside": PRODUCT.format(n=8, m=7),
    "downwards": PRODUCT.format(n=8, m=8).replace("i < 8", "i < 8 down"),
    "downwards inside": PRODUCT.format(n=8, m=8).replace("j < 8", "j < 8 down"),
    "rows of other iterations are read": PRODUCT.format(n=9, m=9).replace("c@[i, j] in let v", "c@[k, j] in let v"),
    "rows of other iterations are written": PRODUCT.format(n=9, m=9).replace("update c@[i, j]", "update c@[k, j]"),
    "the index is another step": PRODUCT.format(n=9, m=9).replace("c@[i, j] in let v", "c@[j, i] in let v"),
    "a test": PRODUCT.format(n=8, m=8).replace("b@", "b"),
    "kernels": PRODUCT.format(n=8, m=8).replace("let t = s + p", "let x = exp(p) in let t = s + x"),
    "nothing is shared": PRODUCT.format(n=8, m=8).replace("b@[k, j]", "a@[i, 3]"),
    "other lengths": PRODUCT.format(n=8, m=8).replace("j < 8", "j < i"),
}


@pytest.mark.parametrize("name", STAYS)
def test_loops_that_stay(name: str) -> None:
    f = insert_copies(parse(STAYS[name]))
    assert unroll_outer(f) is f
