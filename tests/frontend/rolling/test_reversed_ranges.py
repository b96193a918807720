"""Loops over `reversed(range(...))` inside loops that are rolled."""

import warnings

import numpy as np
import pytest

import rosejit as rose
from rosejit.errors import UnrollWarning


def thomas(lower, diag, upper, rhs):
    n = len(rhs)
    c, d, x = np.empty(n), np.empty(n), np.empty(n)
    c[0], d[0] = upper[0] / diag[0], rhs[0] / diag[0]
    for i in range(1, n):
        m = diag[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / m
        d[i] = (rhs[i] - lower[i] * d[i - 1]) / m
    x[-1] = d[-1]
    for i in reversed(range(n - 1)):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


def heat(k, n=40):
    u = np.sin(np.linspace(0, np.pi, n))
    for _ in range(60):
        u = thomas(np.full(n, -k), np.full(n, 1 + 2 * k), np.full(n, -k), u)
    return u[5]


def several(k):
    t = 0.0
    for step in range(200):
        for j in reversed(range(2, 9)):
            t = t * 0.5 + k * j + step
        for j in reversed(range(9, 2, -3)):
            t = t * 0.5 + k * j
        for j in reversed(range(step % 3)):
            t = t * 0.25 + k * j
        for x in reversed([1.0, k, 2.0]):
            t = t * 0.9 + x
    return t


@pytest.mark.parametrize("f", [heat, several])
def test_backwards_inside_a_loop(f):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnrollWarning)
        assert rose.jit(f)(0.3) == f(0.3)
        assert rose.grad(f)(0.3) == pytest.approx((f(0.3 + 1e-6) - f(0.3 - 1e-6)) / 2e-6, rel=1e-6)
