"""`rose.disable_jit()` and ROSE_DISABLE_JIT: the reference interpreter gives the same results and the same errors."""

import math
import os
import subprocess
import sys
import threading
import traceback
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec
from rosejit.api.programs import compile_and_load
from rosejit.api.programs.interpreted import is_disabled
from tests.frontend.oracle import define
from tests.programs import PROGRAMS, rolled, structures
from tests.programs.arrays import PROGRAMS as ARRAYS

SOME = dict.fromkeys((*PROGRAMS[::15], *structures.PROGRAMS, *ARRAYS[::3], *rolled.PROGRAMS[:2]))


@pytest.fixture
def nothing_compiled(monkeypatch):
    def refuse(*args):
        raise AssertionError("something is compiled")

    monkeypatch.setattr(compile_and_load, "compile_roots", refuse)


@pytest.mark.parametrize("each", SOME, ids=lambda p: p.name)
def test_programs_give_the_same(each):
    call = each.calls[0]
    wanted = each.function(*call)
    with rose.disable_jit():
        found = each.function(*call)
    assert type(found) is type(wanted)
    np.testing.assert_equal(plain(found), plain(wanted))


def plain(value):
    """Structures as lists, with the names of their classes."""
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(plain, value)]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return [type(value).__name__, *map(plain, vars(value).values())]
    return value


@rose.jit
def f(x: float, v: Vec["n"], k: int = 2) -> float:
    total = 0.0
    for i in rose.range(len(v)):
        if v[i] > 0:
            total += math.sin(x * v[i]) ** k
    return total


V = np.array([0.5, -1.0, 2.0])


def test_nothing_is_compiled_and_defaults_and_keywords_hold(nothing_compiled):
    wanted = math.sin(0.35) ** 2 + math.sin(1.4) ** 2
    with rose.disable_jit():
        assert f(0.7, V) == pytest.approx(wanted, rel=1e-15)
        assert f(v=V, x=0.7, k=2) == f(0.7, [0.5, -1.0, 2.0])
        assert f(1, V, k=3) == f(1.0, V, 3)


def test_derivatives_of_every_kind(nothing_compiled):
    slope = math.sin(0.7) * 0.5 + math.sin(2.8) * 2.0
    with rose.disable_jit():
        assert rose.grad(f)(0.7, V) == pytest.approx(slope, rel=1e-14)
        value, gradient = rose.value_and_grad(f, argnums=(0, 1))(0.7, V)
        assert value == f(0.7, V)
        assert gradient[1].shape == (3,)
        assert rose.jvp(lambda x: f(x, V), (0.7,), (1.0,))[1] == pytest.approx(slope, rel=1e-14)
        y, pullback = rose.vjp(f, 0.7, V)
        assert y == value
        assert pullback(1.0)[0] == gradient[0]
        assert pullback(2.0)[0] == 2 * gradient[0]
        assert rose.linearize(f, 0.7, V)[1](1.0, np.zeros(3)) == pytest.approx(slope, rel=1e-14)
        assert rose.hessian(lambda x: x * x * x)(2.0) == 12.0
        assert rose.jacrev(lambda v: v * v)(V).tolist() == np.diag(2 * V).tolist()
        assert rose.grad(rose.grad(lambda x: x**4))(1.0) == 12.0


def test_before_and_after_code_is_compiled():
    before = f(0.3, V)
    fast = f.latest
    with rose.disable_jit():
        assert f(0.3, V) == before
        with rose.disable_jit():
            assert f(0.3, V) == before
        assert f.latest is not fast
    f(0.3, V)
    assert f.latest.__source__


def test_other_threads_go_on_with_compiled_code(monkeypatch):
    f(0.3, V)
    compiled = []
    inside, done = threading.Event(), threading.Event()
    interpreted = []
    run = rose.Function._other

    def noting(self, args, kwargs):
        (interpreted if is_disabled() else compiled).append(threading.current_thread().name)
        return run(self, args, kwargs)

    monkeypatch.setattr(rose.Function, "_other", noting)

    def work():
        inside.wait()
        f(0.3, V)
        done.set()

    thread = threading.Thread(target=work, name="other")
    thread.start()
    with rose.disable_jit():
        f(0.3, V)
        inside.set()
        done.wait()
    thread.join()
    assert compiled == ["other"]
    assert interpreted == ["MainThread"]


@rose.jit
def failing(v: Vec["n"], i: int) -> float:
    w = v * 2.0
    assert i != 7, f"seven is {i}"
    return w[i]  # the line


@pytest.mark.parametrize("i", [3, -4, 7])
def test_errors_are_the_same_with_the_users_lines(i):
    found = []
    for switch in (rose.disable_jit, threading.Lock):
        with switch(), pytest.raises((rose.RoseIndexError, rose.RoseAssertionError)) as info:
            failing(V, i)
        found.append((type(info.value), str(info.value), traceback.extract_tb(info.value.__traceback__)[-1].line))
    assert found[0] == found[1]
    with rose.disable_jit():
        assert failing(V, 1) == -2.0


class Pair(NamedTuple):
    a: float
    b: Vec[2]


@dataclass
class Both:
    x: float
    pairs: tuple[Pair, Pair]


def test_structures_out_and_captured_values():
    scale = np.array([1.0, 2.0])

    @rose.jit
    def g(b: Both) -> dict[str, float]:
        return {"sum": b.x + b.pairs[0].b[1] * scale[1], "first": b.pairs[1].a}

    @rose.jit
    def doubled(v: Vec["n"]) -> Vec["n"]:
        return v * 2.0 * scale[0]

    b = Both(1.0, (Pair(2.0, np.array([3.0, 4.0])), Pair(5.0, np.array([6.0, 7.0]))))
    out = np.zeros(3)
    with rose.disable_jit():
        assert g(b) == {"sum": 9.0, "first": 5.0}
        gradient = rose.grad(lambda b: g(b)["sum"])(b)
        assert type(gradient) is Both
        assert gradient.pairs[0].b.tolist() == [0.0, 2.0]
        assert doubled(V, out=out) is out
        assert out.tolist() == [1.0, -2.0, 4.0]
        scale[:] = 10.0
        assert g(b) == {"sum": 41.0, "first": 5.0}
        assert doubled(V).tolist() == [10.0, -20.0, 40.0]
        with pytest.raises(rose.ShapeError):
            doubled(V, out=np.zeros(2))


def test_restaging_happens_there_too(monkeypatch):
    scope = {"rose": rose, "k": 2.0}
    g = rose.jit(define("def g(x: float):\n    return x * k", **scope))
    with rose.disable_jit():
        assert g(3.0) == 6.0
        g.__wrapped__.__globals__["k"] = 5.0
        assert g(3.0) == 15.0


def test_the_environment_does_it_for_a_process():
    text = (
        "import rosejit as rose\n"
        "from rosejit.api.programs import compile_and_load\n"
        "compile_and_load.compile_roots = None\n"
        "import tests.contract.interpreted_sample as s\n"
        "print(s.cube(2.0), rose.grad(s.cube)(2.0))"
    )
    command = [sys.executable, "-c", text]
    environment = {**os.environ, "ROSE_DISABLE_JIT": "1"}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["8.0", "12.0"]


def test_effects_and_callbacks_happen_in_order(capsys):
    seen = []

    @rose.opaque
    def note(x: float) -> float:
        seen.append(x)
        return x + 1.0

    @rose.jit
    def g(m: Mat[2, 2]) -> float:
        total = 0.0
        for i in rose.range(2):
            print("row", i, m[i, 0])
            total += note(m[i, 0])
        return total

    with rose.disable_jit():
        assert g([[1.0, 2.0], [3.0, 4.0]]) == 6.0
    assert seen == [1.0, 3.0]
    assert capsys.readouterr().out == "row 0 1.0\nrow 1 3.0\n"
