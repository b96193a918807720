"""What addresses of 64 bits cost: the same programs with both, interleaved, medians of CPU time.

`python -m benchmarks.wide_memory`; with `--beyond` also a gradient that keeps 6.4 GB, and a sparse Jacobian
(GradBench's bundle adjustment, of the size of its largest inputs) whose arguments and results are 4.9 GB: these take
that much memory, and a minute each.
"""

import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.gradbench.task import functions
from benchmarks.gradbench_times import ba

ROUNDS = 15
BITS = ("32", "64")


def chain(x: rose.Vec["n"], count: int, step: float = 0.001) -> float:
    """Sines of a vector, again and again."""
    x = x.copy()
    for _ in rose.range(count):
        x = x + step * np.sin(x)
    return x.sum()


def stencil(u: rose.Mat["n", "n"], count: int) -> rose.Mat["n", "n"]:
    """Sweeps over a grid."""
    u = u.copy()
    for _ in rose.range(count):
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return u


def product(a: rose.Mat["n", "n"], b: rose.Mat["n", "n"]) -> rose.Mat["n", "n"]:
    """Of matrices."""
    return a @ b


def gather(x: rose.Vec["n"], k: rose.Array["m", int], count: int) -> float:
    """Elements that lie anywhere, indices tested."""
    total = 0.0
    for _ in rose.range(count):
        for i in rose.range(len(k)):
            total += x[k[i]]
    return total


def recurrence(x: rose.Vec["n"], count: int) -> float:
    """One load and one store an iteration, each needed by the next."""
    y = x.copy()
    for _ in rose.range(count):
        for i in rose.range(1, len(y)):
            y[i] = 0.5 * y[i - 1] + x[i]
    return y[-1]


def programs() -> dict[str, tuple[Callable[[Any], Any], tuple[Any, ...]]]:
    """What makes each of a decorator, and its arguments."""
    rng = np.random.default_rng(0)
    x, u, k = np.linspace(0.0, 1.0, 1000), rng.random((300, 300)), rng.integers(0, 100_000, 100_000)
    return {
        "chain": (lambda jit: jit(chain), (x, 1000)),
        "gradient of chain": (lambda jit: rose.grad(jit(chain)), (x, 1000)),
        "stencil": (lambda jit: jit(stencil), (u, 200)),
        "gradient of stencil": (lambda jit: rose.grad(jit(lambda u: stencil(u, 20).sum())), (u,)),
        "product": (lambda jit: jit(product), (u, u)),
        "gather": (lambda jit: jit(gather), (rng.random(100_000), k, 20)),
        "recurrence": (lambda jit: jit(recurrence), (x, 2000)),
    }


def seconds(f: Callable[..., Any], args: tuple[Any, ...]) -> float:
    """Of CPU time that a call takes."""
    start = time.process_time()
    f(*args)
    return time.process_time() - start


def compare(name: str, make: Callable[[Any], Any], args: tuple[Any, ...]) -> None:
    """Both, call by call."""
    made: list[Any] = []
    for bits in BITS:
        os.environ["ROSE_ADDRESS_BITS"] = bits
        made.append(make(rose.jit(cache=False, tier="best")))
        made[-1](*args)
    assert np.asarray(made[0](*args)).tobytes() == np.asarray(made[1](*args)).tobytes(), "other bits"
    times = [[seconds(f, args) for f in made] for _ in range(ROUNDS)]
    one, other = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"{name:20} {1e3 * one:8.2f} ms {1e3 * other:8.2f} ms   {other / one:.2f}", flush=True)


def beyond() -> None:
    """A tape of 6.4 GB, by a program that nobody has said so of."""
    os.environ.pop("ROSE_ADDRESS_BITS", None)
    x, count, step = np.linspace(0.0, 1.0, 1000), 800_000, 1e-6
    slope = rose.grad(rose.jit(cache=False)(chain))
    start = time.process_time()
    found = slope(x, count, step)
    took, peak = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    logs, y = np.zeros(len(x)), x.copy()
    for _ in range(count):
        logs += np.log1p(step * np.cos(y))
        y += step * np.sin(y)
    error = np.abs(np.log(found) - logs).max()
    print(f"gradient of {count:,} steps: {took:.1f} s, peak {peak:,} bytes, log of it as by hand to {error:.1e}")


PART = 500_000
"""Rows of a large result that are looked at at a time."""


def results_beyond(n: int = 1_936, m: int = 649_673, p: int = 9_000_000) -> None:
    """A Jacobian whose rows and columns are known, and whose numbers are those of any observation."""
    task = functions("ba")["jacobian"]
    args = task.arguments(ba(n, m, p))
    start = time.process_time()
    rows, columns, values = found = task.function(*args)
    took, peak = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    held = sum([array.nbytes for array in (*args, *found)])
    one = task.function(*task.arguments(ba(n, m, 1))).vals
    right = rows[0] == 0 and bool((values[30 * p :] == one[30]).all())
    for k in range(0, p, PART):
        i = np.arange(k, min(p, k + PART))
        reads = np.empty((len(i), 2, 15), int)
        reads[:, :, :11] = (11 * (i % n))[:, None, None] + np.arange(11)
        reads[:, :, 11:14] = (11 * n + 3 * (i % m))[:, None, None] + np.arange(3)
        reads[:, :, 14] = (11 * n + 3 * m + i)[:, None]
        right = right and bool((values[30 * k : 30 * (i[-1] + 1)].reshape(-1, 30) == one[:30]).all())
        right = right and np.array_equal(columns[30 * k : 30 * (i[-1] + 1)], reads.ravel())
        right = right and np.array_equal(columns[30 * p + i], 11 * n + 3 * m + i)
        right = right and np.array_equal(rows[2 * k + 1 : 2 * i[-1] + 3], 15 * np.arange(2 * k + 1, 2 * i[-1] + 3))
        right = right and np.array_equal(rows[2 * p + i + 1], 30 * p + i + 1)
    assert right, "the Jacobian is wrong"
    print(f"Jacobian of {p:,} observations: {took:.1f} s, {held:,} bytes in and out, peak {peak:,}, right")


if __name__ == "__main__":
    print(f"{'':20} {BITS[0]:>8} bits {BITS[1]:>8} bits  ratio")
    for name, (make, args) in programs().items():
        compare(name, make, args)
    if "--beyond" in sys.argv:
        results_beyond()
        beyond()
