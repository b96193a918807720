"""The budget of native code: what was not used for long goes, and is compiled again when it is called."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec
from rosejit.runtime.backend import current
from rosejit.runtime.residency.resident_code import free_instances, resident


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(resident, "MOST", 8)
    for code in list(resident._codes):
        code.unload()
    resident._made = 0


def scaled(k: float, tier: str = "auto") -> rose.Function:
    @rose.jit(cache=False, tier=tier)
    def f(x: float) -> float:
        return x * x * k

    return f


def living() -> int:
    return sum(map(free_instances, resident._codes))


@pytest.mark.parametrize("tier", ["fast", "best"])
def test_old_code_goes_and_comes_back(tier):
    functions = [scaled(float(k), tier) for k in range(60)]
    for _ in range(3):
        assert [f(2.0) for f in functions] == [4.0 * k for k in range(60)]
        assert living() <= 10 + 1
    gradients = [rose.grad(f) for f in functions]
    assert [g(3.0) for g in gradients] == [6.0 * k for k in range(60)]
    assert [g(3.0) for g in gradients] == [6.0 * k for k in range(60)]
    assert living() <= 10 + 1


def test_what_is_called_again_and_again_stays(monkeypatch):
    kept = scaled(0.5, "best")
    kept(1.0)
    module = next(code for code in resident._codes if free_instances(code))._module
    unloaded, others = [], []
    monkeypatch.setattr(type(module), "unload", lambda module: unloaded.append(module))
    for k in range(60):
        others.append(scaled(float(k), "best"))
        others[-1](1.0)
        assert kept(2.0) == 2.0
    assert len(unloaded) > 20
    assert module not in unloaded


def test_pullbacks_live_on():
    """What a pullback keeps is in the memory of its instance, which goes with it."""
    pullbacks = [rose.vjp(scaled(float(k)), 3.0)[1] for k in range(40)]
    assert [p(1.0) for p in pullbacks] == [(6.0 * k,) for k in range(40)]


def test_shapes():
    @rose.jit(cache=False)
    def total(x: Vec["n"]) -> float:
        return np.sum(x * x)

    for _ in range(2):
        assert [rose.grad(total)(np.ones(n)).sum() for n in range(1, 40)] == [2.0 * n for n in range(1, 40)]


def test_functions_that_call_themselves():
    @rose.jit(cache=False)
    def factorial(n: int) -> float:
        return 1.0 if n == 0 else n * factorial(n - 1)

    for k in range(40):
        assert factorial(5) == 120.0
        scaled(float(k))(1.0)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(factorial, [5] * 4)) == [120.0] * 4


def test_results_in_a_callers_hands_stay():
    """Arrays that were lent are the caller's, whatever becomes of the code."""

    @rose.jit(cache=False)
    def long(x: Vec["n"]) -> Vec["n"]:
        return x + 1.0

    found = long(np.zeros(1 << 20))
    for k in range(40):
        scaled(float(k))(1.0)
    assert found.sum() == 1 << 20


def test_threads():
    functions = [scaled(float(k)) for k in range(40)]
    faults = []

    def work() -> None:
        for _ in range(20):
            for k, f in enumerate(functions):
                if f(2.0) != 4.0 * k:
                    faults.append(k)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work) for _ in range(3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        sys.setswitchinterval(before)
    assert not faults


def test_a_refusal_of_the_engine_makes_room(monkeypatch):
    """An engine that has no more mappings is played: there is room when all that is free has gone."""
    functions = [scaled(float(k), "best") for k in range(6)]
    for f in functions:
        f(1.0)
    compile_ = type(current()).compile

    def refusing(self, artifact, hosts):
        if living():
            raise rose.WasmTrap("the engine refuses the module: Cannot allocate memory (os error 12)")
        return compile_(self, artifact, hosts)

    monkeypatch.setattr(type(current()), "compile", refusing)
    assert scaled(7.0, "best")(2.0) == 28.0
    assert [f(2.0) for f in functions] == [4.0 * k for k in range(6)]
