"""How time and linear memory of reverse passes grow with the number of iterations of a loop: both must be linear.

`product`: `y[i] = y[i - 1] * x[i]`, value and pullback. `calls`: `s += g(x, i)` with `g` decorated, where cotangents of
the array must be added to in place; its gradient, and the gradient of the sum of that (reverse over reverse).
"""

import gc
import math
import os
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

import rosejit as rose
from benchmarks.measure import Table, once, options, per_call
from rosejit import Vec
from rosejit.runtime import engine


@rose.jit
def product(x: Vec["n"]) -> Vec["n"]:
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in rose.range(1, len(x)):
        y[i] = y[i - 1] * x[i]
    return y


@rose.jit
def g(x: Vec["n"], i: int) -> float:
    return x[i] * x[i] * x[i]


@rose.jit
def total(x: Vec["n"]) -> float:
    s = 0.0
    for i in rose.range(len(x)):
        s += g(x, i)
    return s


@rose.jit
def slope(x: Vec["n"]) -> float:
    dx = rose.grad(total)(x)
    s = 0.0
    for i in rose.range(len(x)):
        s += dx[i]
    return s


def reverse_of_product(x: Any) -> Any:
    y, pullback = rose.vjp(product, x)
    ct = np.zeros(len(x))
    ct[-1] = 1.0
    (ct_x,) = pullback(ct)
    return ct_x * x / y[-1]  # ones


Case = tuple[str, int, Callable[[Any], Any], Callable[[Any], Any]]

gradient, curvature = rose.grad(total), rose.grad(slope)
CASES: list[Case] = [
    ("product", 1, reverse_of_product, np.ones_like),
    ("calls", 1, gradient, lambda x: 3 * x * x),
    ("calls", 2, curvature, lambda x: 6 * x),
]


@contextmanager
def instances() -> Iterator["weakref.WeakSet[Any]"]:
    """The engine's instances that are made meanwhile."""
    found: weakref.WeakSet[Any] = weakref.WeakSet()
    original = engine.NativeModule.instantiate

    def noted(module: engine.NativeModule) -> Any:
        made = original(module)
        found.add(made)
        return made

    with patch.object(engine.NativeModule, "instantiate", noted):
        yield found


def main() -> None:
    """The table; `exponent` is that of n in the time since the row above."""
    given = options(__doc__ or "", sizes=[10_000, 100_000, 1_000_000], calls=[1_000, 10_000, 100_000])
    columns = {
        "case": "", "order": "", "n": ",", "first ms": ".1f", "ms": ".3f", "ns/turn": ".2f",
        "exponent": ".2f", "MiB": ".2f", "bytes/turn": ".1f", "error": ".0e",
    }  # fmt: skip
    table = Table("growth", "reverse passes of loops (ms of CPU; linear memory after many calls)", columns)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROSE_CACHE_DIR"] = folder
        for name, order, run, exact in CASES:
            rows_for(table, name, order, run, exact, given.sizes if name == "product" else given.calls)
    table.finish(given.json)


def rows_for(
    table: Table, name: str, order: int, run: Callable[[Any], Any], exact: Callable[[Any], Any], sizes: list[int]
) -> None:
    """One row a size."""
    before: tuple[int, float] | None = None
    for n in sizes:
        x = 1.0 + 1e-3 * np.sin(np.arange(float(n)))
        with instances() as made:
            first, found = once(lambda x=x: run(x))
            seconds = per_call(lambda x=x: run(x), batches=5)
            memory = sum(instance.memory.size() for instance in made)
        exponent = None if before is None else math.log(seconds / before[1]) / math.log(n / before[0])
        before = (n, seconds)
        table.add(
            case=name, order=str(order), n=n, exponent=exponent,
            error=float(np.max(np.abs(np.asarray(found) - exact(x)))),
            **{"first ms": 1e3 * first, "ms": 1e3 * seconds, "ns/turn": 1e9 * seconds / n},
            **{"MiB": memory / 2**20, "bytes/turn": memory / n},
        )  # fmt: skip
        del found
        gc.collect()


if __name__ == "__main__":
    main()
