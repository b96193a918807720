"""Straight-line code in many functions, compiled as routines, has the bits of the interpreter."""

import random

import pytest

import rosejit as rose
from rosejit import interp
from rosejit.abi import Leaf, Node
from rosejit.codegen.straightline import emit
from rosejit.codegen.straightline.compile_routines import compile_routines
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import BOOL, INT, REAL, Array
from rosejit.ops import PRIMITIVES as P
from rosejit.runtime.loaded_program import load
from rosejit.text import parse
from rosejit.transforms.autodiff import derivative_programs
from rosejit.transforms.autodiff.straightline_reverse import is_straight_line
from rosejit.transforms.straightline import build_routines
from tests.backends import bits
from tests.runtime.programs import signature

ROW, FLAGS = Array(6, REAL), Array(3, BOOL)
KINDS = {REAL: "real", INT: "int", BOOL: "bool"}


@pytest.fixture(autouse=True)
def short_code_too(monkeypatch):
    monkeypatch.setattr(build_routines, "WORTHWHILE", 0)


def tree(t):
    return Leaf("array", (t.length,), KINDS[t.element]) if isinstance(t, Array) else Leaf(KINDS[t])


def agrees(f, args):
    """Compiled both ways, `f` gives what the interpreter gives."""
    made = build_routines.build_routines(f)
    assert made is not None
    program = compile_routines(made)
    names = " ".join(f"x{k}" for k in range(len(f.params)))
    wanted = bits(interp.run(f, args))
    for tier in ("best", "fast"):
        sig = signature(names, [tree(p.type) for p in f.params], Node("tuple", tuple(map(tree, f.results))))
        call = load(program, (), tier).function("main", sig)
        assert bits(call(*args)) == wanted
        assert bits(call(*args)) == wanted  # sums start from zero again
    return made


CALLS = """
def h(a: Real, b: Real): Real, Real =
  let c: Real = a * b in let d: Real = sin(c) in let e: Real = d + a in d, e
def g(x: [6]Real, s: Real, k: Int): Real =
  let v: Real = x@[k] in let w: Real = x@[0] in
  let p: Real, q: Real = h(v, s) in let r: Real, t: Real = h(w, p) in
  let u: Real = q * r in let z: Real = u - t in z
def f(x: [6]Real, y: Real): Real =
  let a: Real = g(x, y, 1) in let b: Real = g(x, 2.5, 2) in let c: Real = g(x, a, 0) in
  let d: Real = max(a, b) in let e: Real = d * d in let r: Real = e + c in r
"""


VALUES = {REAL: [-1.5, 0.25, 2.0], INT: [7, 2, 5], BOOL: [True, False, True]}


@pytest.mark.parametrize(
    "op", [op for op in P.values() if set(op.params) <= set(VALUES) and op.result in VALUES], ids=str
)
def test_every_primitive(op):
    params = [ir.Var(t) for t in op.params]
    result = ir.Var(op.result)
    g = ir.Function(
        "g", tuple(params), (op.result,), ir.Block([ir.Let((result,), ir.Apply(op, tuple(params)))], (result,))
    )
    given = [ir.Var(t) for t in op.params]
    one, two = ir.Var(op.result), ir.Var(op.result)
    calls = [ir.Let((one,), ir.Call(g, tuple(given))), ir.Let((two,), ir.Apply(op, tuple(given)))]
    f = ir.Function("f", tuple(given), (op.result, op.result), ir.Block(calls, (one, two)))
    if build_routines.build_routines(f) is not None:
        for shift in range(3):
            agrees(f, tuple([VALUES[t][(k + shift) % 3] for k, t in enumerate(op.params)]))


@pytest.mark.parametrize("args", [(-1.5, 2.0, True), (2.0, -1.5, True), (1.0, 1.0, False), (float("nan"), 0.0, False)])
def test_choices_of_every_kind(args):
    text = """
def g(a: Real, b: Real, p: Bool): Real =
  let less: Bool = a < b in let same: Bool = a == b in
  let q: Bool = bselect(less, same, p) in let r: Bool = bselect(q, less, same) in
  let k: Int = iselect(q, 3, 5) in let m: Int = iselect(r, k, 7) in
  let x: Real = select(q, a, b) in let y: Real = to_real(m) in x * y
def f(a: Real, b: Real, p: Bool): Real =
  let c: Real = g(a, b, p) in let d: Real = g(b, a, p) in let e: Real = c + d in e
"""
    agrees(parse(text), args)


@pytest.mark.parametrize("mask", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("small", [0, 12])
def test_gradients_through_calls(monkeypatch, mask, small):
    """Calls stay calls, or short callees stand where they are called."""
    monkeypatch.setattr(build_routines, "SMALL", small)
    f = parse(CALLS)
    gradient = derivative_programs.gradient(f, mask, True)
    made = agrees(gradient, [[0.3, -0.7, 1.1, 0.2, 0.9, -1.3], 0.6])
    assert small or len(made.routines) > 3


def callee(rng, name, length):
    """Random code on a number and two elements of an array."""
    b = Builder()
    x, s, i, j = ir.Var(ROW, "x"), ir.Var(REAL, "s"), ir.Var(INT, "i"), ir.Var(INT, "j")
    known = [s, *[b.bind(ir.Index(x, (k,), False), REAL) for k in (i, j, ir.integer(rng.randrange(6)))], ir.real(1.5)]
    for _ in range(length):
        op = P[rng.choice(["add", "sub", "mul", "sin", "cos", "neg", "max", "min", "abs", "exp"])]
        known.append(b.apply(op, *[rng.choice(known[-9:]) for _ in op.params]))
    results = tuple(known[-1 : -1 - rng.choice([1, 1, 2, 3]) : -1])
    return ir.Function(name, (x, s, i, j), (REAL,) * len(results), b.block(*results))


def caller(seed, length, calls):
    """Sums of results of calls, some of them selected by flags or by size."""
    rng = random.Random(seed)
    b = Builder()
    callees = [callee(rng, f"g{k}", length) for k in range(3)]
    x, w, flags = ir.Var(ROW, "x"), ir.Var(REAL, "w"), ir.Var(FLAGS, "flags")
    total = w
    known = [w, b.bind(ir.Index(x, (ir.integer(2),)), REAL)]
    for _ in range(calls):
        g = rng.choice(callees)
        indices = [ir.integer(rng.randrange(6)) for _ in range(2)]
        found = b.bind_all(ir.Call(g, (x, rng.choice(known), *indices)), g.results)
        y = b.apply(P["sin"], rng.choice(found))
        if rng.random() < 0.4:
            y = b.apply(P["max"], y, rng.choice([ir.real(0.0), *known]))
        if rng.random() < 0.4:
            flag = b.bind(ir.Index(flags, (ir.integer(rng.randrange(3)),)), BOOL)
            y = b.apply(P["select"], flag, y, ir.real(0.0))
        known.append(y)
        total = b.apply(P["add"], total, b.apply(P["mul"], y, w))
    return ir.Function("f", (x, w, flags), (REAL,), b.block(total))


ARGS = [[0.3, -0.7, 1.1, 0.2, 0.9, -1.3], 0.6, [True, False, True]]


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_and_their_gradients(seed):
    f = caller(seed, length=30, calls=20)
    assert is_straight_line(f)
    agrees(f, ARGS)
    for mask in ((True, True, False), (True, False, False)):
        agrees(derivative_programs.gradient(f, mask, True), ARGS)


@pytest.mark.parametrize("seed", range(4))
def test_routines_in_many_parts(monkeypatch, seed):
    """What one part makes and another reads lies in memory; so do the results of calls."""
    monkeypatch.setattr(emit, "PART", 7)
    monkeypatch.setattr(emit, "_WHOLE", 1)
    f = caller(seed, length=40, calls=12)
    agrees(f, ARGS)
    agrees(derivative_programs.gradient(f, (True, True, False), True), ARGS)


KINDS_OF_SCALARS = """
def g(s: Real, b: Bool, k: Int): Real =
  let n: Real = to_real(k) in let m: Real = n * s in let y: Real = select(b, m, s) in let z: Real = sin(y) in z
def f(x: [6]Real, w: Real, flag: Bool, n: Int, flags: [3]Bool): Real, Bool, Int, Real, Real =
  let a: Real = g(w, flag, n) in let on: Bool = flags[1] in let b: Real = g(a, on, 3) in let c: Real = g(b, flag, n) in
  let more: Bool = a < c in let v: Real = x[4] in let d: Real = v * c in d, more, n, w, d
"""


@pytest.mark.parametrize("small", [0, 12])
def test_scalars_of_all_kinds_cross(monkeypatch, small):
    """As arguments and results of the program and of its functions; arguments, and one value twice, as results."""
    monkeypatch.setattr(build_routines, "SMALL", small)
    f = parse(KINDS_OF_SCALARS)
    for flag in (True, False):
        agrees(f, [ARGS[0], 0.6, flag, 5, [True, not flag, False]])
    agrees(derivative_programs.gradient(f, (True, True, False, False, False), True), [ARGS[0], 0.6, True, 5, ARGS[2]])


def test_a_program_as_users_write_it():
    """Terms that are clones up to constants; the least of some distances; known answers."""

    def term(k):
        @rose.jit
        def term(x: rose.Vec["n"]) -> float:
            d = (x[k] - k) ** 2 + (x[k + 1] + 2 * k) ** 2
            for _ in range(12):
                d = d * 0.5 + d * 0.5
            return d

        return term

    terms = [term(k) for k in range(5)]

    @rose.jit
    def energy(x: rose.Vec["n"], weight: float) -> float:
        return weight * sum([t(x) for t in terms]) + min([t(x) for t in terms])

    x = [1.0, 2.0, -1.0, 0.5, 3.0, 1.5]
    values = [(x[k] - k) ** 2 + (x[k + 1] + 2 * k) ** 2 for k in range(5)]
    value, (slope, ct_weight) = rose.value_and_grad(energy, (0, 1))(x, 3.0)
    assert value == pytest.approx(3.0 * sum(values) + min(values), rel=1e-14)
    assert ct_weight == pytest.approx(sum(values), rel=1e-14)
    wanted = [0.0] * 6
    for k in range(5):
        factor = 3.0 + (values[k] == min(values))
        wanted[k] += 2 * factor * (x[k] - k)
        wanted[k + 1] += 2 * factor * (x[k + 1] + 2 * k)
    assert slope == pytest.approx(wanted, rel=1e-13)
    assert energy(x, 3.0) == value
