"""Calls of functions, of themselves, and of the host."""

import pytest

from rosejit.ir.builder import Builder
from rosejit.ir.syntax import Call, Function, Var
from rosejit.ir.types import BOOL, INT, REAL, Array
from rosejit.ops import PRIMITIVES as P
from rosejit.text import parse
from tests.codegen.machine import Failed, Machine, agrees


def test_arguments_and_results():
    text = """
def g(x: Real, a: [2]Real, i: Int, own b: [2]Real, c: Bool): Real, [2]Real, Int, Bool =
  let y = x + a[i] in
  let d = update b[0] = y in
  let k = i + 1 in
  y, d, k, c
def f(x: Real, a: [2]Real, i: Int): Real, [2]Real, Int, Bool =
  let b = copy a in
  g(x, a, i, b, true)
"""
    agrees(text, (0.5, [1.0, 2.0], 1))


def test_nine_results():
    lets = " ".join(f"let r{k} = x + {k}.0 in" for k in range(9))
    text = f"""
def g(x: Real): {", ".join(["Real"] * 9)} = {lets} {", ".join(f"r{k}" for k in range(9))}
def f(x: Real): Real =
  let {", ".join(f"a{k}" for k in range(9))} = g(x) in
  let {", ".join(f"b{k}" for k in range(9))} = g(a3) in
  a8 * b7 + b0
"""
    agrees(text, (0.5,))


def test_owned_parameters_that_are_not_used_are_freed():
    text = """
def g(own a: [200]Real, own b: [*]Real, x: Real): Real = x
def f(x: Real, n: Int): Real = let a: [200]Real = zero in let b: [*]Real = loop i < n { x } in g(a, b, x)
"""
    agrees(text, (2.0, 3))


def test_results_that_are_not_used_are_freed():
    text = """
def g(x: Real): Real, [3]Real, (Real, [90]Real) =
  let a = [x, x, x] in
  let b: [90]Real = zero in
  let t = (x, b) in
  x, a, t
def f(x: Real): Real = let y, a, t = g(x) in y
"""
    agrees(text, (2.0,))


def test_recursion():
    text = """
def fib(n: Int): Int = if n < 2 { n } { fib(n - 1) + fib(n - 2) }
def f(n: Int): Int = fib(n)
"""
    assert agrees(text, (15,))(20) == (6765,)
    text = """
def even(n: Int): Bool = if n == 0 { true } { odd(n - 1) }
def odd(n: Int): Bool = if n == 0 { false } { even(n - 1) }
def f(n: Int): Bool = even(n)
"""
    machine = agrees(text, (9,), (10,))
    assert machine.artifact.recursive
    assert not Machine(parse("def f(x: Real): Real = x")).artifact.recursive


def test_deep_recursion_that_owns_arrays():
    text = """
def f(n: Int, own a: [2]Real): [2]Real =
  if n > 0 {
    let y = a[0] + a[1] in
    let k = n % 2 in
    let b = update a[k] = y in
    let c = f(n - 1, b) in
    let d = copy c in
    d
  } { a }
"""
    agrees(text, (7, [1.0, 1.0]))
    assert Machine(parse(text))(2000, [0.0, 0.0]) == ([0.0, 0.0],)


def test_endless_recursion_ends_in_a_trap():
    machine = Machine(parse("def f(x: Real): Real = f(x + 1.0) * 2.0"))
    with pytest.raises(Failed, match="stack exhausted"):
        machine(0.0)


def test_order_of_calls_with_effects():
    said = []

    def say(x):
        said.append(x)
        return x + 1.0

    hosts = {"say": say}
    text = """
host def say(x: Real): Real
def f(x: Real): Real =
  let a = say(x) in
  let b = say(a) in
  let unused = say(10.0) in
  let c = if b > 2.0 { say(20.0) } { say(30.0) } in
  b - a * c
"""
    machine = Machine(parse(text, hosts=hosts))
    assert machine(1.0) == (3.0 - 2.0 * 21.0,)
    assert said == [1.0, 2.0, 10.0, 20.0]
    assert [imported.name for imported in machine.artifact.imports] == ["say"]


def test_host_functions_of_every_shape():
    def everything(x, i, c, a):
        return x * 2.0, [[x, 1.0], [a[0], 4.0]], i + 1, not c, [c, True, False]

    types = (REAL, Array(2, Array(2, REAL)), INT, BOOL, Array(3, BOOL))
    given = (Var(REAL, "x"), Var(INT, "i"), Var(BOOL, "c"), Var(Array(2, REAL), "a"))
    host = Function("everything", given, types, None, host=everything)
    params = tuple(Var(v.type, v.hint) for v in given)
    b = Builder()
    results = b.bind_all(Call(host, params), types)
    agrees(Function("f", params, types, b.block(*results)), (0.5, 3, True, [7.0, 8.0]))
    b = Builder()
    x, _, i, _, _ = b.bind_all(Call(host, params), types)
    f = Function("f", params, (REAL,), b.block(b.apply(P["add"], x, b.apply(P["to_real"], i))))
    agrees(f, (0.5, 3, True, [7.0, 8.0]))


def test_host_functions_with_one_or_no_result():
    x = Var(REAL, "x")
    seen = []
    pair = Function("pair", (Var(REAL, "x"),), (Array(2, REAL),), None, host=lambda x: [x, x + 1.0])
    quiet = Function("quiet", (Var(REAL, "x"),), (), None, host=lambda x: seen.append(x))
    b = Builder()
    a = b.bind(Call(pair, (x,)), Array(2, REAL))
    b.do(Call(quiet, (x,)))
    machine = agrees(Function("f", (x,), (Array(2, REAL),), b.block(a)), (0.5,))
    assert set(seen) == {0.5}
    assert len(machine.artifact.imports) == 2


def test_kernels_are_compiled_once_and_only_when_used():
    one = agrees("def f(x: Real): Real = exp(x)", (0.5,))
    two = agrees("def f(x: Real): Real = exp(x) + exp(x * 2.0)", (0.5,))
    assert len(two.artifact.wasm) < len(one.artifact.wasm) + 60
    assert list(one.artifact.functions.values()) == ["f"]
