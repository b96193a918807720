"""The gradient of straight-line code in one sweep gives the bits of the four passes."""

import math
import random

import numpy as np
import pytest

import rosejit as rose
from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.traversal import reachable
from rosejit.ir.types import BOOL, INT, REAL, Array
from rosejit.ir.verify import verify_program
from rosejit.ops import PRIMITIVES
from rosejit.text import parse
from rosejit.transforms.autodiff.derivative_programs import Atoms, cotangents, gradient
from rosejit.transforms.autodiff.straightline_reverse import is_straight_line
from rosejit.transforms.pipeline import prepared

OPS = [op for op in PRIMITIVES.values() if op.differentiable and not op.erased and op.result is REAL]
VALUES = {REAL: 0.375, INT: 2, BOOL: True}


def same(f: ir.Function, mask: tuple[bool, ...], args: list[object]) -> None:
    """Both ways, value and gradient."""
    assert is_straight_line(f)
    swept = gradient(f, mask, True)
    assert len(reachable(swept)) == 1
    verify_program(swept)
    passed = interp.run(cotangents(f, mask), [*args, 1.0])
    assert repr(interp.run(swept, args)) == repr(passed)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_primitive(op: ir.Primitive) -> None:
    b = Builder()
    params = tuple([ir.Var(t) for t in op.params])
    y = b.apply(op, *params)
    f = ir.Function("f", params, (REAL,), b.block(y))
    args: list[object] = [VALUES[t] + 0.25 * k if t is REAL else VALUES[t] for k, t in enumerate(op.params)]
    reals = [k for k, t in enumerate(op.params) if t is REAL]
    for only in (reals, *([k] for k in reals)):
        same(f, tuple(k in only for k in range(len(params))), args)


@pytest.mark.parametrize("seed", range(20))
def test_random_code_with_elements_of_arrays(seed: int) -> None:
    rng = random.Random(seed)
    b = Builder()
    x, rows = ir.Var(REAL, "x"), ir.Var(Array(3, Array(2, REAL)), "rows")
    known: list[ir.Atom] = [x, ir.real(1.5)]
    for _ in range(30):
        if rng.random() < 0.3:
            path: ir.Path = (ir.integer(rng.randrange(3)), ir.integer(rng.randrange(2)))
            known.append(b.bind(ir.Index(rows, path), REAL))
        else:
            op = PRIMITIVES[rng.choice(["add", "sub", "mul", "sin", "exp", "max", "abs", "floor"])]
            known.append(b.apply(op, *[rng.choice(known[-12:]) for _ in op.params]))
    results: Atoms = (known[-1],)
    f = ir.Function("f", (x, rows), (REAL,), b.block(*results))
    args: list[object] = [0.5, [[0.1, -0.2], [0.3, 0.7], [-1.1, 0.9]]]
    for mask in ((True, True), (True, False), (False, True)):
        same(f, mask, args)


def test_what_is_not_straight_goes_through_the_passes() -> None:
    branch = "def g(x: Real): Real = let c: Bool = x < 0.0 in let y: Real = if c { 1.0 } { x } in y"
    assert not is_straight_line(parse(branch))
    assert not is_straight_line(parse(branch + "\ndef f(x: Real): Real = let y: Real = g(x) in y"))


def test_a_call_of_what_can_fail_goes_through_the_passes() -> None:
    """Its pullback would fail again."""
    reads = "def g(x: [3]Real, i: Int): Real = let y: Real = x[i] in y\n"
    assert is_straight_line(parse(reads))
    assert not is_straight_line(parse(reads + "def f(x: [3]Real, i: Int): Real = let y: Real = g(x, i) in y"))


CALLS = """
def h(a: Real, b: Real): Real, Real =
  let c: Real = a * b in let d: Real = sin(c) in let e: Real = d + a in d, e
def g(x: [3]Real, s: Real, k: Int): Real =
  let v: Real = x@[k] in let w: Real = x@[0] in
  let p: Real, q: Real = h(v, s) in let r: Real, t: Real = h(w, p) in
  let u: Real = q * r in let z: Real = u - t in z
def f(x: [3]Real, y: Real): Real =
  let a: Real = g(x, y, 1) in let b: Real = g(x, 2.5, 2) in let c: Real = g(x, a, 0) in
  let d: Real = a * b in let e: Real = d + c in e
"""


@pytest.mark.parametrize("mask", [(True, True), (True, False), (False, True)])
def test_calls_of_straight_functions(mask: tuple[bool, ...]) -> None:
    """Each callee goes back by a function of its own, whatever is active in it."""
    f = parse(CALLS)
    assert is_straight_line(f)
    swept = gradient(f, mask, True)
    assert {g.name for g in reachable(swept)} >= {"back_g", "back_h", "g", "h"}
    verify_program(swept)
    args: list[object] = [[0.3, -0.7, 1.1], 0.6]
    found, passed = interp.run(swept, args), interp.run(cotangents(f, mask), [*args, 1.0])
    assert np.allclose(np.concatenate([np.ravel(a) for a in found]), np.concatenate([np.ravel(a) for a in passed]))


def test_a_custom_rule_is_a_step() -> None:
    """Known answers: of a root whose derivative is bounded, and of a product whose rule forgets a factor."""

    @rose.jit
    def root(x: float) -> float:
        return math.sqrt(x)

    @root.jvp
    def _(x: rose.Dual) -> rose.Dual:
        y = root(x.re)
        return rose.Dual(y, x.du * (0.5 / max(1e-5, y)))

    @rose.jit
    def scaled(x: float, y: float) -> float:
        return x * y

    @scaled.jvp
    def _(x: rose.Dual, y: rose.Dual) -> rose.Dual:
        return rose.Dual(scaled(x.re, y.re), 10.0 * x.du + y.du)

    @rose.jit
    def f(x: float, y: float) -> float:
        return scaled(root(x), y) * 2.0

    assert is_straight_line(prepared(f.lower(1.0, 1.0).ir.function))
    assert rose.grad(f, (0, 1))(0.0, 3.0) == (20.0 * (0.5 / 1e-5), 2.0)
    assert rose.grad(f, (0, 1))(4.0, 3.0) == (5.0, 2.0)
    assert rose.grad(f)(4.0, 3.0) == 5.0
    assert rose.grad(rose.grad(f))(4.0, 3.0) == -0.625


def test_a_custom_rule_in_functions_that_are_called_often() -> None:
    """Known answer: whatever stands where it was called, a rule stays what it is."""

    @rose.jit
    def root(x: float) -> float:
        return math.sqrt(x)

    @root.jvp
    def _(x: rose.Dual) -> rose.Dual:
        y = root(x.re)
        return rose.Dual(y, x.du * (0.5 / max(1e-5, y)))

    @rose.jit
    def norm(x: float, y: float) -> float:
        return root(x * x + y * y)

    @rose.jit
    def term(x: float, y: float, z: float) -> float:
        return norm(x - y, y - z) + norm(y + x, z + x)

    @rose.jit
    def f(x: float, y: float, z: float) -> float:
        return root(x - y) + term(x, y, z) * 2.0 + term(z, x, y) * 3.0

    prepared_f = prepared(f.lower(1.0, 1.0, 1.0).ir.function)
    assert is_straight_line(prepared_f)
    assert rose.grad(f, (0, 1, 2))(0.0, 0.0, 0.0) == pytest.approx((0.5e5, -0.5e5, 0.0), rel=1e-14)


SELECTED = """
def g(x: [2]Real, k: Int): Real = let v: Real = x@[k] in let w: Real = v * v in let y: Real = sqrt(w) in y
def f(x: [2]Real): Real =
  let a: Real = g(x, 0) in let b: Real = g(x, 1) in let c: Real = max(a, b) in let d: Real = c * c in d
"""


def test_what_was_not_selected_does_not_go_back() -> None:
    """At zero the root has an infinite slope, and zero times that is no number."""
    f = parse(SELECTED)
    assert is_straight_line(f)
    swept = gradient(f, (True,), True)
    verify_program(swept)
    for x, slope in (([0.0, 3.0], [0.0, 6.0]), ([-2.0, 0.0], [-4.0, 0.0]), ([1.0, 3.0], [0.0, 6.0])):
        assert interp.run(swept, [x]) == (max(map(abs, x)) ** 2, slope)


def test_a_result_that_is_an_argument_or_a_constant() -> None:
    f = parse("def f(x: Real, y: Real): Real = x")
    assert interp.run(gradient(f, (True, True), False), [3.0, 4.0]) == (1.0, 0.0)
    g = parse("def g(x: Real): Real = 2.0")
    assert interp.run(gradient(g, (True,), True), [3.0]) == (2.0, 0.0)


def test_calls_that_nest_deeply_go_through_the_passes() -> None:
    """Each level would compute all levels below it again."""

    def nest(depth: int) -> ir.Function:
        text = "def f0(x: Real): Real = let y: Real = sin(x) in y\n"
        for k in range(1, depth + 1):
            lets = f"let a: Real = f{k - 1}(x) in let b: Real = f{k - 1}(a) in let c: Real = a * b in c"
            text += f"def f{k}(x: Real): Real = {lets}\n"
        return parse(text)

    assert [is_straight_line(nest(depth)) for depth in (1, 2, 3)] == [True, True, False]
