"""Batches and recomputation in staged code."""

import math

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec
from tests.programs.record import Program


@rose.jit
def batch_of_scalars(xs: Vec["n"], gain: float):
    return rose.vmap(lambda x: math.sin(x) * gain)(xs)


@rose.jit
def batch_of_rows(a: Mat["n", "m"], v: Vec["m"]) -> float:
    products, norms = rose.vmap(lambda row, w: (row @ w, (row * row).sum()), in_axes=(0, None))(a, v)
    return (products * norms).sum()


@rose.jit
def batch_of_columns(a: Mat["n", "m"]):
    return rose.vmap(lambda column: column.sum() * column[0], in_axes=-1)(a)


@rose.jit
def batch_of_branches(xs: Vec["n"]):
    def root(x):
        y = x
        while abs(y * y - x) > 1e-14 * x:
            y = (y + x / y) / 2
        return y if x > 1.0 else x

    return rose.vmap(root)(xs)


@rose.jit
def batch_of_gradients(xs: Vec["n"]) -> float:
    slopes = rose.vmap(rose.grad(lambda x: x * math.exp(x)))(xs)
    return (slopes * slopes).sum()


@rose.checkpoint
def orbit(x: float, a: float) -> float:
    for _ in rose.range(5):
        x = a * x * (1.0 - x) if x < 0.9 else x - 0.5
    return x


@rose.jit
def recomputed_scalars(x: float, a: float) -> float:
    total = 0.0
    for i in rose.range(4):
        x = orbit(x, a)
        total += x * i
    return total


@rose.checkpoint
def smoothed(y: Vec["n"], k: int):
    z = y.copy()
    for i in rose.range(1, len(y)):
        z[i] = math.sin(z[i - 1]) * z[k] + y[i]
    return z


@rose.jit
def recomputed_arrays(y: Vec["n"]) -> float:
    w = y * 2.0
    for t in rose.range(3):
        w = smoothed(w, t)
        w[0] = w[0] + w[1]
    return w.sum()


@rose.jit
def recomputed_closure(x: float, n: int) -> float:
    scale = math.exp(-x)

    @rose.checkpoint
    def step(y):
        return math.cos(y * scale)

    y = x
    while n > 0:
        y = step(y)
        n -= 1
    return y


@rose.checkpoint
def tower(x: float, n: int) -> float:
    if n <= 0:
        return x
    return math.sin(tower(x, n - 1)) * x


@rose.jit
def few_snapshots(y: Vec["n"], a: float, steps: int) -> float:
    y = y.copy()
    for t in rose.range(steps, checkpoint=1, snapshots=2):
        a = a * math.cos(y[t % len(y)])
        y[0] = y[1] * a + math.sin(y[0])
    return (y * y).sum() + a


@rose.opaque
def measured(x: float) -> float:
    return x * x + 1.0


@measured.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(measured(x.re), 2.0 * x.re * x.du)


@rose.checkpoint
def with_host_calls(x: float, n: int) -> float:
    total = 0.0
    for i in rose.range(n):
        if x > 0.5:
            total += measured(x * 0.1 * i) * x
        elif x > 0.45:
            total += x
        x = x * 0.9
    while measured(x) > 1.1:
        x = x * 0.7
        total += x * x
    return total


@rose.jit
def recomputed_effects(x: float, n: int) -> float:
    return with_host_calls(x, n) * with_host_calls(x + 0.1, n)


A = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
V = np.array([0.3, 0.7, 1.1])


PROGRAMS = [
    Program(batch_of_scalars, [(V, 2.0), (V[:1], -1.0)], lambda x, g: np.sin(x) * g, plain=False),
    Program(batch_of_rows, [(A, V)], lambda a, v: float(((a @ v) * (a * a).sum(axis=1)).sum()), plain=False),
    Program(batch_of_columns, [(A,)], lambda a: a.sum(axis=0) * a[0], plain=False),
    Program(batch_of_branches, [(V + 0.5,)], lambda x: np.where(x > 1, np.sqrt(x), x), plain=False),
    Program(batch_of_gradients, [(V,)], lambda x: float((((1 + x) * np.exp(x)) ** 2).sum()), plain=False),
    Program(recomputed_scalars, [(0.3, 2.5), (0.7, 3.1)]),
    Program(recomputed_arrays, [(V,)], exact=False),
    Program(recomputed_closure, [(0.5, 3), (0.5, 0)], exact=False),
    Program(tower, [(0.8, 3), (0.8, 0)], exact=False),
    Program(few_snapshots, [(V, 0.7, 5), (V, 0.7, 0)], exact=False),
    Program(with_host_calls, [(0.8, 6), (0.2, 2)]),
    Program(recomputed_effects, [(0.8, 6)]),
]
