"""Problems of optimal control, transcribed: one text for rosejit's staged arrays and for CasADi's SX.

A problem is a vector `z`, an objective `f(z)`, constraints `g(z)` with their limits, and a start. `Tools` are what the
two differ in: a loop over intervals and an array to fill. Needs NumPy only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Tools:
    range: Callable[..., Any]
    zeros: Callable[[int], Any]


@dataclass
class Problem:
    f: Callable[[Any], Any]
    g: Callable[[Any], Any]
    start: Any
    low: Any
    high: Any
    lower: Any
    upper: Any


def runge_kutta(slope, x, u, h):
    """One step of the classic method of order four."""
    k1 = slope(x, u)
    k2 = slope([a + h / 2 * b for a, b in zip(x, k1, strict=True)], u)
    k3 = slope([a + h / 2 * b for a, b in zip(x, k2, strict=True)], u)
    k4 = slope([a + h * b for a, b in zip(x, k3, strict=True)], u)
    return [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(x, k1, k2, k3, k4, strict=True)]


def free(count):
    return np.full(count, -np.inf), np.full(count, np.inf)


def oscillator(x, u):
    """Van der Pol's, and the rate of the cost."""
    return [(1 - x[1] * x[1]) * x[0] - x[1] + u, x[0], x[0] * x[0] + x[1] * x[1] + u * u]


def van_der_pol_shooting(tools: Tools, n: int) -> Problem:
    """Multiple shooting over [0, 10], four steps an interval; z is (x0, x1, u) for each, the last state."""
    h = 10.0 / n / 4

    def interval(z, k):
        x, u = [z[3 * k], z[3 * k + 1], 0.0], z[3 * k + 2]
        for _ in range(4):
            x = runge_kutta(oscillator, x, u, h)
        return x

    def f(z):
        total = 0.0
        for k in tools.range(n):
            total += interval(z, k)[2]
        return total

    def g(z):
        out = tools.zeros(2 * n)
        for k in tools.range(n):
            x = interval(z, k)
            out[2 * k] = x[0] - z[3 * k + 3]
            out[2 * k + 1] = x[1] - z[3 * k + 4]
        return out

    low, high = free(3 * n + 2)
    low[1::3] = -0.25
    low[2::3], high[2::3] = -1.0, 1.0
    low[0] = high[0] = 0.0
    low[1] = high[1] = 1.0
    start = np.zeros(3 * n + 2)
    start[1] = 1.0
    return Problem(f, g, start, low, high, np.zeros(2 * n), np.zeros(2 * n))


def collocation(points):
    """For Lagrange polynomials through 0 and `points`: their slopes at the points, their values and integrals at 1."""
    nodes = np.append(0.0, points)
    polynomials = [np.poly1d(np.poly(np.delete(nodes, j))) for j in range(len(nodes))]
    polynomials = [p / p(t) for p, t in zip(polynomials, nodes, strict=True)]
    slopes = np.array([[p.deriv()(t) for t in points] for p in polynomials])
    return slopes, np.array([p(1.0) for p in polynomials]), np.array([p.integ()(1.0) for p in polynomials])


def van_der_pol_collocation(tools: Tools, n: int) -> Problem:
    """Three Gauss points an interval; z is (x0, x1, u) and the two states at each point for each, the last state."""
    points = (1 + np.polynomial.legendre.leggauss(3)[0]) / 2
    slopes, ends, weights = (each.tolist() for each in collocation(points))
    h, w = 10.0 / n, 9

    def states(z, k):
        return [[z[w * k], z[w * k + 1]], *[[z[w * k + 3 + 2 * j], z[w * k + 4 + 2 * j]] for j in range(3)]]

    def f(z):
        total = 0.0
        for k in tools.range(n):
            u, x = z[w * k + 2], states(z, k)
            total += h * sum(weights[j] * oscillator(x[j], u)[2] for j in range(1, 4))
        return total

    def g(z):
        out = tools.zeros(8 * n)
        for k in tools.range(n):
            u, x = z[w * k + 2], states(z, k)
            for j in range(3):
                rate = oscillator(x[j + 1], u)
                for i in range(2):
                    out[8 * k + 2 * j + i] = h * rate[i] - sum(slopes[r][j] * x[r][i] for r in range(4))
            for i in range(2):
                out[8 * k + 6 + i] = sum(ends[r] * x[r][i] for r in range(4)) - z[w * k + w + i]
        return out

    low, high = free(w * n + 2)
    for first in (1, 4, 6, 8):
        low[first::w] = -0.25
    low[2::w], high[2::w] = -1.0, 1.0
    low[0] = high[0] = 0.0
    low[1] = high[1] = 1.0
    start = np.zeros(w * n + 2)
    start[1] = 1.0
    return Problem(f, g, start, low, high, np.zeros(8 * n), np.zeros(8 * n))


def car(x, u):
    return [x[1], u - x[1]]


def race_car(tools: Tools, n: int) -> Problem:
    """The least time for a lap under a speed limit; z is (place, speed, throttle) for each interval, the last state and
    the time."""

    def f(z):
        return z[3 * n + 2]

    def g(z):
        out = tools.zeros(3 * n + 1)
        h = z[3 * n + 2] / n
        for k in tools.range(n):
            x = runge_kutta(car, [z[3 * k], z[3 * k + 1]], z[3 * k + 2], h)
            out[2 * k] = x[0] - z[3 * k + 3]
            out[2 * k + 1] = x[1] - z[3 * k + 4]
        for k in tools.range(n + 1):
            out[2 * n + k] = 1 - np.sin(2 * np.pi * z[3 * k]) / 2 - z[3 * k + 1]
        return out

    low, high = free(3 * n + 3)
    low[2:-3:3], high[2:-3:3] = 0.0, 1.0
    low[:2] = high[:2] = 0.0
    low[3 * n] = high[3 * n] = 1.0
    low[-1] = 0.0
    start = np.zeros(3 * n + 3)
    start[1::3] = 1.0
    start[-1] = 1.0
    return Problem(f, g, start, low, high, np.zeros(3 * n + 1), np.append(np.zeros(2 * n), np.full(n + 1, np.inf)))


def rocket(tools: Tools, n: int) -> Problem:
    """Single shooting: n thrusts, a hundred steps of Euler's method each, to height 10 at rest with least effort."""
    h = 10.0 / (100 * n)

    def f(z):
        total = 0.0
        for k in tools.range(n):
            total += z[k] * z[k]
        return total

    def g(z):
        height, speed, mass = 0.0, 0.0, 1.0
        for k in tools.range(n):
            u = z[k]
            for _ in tools.range(100):
                height += h * speed
                speed += h / mass * (u - 0.05 * speed * speed)
                mass += -h * 0.1 * u * u
        out = tools.zeros(2)
        out[0] = height
        out[1] = speed
        return out

    goal = np.array([10.0, 0.0])
    return Problem(f, g, np.full(n, 0.4), np.full(n, -10.0), np.full(n, 10.0), goal, goal)


def cart(x, u):
    """A pole of length 0.5 and mass 0.3 on a cart of mass 1; the state is place, angle and their rates."""
    s, c = np.sin(x[1]), np.cos(x[1])
    below = 1.0 + 0.3 * s * s
    return [
        x[2],
        x[3],
        (0.5 * 0.3 * s * x[3] * x[3] + u + 0.3 * 9.81 * c * s) / below,
        -(0.5 * 0.3 * c * s * x[3] * x[3] + u * c + 1.3 * 9.81 * s) / (0.5 * below),
    ]


def cart_pole(tools: Tools, n: int) -> Problem:
    """The swing-up in two seconds, by the trapezoidal rule; z is the state and the force at each of n + 1 points."""
    h, w = 2.0 / n, 5

    def f(z):
        total = 0.0
        for k in tools.range(n):
            total += h / 2 * (z[w * k + 4] * z[w * k + 4] + z[w * k + 9] * z[w * k + 9])
        return total

    def g(z):
        out = tools.zeros(4 * n)
        for k in tools.range(n):
            a, b = [z[w * k + i] for i in range(4)], [z[w * k + w + i] for i in range(4)]
            ra, rb = cart(a, z[w * k + 4]), cart(b, z[w * k + w + 4])
            for i in range(4):
                out[4 * k + i] = b[i] - a[i] - h / 2 * (ra[i] + rb[i])
        return out

    low, high = free(w * (n + 1))
    low[0::w], high[0::w], low[4::w], high[4::w] = -2.0, 2.0, -20.0, 20.0
    goal = np.array([1.0, np.pi, 0.0, 0.0])
    low[:4] = high[:4] = 0.0
    low[-w:-1] = high[-w:-1] = goal
    start = np.zeros((n + 1, w))
    start[:, :4] = np.linspace(0.0, 1.0, n + 1)[:, None] * goal
    return Problem(f, g, start.ravel(), low, high, np.zeros(4 * n), np.zeros(4 * n))


PROBLEMS = {
    "Van der Pol, shooting": (van_der_pol_shooting, 20),
    "Van der Pol, shooting, long": (van_der_pol_shooting, 500),
    "Van der Pol, collocation": (van_der_pol_collocation, 20),
    "race car": (race_car, 100),
    "race car, long": (race_car, 1000),
    "rocket": (rocket, 20),
    "cart-pole": (cart_pole, 100),
}
