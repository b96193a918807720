"""Short loops of arithmetic, of which compiled code does several iterations at a time, in all the ways there are."""

import math

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec
from tests.programs.record import Program

X = np.array([0.5, -1.25, 0.75, 2.0, -0.5, 1.5, -2.25, 0.3, 1.1, -0.7, 0.9, 0.2, -1.6, 0.4, 1.3, -0.1, 0.8, 0.6, -0.9])
Y = np.linspace(-1.0, 1.5, 19)
A = np.outer(X, Y) + 0.25
P = np.stack([np.cos(X) + Y, np.sin(2.0 * X) - Y, X * Y], 1)


@rose.jit
def dot(x: Vec["n"], y: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(x)):
        total += x[i] * y[i]
    return total


@rose.jit
def matvec(a: Mat["n", "m"], x: Vec["m"]) -> Vec["n"]:
    y = np.zeros(len(a))
    for i in rose.range(len(a)):
        total = 0.0
        for j in rose.range(len(x)):
            total += a[i, j] * x[j]
        y[i] = total
    return y


@rose.jit
def products_of_matrices(a: Mat["n", "n"]) -> Mat["n", "n"]:
    c = np.zeros(a.shape)
    for i in rose.range(len(a)):
        for k in rose.range(len(a)):
            for j in rose.range(len(a)):
                c[i, j] += a[i, k] * a[k, j]
    return c


@rose.jit
def energy(p: Mat["n", 3], m: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(m)):
        for j in rose.range(i):
            dx, dy, dz = p[i, 0] - p[j, 0], p[i, 1] - p[j, 1], p[i, 2] - p[j, 2]
            total -= m[i] * m[j] / math.sqrt(dx * dx + dy * dy + dz * dz)
    return total


@rose.jit(fastmath=True)
def relaxed_energy(p: Mat["n", 3], m: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(m)):
        for j in rose.range(i):
            d = p[i] - p[j]
            total -= m[i] * m[j] / math.sqrt((d * d).sum())
    return total


@rose.jit
def running_product(x: Vec["n"]) -> Vec["n"]:
    y = np.zeros(len(x))
    product = 1.0
    for i in rose.range(len(x)):
        product *= x[i]
        y[i] = product
    return y


@rose.jit
def smoothed(x: Vec["n"]) -> Vec["n"]:
    y = x.copy()
    for i in rose.range(1, len(x) - 1):
        y[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1]
    return y


@rose.jit
def softened(x: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(x)):
        total += math.exp(x[i]) * i
    return math.log(total)


@rose.jit
def variance(x: Vec["n"]) -> float:
    return ((x - x.mean()) ** 2).mean()


@rose.jit
def residuals(a: Mat["n", "n"], x: Vec["n"]) -> float:
    r = a @ x - x
    return r @ r


@rose.jit(fastmath=True)
def relaxed(x: Vec["n"], y: Vec["n"], k: int) -> float:
    total = 1.0
    for i in rose.range(k):
        total += x[i] / y[i % 3] - x[i] * x[i]
    return total


PROGRAMS = [
    Program(dot, [(X, Y), (X[:3], Y[:3])], answer=lambda x, y: math.fsum(x * y)),
    Program(matvec, [(A, Y)], answer=lambda a, x: a @ x),
    Program(products_of_matrices, [(A[:6, :6],), (A[:5, :5],)], answer=lambda a: a @ a),
    Program(energy, [(P, Y * Y + 1.0)]),
    Program(relaxed_energy, [(P[:9], Y[:9] * Y[:9] + 1.0)], exact=False),
    Program(running_product, [(X,)], answer=np.cumprod),
    Program(smoothed, [(X,), (X[:7],)]),
    Program(softened, [(X,)], exact=False),
    Program(variance, [(X,), (X[:15],)], answer=lambda x: float(np.var(x)), exact=False),
    Program(residuals, [(A, X)], answer=lambda a, x: float((a @ x - x) @ (a @ x - x)), exact=False),
    Program(relaxed, [(X, Y, 19), (X, Y, 5), (X, Y, 0)], exact=False),
]
