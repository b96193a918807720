"""Primitives of every kind, constants, checks."""

import math

import pytest

from rosejit.ir.builder import Builder
from rosejit.ir.failure import FAULTS
from rosejit.ir.syntax import Function, Lit, Var
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.ops import PRIMITIVES
from rosejit.text import parse
from rosejit.wasm.decode import decode
from tests.codegen.machine import Machine, agrees, fails, same

REALS = (0.0, -0.0, 1.0, -1.5, 0.1, 7.25, 1e300, -1e-310, math.inf, -math.inf, math.nan)
INTS = (0, 1, -1, 2, 63, 64, -7, 2**31, -(2**31) - 1, 2**62, 2**63 - 1, -(2**63))
BOOLS = (False, True)
POINTS = {REAL: REALS, INT: INTS, BOOL: BOOLS}


@pytest.mark.parametrize("text", ["0.0", "-0.0", "1.5", "inf", "nan", "5e-324"])
def test_real_constants_keep_their_bits(text):
    agrees(f"def f(): Real = {text}", ())


@pytest.mark.parametrize("n", [0, -1, 63, 64, -65, 2**31, 2**63 - 1, -(2**63)])
def test_int_constants(n):
    assert agrees(Function("f", (), (INT, BOOL), Builder().block(Lit(n, INT), Lit(True, BOOL))), ())() == (n, True)


def points(op):
    """A few arguments of `op`, all with all of the second."""
    found = [()]
    for p in op.params:
        values = (0, 1, 2, 5) if p is INT and REAL in op.params else POINTS[p]  # an order: work grows with it
        found = [(*args, v) for args in found for v in (values if len(op.params) < 3 else values[:4])]
    return found


@pytest.mark.parametrize("op", [op for op in PRIMITIVES.values() if "Tan" not in map(repr, op.params)], ids=repr)
def test_primitives_do_what_the_interpreter_does(op):
    """Where `evaluate` fails the code must fail too; its kinds are told apart in `test_failing_primitives`."""
    params = tuple(Var(t, "p") for t in op.params)
    b = Builder()
    machine = Machine(Function("f", params, (op.result,), b.block(b.apply(op, *params))))
    for args in points(op):
        if "proven" in op.doc and not meets(op.name, args):
            continue
        try:
            expected = op.evaluate(*args)
        except FAULTS:
            with pytest.raises(Exception, match="failure"):
                machine(*args)
            machine = Machine(machine.roots["main"])
            continue
        (got,) = machine(*args)
        assert same(got, expected), f"{op.name}{args} is {got}, not {expected}"


def meets(name, args):
    """Whether the arguments of an operation keep to what it says was proven."""
    if name in ("quot", "wfloordiv", "rem", "wmod"):
        return args[1] != 0 and args != (-(2**63), -1)
    return name not in ("wpow", "ishr") or args[1] >= 0


@pytest.mark.parametrize(
    ("expression", "args", "message"),
    [
        ("i + j", (2**63 - 1, 1), "the result of `+` does not fit 64 bits"),
        ("i - j", (-(2**63), 1), "the result of `-` does not fit 64 bits"),
        ("i * j", (2**62, 2), "the result of `*` does not fit 64 bits"),
        ("i // j", (5, 0), "`//` by zero"),
        ("i // j", (-(2**63), -1), "the result of `//` does not fit 64 bits"),
        ("i % j", (5, 0), "`%` by zero"),
    ],
)
def test_failing_primitives(expression, args, message):
    f = f"def f(i: Int, j: Int): Int = {expression}"
    failed = fails(f, *args)
    assert agrees(f).artifact.failures[failed.number].message == message
    agrees(f, (7, 2), (-7, 2))


def test_failures_that_nobody_asked_the_result_of():
    fails("def f(i: Int): Real = let j = 1 // i in 2.0", 0)


def test_checks_tell_their_values():
    text = """
def f(x: Real, i: Int, c: Bool): Real =
  let () = check c, "assertion", "{0} and {1} and {2} and {3}", x, i, c, 5 in
  x + 1.0
"""
    agrees(text, (0.5, 3, True))
    failed = fails(text, 0.5, -3, False)
    assert failed.values == [0.5, -3, False, 5]


def test_effects_in_program_order():
    """Of two things that fail, the first is reported."""
    text = """
def f(i: Int, a: [2]Real): Real =
  let j = 10 // i in
  let x = a[i] in
  x + a[j]
"""
    assert fails(text, 0, [1.0, 2.0]).values == []
    assert fails(text, 5, [1.0, 2.0]).values == [5, 2]
    assert fails(text, 1, [1.0, 2.0]).values == [10, 2]


def test_what_nobody_needs_is_not_there():
    plain = agrees("def f(x: Real): Real = x", (1.0,))
    dead = agrees("def f(x: Real): Real = let y = x * x in let c = y < 1.0 in let z = c ? x : y in x", (1.0,))
    assert len(dead.artifact.wasm) - len(plain.artifact.wasm) < 40


# --- kernels


def functions_of(text):
    """The names of the Wasm functions of a module."""
    return [f.name for f in decode(Machine(parse(text)).artifact.wasm).functions]


def test_a_module_holds_the_kernels_that_it_uses_once():
    text = """
def g(x: Real): Real = exp(x) + log(x)
def f(x: Real): Real = exp(x) * exp(x + 1.0) + g(x)
"""
    names = functions_of(text)
    assert names.count("exp") == names.count("log") == 1
    assert not {"sin", "pow", "exp.x2"} & set(names)
    agrees(text, (0.5,))


def test_exp_alone_is_small():
    assert len(Machine(parse("def f(x: Real): Real = exp(x)")).artifact.wasm) < 1500


def test_short_kernels_are_written_where_they_are_used():
    assert "max" not in functions_of("def f(x: Real, y: Real): Real = max(x, y)")
