"""The programs a-h whose latency is measured: what is derived, where, and what must come out."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.straight_lines import INPUTS, random_program
from rosejit import Mat, Vec
from rosejit.abi import Tier

ANSCOMBE_X = np.array([10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0])
ANSCOMBE_Y = np.array([8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68])


@dataclass(frozen=True)
class Case:
    """`derive(tier)` is a new function to be called with `point`; `error` says how far a result of it is off."""

    name: str
    derive: Callable[[Tier], Callable[..., Any]]
    point: tuple[Any, ...]
    error: Callable[[Any], float]


def _jit(f: Callable[..., Any], tier: Tier) -> rose.Function:
    return rose.jit(tier=tier, cache=False)(f)


def _along(f: Callable[..., Any], gradient: Any, point: tuple[Any, ...], at: int = 0) -> float:
    """How far `gradient` is from a difference of `f` in one direction, relative."""
    x = np.asarray(point[at], dtype=float)
    v = np.cos(np.arange(x.size, dtype=float)).reshape(x.shape)
    h = 1e-6

    def value(t: float) -> float:
        return float(f(*point[:at], x + t * v, *point[at + 1 :]))

    slope = (value(h) - value(-h)) / (2 * h)
    return abs(float(np.sum(np.asarray(gradient) * v)) - slope) / max(1.0, abs(slope))


def power(x: float, y: float) -> float:
    return x**y


def line(b0: float, b1: float, x: Vec["n"], y: Vec["n"]) -> float:
    s = 0.0
    for i in rose.range(len(x)):
        s += (y[i] - b0 - b1 * x[i]) ** 2
    return s


def rosenbrock(x: Vec["n"]) -> float:
    s = 0.0
    for i in rose.range(len(x) - 1):
        s += 100.0 * (x[i + 1] - x[i] * x[i]) ** 2 + (1.0 - x[i]) ** 2
    return s


def rosenbrock_lines(x: Vec["n"]) -> float:
    s = 0.0
    for i in rose.unroll(range(len(x) - 1)):
        s += 100.0 * (x[i + 1] - x[i] * x[i]) ** 2 + (1.0 - x[i]) ** 2
    return s


def bodies(p: Mat["n", 3]) -> float:
    s = 0.0
    for i in rose.range(len(p)):
        for j in rose.range(i):
            dx, dy, dz = p[i, 0] - p[j, 0], p[i, 1] - p[j, 1], p[i, 2] - p[j, 2]
            s -= 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz + 0.01)
    return s


def newton(a: float) -> float:
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def predators(p: Vec[4]) -> float:
    a, b, c, d = p[0], p[1], p[2], p[3]
    x, y, h = 10.0, 5.0, 0.01
    for _ in rose.range(1_000):
        k1, l1 = x * (a - b * y), y * (d * x - c)
        u, v = x + 0.5 * h * k1, y + 0.5 * h * l1
        k2, l2 = u * (a - b * v), v * (d * u - c)
        u, v = x + 0.5 * h * k2, y + 0.5 * h * l2
        k3, l3 = u * (a - b * v), v * (d * u - c)
        u, v = x + h * k3, y + h * l3
        k4, l4 = u * (a - b * v), v * (d * u - c)
        x += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        y += h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4)
    return x * x + y * y


def determinant(m: Mat["n", "n"]) -> float:
    a, n, d = m.copy(), len(m), 1.0
    for k in rose.range(n):
        d *= a[k, k]
        for i in rose.range(k + 1, n):
            f = a[i, k] / a[k, k]
            for j in rose.range(k, n):
                a[i, j] -= f * a[k, j]
    return d


def cases() -> list[Case]:
    """All of them, small ones first."""
    two = math.log(2.0)
    wanted = [[12.0, 4.0 + 12.0 * two], [4.0 + 12.0 * two, 8.0 * two * two]]
    points = np.sin(1.0 + np.arange(60.0)).reshape(20, 3) * 3.0
    rates = np.array([1.5, 0.2, 1.2, 0.1])
    square = np.eye(30) * 2.0 + np.sin(np.arange(900.0)).reshape(30, 30) * 0.3
    residuals = ANSCOMBE_Y - 3.0 - 0.5 * ANSCOMBE_X
    sums = [-2.0 * float(np.sum(residuals)), -2.0 * float(np.sum(residuals * ANSCOMBE_X))]
    inverse = np.linalg.det(square) * np.linalg.inv(square).T
    anscombe = (3.0, 0.5, ANSCOMBE_X, ANSCOMBE_Y)
    found = [
        Case("a pow Hessian", lambda tier: rose.hessian(_jit(power, tier), (0, 1)), (2.0, 3.0), _far(wanted)),
        Case("b Anscombe", lambda tier: rose.grad(_jit(line, tier), (0, 1)), anscombe, _far(sums)),
    ]
    for n in (10, 100, 1_000):
        x = 1.0 + 0.3 * np.sin(np.arange(float(n)))
        for name, f in (("loop", rosenbrock), ("lines", rosenbrock_lines)):
            found.append(_gradient(f"c Rosenbrock {n} {name}", f, (x,), rosenbrock))
    for ops in (1_000, 5_000):
        found.append(_straight(ops))
    return [
        *found,
        _gradient("e n-body 20", bodies, (points,), bodies),
        Case("f Newton", lambda tier: rose.grad(_jit(newton, tier)), (2.0,), _far(0.5 / math.sqrt(2.0))),
        _gradient("g Lotka-Volterra", predators, (rates,), predators),
        Case("h determinant 30", lambda tier: rose.grad(_jit(determinant, tier)), (square,), _far(inverse)),
    ]


def _straight(ops: int) -> Case:
    program = random_program(ops)
    f = program.table()
    point = tuple(program.point)
    return Case(f"d straight {ops}", lambda tier: rose.grad(_jit(f, tier), tuple(range(INPUTS))), point, program.error)


def _far(wanted: Any) -> Callable[[Any], float]:
    scale = float(np.max(np.abs(wanted)))
    return lambda found: float(np.max(np.abs(np.asarray(found, dtype=float) - wanted))) / scale


def _gradient(name: str, f: Callable[..., Any], point: tuple[Any, ...], value: Callable[..., Any]) -> Case:
    plain = rose.jit(value)
    return Case(name, lambda tier: rose.grad(_jit(f, tier)), point, lambda found: _along(plain, found, point))
