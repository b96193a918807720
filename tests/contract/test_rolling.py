"""Plain `range` loops of many iterations: the same bits as unrolled, in modules whose size the length does not
change.
"""

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec
from rosejit.frontend.rolling import abstract_run
from tests.programs import rolled
from tests.programs.record import Program


def values(program: Program):
    rose.clear_caches()
    return [program.function(*call) for call in program.calls]


@pytest.mark.parametrize("program", rolled.PROGRAMS, ids=lambda program: program.name)
def test_values_are_those_of_unrolled_loops(program, monkeypatch):
    found, ops = values(program), len(program.function.lower(*program.calls[0]).ir)
    assert ops < 64
    monkeypatch.setattr(abstract_run, "FEWEST", 10**9)
    wanted = values(program)
    assert len(program.function.lower(*program.calls[0]).ir) >= 64
    for one, other in zip(found, wanted, strict=True):
        assert np.array_equal(np.asarray(one).view("int64"), np.asarray(other).view("int64"))
    rose.clear_caches()


def test_modules_do_not_grow_with_the_array():
    @rose.jit
    def f(x: Vec["n"]) -> float:
        total = 0.0
        for i in range(len(x)):
            total += x[i] * x[i]
        return total

    def module_bytes(g, n):
        return len(g.lower(np.ones(n)).wasm)

    for g in (f, rose.grad(f)):
        sizes = [module_bytes(g, 10**k) for k in (2, 4, 6)]
        assert max(sizes) - min(sizes) < 100  # longer numbers, and a long loop asks now and then whether to stop
    assert rose.grad(f)(np.full(100_000, 0.5)).sum() == 100_000.0
