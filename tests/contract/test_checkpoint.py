"""`rose.checkpoint`: the same derivatives from less memory, and no effect twice."""

import math
import pickle

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec, interp
from rosejit.text import parse, show
from tests.backends import flat, staged


def relax(x: float, a: float) -> float:
    for _ in rose.range(50):
        x = x + 0.01 * math.sin(x * a)
    return x


recomputed_relax = rose.checkpoint(relax)


def over_time(step):
    @rose.jit
    def total(x: float, a: float) -> float:
        for _ in rose.range(40):
            x = step(x, a) - 0.1
        return x * x

    return total


kept, recomputed = over_time(rose.jit(relax)), over_time(recomputed_relax)


def stacked_rows(f, *args):
    counters = interp.Counters()
    interp.run(*staged(f, args), counters)
    return counters.stacked


def test_the_same_derivatives():
    point = (0.3, 1.1)
    assert recomputed(*point) == kept(*point)
    for derivative in (lambda f: rose.grad(f, (0, 1)), lambda f: rose.hessian(f, (0, 1))):
        again, once = (list(flat(derivative(f)(*point))) for f in (recomputed, kept))
        assert again == pytest.approx(once, rel=1e-13)  # terms are added in another order
    assert rose.jvp(recomputed, point, (1.0, 0.5)) == rose.jvp(kept, point, (1.0, 0.5))
    rose.check_grads(lambda x: recomputed(x, 2 * x), (0.3,), order=3)


def test_memory_is_that_of_the_arguments_and_of_one_run():
    plain, again = (rose.grad(f, (0, 1)).lower(0.3, 1.1).cost().tape_bytes for f in (kept, recomputed))
    assert plain >= 40 * 50 * 8
    assert again <= 3 * (40 + 50) * 8
    first, second = (stacked_rows(rose.grad(f, (0, 1)), 0.3, 1.1) for f in (kept, recomputed))
    assert second <= first + 3 * 40  # each iteration keeps its own once, and the arguments


def test_arrays_that_change_are_copied():
    @rose.checkpoint
    def product(w: Vec["n"]) -> float:
        p = 1.0
        for i in rose.range(len(w)):
            p *= w[i]
        return p

    @rose.jit
    def changing(y: Vec["n"]) -> float:
        w, total = y.copy(), 0.0
        for t in rose.range(len(y)):
            total += product(w)
            w[t] = w[t] * w[t]
        return total

    rose.check_grads(changing, (np.linspace(0.5, 1.5, 4),), order=2)


def test_effects_happen_once():
    seen = []

    @rose.opaque
    def note(x: float) -> float:
        seen.append(x)
        return math.exp(x)

    @note.jvp
    def _(x: rose.Dual) -> rose.Dual:
        y = note(x.re)
        return rose.Dual(y, y * x.du)

    def noisy(x: float, n: int) -> float:
        total = 0.0
        for i in rose.range(n):
            if x > 0.5:
                total += note(0.1 * x * i) * x
            else:
                print("small", i)
            x = x * 0.9
        while note(x) > 1.2:
            x = x * 0.7
            total += x * x
        return total

    once = rose.grad(noisy)(0.8, 6)
    expected = list(seen)
    seen.clear()
    assert rose.grad(rose.checkpoint(noisy))(0.8, 6) == once
    assert seen == expected
    rose.check_grads(rose.checkpoint(lambda x: noisy(x, 6)), (0.8,), order=2)


def test_a_run_that_prints_prints_once(capfd):
    @rose.checkpoint
    def shown(x: float) -> float:
        if x > 0.0:
            print("x is", x)
        return x * x

    assert rose.grad(shown)(3.0) == 6.0
    assert capfd.readouterr().out == "x is 3.0\n"


def test_nothing_is_checked_away():
    @rose.checkpoint
    def guarded(x: float, k: int) -> float:
        assert k < 3, f"{k} is too large"
        return x**2 * k

    assert rose.grad(guarded)(3.0, 2) == 12.0
    with pytest.raises(rose.RoseAssertionError, match="5 is too large"):
        rose.grad(guarded)(3.0, 5)


def test_of_any_function():
    assert rose.grad(rose.checkpoint(lambda x: x * x))(3.0) == 6.0
    assert rose.checkpoint(rose.grad(lambda x: x * x))(3.0) == 6.0
    assert rose.grad(rose.checkpoint(rose.grad(lambda x: x * x * x)))(3.0) == 18.0
    assert rose.grad(rose.checkpoint(lambda p: p["x"] * p["y"][0]))({"x": 2.0, "y": (3.0, 1.0)})["x"] == 3.0
    np.testing.assert_allclose(rose.vmap(rose.grad(recomputed_relax), (0, None))(np.array([0.3]), 1.1)[0],
                               rose.grad(relax)(0.3, 1.1))  # fmt: skip
    assert pickle.loads(pickle.dumps(recomputed_relax))(0.3, 1.1) == relax(0.3, 1.1)


def test_its_text_reads_back():
    text = show(staged(recomputed, (0.3, 1.1))[0])
    assert "checkpoint def checkpoint_relax(" in text
    assert show(parse(text)) == text
