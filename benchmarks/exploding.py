"""Loops as people type them: time to the first gradient by n, of plain `range` loops that fill NumPy arrays in place.

Each first gradient must be linear in the operations (the exponent that is fitted to `turns` and `first ms`); `of
rose.range` is its ratio to that of a twin which says `rose.range`. The `lists` rows are the same recurrence on nested
lists, which take no staged index.
"""

import inspect
import linecache
import math
import os
import re
import tempfile
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import Table, once, options, per_call
from benchmarks.plot import exponent, loglog


def warping(n: int) -> tuple[Callable[..., Any], tuple[Any, ...], int]:
    """The least of two neighbours plus a cost, through a table of (n + 1)²."""

    def f(x: float) -> float:
        R = np.zeros((n + 1, n + 1))
        for i in range(1, n + 1):
            for j in range(1, n + 1):
                R[i, j] = (x * i - j) ** 2 + min(R[i - 1, j], R[i, j - 1])
        return R[n, n]

    return f, (0.7,), n * n


def warping_lists(n: int) -> tuple[Callable[..., Any], tuple[Any, ...], int]:
    """`warping` on nested lists."""

    def f(x: float) -> float:
        R = [[0.0] * (n + 1) for _ in range(n + 1)]
        for i in range(1, n + 1):
            for j in range(1, n + 1):
                R[i][j] = (x * i - j) ** 2 + min(R[i - 1][j], R[i][j - 1])
        return R[n][n]

    return f, (0.7,), n * n


def american_option(n: int) -> tuple[Callable[..., Any], tuple[Any, ...], int]:
    """A put by a binomial tree of n steps, backwards in place."""

    def f(S: float, sigma: float) -> float:
        K, r, T = 100.0, 0.05, 1.0
        dt = T / n
        u = math.exp(sigma * math.sqrt(dt))
        d = 1.0 / u
        p = (math.exp(r * dt) - d) / (u - d)
        disc = math.exp(-r * dt)
        V = np.zeros(n + 1)
        for j in range(n + 1):
            V[j] = max(K - S * u**j * d ** (n - j), 0.0)
        for i in range(n - 1, -1, -1):
            for j in range(i + 1):
                hold = disc * (p * V[j + 1] + (1.0 - p) * V[j])
                V[j] = max(hold, K - S * u**j * d ** (i - j))
        return V[0]

    return f, (100.0, 0.2), n * n // 2


def soft_dtw(n: int) -> tuple[Callable[..., Any], tuple[Any, ...], int]:
    """Soft dynamic time warping of series of n and n - n // 8 points."""
    m = n - n // 8

    def f(x: Any, y: Any, gamma: float) -> float:
        R = np.full((n + 1, m + 1), 1e10)
        R[0, 0] = 0.0
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                cost = (x[i - 1] - y[j - 1]) ** 2
                a, b, c = R[i - 1, j], R[i, j - 1], R[i - 1, j - 1]
                least = min(a, b, c)
                total = math.exp((least - a) / gamma) + math.exp((least - b) / gamma) + math.exp((least - c) / gamma)
                R[i, j] = cost + least - gamma * math.log(total)
        return R[n, m]

    return f, (np.sin(np.arange(float(n))), np.cos(np.arange(float(m))), 0.5), n * m


def hidden_markov(n: int) -> tuple[Callable[..., Any], tuple[Any, ...], int]:
    """The log likelihood of n observations of five states, by the forward algorithm with log-sum-exp over an axis."""
    seen = (7 * np.arange(n) ** 2 + 3 * np.arange(n)) % 4

    def f(A: Any, B: Any, start: Any) -> float:
        alpha = start + B[:, seen[0]]
        for t in range(1, n):
            scores = alpha[:, None] + A
            top = np.max(scores, axis=0)
            alpha = top + np.log(np.sum(np.exp(scores - top), axis=0)) + B[:, seen[t]]
        top = np.max(alpha)
        return top + np.log(np.sum(np.exp(alpha - top)))

    rng = np.random.default_rng(1)
    return f, (np.log(rng.random((5, 5)) + 0.1), np.log(rng.random((5, 4)) + 0.1), np.log(np.ones(5) / 5)), 100 * n


def monte_carlo(n: int) -> tuple[Callable[..., Any], tuple[Any, ...], int]:
    """An Asian call over n paths of 50 steps whose noise is an argument."""

    def f(S0: float, sigma: float, z: Any) -> float:
        r, T, K, steps = 0.05, 1.0, 100.0, 50
        dt = T / steps
        payoff = 0.0
        for i in range(n):
            S = S0
            mean = 0.0
            for t in range(steps):
                S *= math.exp((r - 0.5 * sigma * sigma) * dt + sigma * math.sqrt(dt) * z[i, t])
                mean += S
            payoff += max(mean / steps - K, 0.0)
        return math.exp(-r * T) * payoff / n

    return f, (100.0, 0.2, np.random.default_rng(2).standard_normal((n, 50))), 50 * n


def renderer(n: int) -> tuple[Callable[..., Any], tuple[Any, ...], int]:
    """The mean brightness of a lit sphere before a chequered wall, through n x n pixels."""

    def f(cx: float, cy: float, radius: float) -> float:
        image = np.zeros((n, n))
        light = np.array([0.5, 0.7, -0.5])
        light = light / np.linalg.norm(light)
        eye, centre = np.array([0.0, 0.0, -1.0]), np.array([cx, cy, 1.0])
        for j in range(n):
            for i in range(n):
                d = np.array([(i + 0.5) / n - 0.5, (j + 0.5) / n - 0.5, 1.0])
                d = d / np.linalg.norm(d)
                away = eye - centre
                b = away @ d
                inside = b**2 - (away @ away - radius * radius)
                if inside > 0.0:
                    hit = eye + (-b - math.sqrt(inside)) * d
                    image[j, i] = max(0.0, (hit - centre) / radius @ light)
                else:
                    image[j, i] = 0.1 if (i // 2 + j // 2) % 2 == 0 else 0.3
        return image.mean()

    return f, (0.1, 0.05, 0.6), n * n


def extended_kalman(n: int) -> tuple[Callable[..., Any], tuple[Any, ...], int]:
    """The log likelihood of n angles of a pendulum, by an extended Kalman filter."""

    def f(q: float, r: float, seen: Any) -> float:
        x, P, dt, total = np.array([0.1, 0.0]), np.eye(2), 0.1, 0.0
        for k in range(n):
            F = np.array([[1.0, dt], [-dt * math.cos(x[0]), 1.0]])
            x = np.array([x[0] + dt * x[1], x[1] - dt * math.sin(x[0])])
            P = F @ P @ F.T + q * np.eye(2)
            H = np.array([[math.cos(x[0]), 0.0]])
            S = (H @ P @ H.T)[0, 0] + r
            K = (P @ H.T)[:, 0] / S
            e = seen[k] - math.sin(x[0])
            x = x + K * e
            P = (np.eye(2) - np.outer(K, H[0])) @ P
            total += 0.5 * (math.log(S) + e**2 / S)
        return total

    return f, (0.01, 0.1, np.sin(0.1 * np.arange(n))), n


Program = Callable[[int], tuple[Callable[..., Any], tuple[Any, ...], int]]

PROGRAMS: dict[str, tuple[Program, list[int]]] = {
    "warping": (warping, [10, 20, 40]),
    "warping, lists": (warping_lists, [10, 20, 40]),
    "American option": (american_option, [12, 25, 50]),
    "soft-DTW": (soft_dtw, [10, 20, 40]),
    "HMM": (hidden_markov, [20, 40, 80]),
    "Monte Carlo": (monte_carlo, [20, 60, 200, 2000]),
    "renderer": (renderer, [12, 24, 48]),
    "EKF": (extended_kalman, [50, 100, 200]),
}


def first_gradient(program: Program, n: int) -> tuple[float, Any, Callable[[], Any]]:
    """Seconds to the first gradient in all arguments, what it is, and the call again."""
    f, args, _ = program(n)
    gradient = rose.grad(rose.jit(cache=False)(f), tuple(range(len(args))))
    seconds, found = once(lambda: gradient(*args))
    return seconds, found, lambda: gradient(*args)


def twin(program: Program) -> Program:
    """The same program with `rose.range` for each `range` of a `for` statement."""
    source = textwrap.dedent(inspect.getsource(program)).replace("benchmarks.exploding.", "")
    text = re.sub(r"(?m)^( +for \w+ in )range\(", r"\1rose.range(", source)
    file = f"<twin of {program.__name__}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {**globals()}
    exec(compile(text, file, "exec"), scope)
    return scope[program.__name__]


def seconds_of_twin(program: Program, n: int) -> float:
    """Seconds to its first gradient; not a number where it is refused: lists take no staged index."""
    try:
        return first_gradient(twin(program), n)[0]
    except rose.RoseError:
        return math.nan


def main() -> None:
    """The table."""
    given = options(__doc__ or "", programs=";".join(PROGRAMS))
    columns = {"program": "", "n": ",", "turns": ",", "first ms": ".1f", "us/turn": ".1f", "call_us": ".1f"} | {
        "of rose.range": ".2f"
    }
    table = Table("exploding", "first gradients of plain loops over arrays (ms of CPU)", columns)
    series: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROSE_CACHE_DIR"] = folder
        first_gradient(warping, 3)
        for name in given.programs.split(";"):
            program, sizes = PROGRAMS[name]
            for n in sizes:
                turns = program(n)[2]
                seconds, _, again = first_gradient(program, n)
                table.add(
                    program=name, n=n, turns=turns, call_us=1e6 * per_call(again, batches=3),
                    **{
                        "first ms": 1e3 * seconds, "us/turn": 1e6 * seconds / turns,
                        "of rose.range": seconds / seconds_of_twin(program, n),
                    },
                )  # fmt: skip
                series.setdefault(name, []).append((turns, 1e3 * seconds))
    fits = ", ".join([f"{name} {exponent(line):.2f}" for name, line in series.items()])
    table.title = f"{table.title}; exponent in the turns: {fits}"
    loglog(table.name, table.title, "turns", "first ms", series)
    table.finish(given.json)


if __name__ == "__main__":
    main()
