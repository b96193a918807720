"""Long straight-line code that is compiled from numbers has the bits of the same code compiled from lets."""

import random

import pytest

from rosejit import interp
from rosejit.abi import Leaf, Node
from rosejit.codegen.straightline import emit as codegen
from rosejit.codegen.straightline import schedule
from rosejit.codegen.straightline.compile_routines import compile_routines
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import BOOL, INT, REAL, Array
from rosejit.ops import PRIMITIVES as P
from rosejit.runtime.loaded_program import load
from rosejit.text import parse
from rosejit.transforms.autodiff import derivative_programs
from rosejit.transforms.straightline import numbered_gradient
from rosejit.transforms.straightline.op_rows import rows
from tests.backends import bits
from tests.runtime.programs import signature

ROWS = Array(3, Array(2, REAL))
GIVEN = [0.5, [[0.1, -0.2], [0.3, 0.7], [-1.1, 0.9]], 3]


@pytest.fixture(autouse=True)
def short_code_too(monkeypatch):
    monkeypatch.setattr(numbered_gradient, "WORTHWHILE", 0)


def run(made, args):
    """The results of a program of one routine, compiled both ways."""
    assert made is not None
    program = compile_routines(made)
    (routine,) = made.routines
    trees = [_leaf(p.type) for p in routine.function.params]
    names = " ".join(f"x{k}" for k in range(len(trees)))
    found = []
    for tier in ("best", "fast"):
        entry = load(program, (), tier)
        call = entry.function("main", signature(names, trees, _tuple([_leaf(r.type) for r in made.results])))
        found.append(bits(call(*args)))
    assert found[0] == found[1]
    return found[0]


def steps(made):
    (routine,) = made.routines
    results = codegen.np.array([a for result in made.results for a in result.elements])
    return schedule.Steps(routine.code, [len(routine.code)], [len(routine.leaves)], results, codegen.np.array([]))


def gradient(f, mask):
    return numbered_gradient.gradient(rows(f), mask, "g", lambda results: results)


def _leaf(t):
    return Leaf("array", (3, 2)) if t is ROWS or isinstance(t, Array) else Leaf("int" if t is INT else "real")


def _tuple(leaves):
    return Node("tuple", tuple(leaves))


def agrees(f, mask, args):
    assert run(numbered_gradient.value_numbered(rows(f)), args) == bits(interp.run(f, args))
    derived = derivative_programs.gradient(f, mask, value=True)
    assert run(gradient(f, mask), args) == bits(interp.run(derived, args))


def sample(seed, length, ops, reach=12):
    """Random code that reads a number, elements of an array and an Int."""
    rng = random.Random(seed)
    b = Builder()
    x, table, n = ir.Var(REAL, "x"), ir.Var(ROWS, "table"), ir.Var(INT, "n")
    known = [x, ir.real(1.5), b.apply(P["to_real"], n)]
    for _ in range(length):
        if rng.random() < 0.1:
            path = (ir.integer(rng.randrange(3)), ir.integer(rng.randrange(2)))
            known.append(b.bind(ir.Index(table, path), REAL))
        elif rng.random() < 0.1:
            c = b.apply(P["lt"], rng.choice(known[-reach:]), rng.choice(known[-reach:]))
            known.append(b.apply(P["select"], c, rng.choice(known[-reach:]), rng.choice(known[-reach:])))
        else:
            op = P[rng.choice(ops)]
            known.append(b.apply(op, *[rng.choice(known[-reach:]) for _ in op.params]))
    results = (known[-1], *[rng.choice(known) for _ in range(3)])
    return ir.Function("f", (x, table, n), (REAL,) * 4, b.block(*results))


TAME = ["add", "sub", "mul", "sin", "cos", "neg", "max", "abs", "floor", "exp"]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("part", "most"), [(3, 100), (3, 5), (256, 100)])
def test_random_code(seed, part, most, monkeypatch):
    monkeypatch.setattr(codegen, "PART", part)
    monkeypatch.setattr(codegen, "_WHOLE", 1)
    monkeypatch.setattr(codegen, "_GLOBALS", most)
    f = sample(seed, 60, TAME)
    for mask in ((True, True, False), (True, False, False), (False, True, False)):
        agrees(f, mask, GIVEN)


def test_values_that_are_read_far_away():
    f = sample(1, 3_000, ["add", "sub", "mul", "sin", "cos"], reach=2_000)
    agrees(f, (True, True, False), GIVEN)


UNARY = [op for op in P.values() if op.differentiable and not op.erased and not op.failure and op.result is REAL]


@pytest.mark.parametrize("op", [op for op in UNARY if BOOL not in op.params], ids=lambda op: op.name)
def test_every_primitive(op):
    x, n = ir.Var(REAL, "x"), ir.Var(INT, "n")
    b = Builder()
    y = b.apply(P["mul"], x, ir.real(0.75))
    args = [n if t is INT else (x, y)[k % 2] for k, t in enumerate(op.params)]
    z = b.apply(op, *args)
    w = b.apply(P["sub"], y, b.apply(P["mul"], z, z))
    f = ir.Function("f", (x, n), (REAL, REAL), b.block(w, z))
    agrees(f, (True, False), [0.375, 2])


def test_results_that_are_arguments_constants_or_the_same_twice():
    x, y = ir.Var(REAL, "x"), ir.Var(REAL, "y")
    b = Builder()
    z = b.apply(P["mul"], x, y)
    f = ir.Function("f", (x, y), (REAL,) * 5, b.block(z, x, ir.real(-0.0), z, y))
    agrees(f, (True, True), [3.0, -2.0])


def test_code_without_a_step():
    x, y = ir.Var(REAL, "x"), ir.Var(REAL, "y")
    f = ir.Function("f", (x, y), (REAL, REAL), ir.Block([], (y, ir.real(2.0))))
    agrees(f, (True, True), [3.0, -2.0])


def test_what_is_no_line_of_numbers():
    x, table, i = ir.Var(REAL, "x"), ir.Var(ROWS, "table"), ir.Var(INT, "i")
    ragged = ir.Var(Array(None, REAL), "a")
    b = Builder()
    y = b.bind(ir.Index(table, (i, ir.integer(0)), False), REAL)
    others = [ir.Function("f", (table, i), (REAL,), b.block(y))]
    others.append(ir.Function("f", (x, ragged), (REAL,), ir.Block([], (x,))))
    others.append(ir.Function("f", (x, table), (ROWS,), ir.Block([], (table,))))
    others.append(parse("def g(x: Real): Real = x\ndef f(x: Real): Real = let y: Real = g(x) in y"))
    assert not any([numbered_gradient.value_numbered(rows(f)) for f in others])
    b = Builder()
    y = b.apply(P["ifloordiv"], i, i)
    assert rows(ir.Function("f", (i,), (INT,), b.block(y))) is None


def test_short_code_is_left_to_the_passes(monkeypatch):
    monkeypatch.setattr(numbered_gradient, "WORTHWHILE", 3)
    given = rows(sample(0, 1, TAME))
    assert len(given.rows) < 3
    assert numbered_gradient.value_numbered(given) is None


@pytest.mark.parametrize(("part", "ahead", "pairs"), [(2, 5, 4), (5, 9, 4), (256, 9, 4), (256, 2, 4), (256, 1, 0)])
def test_sines_and_cosines_of_two_values_are_one_call(part, ahead, pairs, monkeypatch):
    monkeypatch.setattr(codegen, "PART", part)
    monkeypatch.setattr(codegen, "_WHOLE", 1)
    monkeypatch.setattr(schedule, "_FEW", 1)
    x, y = ir.Var(REAL, "x"), ir.Var(REAL, "y")
    b = Builder()
    angles = [b.apply(P["mul"], x, ir.real(k - 3.5)) for k in range(9)]
    total, sines = y, []
    for k in range(9 + ahead - 1):  # each is read when `ahead` of them are there
        if k < 9:
            sines.append(b.apply(P["sin"], angles[k]))
        if k >= ahead - 1:
            total = b.apply(P["add"], b.apply(P["mul"], total, total), sines[k - ahead + 1])
    f = ir.Function("f", (x, y), (REAL,), b.block(total))
    made = gradient(f, (True, True))
    found = schedule.columns(steps(made), part, part).ops.tolist()
    assert found.count(schedule.TWICE) == found.count(schedule.FIRST) == pairs
    for args in ([0.01, 0.3], [1e-9, 0.5], [3e7, -0.1], [1e300, 0.1], [float("inf"), 1.0]):
        agrees(f, (True, True), args)


@pytest.mark.parametrize("part", [2, 256])
def test_sines_and_cosines_of_one_value_are_one_call(part, monkeypatch):
    monkeypatch.setattr(codegen, "PART", part)
    monkeypatch.setattr(codegen, "_WHOLE", 1)
    x, y = ir.Var(REAL, "x"), ir.Var(REAL, "y")
    b = Builder()
    angle = b.apply(P["mul"], x, y)
    c, s = b.apply(P["cos"], angle), b.apply(P["sin"], angle)
    unread = b.apply(P["sin"], x)
    t = b.apply(P["mul"], c, b.apply(P["add"], s, b.apply(P["cos"], y)))
    f = ir.Function("f", (x, y), (REAL, REAL), b.block(t, c))
    assert unread not in f.body.results
    for args in ([0.7, 1.9], [1e-9, 0.5], [3e7, -2.0], [float("inf"), 1.0]):
        agrees(f, (True, True), args)


@pytest.mark.parametrize("few", [0, 16])
def test_a_sine_beside_pairs_is_half_of_one(few, monkeypatch):
    monkeypatch.setattr(schedule, "_FEW", few)
    x, y = ir.Var(REAL, "x"), ir.Var(REAL, "y")
    b = Builder()
    half, third = [b.apply(P["mul"], y, ir.real(factor)) for factor in (0.5, 1 / 3)]
    alone = b.apply(P["mul"], b.apply(P["sin"], half), b.apply(P["cos"], third))
    f = ir.Function("f", (x, y), (REAL,), b.block(b.apply(P["mul"], b.apply(P["sin"], x), alone)))
    made = gradient(f, (True, False))
    found = schedule.columns(steps(made), 100, 100).ops.tolist()
    assert [found.count(op) for op in (schedule.BOTH, schedule.LONE_SIN, schedule.LONE_COS)] == [1, few > 0, few > 0]
    for args in ([0.01, 0.3], [1e-9, 0.5], [3e7, -0.1], [1.0, float("inf")]):
        agrees(f, (True, False), args)


@pytest.mark.parametrize("rounds", [0, 2, 50])
@pytest.mark.parametrize("seed", range(5))
def test_what_results_need(seed, rounds, monkeypatch):
    """That is what can be reached from them."""
    monkeypatch.setattr(schedule, "_ROUNDS", rounds)
    rng = random.Random(seed)
    code = [(0, *[rng.randrange(-2, k) for _ in range(1 + k % 2)]) for k in range(60)]
    wanted = [rng.randrange(60) for _ in range(3)]
    reached, waiting = set(), list(wanted)
    while waiting:
        k = waiting.pop()
        if k >= 0 and k not in reached:
            reached.add(k)
            waiting += code[k][1:]
    found = schedule.columns(schedule.Steps(code, [60], [2], codegen.np.array(wanted), codegen.np.array([])), 100, 100)
    assert found.values.tolist() == sorted(reached)
