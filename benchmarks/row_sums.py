"""A logistic likelihood of many rows and its gradient: `rose.sum_over` on one thread and on two, in processes, on a
Dask cluster, from a file, and all rows at once.

Each in a process of its own. Memory is how far the process (of workers: the largest) has risen above what it held with
the data, in the calls after a first one with few rows; pages of a mapped file do not count, the system takes them back.
`python -m benchmarks.row_sums [ROWS [WAY]]` (10,000,000): Dask where it is installed, `file` only if named, with the
columns in a file in TMPDIR that is deleted.
"""

import importlib.util
import math
import multiprocessing
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
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


OVER = ("x", "hit")
WAYS: dict[str, Callable[[], Any]] = {
    "sum_over, one thread": lambda: rose.sum_over(surprise, over=OVER, rows=BLOCK),
    "sum_over, two threads": lambda: rose.sum_over(surprise, over=OVER, rows=BLOCK, threads=2),
    "all rows in a loop": lambda: at_once,
    "all rows as arrays": lambda: vectors,
}
WORKERS = 2


@contextmanager
def processes() -> Iterator[Callable[..., Any]]:
    """The `map` of an executor with processes that are started afresh."""
    with ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn")) as pool:
        yield pool.map


@contextmanager
def dask() -> Iterator[Callable[..., Any]]:
    """The `map` of a Dask cluster on this machine."""
    from distributed import Client, LocalCluster  # pyright: ignore[reportMissingImports]

    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield lambda f, blocks: client.map(f, list(blocks), pure=False)


POOLS = {"sum_over, two processes": processes, "sum_over, Dask": dask}


@contextmanager
def columns(rows: int, folder: str | None) -> Iterator[tuple[Any, Any]]:
    """Two columns, in memory, or mapped from a file in a folder, and written there block by block."""
    rng = np.random.default_rng(0)
    if folder is None:
        yield rng.normal(size=rows), (rng.random(rows) < 0.3).astype(float)
        return
    with tempfile.TemporaryDirectory(dir=folder) as made:
        paths = [Path(made) / name for name in OVER]
        for path in paths:
            with path.open("wb") as file:
                for first in range(0, rows, 1_000_000):
                    count = min(1_000_000, rows - first)
                    drawn = rng.normal(size=count) if path is paths[0] else rng.random(count) < 0.3
                    file.write(drawn.astype(float).tobytes())
        x, hit = [np.memmap(path, float, "r") for path in paths]
        yield x, hit


class Peak:
    """The most memory of its own that a process has while this is open, in MB, looked at every few milliseconds."""

    def __enter__(self) -> "Peak":
        self.most, self.ended = 0.0, threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()

    def watch(self) -> None:
        while not self.ended.wait(0.002):
            self.most = max(self.most, own())


def own() -> float:
    """Memory of this process that belongs to no file, in MB."""
    text = Path("/proc/self/status").read_text()
    return int(text.partition("RssAnon:")[2].split()[0]) / 1024


def spent() -> float:
    """CPU seconds of this process and of those of its own that have ended."""
    times = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in times)


def measured(way: str, rows: int) -> dict[str, Any]:
    """Seconds of value and gradient, after a call with few rows, and how far they raised the peak."""
    weights = np.array([0.1, 0.2])
    with columns(rows, tempfile.gettempdir() if way == "file" else None) as (x, hit):
        if way in POOLS:
            with POOLS[way]() as workers:
                total = rose.sum_over(surprise, over=OVER, rows=10 * BLOCK, map=workers)
                found, value = timed(rose.value_and_grad(total), weights, x, hit, 20 * BLOCK)
        else:
            total = WAYS["sum_over, one thread" if way == "file" else way]()
            found, value = timed(rose.value_and_grad(total), weights, x, hit, 2 * BLOCK)
        exact = 0.0
        for first in range(0, rows, 1_000_000):
            z = weights[0] + weights[1] * x[first : first + 1_000_000]
            exact += float(np.logaddexp(0.0, z).sum() - hit[first : first + 1_000_000] @ z)
    return {**found, "off": abs(value / exact - 1.0)}


def timed(likelihood: Any, weights: Any, x: Any, hit: Any, few: int) -> tuple[dict[str, float], float]:
    """What a call takes, after one with few rows, and the value."""
    likelihood(weights, x[:few], hit[:few])
    before = own()
    with Peak() as peak:
        start, used = time.perf_counter(), spent()
        value, _ = likelihood(weights, x, hit)
        found = {"seconds": time.perf_counter() - start, "spent": spent() - used}
    return {**found, "MB": peak.most - before}, value


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    ways = [*WAYS, *POOLS] if len(sys.argv) < 3 else [sys.argv[2]]
    print(f"{rows:,} rows: value and gradient; seconds, CPU seconds here, MB above the data, difference from NumPy")
    for way in ways:
        if way == "sum_over, Dask" and not importlib.util.find_spec("distributed"):
            continue
        code = f"import json; from benchmarks import row_sums; print(json.dumps(row_sums.measured({way!r}, {rows})))"
        found = process([sys.executable, "-c", f"if __name__ == '__main__':\n {code}"])
        print(f"{way:24} {found['seconds']:8.3f} {found['spent']:8.3f} {found['MB']:8.0f} {found['off']:9.0e}")


if __name__ == "__main__":
    main()
