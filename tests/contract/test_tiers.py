"""`tier=`: large programs begin at once and get faster; nobody sees it but on the clock."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec
from rosejit.runtime import cache
from rosejit.runtime.residency import tiering

ROOT = Path(__file__).parent.parent.parent


def chain(tier, steps=1_000, **options):
    """A function of two numbers, large enough for two tiers."""

    @rose.jit(tier=tier, **options)
    def f(x: float, y: float) -> float:
        for k in rose.unroll(range(steps)):
            x, y = y - x * 0.5, x * 0.5 + y / (2.0 + k)
        return x * y

    return f


def test_the_tiers_give_the_same_bits():
    found = {}
    for tier in ("fast", "auto", "best"):
        gradient = rose.grad(chain(tier, cache=False), argnums=(0, 1))
        before = gradient(0.3, 0.7)
        assert tiering.wait(60)
        found[tier] = (before, gradient(0.3, 0.7))
    assert found["fast"] == found["auto"] == found["best"]
    assert found["fast"][0] == found["fast"][1]


def test_pullbacks_outlive_the_code_that_made_them():
    f = chain("auto", cache=False)
    y, pullback = rose.vjp(f, 0.3, 0.7)
    before = pullback(1.0)
    assert tiering.wait(60)
    again, other = rose.vjp(f, 0.3, 0.7)
    assert (again, other(1.0)) == (y, before)
    assert pullback(2.0) == (2.0 * before[0], 2.0 * before[1])


def test_a_batch_on_several_threads():
    f = chain("auto", cache=False)
    xs = np.linspace(0.0, 1.0, 9)
    batched = rose.vmap(f, in_axes=(0, None), threads=2)
    first = batched(xs, 0.5)
    assert tiering.wait(60)
    assert first.tolist() == batched(xs, 0.5).tolist() == [f(float(x), 0.5) for x in xs]


def test_errors_are_those_of_both():
    @rose.jit(tier="auto", cache=False)
    def f(v: Vec["n"], i: int) -> float:
        x = v[i]
        for k in rose.unroll(range(1_000)):
            x = x * 0.5 + k
        return x

    for _ in range(2):
        with pytest.raises(rose.RoseIndexError):
            f(np.zeros(3), 3)
        assert tiering.wait(60)
    assert f(np.zeros(3), 2) == f(np.zeros(3), 0)


def test_forgetting_while_it_is_compiled():
    f = chain("auto", cache=False)
    y = f(0.3, 0.7)
    f.cache_clear()
    assert f(0.3, 0.7) == y
    rose.clear_caches()
    assert tiering.wait(60)
    assert f(0.3, 0.7) == y


def test_the_disk_cache_serves_all_tiers(monkeypatch, tmp_path):
    monkeypatch.setenv("ROSE_CACHE_DIR", str(tmp_path))
    values = []
    for tier in ("fast", "auto", "best", "fast"):
        values.append(chain(tier)(0.3, 0.7))
        assert tiering.wait(60)
        assert cache.current().info().entries == 1
    assert len(set(values)) == 1


def test_final_code_goes_to_the_cache_that_has_the_first(monkeypatch, tmp_path):
    monkeypatch.setenv("ROSE_CACHE_DIR", str(tmp_path / "first"))
    chain("auto", 1_001)(0.3, 0.7)
    monkeypatch.setenv("ROSE_CACHE_DIR", str(tmp_path / "second"))
    assert tiering.wait(60)
    assert cache.current().info().entries == 0


def prints(code: str) -> str:
    """What a program prints that imports this file; it must end well, and in time."""
    text = f"from tests.contract.test_tiers import chain\n{textwrap.dedent(code)}"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_a_process_may_end_while_code_is_made():
    assert prints("print(chain('auto', 8_000, cache=False)(0.0, 0.0))") == "0.0"


def test_the_child_of_a_fork_goes_on_by_itself():
    code = """
        import os, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # threads and fork
        from rosejit.runtime.residency import tiering
        f = chain("auto", 4_000, cache=False)
        y = f(0.3, 0.7)
        child = os.fork()
        if not child:
            right = f(0.3, 0.7) == y
            os._exit(0 if right and tiering.wait(50) and f(0.3, 0.7) == y else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), tiering.wait(50), f(0.3, 0.7) == y)
    """
    assert prints(code) == "0 True True"
