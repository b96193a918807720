"""What work costs as it grows: straight-line code, iterations of loops, orders of derivatives, threads, and the two
tiers.

Each row of `ops` and of `loops` is a process of its own, whose memory is read when it ends: `KiB/op` is what its peak
is above that of the smallest row. Times are CPU, but for threads and tiers, which are seconds on the wall.
"""

import math
import os
import statistics
import tempfile
import threading
import time
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import Row, Table, alone, once, options, per_call
from benchmarks.plot import exponent, loglog
from benchmarks.straight_lines import INPUTS, random_program
from rosejit import Vec
from rosejit.runtime.residency import tiering

OPS = """
import json, resource, sys, time
import rosejit as rose
from benchmarks.measure import per_call
from benchmarks.straight_lines import INPUTS, random_program
names = tuple(range(INPUTS))
warm = random_program(300)
rose.grad(rose.jit(tier="fast")(warm.table()), names)(*warm.point)
program = random_program(int(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
gradient = rose.grad(rose.jit(tier="fast")(program.table()), names)
start = time.process_time()
found = gradient(*program.point)
first = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
call = per_call(lambda: gradient(*program.point), batches=3)
print(json.dumps({"first": first, "call": call, "KiB": peak, "error": program.error(found)}))
"""

LOOPS = """
import json, math, resource, sys, time
import rosejit as rose
from benchmarks.measure import per_call
from benchmarks.turns import loop
gradient = rose.grad(loop)
gradient(0.3, 10)
n = int(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = gradient(0.3, n)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
call = per_call(lambda: gradient(0.3, n), batches=3)
x, slope = 0.3, 1.0
for _ in range(n):
    slope *= math.cos(x)
    x = math.sin(x) + 0.5
print(json.dumps({"call": call, "KiB": peak, "error": abs(found - slope)}))
"""


def ops_table(sizes: list[int], folder: str) -> Table:
    """Straight-line code."""
    columns = {
        "ops": ",",
        "first ms": ".1f",
        "us/op": ".1f",
        "call_us": ".1f",
        "ns/op": ".1f",
        "KiB/op": ".2f",
        "error": ".0e",
    }
    table = Table("scaling_ops", "gradient of straight-line code: first result, then a call (quick tier)", columns)
    for n in sizes:
        row = alone(OPS, str(n), env={"ROSE_CACHE_DIR": folder})
        first, call = row["first"], row["call"]
        times = {"first ms": 1e3 * first, "us/op": 1e6 * first / n, "call_us": 1e6 * call, "ns/op": 1e9 * call / n}
        table.add(ops=n, **times, error=row["error"], **{"KiB/op": row["KiB"] / n})
    _fitted(table, "ops", {"first ms": "first result", "call_us": "call"}, 1_000)
    return table


def loops_table(sizes: list[int], folder: str) -> Table:
    """Iterations of a loop, in reverse."""
    columns = {"turns": ",", "call_us": ".1f", "ns/turn": ".2f", "bytes/turn": ".1f", "error": ".0e"}
    table = Table("scaling_loops", "gradient of x = sin(x) + 0.5, repeated", columns)
    for n in sizes:
        row = alone(LOOPS, str(n), env={"ROSE_CACHE_DIR": folder})
        times = {"call_us": 1e6 * row["call"], "ns/turn": 1e9 * row["call"] / n, "bytes/turn": 1024 * row["KiB"] / n}
        table.add(turns=n, **times, error=row["error"])
    _fitted(table, "turns", {"call_us": "call"}, 10_000)
    return table


def _fitted(table: Table, x: str, lines: dict[str, str], least: int) -> None:
    """A plot, and the exponents of the fit to rows from `least` on, in the title."""
    series = {label: [(row[x], row[y]) for row in table.rows] for y, label in lines.items()}
    fits = {label: exponent([point for point in line if point[0] >= least]) for label, line in series.items()}
    said = ", ".join([f"{label} ~ {x}^{fit:.2f}" for label, fit in fits.items()])
    table.title = f"{table.title}: {said}"
    loglog(table.name, table.title, x, " / ".join(lines), series)


def orders_table(orders: list[int]) -> Table:
    """Derivatives of derivatives."""
    columns = {"order": "", "first ms": ".1f", "ops": ",", "call_us": ".2f", "error": ".0e"}
    table = Table("scaling_orders", "derivatives of sin(x * x) + exp(-x), grad of grad of ...", columns)
    f: Any = rose.jit(cache=False)(lambda x: math.sin(x * x) + math.exp(-x))
    for order in range(1, max(orders) + 1):
        f = rose.grad(f)
        if order in orders:
            seconds, found = once(lambda f=f: f(0.7))
            ops = len(f.lower(0.7).ir)
            call = 1e6 * per_call(lambda f=f: f(0.7))
            table.add(
                order=str(order),
                ops=ops,
                call_us=call,
                error=abs(found - EXACT[order](0.7)),
                **{"first ms": 1e3 * seconds},
            )
    return table


def _second(x: float) -> float:
    return 2 * math.cos(x * x) - 4 * x * x * math.sin(x * x) + math.exp(-x)


def _third(x: float) -> float:
    return -12 * x * math.sin(x * x) - 8 * x**3 * math.cos(x * x) - math.exp(-x)


def _fourth(x: float) -> float:
    return (16 * x**4 - 12) * math.sin(x * x) - 48 * x * x * math.cos(x * x) + math.exp(-x)


EXACT = {1: lambda x: 2 * x * math.cos(x * x) - math.exp(-x), 2: _second, 3: _third, 4: _fourth}


@rose.jit(cache=False)
def work(x: Vec["n"]) -> float:
    s = 0.0
    for k in rose.range(60):
        for i in rose.range(len(x)):
            s += math.sin(x[i] * (1.0 + k))
    return s


def threads_table(counts: list[int], turns: int = 9) -> Table:
    """Calls of a gradient of about a millisecond from several threads; interleaved, medians of wall time."""
    columns = {"threads": "", "us/call": ".1f", "speed": ".2f"}
    table = Table("scaling_threads", "a gradient of about 1 ms, called by threads (wall)", columns)
    gradient, x = rose.grad(work), np.linspace(0.0, 1.0, 2_800)
    gradient(x)
    found: dict[int, list[float]] = {count: [] for count in counts}
    for _ in range(turns):
        for count in counts:
            found[count].append(_side_by_side(lambda: gradient(x), count, 60))
    for count, spent in found.items():
        each = statistics.median(spent)
        ratios = [one / some for one, some in zip(found[counts[0]], spent, strict=True)]
        table.add(threads=str(count), speed=statistics.median(ratios), **{"us/call": 1e6 * each})
    return table


def _side_by_side(call: Any, threads: int, times: int) -> float:
    """Seconds a call, of `times` calls in all."""

    def calls() -> None:
        for _ in range(times // threads):
            call()

    running = [threading.Thread(target=calls) for _ in range(threads)]
    start = time.perf_counter()
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return (time.perf_counter() - start) / times


def tiers_table(ops: int) -> Table:
    """A large gradient on both tiers."""
    columns = {
        "tier": "",
        "first ms": ".1f",
        "call_us": ".1f",
        "final after ms": ".1f",
        "then call_us": ".1f",
        "same": "",
    }
    table = Table(
        "scaling_tiers", f"gradient of {ops:,} straight-line ops (wall), and whether results are bit-equal", columns
    )
    program, wanted = random_program(ops, 1), None
    for tier in ("best", "fast", "auto"):
        gradient = rose.grad(rose.jit(tier=tier, cache=False)(program.table()), tuple(range(INPUTS)))
        start = time.perf_counter()
        found = gradient(*program.point)
        row: Row = {"first ms": 1e3 * (time.perf_counter() - start)}
        wanted = wanted or found
        row["call_us"] = 1e6 * _side_by_side(lambda f=gradient: f(*program.point), 1, 20)
        tiering.wait()
        row["final after ms"] = 1e3 * (time.perf_counter() - start)
        again = gradient(*program.point)
        row["then call_us"] = 1e6 * per_call(lambda f=gradient: f(*program.point), clock=time.perf_counter)
        table.add(tier=tier, same=str(wanted == found == again), **row)
    return table


def main() -> None:
    """All tables."""
    sizes = {"ops": [10**k for k in range(2, 7)], "turns": [10**k for k in range(3, 8)]}
    given = options(__doc__ or "", **sizes, orders=[1, 2, 3, 4], threads=[1, 2], large=15_000)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROSE_CACHE_DIR"] = folder
        ops_table(given.ops, folder).finish()
        loops_table(given.turns, folder).finish()
        orders_table(given.orders).finish()
        threads_table(given.threads).finish()
        tiers_table(given.large).finish()


if __name__ == "__main__":
    main()
