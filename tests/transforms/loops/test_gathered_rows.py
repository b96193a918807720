"""Arrays that are read at indices that lie anywhere, as rows of one array; and those that stay as they are."""

import random

import numpy as np
import pytest

import rosejit as rose
from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import lets
from rosejit.ir.types import Array
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.loops.gathered_rows import gather_rows
from tests.backends import bits
from tests.codegen.machine import agrees

ANYWHERE = "let k = at@[j] in let i = wrap_index(k, 5) in"
SUM = "let t0 = s + a in let t1 = t0 + b in let t2 = t1 * c in let t3 = t2 + d in t3"
COLUMNS = 4


def program(
    index: str = ANYWHERE,
    *,
    made: int = COLUMNS,
    use: str = SUM,
    trips: int = 7,
    behind: str = "",
    other: str = "i",
    direction: str = "",
) -> str:
    """Arrays of five numbers, and a loop that reads some."""
    names = "abcd"[:made]
    values = "".join(f"let v{n} = u * {k + 1}.5 in " for k, n in enumerate(names))
    reads = "".join(f"let {n} = x{n}@[{other if n == 'd' else 'i'}] in " for n in names)
    binders, results = (", ".join(p + n for n in names) for p in "xv")
    return f"""
def f(x: [5]Real, at: [7]Int, y: Real): Real =
  let {binders} = loop i < 5 {direction}scan (u in x) {{ {values}{results} }} in
  let z = loop j < {trips} carry (s: Real = y) {{ {index} let o = 4 - i in {reads}{use} }} in
  {behind}z
"""


ARGS = [[0.5, -1.25, 3.0, 0.0, -0.0], [0, 4, -1, -5, 2, 2, 3], 0.75]


def rows(text: str) -> int:
    """How many columns the arrays of rows have; the same results, on both machines."""
    f = parse(text)
    new = gather_rows(f)
    verify_program(new)
    assert bits(interp.run(new, ARGS)) == bits(interp.run(f, ARGS))
    agrees(new, tuple(ARGS))
    assert new.body is not None
    zeros = [let.binders[0].type for let in lets(new.body) if isinstance(let.expr, ir.Zero)]
    return sum(t.element.length or 0 for t in zeros if isinstance(t, Array) and isinstance(t.element, Array))


def done(text: str) -> list[str]:
    """The operations in the loop that makes the arrays."""
    new = gather_rows(parse(text))
    assert new.body is not None
    maker = next(let.expr for let in new.body.lets if isinstance(let.expr, ir.Loop))
    return [let.expr.op.name for let in maker.body.lets if isinstance(let.expr, ir.Apply)]


@pytest.mark.parametrize("direction", ["", "down "])
@pytest.mark.parametrize("use", [SUM, "let t0 = a + c in let t1 = t0 + d in t1"])
def test_elements_of_several_arrays_at_an_index_from_memory(use: str, direction: str) -> None:
    assert rows(program(use=use, direction=direction)) == COLUMNS


def test_an_index_made_of_one_from_memory() -> None:
    assert rows(program(ANYWHERE.replace("let i =", "let l =") + " let i = 4 - l in")) == COLUMNS


@pytest.mark.parametrize(
    "text",
    [
        program("let i = j % 5 in"),
        program(made=3, use="let t0 = s + a in let t1 = t0 + b in let t2 = t1 * c in t2"),
        program(trips=4),
        program(behind="let w = xd@[0] in let z = z + w in ", use=SUM),
        program(other="o"),
        program().replace("xa@[i]", "xa[i]"),
    ],
    ids=["near", "few arrays", "few reads", "read otherwise", "at another index", "tested"],
)
def test_others_stay(text: str) -> None:
    assert rows(text) == 0


@pytest.mark.parametrize("op", ["sin", "exp", "neg"])
def test_what_is_done_to_each_element_is_done_where_it_is_made(op: str) -> None:
    call = (lambda n: f"-{n}") if op == "neg" else (lambda n: f"{op}({n})")
    use = f"let p = {call('a')} in let q = {call('b')} in let t0 = s + p in let t1 = t0 * q in let t2 = t1 + c in "
    text = program(use=use + "let t3 = t2 * d in t3")
    assert rows(text) == COLUMNS
    assert done(text).count(op) == 2


@pytest.mark.parametrize(
    "use",
    [
        "let p = sin(a) in let q = a + p in let t = q + b in let u = t + c in let w = u + d in w",
        "let p = sin(a) in let q = cos(a) in let m = p + q in let t = m + b in let u = t + c in let w = u + d in w",
    ],
)
def test_what_is_read_otherwise_too_is_done_where_it_is_read(use: str) -> None:
    assert rows(program(use=use)) == COLUMNS
    assert "sin" not in done(program(use=use))


@pytest.mark.parametrize("seed", range(6))
def test_residuals_of_points_that_are_chosen_have_the_bits_of_the_interpreter(seed: int) -> None:
    rng = random.Random(seed)
    n, m, d = rng.randint(4, 9), rng.randint(8, 20), rng.randint(1, 3)

    @rose.jit
    def errors(p: rose.Vec[d], base: rose.Mat[d, n], which: rose.Array[m, int], seen: rose.Mat[d, m]):
        at = np.sin(base * p[:, None]) + base[::-1] * p[0]
        return seen - at[:, which] if seed % 2 else seen * at[:, which] + at[:, which]

    numbers = np.random.default_rng(seed)
    args = numbers.normal(size=d), numbers.normal(size=(d, n)), numbers.integers(-n, n, m), numbers.normal(size=(d, m))
    for derivative in (rose.jacfwd(errors), rose.jacfwd(errors, argnums=(0, 3))):
        lowered = derivative.lower(*args)
        wanted = interp.run(lowered.ir.function, [a.tolist() for a in args])
        found = derivative(*args)
        leaves = found if isinstance(found, tuple) else (found,)
        assert bits([leaf.tolist() for leaf in leaves]) == bits(wanted)
