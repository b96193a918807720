"""Plain `range` loops of many iterations: the same bits as unrolled, in modules whose size the length does not
change.
"""

import math

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec
from rosejit.frontend.rolling import abstract_run
from tests.programs import rolled
from tests.programs.record import Program

pytestmark = pytest.mark.usefixtures("never_rerolled")


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


def ekf(q: float, z: rose.Mat["n", 2]) -> float:
    """Jacobians of a helper and of a lambda; the state is known to the host at first."""
    x, P = np.array([1.0, 0.7]), np.eye(2)
    total = 0.0
    for t in range(len(z)):
        F = rose.jacobian(lambda s: np.array([s[0] + 0.1 * math.sin(s[1]), s[1] * q]))(x)
        x = np.array([x[0] + 0.1 * math.sin(x[1]), x[1] * q])
        P = F @ P @ F.T + np.eye(2) * 0.1
        K = P @ np.linalg.inv(P + np.eye(2))
        y = z[t] - squares(x)
        x = x + K @ rose.jacobian(squares)(x) @ y * 0.01
        total += y @ y
    return total


def squares(x):
    return np.array([x[0] * x[0], x[0] * x[1]])


def descent(a: Vec[3]) -> float:
    """A gradient of a function that stands in front of the loop, with its value."""

    def loss(w):
        return ((w - a) ** 2).sum()

    w, history = np.zeros(3), 0.0
    for _ in range(20):
        value, slope = rose.value_and_grad(loss)(w)
        w, history = w - 0.1 * slope, history + value
    return history


def root(a: float) -> float:
    """Newton's iteration for a cube root, from a number of the host."""
    x = 1.0
    for _ in range(20):
        x = x - (x * x * x - a) / rose.grad(lambda y: y * y * y - a)(x)
    return x


def walk(s: float, seed: int) -> float:
    """Draws of a generator that is made here."""
    rng = np.random.default_rng(seed)
    total = 0.0
    for _ in range(20):
        total = 0.9 * total + s * rng.standard_normal() + rng.normal(0.0, 1.0, size=3).sum()
    return total


@rose.jit
def error(slope: float, shift: float, x: Vec["n"]) -> float:
    return ((slope * x + shift - np.sin(x)) ** 2).sum()


def training(rate: float) -> float:
    """A gradient in two arguments, by a tuple of numbers."""
    slope, shift, x = 0.5, 0.1, np.linspace(0.0, 2.0, 7)
    for _ in range(20):
        by_slope, by_shift = rose.grad(error, argnums=(0, 1))(slope, shift, x)
        slope, shift = slope - rate * by_slope, shift - rate * by_shift
    return error(slope, shift, x)


def sampler(step: float, seed: int) -> float:
    """One of two arrays, after an `if` on a draw."""
    rng = np.random.default_rng(seed)
    q, total = np.array([0.5, 0.5]), 0.0
    for _ in range(20):
        new = q + step * rng.standard_normal(2)
        if math.log(rng.random()) < 0.5 * (q @ q - new @ new):
            q = new
        total += q[0] ** 2
    return total


CALLS = {ekf: (0.9, np.sin(np.arange(40.0)).reshape(20, 2)), descent: (np.arange(3.0),), root: (2.5,), walk: (0.3, 7)}
CALLS |= {training: (0.01,), sampler: (0.4, 3)}


@pytest.mark.parametrize("plain", CALLS, ids=lambda f: f.__name__)
def test_derivatives_and_draws_in_a_body_have_the_bits_of_unrolled_loops(plain, monkeypatch):
    found, args = [], CALLS[plain]
    for fewest in (10, 10**9):
        monkeypatch.setattr(abstract_run, "FEWEST", fewest)
        f = rose.jit(cache=False)(plain)
        slope = np.asarray(rose.grad(f)(*args))
        found.append((len(f.lower(*args).ir), np.float64(f(*args)).tobytes(), slope))
    assert 1.5 * found[0][0] < found[1][0]
    assert found[0][1] == found[1][1]
    np.testing.assert_allclose(found[0][2], found[1][2], rtol=1e-9)
