"""Derivatives are a small constant times the size of what they are derivatives of."""

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec
from tests.contract.costs import ops


@rose.jit
def product(x: Vec["n"]) -> float:
    y = x[0]
    for i in rose.unroll(range(1, len(x))):
        y = y * x[i]
    return y


def test_gradient_of_a_product_of_many_terms():
    ratios = []
    for n in (10, 100, 1000):
        x = np.ones(n)
        ratios.append(ops(rose.grad(product), x) / ops(product, x))
    assert max(ratios) <= 6
    assert max(ratios) <= 1.1 * min(ratios), ratios


def test_second_derivative_of_a_product_of_many_terms():
    ratios = []
    for n in (10, 100, 1000):
        x = np.ones(n)
        ratios.append(ops(rose.grad(lambda v: rose.grad(product)(v)[0]), x) / ops(product, x))
    assert max(ratios) <= 36
    assert max(ratios) <= 1.3 * min(ratios), ratios


def tower(depth):
    """Functions that each call the last one twice."""

    @rose.jit
    def lowest(x: float) -> float:
        return x * 0.5

    f = lowest
    for _ in range(depth):
        f = twice(f)
    return f


def twice(below):
    @rose.jit
    def level(x: float) -> float:
        return below(x) * 0.5 + below(0.5 * x)

    return level


def test_gradient_of_a_tower():
    sizes = {depth: (ops(tower(depth), 1.0), ops(rose.grad(tower(depth)), 1.0)) for depth in (5, 10, 20)}
    for whole, gradient in sizes.values():
        assert gradient <= 6 * whole
    for k in (0, 1):
        assert sizes[20][k] - sizes[10][k] == 2 * (sizes[10][k] - sizes[5][k]), sizes
    assert tower(20)(1.0) == pytest.approx(0.5)
    assert rose.grad(tower(20))(1.0) == pytest.approx(0.5)


def test_second_derivative_of_a_tower():
    found = [ops(rose.grad(rose.grad(tower(depth))), 1.0) for depth in (5, 10, 20)]
    assert found[2] - found[1] == 2 * (found[1] - found[0]), found


def test_a_loop_stays_a_loop():
    """The length of a `rose.range` loop is not in the size of the program."""

    @rose.jit
    def looped(x: Vec["n"]) -> float:
        y = 1.0
        for i in rose.range(len(x)):
            y = y * x[i]
        return y

    for f in (looped, rose.grad(looped), rose.hessian(looped)):
        assert ops(f, np.ones(10)) == ops(f, np.ones(1000))


def test_ten_thousand_operations_in_one_function():
    @rose.jit
    def long(x: float) -> float:
        y = x
        for k in rose.unroll(range(5000)):
            y = y * 0.999 + x * (k % 7)
        return y

    @rose.jit
    def short(x: float) -> float:
        y = x
        for k in rose.range(5000):
            y = y * 0.999 + x * (k % 7)
        return y

    assert long(1.5) == short(1.5)
    assert rose.grad(long)(1.5) == pytest.approx(rose.grad(short)(1.5), rel=1e-12)
    assert rose.grad(rose.grad(long))(1.5) == 0.0
