"""A process that lives long: gradients of many functions that stay alive, of many that go again, and one function of
many shapes.

Linux gives a process 65,530 mappings; native code and its instances take four a function. `maps` and `mib` are of
the process at that point, `ms` is the CPU time of a function or shape, staged, compiled and called once.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import Table, options
from rosejit import Vec


def functions(count: int) -> Iterator[None]:
    """Gradients of functions that are all kept."""
    kept: list[Any] = []
    for k in range(count):
        kept.append(_gradient(k))
        yield


def dropped(count: int) -> Iterator[None]:
    """Gradients of functions that nobody keeps."""
    for k in range(count):
        _gradient(k)
        yield


def _gradient(k: int) -> Any:
    factor = float(k)

    @rose.jit(cache=False)
    def f(x: float) -> float:
        return x * x * factor

    gradient = rose.grad(f)
    assert gradient(2.0) == 4.0 * k
    return gradient


def shapes(count: int) -> Iterator[None]:
    """One function of vectors of every length."""

    @rose.jit(cache=False)
    def total(x: Vec["n"]) -> float:
        return np.sum(x * x)

    for n in range(1, count + 1):
        assert total(np.ones(n)) == n
        yield


def main() -> None:
    """The table."""
    given = options(__doc__ or "", functions=20_000, dropped=100_000, shapes=20_000, rows=5)
    columns = {"what": "", "count": ",.0f", "ms": ".2f", "maps": ",.0f", "mib": ",.0f"}
    table = Table("living", "a process that lives long (ms of CPU each)", columns)
    rows = ("functions", functions), ("dropped", dropped), ("shapes", shapes)
    for what, each in rows:
        count = getattr(given, what)
        start, step = time.process_time(), max(count // given.rows, 1)
        for k, _ in enumerate(each(count), 1):
            if k % step == 0:
                ms = 1e3 * (time.process_time() - start) / step
                maps = len(Path("/proc/self/maps").read_text().splitlines())
                pages = int(Path("/proc/self/statm").read_text().split()[1])
                table.add(what=what, count=k, ms=ms, maps=maps, mib=pages / 256)
                start = time.process_time()
    table.finish(given.json)


if __name__ == "__main__":
    main()
