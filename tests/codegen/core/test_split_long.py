"""Long straight-line programs, and programs cut into the smallest parts."""

import random
import sys

import pytest

from rosejit import interp
from rosejit.codegen.core import emitter, module_builder, split_long
from rosejit.codegen.core.function_facts import Plan
from rosejit.codegen.program import functions
from rosejit.codegen.program.prebuilt_kernels import written_alone
from rosejit.ir.builder import Builder
from rosejit.ir.syntax import Call, Function, If, Let, Loop, MakeArray, Var, integer, real
from rosejit.ir.types import BOOL, INT, REAL, Array
from rosejit.ops import PRIMITIVES as P
from tests.codegen.machine import Machine, agrees, same
from tests.generate import random_arguments, random_function


def straight(n, seed=1, reach=20):
    """`n` operations on values that lie not far back."""
    rng = random.Random(seed)
    b = Builder()
    values = [Var(REAL, "x"), Var(REAL, "y")]
    params = tuple(values)
    for _ in range(n):
        op = rng.choice((P["add"], P["sub"], P["mul"], P["maximum"]))
        values.append(b.apply(op, rng.choice(values[-reach:]), rng.choice(values[-reach:])))
    return Function("f", params, (REAL, REAL), b.block(values[-1], values[-2]))


@pytest.mark.parametrize("n", [10, 500, 501, 502, 10_000])
@pytest.mark.parametrize("reach", [3, 100_000])
def test_straight_lines(n, reach):
    agrees(straight(n, reach=reach), (0.5, -0.25))


def test_a_hundred_thousand_operations():
    f = straight(100_000)
    machine = Machine(f)
    assert same(machine(0.5, 0.7), interp.run(f, (0.5, 0.7)))
    assert len(machine.artifact.wasm) < 8 * 100_000


def test_values_that_live_long():
    """As in reverse mode: what comes first is used last."""
    n = 3_000
    b = Builder()
    x = Var(REAL, "x")
    values = [x]
    for _ in range(n):
        values.append(b.apply(P["sub"], values[-1], b.apply(P["mul"], x, real(0.5))))
    total = values[-1]
    for v in reversed(values):
        total = b.apply(P["sub"], v, total)
    agrees(Function("f", (x,), (REAL,), b.block(total)), (1.25,))


def test_very_many_arguments_results_and_elements():
    n = 1_500
    b = Builder()
    params = tuple(Var((REAL, INT, BOOL)[k % 3], "p") for k in range(n))
    inner = Function("inner", params, tuple(p.type for p in params), b.block(*reversed(params[:3]), *params[3:]))
    inner.results = tuple(a.type for a in inner.body.results)
    b = Builder()
    outer = tuple(Var(p.type, "q") for p in params)
    found = b.bind_all(Call(inner, outer), inner.results)
    array = b.bind(MakeArray(tuple(v for v in found if v.type is REAL)), Array(n // 3, REAL))
    f = Function("f", outer, (*inner.results, Array(n // 3, REAL)), b.block(*found, array))
    args = tuple((k * 0.5, k, k % 2 == 0)[k % 3] for k in range(n))
    agrees(f, args)


def test_very_many_results_of_a_branch_and_carries_of_a_loop():
    n = 1_200
    c, params = Var(BOOL, "c"), tuple(Var(REAL, "p") for _ in range(n))

    def side(op):
        b = Builder()
        return b.block(*[b.apply(P[op], p, params[0]) for p in params])

    b = Builder()
    joined = b.bind_all(If(c, side("add"), side("mul")), (REAL,) * n)
    carries = tuple(Var(REAL, "c") for _ in range(n))
    body = Builder()
    index = Var(INT, "i")
    turned = body.block(*[body.apply(P["add"], v, carries[0]) for v in (*carries[1:], carries[0])])
    last = b.bind_all(Loop(integer(3), index, carries, joined, (), turned), (REAL,) * n)
    agrees(Function("f", (c, *params), (REAL,) * n, b.block(*last)), (True, *range(n)), (False, *range(n)))


@pytest.fixture(params=["10,5,2", "3,1,0"], ids=str)
def tiny_parts(request, monkeypatch):
    """As if functions of a few lets were long, and of two arguments many."""
    longest, chunk, short = map(int, request.param.split(","))
    for place in (split_long, emitter, functions):
        monkeypatch.setattr(place, "LONGEST", longest)
    for place in (split_long, emitter):
        monkeypatch.setattr(place, "CHUNK", chunk)
    monkeypatch.setattr(split_long, "SHORT", short)
    monkeypatch.setattr(module_builder, "MOST_PARAMS", 3)
    monkeypatch.setattr(module_builder, "MOST_RESULTS", 2)
    written_alone.cache_clear()
    yield
    written_alone.cache_clear()


def test_random_programs_in_tiny_parts(tiny_parts):
    for seed in range(60):
        rng = random.Random(seed)
        f = random_function(rng, 20)
        agrees(f, tuple(random_arguments(rng, f)))


def test_heavy_lets_are_parts_of_their_own():
    lets = [Let((), real) for real in range(6)]
    plan = Plan()
    plan.weights = {lets[2]: split_long.LONGEST + 1, lets[4]: split_long.CHUNK}
    assert split_long.segments(lets, plan) == [(0, 2), (2, 3), (3, 4), (4, 5), (5, 6)]


def test_deeply_nested_branches():
    """As `elif` chains are."""
    depth = 400
    x = Var(REAL, "x")

    def chain():
        block = Builder().block(real(-1.0))
        for k in reversed(range(depth)):
            b, then = Builder(), Builder()
            c = b.apply(P["lt"], x, real(float(k)))
            side = then.block(then.apply(P["mul"], x, real(float(k))))
            block = b.block(b.bind(If(c, side, block), REAL))
        return block

    limit = sys.getrecursionlimit()
    f = Function("f", (x,), (REAL,), chain())
    machine = Machine(f)
    for at in (-1.0, 0.5, 100.5, 1000.0):
        assert machine(at) == (next((at * k for k in range(depth) if at < k), -1.0),)
    assert sys.getrecursionlimit() == limit
