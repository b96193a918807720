"""Mixed mode: the gradient that reverse mode gives, from less memory, and nothing is ever zero times infinity."""

import math

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec, interp
from rosejit.ir.types import REAL
from rosejit.ir.verify import verify_program
from rosejit.transforms.autodiff import mixed_mode
from rosejit.transforms.autodiff.derivative_programs import differentiable, gradient
from tests import random_ir
from tests.backends import flat, staged
from tests.programs import PROGRAMS


@pytest.fixture
def without(monkeypatch):
    """A function into its gradient in reverse mode alone."""

    def plain(f, args):
        monkeypatch.setattr(mixed_mode, "ENABLED", False)
        made = gradient(f, differentiable(f), value=True)
        f.derived.clear()
        monkeypatch.setattr(mixed_mode, "ENABLED", True)
        return list(flat(interp.run(made, args)))

    return plain


def check(f, args, plain):
    made = gradient(f, differentiable(f), value=True)
    verify_program(made)
    found, wanted = list(flat(interp.run(made, args))), plain
    scale = max([1.0, *[abs(v) for v in wanted if math.isfinite(v)]])
    for a, b in zip(found, wanted, strict=True):
        assert math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-13 * scale) or not math.isfinite(b)


@pytest.mark.parametrize("tested", PROGRAMS, ids=lambda tested: tested.name)
def test_programs(tested, without):
    f, args = staged(tested.function, tested.calls[0])
    if f.results[:1] == (REAL,) and any(differentiable(f)):
        check(f, args, without(f, args))


@pytest.mark.parametrize("seed", range(15))
def test_random_programs(seed, without):
    f, args = random_ir.sample(seed)
    if f.results[:1] == (REAL,) and any(differentiable(f)):
        check(f, args, without(f, args))


def kernel(x: float, w: float) -> float:
    a = math.sin(x * w) * x + math.exp(-x * x) * w
    b = math.sqrt(a * a + 1.0) * math.tanh(a * w)
    return b / (1.0 + b * b) + math.log(1.0 + a * a)


def total(kernel):
    return rose.jit(lambda x, w: rose.vmap(rose.jit(kernel))(x, w).sum())


X, W = np.linspace(0.1, 2.0, 40), np.linspace(1.0, 2.0, 40)


def squared(kernel):
    """What is differentiated last needs all sums first: its loops cannot be joined, so that residuals are kept."""
    inner = total(kernel)
    return rose.jit(lambda x, w: inner(x, w) ** 2)


def test_a_kernel_keeps_its_partial_derivatives(monkeypatch):
    found = rose.grad(squared(kernel), (0, 1))
    assert found.lower(X, W).cost().tape_bytes <= 40 * 8 * 3  # two of them, and the values that are summed
    monkeypatch.setattr(mixed_mode, "ENABLED", False)
    plain = rose.grad(squared(kernel), (0, 1))
    assert plain.lower(X, W).cost().tape_bytes >= 40 * 8 * 7
    for one, other in zip(found(X, W), plain(X, W), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)


def test_an_input_that_does_not_count_is_not_multiplied_by_infinity():
    def edge(x: float, w: float) -> float:
        root = math.sqrt(x)
        return root * 2.0 + math.sin(w) * math.cos(w) * math.exp(w)

    dx, dw = rose.grad(total(edge), (0, 1))(np.zeros(40), W)
    assert np.isinf(dx).all()
    np.testing.assert_allclose(dw, (np.cos(2 * W) + np.sin(2 * W) / 2) * np.exp(W))


def test_of_higher_order():
    slope = rose.grad(total(kernel))
    rose.check_grads(lambda x: slope(x, W), (X,), order=2)
    np.testing.assert_allclose(
        rose.hessian(total(kernel))(X, W).diagonal(), rose.vmap(rose.hessian(kernel))(X, W), rtol=1e-12
    )


def test_carried_numbers_are_inputs_too():
    @rose.jit
    def orbit(x: float, v: float, k: float, n: int) -> float:
        for _ in rose.range(n):
            a = -k * math.sin(x) * math.exp(-x * x) * math.cos(x)
            v = v + 0.01 * a
            x = x + 0.01 * v
        return x * v

    rose.check_grads(lambda x, v, k: orbit(x, v, k, 30), (0.3, 0.1, 1.5), order=2)


def test_rows_of_a_jacobian():
    @rose.jit
    def rows(x: Vec["n"]):
        return [math.sin(x[i]) * math.exp(x[i]) * math.cos(x[i]) for i in rose.range(len(x))]

    np.testing.assert_allclose(rose.jacrev(rows)(X), rose.jacfwd(rows)(X), rtol=1e-13)


def newton(a: float) -> float:
    y = a
    while abs(y * y - a) > 1e-12:
        y = 0.5 * (y + a / y)
    return y


def branching(t: float) -> float:
    if t > 0.5:
        return math.sin(t) * math.exp(t) * math.cos(t)
    s = 0.0
    for k in rose.range(10):
        s += math.sin(t * k) * t
    return s


def batch(f):
    return rose.jit(lambda x: rose.vmap(rose.jit(f))(x).sum())


def summed(f):
    @rose.jit
    def total(x: Vec["n"]) -> float:
        s = 1.0
        for i in rose.range(len(x)):
            s -= rose.jit(f)(x[i])
        return s * s

    return total


def repeated(f):
    @rose.jit
    def total(x: Vec["n"]) -> float:
        y = x[0]
        for _ in rose.range(len(x)):
            y = rose.jit(f)(y)
        return y * x[1]

    return total


@pytest.mark.parametrize("loop", [batch, summed, repeated])
@pytest.mark.parametrize("f", [newton, branching])
def test_one_input_and_any_control_flow(f, loop, monkeypatch):
    found = rose.grad(loop(f))
    forwards = found.lower(X)
    tape_bytes, shown = forwards.cost().tape_bytes, str(forwards.ir)  # derived when they are asked for
    monkeypatch.setattr(mixed_mode, "ENABLED", False)
    plain = rose.grad(loop(f))
    np.testing.assert_allclose(found(X), plain(X), rtol=1e-12, atol=1e-14)
    assert tape_bytes <= min(plain.lower(X).cost().tape_bytes, 40 * 8)
    assert "[*]" not in shown
    rose.check_grads(loop(f), (X[:5],), order=2)


def test_several_results_of_one_input():
    @rose.jit
    def both(x: Vec["n"]):
        ys, zs = rose.vmap(lambda t: (newton(t), branching(t)))(x)
        return (ys * zs).sum()

    np.testing.assert_allclose(rose.grad(both)(X), rose.jacfwd(both)(X), rtol=1e-11)


def test_effects_stay_in_order(capfd):
    @rose.jit
    def noisy(x: Vec["n"]) -> float:
        s = 0.0
        for i in rose.range(len(x)):
            if x[i] > 1.5:
                print(i)
                s += math.sin(x[i]) * math.exp(x[i]) * x[i]
        return s

    slopes = rose.grad(noisy)(X[-3:])
    np.testing.assert_allclose(slopes, [rose.grad(lambda t: math.sin(t) * math.exp(t) * t)(t) for t in X[-3:]])
    assert capfd.readouterr().out.split() == ["0", "1", "2"]
