"""What a call of a mathematical function costs in a loop: compiled kernels, glibc through a C loop, NumPy.

`python -m benchmarks.math_speed --functions exp,log`. *scalar*: a sum of `f(x[i])`, as the C loop does it; *array*: a
loop that writes `f(x[i])` for each i, two at a time where there is a kernel for that; *worst*: the same on arguments
of all sizes. The least of many short batches, all systems in turns: what the machine can do when it is left alone.
"""

import ctypes
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.math_long import in_c
from benchmarks.math_points import TRIALS
from benchmarks.measure import Table, collector_off, options
from rosejit import Vec
from rosejit.ops import PRIMITIVES

COUNT = 1000
C_NAMES = {"gamma": "tgamma"}
NUMPY = {
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
    "pow": "power",
}
INTERVALS = {
    (-1.0, 1.0): "asin acos atanh",
    (0.0, 20.0): "sqrt",
    (1.0, 20.0): "log log2 log10 acosh pow gamma lgamma digamma",
    (-20.0, 20.0): "exp exp2 sinh cosh sin cos tan",
    (-4.0, 4.0): "erf erfc tanh sigmoid softplus expm1 asinh",
    (-0.9, 10.0): "log1p",
    (-10.0, 10.0): "atan atan2 cbrt hypot",
}
RANGES = {name: interval for interval, names in INTERVALS.items() for name in names.split()}

Run = Callable[[], Any]


def two(name: str) -> bool:
    """Whether it has two arguments."""
    return len(PRIMITIVES[name].params) == 2


def arguments(name: str) -> tuple[Any, Any]:
    """Arrays for both arguments, the second for those that have one."""
    rng, (low, high) = np.random.default_rng(0), RANGES[name]
    return rng.uniform(low, high, COUNT), rng.uniform(-3.0, 3.0, COUNT)


def scalar(name: str, x: Any, y: Any) -> Run:
    """A sum in compiled code."""
    f = getattr(rose, name)

    def one(x: Vec["n"], y: Vec["n"]) -> float:
        total = 0.0
        for i in rose.range(len(x) - 1, -1, -1):  # sums that run down go one iteration at a time
            total += f(x[i])
        return total

    def both(x: Vec["n"], y: Vec["n"]) -> float:
        total = 0.0
        for i in rose.range(len(x) - 1, -1, -1):
            total += f(x[i], y[i])
        return total

    run = rose.jit(both if two(name) else one)
    return lambda: run(x, y)


def array(name: str, x: Any, y: Any) -> Run:
    """A loop that fills an array, in compiled code."""
    f = getattr(rose, name)

    def one(x: Vec["n"], y: Vec["n"]) -> Vec["n"]:
        return np.array([f(x[i]) for i in rose.range(len(x))])

    def both(x: Vec["n"], y: Vec["n"]) -> Vec["n"]:
        return np.array([f(x[i], y[i]) for i in rose.range(len(x))])

    run, out = rose.jit(both if two(name) else one), np.empty(COUNT)
    return lambda: run(x, y, out=out)


def empty(x: Any, y: Any) -> Run:
    """What the call of `scalar` costs besides."""

    def first(x: Vec["n"], y: Vec["n"]) -> float:
        return x[0]

    run = rose.jit(first)
    return lambda: run(x, y)


def nothing(x: Any, y: Any) -> Run:
    """What the call of `array` costs besides."""

    def zeros(x: Vec["n"], y: Vec["n"]) -> Vec["n"]:
        return np.zeros(len(x))

    run, out = rose.jit(zeros), np.empty(COUNT)
    return lambda: run(x, y, out=out)


def by_numpy(name: str, x: Any, y: Any) -> Run | None:
    """NumPy's function into an array that is there."""
    f, out = getattr(np, NUMPY.get(name, name), None), np.empty(COUNT)
    if f is None:
        return None
    return (lambda: f(x, y, out=out)) if two(name) else (lambda: f(x, out=out))


def library(names: list[str]) -> ctypes.CDLL | None:
    """Loops in C over the functions of glibc."""
    lines: list[str] = []
    for name in names:
        f, operands = C_NAMES.get(name, name), "x[i], y[i]" if two(name) else "x[i]"
        lines.append(
            f"double loop_{name}(const double *x, const double *y) {{ double s = 0;"
            f" for (int i = 0; i < {COUNT}; i++) s += {f}({operands}); return s; }}"
        )
    return in_c(lines)


def by_glibc(loops: ctypes.CDLL | None, name: str, x: Any, y: Any) -> Run | None:
    """The loop in C."""
    if loops is None or name in ("digamma", "sigmoid", "softplus"):
        return None
    f = getattr(loops, f"loop_{name}")
    f.restype = ctypes.c_double
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (x, y)]
    return lambda: f(*pointers)


def best(runs: dict[str, Run | None], batches: int) -> dict[str, float]:
    """Nanoseconds an element, the least of `batches` of each, in turns."""
    found: dict[str, float] = {}
    with collector_off():
        for _ in range(batches):
            for name, run in runs.items():
                if run is None:
                    continue
                start = time.perf_counter_ns()
                for _ in range(10):
                    run()
                spent = (time.perf_counter_ns() - start) / (10 * COUNT)
                found[name] = min(spent, found.get(name, spent))
    return found


def main() -> None:
    """The table."""
    given = options(__doc__ or "", functions=",".join(TRIALS), batches=60)
    names = given.functions.split(",")
    loops = library([name for name in names if name not in ("digamma", "sigmoid", "softplus")])
    numbers = ("scalar", "array", "glibc", "numpy", "scalar/glibc")
    columns = {"function": "", "from": ".1f", "to": ".1f", **dict.fromkeys(numbers, ".2f")}
    table = Table("math_speed", "ns a call", columns)
    for name in names:
        x, y = arguments(name)
        runs = {
            "scalar": scalar(name, x, y),
            "array": array(name, x, y),
            "glibc": by_glibc(loops, name, x, y),
            "numpy": by_numpy(name, x, y),
            "empty": empty(x, y),
            "nothing": nothing(x, y),
        }
        ns = best(runs, given.batches)
        ns["scalar"] -= ns["empty"]
        ns["array"] -= ns["nothing"]
        low, high = RANGES[name]
        ratio = ns["scalar"] / ns["glibc"] if "glibc" in ns else None
        table.add(function=name, **{"from": low, "to": high}, **ns, **{"scalar/glibc": ratio})
    table.finish(given.json)


if __name__ == "__main__":
    main()
