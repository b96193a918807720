"""Functions that host code makes alike, which call others, which call others: routines, once they are compiled."""

import math

import numpy as np

import rosejit as rose
from rosejit import Vec
from tests.programs.record import Program


@rose.jit
def root(x: float) -> float:
    return math.sqrt(x)


@root.jvp
def _(x: rose.Dual) -> rose.Dual:
    y = root(x.re)
    return rose.Dual(y, x.du * (0.5 / max(1e-5, y)))


@rose.jit
def norm(x: float, y: float) -> float:
    return root(x * x + y * y)


@rose.jit
def apart(x: float, y: float) -> tuple[float, float]:
    size = norm(x, y) + 0.5
    return x / size, y / size


def term(k):
    """How far two points are from being `k + 1` apart, looked at in a direction of its own."""

    @rose.jit
    def term(x: Vec["n"]) -> float:
        u, v = apart(x[k] - x[k + 2], x[k + 1] - x[k + 3])
        along = u * 0.8 + v * 0.6
        off = norm(x[k] - x[k + 2], x[k + 1] - x[k + 3]) - (k + 1.0)
        bent = along * along * 0.25 - math.sin(along * 0.5) * math.cos(v)
        return off * off + bent * bent + math.exp(-off * 0.1)

    return term


TERMS = [term(k) for k in range(4)]


@rose.jit
def energy(x: Vec["n"], weight: float) -> float:
    value, penalty = 0.0, 0.0
    for k in rose.unroll(range(4)):
        y = TERMS[k](x)
        value += y
        over = max(y - 1.0, 0.0)
        penalty += over * over
    return value + weight * penalty


@rose.jit
def least(x: Vec["n"]) -> float:
    found = TERMS[0](x)
    for k in rose.unroll(range(1, 4)):
        found = min(found, TERMS[k](x))
    return found * found


@rose.jit
def distances(x: Vec["n"]) -> float:
    total = 0.0
    for k in rose.unroll(range(5)):
        total = total + norm(x[k] - x[k + 1], x[k + 1] - x[k + 2]) * (k + 0.5)
    return total


A = np.array
POINTS = [(A([0.3, -1.2, 0.9, 2.1, -0.7, 0.4, 1.6]),), (A([2.0, 0.1, -0.4, 0.6, 1.1, -1.5, 0.2]),)]

PROGRAMS = (
    Program(energy, [(*p, 3.0) for p in POINTS]),
    Program(least, POINTS),
    Program(
        distances,
        POINTS,
        lambda x: sum((k + 0.5) * math.hypot(x[k] - x[k + 1], x[k + 1] - x[k + 2]) for k in range(5)),
    ),
)
