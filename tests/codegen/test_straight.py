"""Long straight code that is compiled from numbers has the bits of the same code compiled from lets."""

import random

import pytest

from rosejit import interp
from rosejit.abi import Leaf, Node
from rosejit.codegen import columns
from rosejit.codegen import straight as codegen
from rosejit.codegen.routines import compile_straight
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import BOOL, INT, REAL, Array
from rosejit.ops import PRIMITIVES as P
from rosejit.runtime.compiled import load
from rosejit.transforms import derive, numbering
from rosejit.transforms import rows as flat
from tests.machines import bits
from tests.runtime.programs import signature

ROWS = Array(3, Array(2, REAL))
GIVEN = [0.5, [[0.1, -0.2], [0.3, 0.7], [-1.1, 0.9]], 3]


@pytest.fixture(autouse=True)
def short_code_too(monkeypatch):
    monkeypatch.setattr(flat, "WORTHWHILE", 0)


def run(made, args):
    """The results of numbered code, compiled both ways."""
    assert made is not None
    program = compile_straight(made)
    trees = [_leaf(p.type) for p in made.base.params]
    names = " ".join(f"x{k}" for k in range(len(trees)))
    found = []
    for tier in ("best", "fast"):
        entry = load(program, (), tier)
        call = entry.function("main", signature(names, trees, _tuple([_leaf(r.type) for r in made.results])))
        found.append(bits(call(*args)))
    assert found[0] == found[1]
    return found[0]


def steps(made):
    results = codegen.np.array([a for result in made.results for a in result.elements])
    return columns.Steps(made.code, [len(made.code)], [len(made.leaves)], results, codegen.np.array([]))


def _leaf(t):
    return Leaf("array", (3, 2)) if t is ROWS or isinstance(t, Array) else Leaf("int" if t is INT else "real")


def _tuple(leaves):
    return Node("tuple", tuple(leaves))


def agrees(f, mask, args):
    assert run(numbering.straight(flat.rows(f)), args) == bits(interp.run(f, args))
    gradient = derive.gradient(f, mask, value=True)
    assert run(numbering.gradient(flat.rows(f), mask), args) == bits(interp.run(gradient, args))


def sample(seed, length, ops, reach=12):
    """Random code that reads a number, elements of an array and an Int."""
    rng = random.Random(seed)
    b = Builder()
    x, rows, n = ir.Var(REAL, "x"), ir.Var(ROWS, "rows"), ir.Var(INT, "n")
    known = [x, ir.real(1.5), b.apply(P["to_real"], n)]
    for _ in range(length):
        if rng.random() < 0.1:
            path = (ir.integer(rng.randrange(3)), ir.integer(rng.randrange(2)))
            known.append(b.bind(ir.Index(rows, path), REAL))
        elif rng.random() < 0.1:
            c = b.apply(P["lt"], rng.choice(known[-reach:]), rng.choice(known[-reach:]))
            known.append(b.apply(P["select"], c, rng.choice(known[-reach:]), rng.choice(known[-reach:])))
        else:
            op = P[rng.choice(ops)]
            known.append(b.apply(op, *[rng.choice(known[-reach:]) for _ in op.params]))
    results = (known[-1], *[rng.choice(known) for _ in range(3)])
    return ir.Function("f", (x, rows, n), (REAL,) * 4, b.block(*results))


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
    x, rows, i = ir.Var(REAL, "x"), ir.Var(ROWS, "rows"), ir.Var(INT, "i")
    b = Builder()
    y = b.bind(ir.Index(rows, (i, ir.integer(0))), REAL)
    assert flat.rows(ir.Function("f", (rows, i), (REAL,), b.block(y))) is None
    b = Builder()
    y = b.apply(P["ifloordiv"], i, i)
    assert flat.rows(ir.Function("f", (i,), (INT,), b.block(y))) is None
    ragged = ir.Var(Array(None, REAL), "a")
    assert flat.rows(ir.Function("f", (x, ragged), (REAL,), ir.Block([], (x,)))) is None


@pytest.mark.parametrize(("part", "ahead", "pairs"), [(2, 5, 4), (5, 9, 4), (256, 9, 4), (256, 2, 4), (256, 1, 0)])
def test_sines_and_cosines_of_two_values_are_one_call(part, ahead, pairs, monkeypatch):
    monkeypatch.setattr(codegen, "PART", part)
    monkeypatch.setattr(codegen, "_WHOLE", 1)
    monkeypatch.setattr(columns, "_FEW", 1)
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
    made = numbering.gradient(flat.rows(f), (True, True))
    found = columns.columns(steps(made), part, part).ops.tolist()
    assert found.count(columns.TWICE) == found.count(columns.FIRST) == pairs
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
    monkeypatch.setattr(columns, "_FEW", few)
    x, y = ir.Var(REAL, "x"), ir.Var(REAL, "y")
    b = Builder()
    half, third = [b.apply(P["mul"], y, ir.real(factor)) for factor in (0.5, 1 / 3)]
    alone = b.apply(P["mul"], b.apply(P["sin"], half), b.apply(P["cos"], third))
    f = ir.Function("f", (x, y), (REAL,), b.block(b.apply(P["mul"], b.apply(P["sin"], x), alone)))
    made = numbering.gradient(flat.rows(f), (True, False))
    found = columns.columns(steps(made), 100, 100).ops.tolist()
    assert [found.count(op) for op in (columns.BOTH, columns.LONE_SIN, columns.LONE_COS)] == [1, few > 0, few > 0]
    for args in ([0.01, 0.3], [1e-9, 0.5], [3e7, -0.1], [1.0, float("inf")]):
        agrees(f, (True, False), args)


@pytest.mark.parametrize("rounds", [0, 2, 50])
@pytest.mark.parametrize("seed", range(5))
def test_what_results_need(seed, rounds, monkeypatch):
    """That is what can be reached from them."""
    monkeypatch.setattr(columns, "_ROUNDS", rounds)
    rng = random.Random(seed)
    code = [(0, *[rng.randrange(-2, k) for _ in range(1 + k % 2)]) for k in range(60)]
    wanted = [rng.randrange(60) for _ in range(3)]
    reached, waiting = set(), list(wanted)
    while waiting:
        k = waiting.pop()
        if k >= 0 and k not in reached:
            reached.add(k)
            waiting += code[k][1:]
    found = columns.columns(columns.Steps(code, [60], [2], codegen.np.array(wanted), codegen.np.array([])), 100, 100)
    assert found.values.tolist() == sorted(reached)
