"""Comprehensions, which make arrays, and sums over `rose.range`, which stay loops."""

import math

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec
from tests.programs.record import Program


@rose.jit
def dot(x: Vec["n"], y: Vec["n"]) -> float:
    return sum(x[i] * y[i] for i in rose.range(len(x)))


@rose.jit
def squares(x: Vec["n"]) -> Vec["n"]:
    return [v * v + i for i, v in [(i, x[i]) for i in range(len(x))]]


@rose.jit
def mapped(x: Vec["n"], c: float) -> Vec["n"]:
    return [math.sin(x[i]) * c + i for i in rose.range(len(x))]


@rose.jit
def outer(x: Vec["n"], y: Vec["m"]) -> Mat["n", "m"]:
    return [[x[i] * y[j] for j in rose.range(len(y))] for i in rose.range(len(x))]


@rose.jit
def quadratic_form(a: Mat["n", "n"], x: Vec["n"]) -> float:
    return sum(x[i] * sum(a[i, j] * x[j] for j in rose.range(len(x))) for i in rose.range(len(x)))


@rose.jit
def double_sum(x: Vec["n"]) -> float:
    return sum(x[i] * x[j] for i in rose.range(len(x)) for j in rose.range(i))


@rose.jit
def variance(x: Vec["n"]) -> float:
    mean = sum(x[i] for i in rose.range(len(x))) / len(x)
    return sum((x[i] - mean) ** 2 for i in rose.range(len(x))) / len(x)


@rose.jit
def softmax(x: Vec["n"]) -> Vec["n"]:
    e = [math.exp(x[i]) for i in rose.range(len(x))]
    total = sum(e[i] for i in rose.range(len(e)))
    return [e[i] / total for i in rose.range(len(e))]


@rose.jit
def energy(p: Mat["n", 2]) -> float:
    """Of charges that repel each other."""
    return sum(
        1.0 / math.sqrt((p[i, 0] - p[j, 0]) ** 2 + (p[i, 1] - p[j, 1]) ** 2)
        for i in rose.range(len(p))
        for j in rose.range(i + 1, len(p))
    )


@rose.jit
def positive_part(x: Vec["n"]) -> float:
    return sum(x[i] if x[i] > 0.0 else 0.0 for i in rose.range(len(x)))


@rose.jit
def filtered(x: Vec["n"]) -> float:
    return sum(x[i] * x[i] for i in rose.range(len(x)) if x[i] > 0.0)


@rose.jit
def started(x: Vec["n"], c: float) -> float:
    return sum((x[i] * c for i in rose.range(len(x))), c)


@rose.jit
def of_host_values(x: float, y: float) -> float:
    return sum([x, y, x * y]) + sum(k * x for k in range(4))


@rose.jit
def updated_afterwards(x: Vec["n"]) -> float:
    y = [v * 2.0 for v in x]
    z = [x[i] * 2.0 for i in rose.range(len(x))]
    z[0] = x[1] * z[0]
    y[0] = z[0]
    return z[0] * y[0] + z[1]


@rose.jit
def matrix_of_rows(x: Vec["n"]) -> Mat["n", "n"]:
    m = [[0.0 for _ in rose.range(len(x))] for _ in rose.range(len(x))]
    for i in rose.range(len(x)):
        m[i][i] = x[i] * x[i]
    return m


@rose.jit
def sum_in_loop(x: Vec["n"]) -> float:
    t = 1.0
    for i in rose.range(len(x)):
        t = t * sum(x[j] * t for j in rose.range(i + 1))
    return t


@rose.jit
def counted(x: Vec["n"], limit: float) -> int:
    return sum(1 for i in rose.range(len(x)) if x[i] < limit)


@rose.jit
def least_squares(x: Mat["n", "m"], y: Vec["n"], b0: float, b: Vec["m"]) -> float:
    total = 0.0
    for i in rose.range(len(y)):
        y_hat = b0
        for j in range(len(b)):
            y_hat += x[i, j] * b[j]
        total += (y[i] - y_hat) ** 2
    return total


A = np.array

PROGRAMS = (
    Program(dot, [(A([1.2, 0.7, 1.5]), A([0.8, 1.1, 0.6])), (A([], float), A([], float))], np.dot, lambda x, y: y),
    Program(squares, [(A([1.2, 0.7, 1.5]),)], lambda x: x * x + np.arange(3)),
    Program(mapped, [(A([1.2, 0.7, 1.5]), 2.0)], lambda x, c: np.sin(x) * c + np.arange(3), exact=False),
    Program(outer, [(A([1.2, 0.7]), A([0.8, 1.1, 0.6]))], np.outer),
    Program(
        quadratic_form,
        [(A([[1.2, 0.7], [0.3, -0.5]]), A([0.8, 1.1]))],
        lambda a, x: x @ a @ x,
        lambda a, x: np.outer(x, x),
    ),
    Program(double_sum, [(A([1.2, 0.7, 1.5, 0.9]),)], lambda x: (sum(x) ** 2 - sum(x * x)) / 2, lambda x: sum(x) - x),
    Program(
        variance, [(A([1.2, 0.7, 1.5, 0.9]),), (A([3.0]),)], np.var, lambda x: 2 * (x - x.mean()) / len(x), exact=False
    ),
    Program(
        softmax,
        [(A([1.2, 0.7, 1.5]),), (A([0.0, 0.0]),)],
        lambda x: 1 / np.exp(x[None, :] - x[:, None]).sum(1),
        exact=False,
    ),
    Program(energy, [(A([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]]),)], lambda p: 0.2 + 1 / 3 + 0.25, exact=False),
    Program(positive_part, [(A([1.2, -0.7, 1.5, -0.9]),)], lambda x: np.maximum(x, 0).sum(), lambda x: x > 0),
    Program(
        filtered,
        [(A([1.2, -0.7, 1.5, -0.9]),)],
        lambda x: (np.maximum(x, 0) ** 2).sum(),
        lambda x: 2 * np.maximum(x, 0),
    ),
    Program(started, [(A([1.2, -0.7, 1.5]), 2.0)], lambda x, c: c * (1 + x.sum()), lambda x, c: [c] * len(x)),
    Program(of_host_values, [(1.2, 0.7)], lambda x, y: 7 * x + y + x * y, lambda x, y: 7 + y),
    Program(
        updated_afterwards,
        [(A([1.2, 0.7]),)],
        lambda x: (2 * x[0] * x[1]) ** 2 + 2 * x[1],
        lambda x: [8 * x[0] * x[1] ** 2, 8 * x[0] ** 2 * x[1] + 2],
    ),
    Program(matrix_of_rows, [(A([1.2, 0.7]),)], lambda x: np.diag(x * x)),
    Program(sum_in_loop, [(A([1.2, 0.7, 1.5]),)], lambda x: np.prod(np.cumsum(x) ** 2.0 ** np.arange(len(x))[::-1])),
    Program(counted, [(A([1.2, -0.7, 1.5]), 1.3)], lambda x, limit: sum(x < limit)),
    Program(
        least_squares,
        [(A([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]]), A([1.0, 2.0, 3.0]), 0.5, A([0.3, -0.2]))],
        lambda x, y, b0, b: ((y - b0 - x @ b) ** 2).sum(),
        lambda x, y, b0, b: np.outer(-2 * (y - b0 - x @ b), b),
        exact=False,
    ),
)
