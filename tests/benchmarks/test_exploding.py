"""First gradients of loops over arrays: linear in the operations, counted in calls of Python functions."""

import cProfile

import numpy as np
import pytest

import rosejit as rose
from benchmarks.exploding import PROGRAMS, first_gradient
from rosejit.frontend.rolling import abstract_run

SIZES = {
    "warping": (6, 12, 24), "warping, lists": (6, 12, 24), "American option": (8, 16, 32),
    "soft-DTW": (4, 8, 16), "HMM": (2, 4, 8), "Monte Carlo": (3, 6, 12),
    "renderer": (3, 5, 7), "EKF": (4, 8, 16),
}  # fmt: skip


def calls(program, n):
    """How many functions the first gradient calls."""
    rose.clear_caches()
    profile = cProfile.Profile()
    with profile:
        first_gradient(program, n)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.usefixtures("never_rerolled")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_first_gradient_of_an_unrolled_loop_is_linear_in_its_operations(name, monkeypatch):
    monkeypatch.setattr(abstract_run, "FEWEST", 10**9)
    program, sizes = PROGRAMS[name][0], SIZES[name]
    first_gradient(program, 2)
    least, middle, most = (calls(program, n) for n in sizes)
    turns = [program(n)[2] for n in sizes]
    early, late = (middle - least) / (turns[1] - turns[0]), (most - middle) / (turns[2] - turns[1])
    assert late < 1.5 * early  # 4, or 2, where it is quadratic


@pytest.mark.parametrize("name", PROGRAMS)
def test_rolled_or_not_the_values_are_those_of_python(name, monkeypatch):
    program = PROGRAMS[name][0]
    for n in (9, 20 if name == "renderer" else 36):  # that has n * n turns
        f, args, _ = program(n)
        wanted = f(*args)
        made = rose.jit(cache=False)(f)
        assert made(*args) == pytest.approx(wanted, rel=1e-13)
        gradients = [np.asarray(d) for d in rose.grad(made, tuple(range(len(args))))(*args)]
        monkeypatch.setattr(abstract_run, "FEWEST", 10**9 if n < 20 else 2)
        other = rose.grad(rose.jit(cache=False)(f), tuple(range(len(args))))(*args)
        for one, two in zip(gradients, other, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)
        monkeypatch.undo()
