"""Plain `range` loops of many iterations, which are staged once, and the closed forms of what they compute."""

import math

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec
from tests.programs.record import Program


@rose.jit
def weighted_sum(x: Vec["n"]) -> float:
    """The index as a real, and a start that widens."""
    total = 0
    for i in range(len(x)):
        total += x[i] * i
    return total


@rose.jit
def rows_times(a: Mat["n", 3], b: Vec[3]) -> float:
    """A short loop inside, which is unrolled in the body."""
    total = 0.0
    for i in range(a.shape[0]):
        row = 0.0
        for j in range(len(b)):
            row += a[i, j] * b[j]
        total += row * row
    return total


@rose.jit
def pairs(x: Vec["n"]) -> float:
    """Bounds that change from iteration to iteration."""
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total += x[i] * x[j]
    return total


@rose.jit
def running_product(x: Vec["n"]) -> Vec["n"]:
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = y[i - 1] * x[i]
    return y


@rose.jit
def alternating(x: Vec["n"]) -> float:
    """The index decides, which the host would do."""
    total = 0.0
    for i in range(len(x)):
        if i % 2 == 0:
            total += x[i]
        else:
            total -= x[i]
    return total


@rose.jit
def square_root(a: float) -> float:
    """Newton's iteration, left when it stands still."""
    x = a
    for _ in range(100):
        step = (x * x - a) / (2 * x)
        x = x - step
        if abs(step) < 1e-12:
            break
    return x


@rose.jit
def first_above(x: Vec["n"], level: float) -> float:
    for i in range(len(x)):
        if x[i] > level:
            return x[i] * i
    return level


@rose.jit
def decayed(x: float, rate: float) -> float:
    """The time starts on the host."""
    t, y = 0.0, x
    for _ in range(80):
        y = y * (1.0 - rate)
        t = t + 1.0 * rate
    return y + t


@rose.jit
def fibonacci_of(x: float) -> float:
    a, b = 0.0, x
    for _ in range(64):
        a, b = b, a + b
    return a


@rose.jit
def turned(y: Vec[2], angle: float) -> Vec[2]:
    return np.array([y[0] * math.cos(angle) - y[1] * math.sin(angle), y[0] * math.sin(angle) + y[1] * math.cos(angle)])


@rose.jit
def turned_often(y: Vec[2], angle: float) -> Vec[2]:
    """An array that a decorated function makes anew."""
    for _ in range(64):
        y = turned(y, angle)
    return y


@rose.jit
def wave(u: Vec["n"]) -> Vec["n"]:
    """Two arrays that change names."""
    before, now = u, u * 0.5
    for _ in range(64):
        before, now = now, 1.5 * now - 0.56 * before
    return now


@rose.jit
def backwards(x: Vec["n"]) -> float:
    """Horner's rule."""
    y = 0.0
    for i in range(len(x) - 1, -1, -1):
        y = y * 0.5 + x[i]
    return y


_MANY = np.linspace(0.5, 1.5, 70)
_GRID = np.linspace(-1.0, 1.0, 210).reshape(70, 3)


def _wave(u):
    """The roots of z² = 1.5 z - 0.56 are 0.7 and 0.8; one step before the start it was `u`, then `u / 2`."""
    p = (0.8 - 0.5) / 0.1
    return u * (p * 0.7**64 * 0.7 + (1 - p) * 0.8**64 * 0.8)


PROGRAMS = [
    Program(weighted_sum, [(_MANY,)], lambda x: float(np.dot(x, np.arange(70))), exact=True),
    Program(rows_times, [(_GRID, np.array([0.5, -1.0, 2.0]))], lambda a, b: float(((a @ b) ** 2).sum())),
    Program(pairs, [(_MANY,)], lambda x: (x.sum() ** 2 - (x * x).sum()) / 2),
    Program(running_product, [(_MANY,)], lambda x: np.cumprod(x)),
    Program(alternating, [(_MANY,)], lambda x: float((x * (-1.0) ** np.arange(70)).sum())),
    Program(square_root, [(2.0,), (9.0,)], math.sqrt, lambda a: 0.5 / math.sqrt(a)),
    Program(first_above, [(_MANY, 0.7), (_MANY, 2.0)]),
    Program(decayed, [(2.0, 0.01)], lambda x, rate: x * (1 - rate) ** 80 + 80 * rate, lambda x, rate: (1 - rate) ** 80),
    Program(fibonacci_of, [(1.5,)], lambda x: 10610209857723 * x, lambda x: 10610209857723.0, differences=False),
    Program(
        turned_often,
        [(np.array([1.0, 0.5]), 0.02)],
        lambda y, angle: turned.__wrapped__(y, 64 * angle),
        exact=False,
    ),
    Program(wave, [(_MANY[:4],)], _wave),
    Program(backwards, [(_MANY,)], lambda x: float((x * 0.5 ** np.arange(70)).sum())),
]
