"""A logistic likelihood of many rows and its gradient: `rose.sum_over` on one thread and on two, and all rows at once.

Each in a process of its own. Memory is how far the peak of the process (`getrusage`) rises above that of the data, in
the calls after a first one with few rows. `python -m benchmarks.row_sums [ROWS]` (10,000,000).
"""

import json
import math
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import process
from rosejit import Vec

BLOCK = 100_000


def surprise(weights: Vec[2], x: float, hit: float) -> float:
    """Minus the logarithm of the likelihood of one row."""
    z = weights[0] + weights[1] * x
    return max(z, 0.0) + math.log1p(math.exp(-abs(z))) - hit * z


def at_once(weights: Vec[2], x: Vec["n"], hit: Vec["n"]) -> float:
    return sum(surprise(weights, x[i], hit[i]) for i in rose.range(len(x)))


def vectors(weights: Vec[2], x: Vec["n"], hit: Vec["n"]) -> float:
    """The same in NumPy's words."""
    z = weights[0] + weights[1] * x
    return (np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))) - hit * z).sum()


WAYS: dict[str, Callable[[], Any]] = {
    "sum_over, one thread": lambda: rose.sum_over(surprise, over=("x", "hit"), rows=BLOCK),
    "sum_over, two threads": lambda: rose.sum_over(surprise, over=("x", "hit"), rows=BLOCK, threads=2),
    "all rows in a loop": lambda: at_once,
    "all rows as arrays": lambda: vectors,
}


def peak() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(way: str, rows: int) -> dict[str, Any]:
    """Seconds of value and gradient, after a call with few rows, and how far they raised the peak."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=rows)
    hit = (rng.random(rows) < 0.3).astype(float)
    weights, likelihood = np.array([0.1, 0.2]), rose.value_and_grad(WAYS[way]())
    likelihood(weights, x[: 2 * BLOCK], hit[: 2 * BLOCK])
    before, start, spent = peak(), time.perf_counter(), time.process_time()
    value, _ = likelihood(weights, x, hit)
    found = {"seconds": time.perf_counter() - start, "spent": time.process_time() - spent, "MB": peak() - before}
    z = weights[0] + weights[1] * x
    exact = float(np.logaddexp(0.0, z).sum() - hit @ z)
    return {**found, "off": abs(value / exact - 1.0)}


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    if len(sys.argv) > 2:
        print(json.dumps(measured(sys.argv[2], rows)))
        return
    print(f"{rows:,} rows: value and gradient; seconds, CPU seconds, MB above the data, relative difference from NumPy")
    for way in WAYS:
        found = process([sys.executable, "-m", "benchmarks.row_sums", str(rows), way])
        print(f"{way:24} {found['seconds']:8.3f} {found['spent']:8.3f} {found['MB']:8.0f} {found['off']:9.0e}")


if __name__ == "__main__":
    main()
