"""The optimiser around the energies: Penrose's L-BFGS with a weight that grows, over value and gradient."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import rosejit as rose
from benchmarks.penrose.graphs import Flags, Floats, Stage
from rosejit import Mat, Vec

# Staged values are of no type that a checker knows.
# pyright: basic

Energy = Callable[[Floats, float, Flags, Flags], tuple[float, Floats]]

HISTORY = 17
TINY = 1e-11
WEIGHT = 1e3
CONVERGED = 1e-2
STILL = 1e-3
STEPS = 2_000
"""Steps of one round at most."""


@rose.jit
def direction(g: Vec["n"], s: Mat["m", "n"], y: Mat["m", "n"], count: int) -> Vec["n"]:
    """The inverse Hessian of the last `count` steps, oldest first, times `g`."""
    q = g.copy()
    factors = np.zeros(len(s))
    for k in rose.range(count):
        i = count - 1 - k
        factors[i] = np.dot(s[i], q) / (np.dot(y[i], s[i]) + TINY)
        q = q - factors[i] * y[i]
    if count > 0:
        q = q * (np.dot(s[count - 1], y[count - 1]) / (np.dot(y[count - 1], y[count - 1]) + TINY))
    for i in rose.range(count):
        q = q + (factors[i] - np.dot(y[i], q) / (np.dot(y[i], s[i]) + TINY)) * s[i]
    return q


class History:
    """The last steps and changes of the gradient; vectors are padded, so that few lengths are compiled."""

    def __init__(self, n: int) -> None:
        self.n = n
        width = max(16, 1 << (n - 1).bit_length()) if n else 1
        self.s, self.y = np.zeros((HISTORY, width)), np.zeros((HISTORY, width))
        self.g = np.zeros(width)
        self.count = 0

    def add(self, s: Floats, y: Floats) -> None:
        """A step and what the gradient changed by."""
        if self.count == HISTORY:
            self.s[:-1], self.y[:-1] = self.s[1:], self.y[1:]
            self.count -= 1
        self.s[self.count, : self.n], self.y[self.count, : self.n] = s, y
        self.count += 1

    def times(self, g: Floats) -> Floats:
        """Where to go, but for the sign."""
        if not self.count:
            return g
        self.g[: self.n] = g
        return direction(self.g, self.s, self.y, self.count)[: self.n]


@dataclass
class Problem:
    """One stage: what counts, what moves, and how often the energy was asked for."""

    energy: Energy
    stage: Stage
    moves: Floats
    calls: int = 0

    def at(self, x: Floats, weight: float) -> tuple[float, Floats]:
        """Energy and gradient; what is held fixed has none."""
        self.calls += 1
        value, gradient = self.energy(x, weight, self.stage.objectives, self.stage.constraints)
        return value, gradient * self.moves

    def search(self, x: Floats, weight: float, value: float, gradient: Floats, p: Floats) -> float:
        """How far to go along `-p`: Armijo and weak Wolfe by bisection."""
        slope = -float(gradient @ p)
        low, high, t = 0.0, np.inf, 1.0
        for _ in range(12):
            found, there = self.at(x - t * p, weight)
            along = -float(there @ p)
            if not (np.isfinite(found) and np.isfinite(along)) or found > value + 1e-3 * t * slope:
                high = t
            elif along < 0.9 * slope:
                low = t
            else:
                break
            t = (low + high) / 2 if high < np.inf else 2 * low
            if high - low < 1e-9:
                break
        return t

    def round(self, x: Floats, weight: float) -> tuple[Floats, float]:
        """Minimise for one weight."""
        history = History(len(x))
        before: tuple[Floats, Floats] | None = None
        value = np.inf
        for _ in range(STEPS):
            value, gradient = self.at(x, weight)
            if before is not None:
                history.add(x - before[0], gradient - before[1])
            p = history.times(gradient)
            size = float(gradient @ p)
            if not size >= CONVERGED:  # nan ends it too
                break
            t = self.search(x, weight, value, gradient, p)
            before = (x, gradient)
            x = x - t * p
        return x, value

    def run(self, x: Floats) -> tuple[Floats, float]:
        """All rounds of the stage."""
        weight, rounds = WEIGHT, 0
        value = np.inf
        while True:
            found, now = self.round(x, weight)
            rounds += 1
            moved, change = float(np.linalg.norm(found - x)), abs(now - value)
            x, last, value = found, value, now
            if not np.isfinite(value) or (rounds >= 3 and (moved < STILL or change < STILL * abs(last))) or rounds > 12:
                return x, value
            weight *= 10


def optimise(energy: Energy, x: Floats, stages: Sequence[tuple[Stage, Floats]]) -> tuple[Floats, float, int]:
    """All stages, each with what moves in it: the layout, its energy, and how often that was asked for."""
    value, calls = np.inf, 0
    for stage, moves in stages:
        problem = Problem(energy, stage, moves)
        x, value = problem.run(x)
        calls += problem.calls
    return x, value, calls
