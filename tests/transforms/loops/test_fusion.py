"""Loops that are joined and loops that must not be, by their text; the same bits either way."""

import pytest

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import lets
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.autodiff.derivative_programs import gradient
from rosejit.transforms.loops.fusion import fuse_loops
from rosejit.transforms.passes.insert_copies import insert_copies
from rosejit.transforms.pipeline import optimise
from tests.backends import bits, wasm
from tests.random_array_programs import program

HEAD = "def f(x: [3]Real, y: Real): Real =\n"
MAP = "let a: [3]Real = loop i < 3 { let v: Real = x@[i] in let w: Real = v * y in w } in\n"
SUM = "let s: Real = loop j < 3 carry (t: Real = 0.0) scan (u: Real in a) { let n: Real = t + u in n } in\n"


def loops(f: ir.Function) -> int:
    """How many loops there are."""
    assert f.body is not None
    return sum(isinstance(let.expr, ir.Loop) for let in lets(f.body))


def check(text: str, wanted: int) -> None:
    """The number of loops afterwards; the same result."""
    f = parse(HEAD + text)
    new = fuse_loops(f)
    verify_program(new)
    assert loops(new) == wanted
    args: list[object] = [[1.5, -2.25, 0.3], 0.7]
    assert interp.run(new, args) == interp.run(f, args)


def test_a_map_and_its_sum() -> None:
    check(MAP + SUM + "s", 1)


READ = "let s: Real = loop j < 3 carry (t: Real = 0.0) { let u: Real = a@[j] in let n: Real = t + u in n } in\n"


def test_what_is_read_at_the_index_is_walked_too() -> None:
    check(MAP + READ + "s", 1)
    check(
        MAP
        + READ.replace("let n:", "let v: Real = a@[j] in let m: Real = u * v in let n:").replace("t + u", "t + m")
        + "s",
        1,
    )
    check(MAP + READ.replace("let n:", "let z: Real = a@[0] in let n:").replace("t + u", "t + z") + "s", 2)


GRID = """
def f(x: [3][4]Real): [5][6]Real =
  let a: [3][4]Real = loop i < 3 { loop j < 4 { let v = x@[i, j] in v * v } } in
  let z: [5][6]Real = zero in
  loop i < 3 carry (y: [5][6]Real = z) {
    let k = wadd(i, 1) in
    loop j < 4 carry (y: [5][6]Real = y) { let v = a@[i, j] in let l = wadd(j, 2) in update y@[k, l] = v }
  }
"""


def test_rows_of_rows_that_are_read_at_both_indices() -> None:
    f = parse(GRID)
    new = fuse_loops(fuse_loops(f))
    verify_program(new)
    assert loops(new) == 2
    x: list[object] = [[[0.5 * i - j for j in range(4)] for i in range(3)]]
    assert interp.run(new, x) == interp.run(f, x)


WRITTEN = (
    "let z: [3]Real = zero in let y: [3]Real, a: [3]Real = loop i < 3 carry (y: [3]Real = z)"
    " { let v: Real = x@[i] in let y1: [3]Real = update y@[i] = v in y1, v } in\n"
)


def test_a_loop_that_walks_what_the_first_one_has_written_waits() -> None:
    both = SUM.replace("in a)", "in a, w: Real in y)").replace("t + u", "t + w")
    check(WRITTEN + both + "s", 2)
    check(WRITTEN + READ.replace("let n:", "let w: Real = y@[j] in let n:").replace("t + u", "t + w") + "s", 2)


def test_what_lies_between_goes_before_or_behind() -> None:
    check(MAP + "let z: Real = y * y in\n" + SUM.replace("= 0.0", "= z") + "s", 1)
    check(MAP + "let z: Real = y * y in\n" + SUM + "let r: Real = s * z in r", 1)


def far_apart(numbers: int, pairs: int) -> str:
    """Pairs of loops with so many numbers between them."""
    between = "".join(f"let b{k + 1}: Real = b{k} * y in\n" for k in range(numbers))
    maps = "".join(MAP.replace("let a:", f"let a{k}:") for k in range(pairs))
    sums = "".join(SUM.replace("in a)", f"in a{k})").replace("let s:", f"let s{k}:") for k in range(pairs))
    total = "".join(f"let r{k + 1}: Real = r{k} + s{k} in\n" for k in range(pairs))
    return f"{maps}let b0: Real = y * y in\n{between}{sums}let r0: Real = b{numbers} * 1.0 in\n{total}r{pairs}"


@pytest.mark.parametrize(("numbers", "pairs", "wanted"), [(100, 1, 1), (300, 1, 1), (200, 40, 40), (600, 40, 63)])
def test_most_loops_that_are_far_apart_stay(numbers: int, pairs: int, wanted: int) -> None:
    check(far_apart(numbers, pairs), wanted)


def test_numbers_that_are_read_elsewhere_stay_outputs() -> None:
    check(MAP + SUM + "let b: Real = a[1] in let r: Real = s * b in r", 1)
    check(MAP + "let b: Real = a[1] in\n" + SUM + "let r: Real = s + b in r", 1)


def test_a_map_turns_as_its_reader_does() -> None:
    check(MAP + SUM.replace("j < 3", "j < 3 down") + "s", 1)


SHARED = """let o: [2]Real = zero in
let acc: &[2]Real = accum o in
let a: [3]Real = loop i < 3 { let v: Real = x@[i] in let at: &Real = &acc@[0] in let () = at += v in v } in
"""
ROWS = SHARED.replace("[2]Real", "[3]Real").replace("@[0]", "@[i]")
SHIFTED = ROWS.replace("in v }", "in let next: &Real = &acc@[1] in let () = next += v in v }")


@pytest.mark.parametrize(("adds", "wanted"), [(SHARED, 2), (SHIFTED, 2), (ROWS, 1)])
def test_a_loop_that_adds_to_one_place_is_not_turned_round(adds: str, wanted: int) -> None:
    """The order of sums is seen in their last bits."""
    length = "2" if adds is SHARED else "3"
    end = f"let e: [{length}]Real = resolve acc in let b: Real = e[0] in let r: Real = s + b in r"
    check(adds + SUM.replace("j < 3", "j < 3 down") + end, wanted)
    check(adds + SUM + end, 1)


CARRIED = (
    "let c: Real, a: [3]Real = loop i < 3 carry (p: Real = y)"
    " { let v: Real = x[i] in let q: Real = p * v in q, q } in\n"
)


def test_carries_go_side_by_side() -> None:
    check(CARRIED + SUM + "let r: Real = s + c in r", 1)


@pytest.mark.parametrize(
    "text",
    [
        CARRIED + SUM.replace("j < 3", "j < 3 down") + "s",  # iterations of both in opposite order
        MAP.replace("@", "") + SUM.replace("j < 3", "j < 3 down") + "s",  # another iteration would fail first
        CARRIED + SUM.replace("= 0.0", "= c") + "s",  # begins with what the first ends with
        CARRIED + SUM.replace("t + u", "t * c") + "s",  # reads it in each iteration
        MAP.replace("3", "2").replace("[3]", "[2]")
        + "let s: Real = loop j < 3 carry (t: Real = 0.0) { let u: Real = a[0] in let n: Real = t + u in n } in s",
    ],
)
def test_loops_that_stay_apart(text: str) -> None:
    check(text, 2)


def test_a_check_between_is_not_passed() -> None:
    check(
        MAP.replace("@", "")
        + "let k: Int = 2 * 3 in let z: Real = to_real(k) in\n"
        + SUM.replace("= 0.0", "= z")
        + "s",
        2,
    )


def test_the_gradient_of_a_sum_is_one_loop_without_residuals() -> None:
    body = "let v: Real = x[i] in let w: Real = sin(v) in let m: Real = w * y in let n: Real = t + m in n"
    head = HEAD.replace("[3]", "[12]")  # smaller arrays become numbers
    f = parse(head + "let s: Real = loop i < 12 carry (t: Real = 0.0) { " + body + " } in s")
    for value in (False, True):
        program = gradient(f, (True, True), value)
        (new,) = optimise(program)
        assert loops(new) == 1
        args: list[object] = [[0.1 * k for k in range(12)], 2.0]
        assert interp.run(new, args) == interp.run(program, args)


BETWEEN = """
def f(x: [3]Real, y: Real): Real, [3]Real =
  let o: [3]Real = zero in
  let acc: &[3]Real = accum o in
  let a: [3]Real = loop i < 3 { let v: Real = x[i] in let w: Real = v * y in w } in
  let at: &Real = &acc@[1] in
  let () = at += %s in
  let s: Real = loop j < 3 carry (t: Real = 0.0) scan (u: Real in a) {
    let to: &Real = &acc@[1] in
    let () = to += u in
    let n: Real = t + u in
    n
  } in
  let r: [3]Real = resolve acc in
  s, r
"""


def test_what_adds_to_a_place_of_the_second_loop_comes_before_both() -> None:
    f = parse(BETWEEN % "1e16")
    new = fuse_loops(f)
    verify_program(new)
    assert loops(new) == 1
    args: list[object] = [[1.0, -2.25, 0.3], 1.0]
    assert interp.run(new, args) == interp.run(f, args)


def test_not_where_it_needs_the_first_one() -> None:
    f = parse(BETWEEN.replace("let at:", "let b: Real = a@[0] in\n  let at:") % "b")
    assert fuse_loops(f) is f


ADDING = """
def f(x: [3]Real, y: Real, p: &[3]Real, q: &[3]Real): [3]Real =
  let z: [3]Real = zero in
  let acc: &[3]Real = accum z in
  let a: [3]Real = loop i < 3 {
    let v: Real = x@[i] in
    let at: &Real = &p@[i] in
    let () = at += v in
    v
  } in
  let () = loop j < 3 scan (u: Real in a) {
    let at: &Real = &q@[j] in
    let () = at += u in
  } in
  let r: [3]Real = resolve acc in
  r
"""


def test_places_that_may_be_one_keep_loops_apart() -> None:
    assert loops(fuse_loops(parse(ADDING))) == 2


def test_a_place_of_its_own_does_not() -> None:
    new = fuse_loops(parse(ADDING.replace("&q@[j]", "&acc@[j]")))
    verify_program(new)
    assert loops(new) == 1


SUMMED = """
def f(x: [3]Real, y: [3]Real, p: &[3]Real): [3]Real =
  let z: [3]Real = copy y in
  let a: [3]Real = loop i < 3 down {
    let v: Real = x@[i] in
    let w: Real = v * v in
    w
  } in
  let acc: &[3]Real = accum z in
  let () = acc += a in
  let () = p += y in
  let r: [3]Real = resolve acc in
  r
"""


def adds_in_loops(f: ir.Function) -> int:
    """How many sums a loop makes."""
    assert f.body is not None
    found = [let.expr for let in f.body.lets if isinstance(let.expr, ir.Loop)]
    return sum(isinstance(let.expr, ir.Add) for e in found for let in e.body.lets)


def test_a_sum_is_made_where_its_value_is() -> None:
    new = fuse_loops(parse(SUMMED))
    verify_program(new)
    assert (loops(new), adds_in_loops(new)) == (1, 1)


@pytest.mark.parametrize(
    "text",
    [
        SUMMED.replace("resolve acc in\n  r", "resolve acc in\n  a"),  # the value is read elsewhere too
        SUMMED.replace("let v: Real = x@[i] in", "let q: &Real = &p@[i] in let v: Real = x@[i] in let () = q += v in")
        .replace("acc += a", "p += a"),  # the loop adds to what may be the same place
    ],
)  # fmt: skip
def test_a_sum_that_stays(text: str) -> None:
    f = parse(text)
    assert fuse_loops(f) is f


ROWS = """
def f(x: [3]Real, y: [2][3]Real): [2][3]Real =
  let z: [2][3]Real = copy y in
  let a: [3]Real, b: [3]Real = loop i < 3 {
    let v: Real = x@[i] in
    let w: Real = v * v in
    v, w
  } in
  let acc: &[2][3]Real = accum z in
  let p: &[3]Real = &acc@[0] in
  let () = p += a in
  let q: &[3]Real = &acc@[1] in
  let () = q += b in
  let r: [2][3]Real = resolve acc in
  r
"""


@pytest.mark.parametrize(("text", "wanted"), [(ROWS, 2), (ROWS.replace("acc@[1]", "acc@[0]"), 1)])
def test_different_rows_are_apart(text: str, wanted: int) -> None:
    new = fuse_loops(parse(text))
    verify_program(new)
    assert adds_in_loops(new) == wanted
    args = [[1.5, 2.5, 0.5], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]
    assert interp.run(new, args) == interp.run(parse(text), args)


BEFORE_IT_IS_ZERO = """
def f(x: [3]Real, y: [2][3]Real): [2][3]Real =
  let z: [2][3]Real = copy y in
  let row: [3]Real = z@[0] in
  let a: [3]Real = loop i < 3 {
    let v: Real = x@[i] in
    let u: Real = row@[i] in
    let w: Real = v + u in
    w
  } in
  let zero0: [3]Real = zero in
  let z1: [2][3]Real = update z@[0] = zero0 in
  let acc: &[2][3]Real = accum z1 in
  let p: &[3]Real = &acc@[0] in
  let () = p += a in
  let r: [2][3]Real = resolve acc in
  r
"""


def test_a_row_is_read_before_its_array_is_written() -> None:
    """The sum needs the array written, the loop reads a view of it as it was."""
    f = parse(BEFORE_IT_IS_ZERO)
    verify_program(f)
    new = fuse_loops(f)
    verify_program(new)
    args = [[1.5, 2.5, 0.5], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]
    wanted = interp.run(f, args)
    assert interp.run(new, args) == wanted == wasm(f)(args)
    assert loops(new) == 1


BEHIND_A_VIEW = """
def f(x: [3]Real, y: [2][3]Real): [2][3]Real, [3]Real =
  let z: [2][3]Real = copy y in
  let row: [3]Real = z@[0] in
  let a: [3]Real = loop i < 3 { let v: Real = x@[i] in let w: Real = v * v in w } in
  let b: [3]Real = copy row in
  let c: [2][3]Real = loop j < 3 carry (t: [2][3]Real = z) scan (u: Real in a) {
    let s: [2][3]Real = update t@[0, j] = u in
    s
  } in
  c, b
"""


def test_a_view_is_read_before_the_second_loop_has_its_array() -> None:
    f = parse(BEHIND_A_VIEW)
    verify_program(f)
    new = fuse_loops(f)
    verify_program(new)
    args = [[1.5, 2.5, 0.5], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]
    assert interp.run(new, args) == interp.run(f, args) == wasm(f)(args)
    assert loops(new) == 1


BEFORE_A_CHOICE = """
def f(x: [3]Real, y: Real, c: Bool): Real =
  let z: [3]Real = copy x in
  let a: [3]Real = loop i < 3 scan (u: Real in z) { let w: Real = u * y in w } in
  let b: [3]Real = if c { let z1: [3]Real = update z@[0] = 9.0 in z1 } { z } in
  let s: Real = loop j < 3 carry (t: Real = 0.0) { let u: Real = b@[j] in let n: Real = t * 0.5 + u in n } in
  let r: Real = loop k < 3 carry (t: Real = s) { let u: Real = a@[k] in let n: Real = t + u in n } in
  r
"""


@pytest.mark.parametrize("chosen", [True, False])
def test_what_a_choice_writes_is_read_before(chosen: bool) -> None:
    """The first loop stays in front of a choice in which one side writes what it reads."""
    f = parse(BEFORE_A_CHOICE)
    verify_program(f)
    new = fuse_loops(f)
    verify_program(new)
    args = [[1.5, 2.5, 0.5], 0.7, chosen]
    assert interp.run(new, args) == interp.run(f, args) == wasm(f)(args)


def test_random_programs_of_whole_arrays() -> None:
    """Joined or not, they verify and give the same bits."""
    joined = 0
    for seed in range(250):
        text, args = program(seed)
        f = insert_copies(parse(text))
        new = fuse_loops(f)
        verify_program(new)
        assert bits(interp.run(new, args)) == bits(interp.run(f, args)), f"seed {seed}"
        joined += new is not f
    assert joined > 150


TESTED = {
    "index": ("let b: Real = x[k] in\n", "let w: Real = x@[k] in let h: Real = t * w in"),
    "divisor": (
        "let b: Int = 7 // k in\n",
        "let q: Int = wfloordiv(7, k) in let w: Real = to_real(q) in let h: Real = t * w in",
    ),
}


@pytest.mark.parametrize("name", TESTED)
def test_what_was_tested_is_used_behind_the_test(name: str) -> None:
    """A test that stands between two loops stays in front of what relies on it."""
    test, use = TESTED[name]
    text = MAP + test + SUM.replace("let n:", f"{use} let n:").replace("t + u", "h + u") + "s"
    f = parse(HEAD.replace("y: Real)", "y: Real, k: Int)") + text)
    new = fuse_loops(f)
    verify_program(new)
    assert new.body is not None
    assert loops(new) == 1
    assert [isinstance(let.expr, ir.Loop) for let in new.body.lets] == [False, True]
