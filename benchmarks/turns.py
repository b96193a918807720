"""How time and memory of loops without arrays grow with the number of iterations: flat forwards, linear in reverse.

`loop` counts to n, `while` runs until a value says so, `nested` has a `while` in each iteration of a `while`,
`recursion` calls itself. Order 0 is the value, 1 the gradient, 2 the gradient of that.
"""

import gc
import math
import os
import tempfile
from collections.abc import Callable
from typing import Any

import rosejit as rose
from benchmarks.growth import instances
from benchmarks.measure import Table, once, options, per_call


@rose.jit
def loop(x: float, n: int) -> float:
    for _ in rose.range(n):
        x = math.sin(x) + 0.5
    return x


@rose.jit
def turning(x: float, n: int) -> float:
    t = 0.0
    while t < n:
        x = math.sin(x) + 0.5
        t += 1.0
    return x


@rose.jit
def nested(x: float, n: int) -> float:
    k = 0
    while k < n:
        y = 8.0
        while y > 1.0:
            y *= 0.5
            x = math.sin(x) + 0.5
            k += 1
    return x


@rose.jit
def recursion(x: float, n: int) -> float:
    return x if n == 0 else recursion(math.sin(x) + 0.5, n - 1)


def main() -> None:
    """The table; memory is linear memory after many calls, `bytes/turn` what it is above that of one iteration."""
    given = options(__doc__ or "", sizes=[10_000, 100_000, 1_000_000], forward=[10_000, 1_000_000, 10_000_000])
    columns = {
        "case": "", "order": "", "n": ",", "ms": ".3f", "ns/turn": ".2f", "MiB": ".2f", "bytes/turn": ".1f",
        "error": ".0e",
    }  # fmt: skip
    table = Table("turns", "loops of scalars (ms of CPU; linear memory after many calls)", columns)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROSE_CACHE_DIR"] = folder
        for f in (loop, turning, nested):
            rows_for(table, f, given.forward, given.sizes)
        rows_for(table, recursion, [1_000, 10_000], [1_000, 10_000])
    table.finish(given.json)


def rows_for(table: Table, f: rose.Function, forward: list[int], sizes: list[int]) -> None:
    """The rows of one function."""
    for order, made, counts in ((0, f, forward), (1, rose.grad(f), sizes), (2, rose.grad(rose.grad(f)), sizes)):
        for n in counts:
            row(table, f.__name__, order, made, n)


def row(table: Table, name: str, order: int, f: Callable[..., Any], n: int) -> None:
    """One row: the time of a call, and what the instance that ran it has taken."""
    with instances() as made:
        found = once(lambda: f(0.3, n))[1]
        seconds = per_call(lambda: f(0.3, n), batches=3)
        memory = sum(instance.memory.size() for instance in made)
    rose.clear_caches()
    gc.collect()
    with instances() as made:
        f(0.3, 1)
        least = sum(instance.memory.size() for instance in made)
    rose.clear_caches()
    gc.collect()
    table.add(
        case=name, order=str(order), n=n, ms=1e3 * seconds, error=abs(found - known(n)[order]),
        **{"ns/turn": 1e9 * seconds / n, "MiB": memory / 2**20, "bytes/turn": (memory - least) / n},
    )  # fmt: skip


def known(n: int) -> tuple[float, float, float]:
    """Value, first and second derivative after n iterations, by the chain rule."""
    x, dx, ddx = 0.3, 1.0, 0.0
    for _ in range(n):
        x, dx, ddx = math.sin(x) + 0.5, math.cos(x) * dx, math.cos(x) * ddx - math.sin(x) * dx * dx
        if dx == 0.0 == ddx and n > 100_000:
            x = 1.4973003890958923  # where it has settled
            break
    return x, dx, ddx


if __name__ == "__main__":
    main()
