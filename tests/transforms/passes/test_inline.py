"""Inlining: what stands where it was called, and in whose variables."""

from rosejit import interp
from rosejit.ir.traversal import reachable, size
from rosejit.ir.verify import verify_program
from rosejit.text import parse_program
from rosejit.transforms.autodiff.derivative_programs import cotangents
from rosejit.transforms.passes.inline import inline


def called(text: str, *roots: str) -> dict[str, int]:
    """Of each function that stays: its name, and how many lets it has."""
    program = parse_program(text)
    new = inline(tuple(program[name] for name in roots))
    for f in new.values():
        verify_program(f)
    return {f.name: size(f) for f in new.values()}


CHAIN = "def f0(x: Real): Real = let y: Real = x * x in y\n" + "\n".join(
    f"def f{k}(x: Real): Real = let a: Real = f{k - 1}(x) in let b: Real = a + x in b" for k in range(1, 400)
)


def test_a_chain_of_calls_becomes_one_function() -> None:
    assert called(CHAIN, "f40") == {"f40": 41}


def test_a_long_chain_of_calls_becomes_a_few_functions() -> None:
    found = called(CHAIN, "f399")
    assert len(found) == 8
    assert sum(found.values()) == 400 + 7  # a call each


def test_a_root_that_is_called_stays_and_is_called() -> None:
    assert called(CHAIN, "f40", "f30") == {"f30": 31, "f40": 11}


STEPS = [f"let y{k}: Real = {f'y{k - 1}' if k else 'x'} * x in" for k in range(20)]
LONG = f"def g(x: Real): Real = {' '.join(STEPS)} y19\n"


def test_a_long_function_that_is_called_twice_stays() -> None:
    text = LONG + "def f(x: Real): Real = let a: Real = g(x) in let b: Real = g(a) in b"
    assert called(text, "f") == {"g": 20, "f": 2}


def test_a_long_function_that_only_loops_call_stands_in_them_if_its_copies_are_not_too_many() -> None:
    twice = "loop i < n carry (s: Real = x) { let a: Real = g(s) in let b: Real = g(a) in b }"
    program = parse_program(LONG + f"def f(x: Real, n: Int): Real = let y = {twice} in y")
    f = program["f"]
    assert [g.name for g in inline((f,), in_loops=39)] == ["g", "f"]
    (new,) = inline((f,), in_loops=40).values()
    verify_program(new)
    assert interp.run(new, [1.0, 3]) == interp.run(f, [1.0, 3])
    outside = parse_program(LONG + f"def f(x: Real, n: Int): Real = let c: Real = g(x) in let y = {twice} in y + c")[
        "f"
    ]
    assert [g.name for g in inline((outside,), in_loops=400)] == ["g", "f"]


def test_copies_of_a_short_function_have_variables_of_their_own() -> None:
    text = "def g(x: Real): Real = let y: Real = x * x in y\n"
    text += "def f(x: Real): Real = let a: Real = g(x) in let b: Real = g(a) in b"
    f = parse_program(text)["f"]
    (new,) = inline((f,)).values()
    verify_program(new)
    assert size(new) == 2
    assert interp.run(new, [3.0]) == (81.0,)


def test_the_halves_of_one_function_meet_without_a_record() -> None:
    text = "def f(x: Real, y: Real): Real = let a: Real = x * y in let b: Real = a / x in let c: Real = b * a in c"
    f = parse_program(text)["f"]
    program = cotangents(f, (True, True))
    assert len(reachable(program)) == 3
    (new,) = inline((program,)).values()
    verify_program(new)
    assert interp.run(new, [2.0, 3.0, 1.0]) == interp.run(program, [2.0, 3.0, 1.0]) == (18.0, 9.0, 12.0)


def test_recursive_functions_stay() -> None:
    text = """
def even(n: Int): Bool =
  let z: Bool = n == 0 in
  let r: Bool = if z { true } { let m: Int = n - 1 in let o: Bool = odd(m) in o } in
  r
def odd(n: Int): Bool =
  let z: Bool = n == 0 in
  let r: Bool = if z { false } { let m: Int = n - 1 in let e: Bool = even(m) in e } in
  r
def f(n: Int): Bool = let r: Bool = even(n) in r
"""
    assert set(called(text, "f")) == {"even", "odd", "f"}
