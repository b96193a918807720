"""How far the mathematical functions are off: the largest error of each, in units in the last place, and where.

`python -m benchmarks.math_accuracy --points 1000000 --functions sin,cos`: compiled kernels against MPFR or mpmath.
"""

import sys
import time
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks import math_long
from benchmarks.math_exact import BITS, disagreement, exact, source
from benchmarks.math_long import suspects
from benchmarks.math_points import TRIALS, points
from benchmarks.measure import Table, options
from rosejit import Vec
from rosejit.ops import PRIMITIVES

CHUNK = 50_000


def compiled(name: str) -> Any:
    """The function over arrays, in compiled code."""
    f = getattr(rose, name)

    def one(x: Vec["n"]) -> Vec["n"]:
        return np.array([f(x[i]) for i in rose.range(len(x))])

    def two(x: Vec["n"], y: Vec["n"]) -> Vec["n"]:
        return np.array([f(x[i], y[i]) for i in rose.range(len(x))])

    return rose.jit(one if len(PRIMITIVES[name].params) == 1 else two)


def ulps(got: Any, exact: Any) -> Any:
    """Errors in units in the last place of the double next to the exact result; 0 where that is not known."""
    nearest, rest = exact.T
    with np.errstate(all="ignore"):
        off = np.abs((got - nearest) / np.spacing(np.abs(nearest)) - rest)
        wrong = np.where(got == nearest, 0.0, np.inf)
        return np.where(np.isnan(nearest), 0.0, np.where(np.isfinite(got) & np.isfinite(nearest), off, wrong))


class Worst:
    """The largest error so far."""

    def __init__(self) -> None:
        self.units = self.near_zeros = 0.0
        self.at: tuple[float, ...] = ()
        self.count = 0

    def see(self, arrays: tuple[Any, ...], got: Any, exact: Any, near_zeros: float) -> None:
        """Points, and what came out. What is within `near_zeros` absolutely is no error, but noted apart."""
        units, size = ulps(got, exact), np.abs(exact[:, 0])
        with np.errstate(all="ignore"):
            off = units * np.spacing(size)
        excused = (off <= near_zeros) & (size < 1.0) & (units > 0.0)
        if excused.any():
            self.near_zeros = max(self.near_zeros, float(off[excused].max()))
            units = np.where(excused, 0.0, units)
        k = int(np.argmax(units))
        if units[k] > self.units or not self.at:
            self.units, self.at = float(units[k]), tuple(float(a[k]) for a in arrays)


def measured(name: str, count: int, seed: int = 0) -> Worst:
    """The largest error of one function at about `count` points."""
    rng, run, worst = np.random.default_rng([seed, *name.encode()]), compiled(name), Worst()
    while worst.count < count:
        arrays = points(name, rng, min(CHUNK, count - worst.count))
        got = run(*arrays)
        some = suspects(name, arrays, got, TRIALS[name].near_zeros)
        chosen = tuple(a[some] for a in arrays)
        worst.see(chosen, got[some], exact(name, chosen), TRIALS[name].near_zeros)
        worst.count += len(got)
    return worst


def doubt(name: str, seed: int) -> float:
    """How far what chooses the points is from exact values, and those from mpmath, in units in the last place."""
    arrays = points(name, np.random.default_rng(seed), 2000)
    y, (nearest, rest) = math_long.values(name, arrays), exact(name, arrays).T
    with np.errstate(all="ignore"):
        off = np.zeros(1) if y is None else np.abs((y - nearest) / np.spacing(np.abs(nearest)) - rest)
    few = tuple(a[::10] for a in arrays)
    return max(float(np.max(off[np.isfinite(off)], initial=0.0)), disagreement(name, few))


def main() -> None:
    """The table."""
    given = options(__doc__ or "", points=1_000_000, functions=",".join(TRIALS), seed=0)
    columns = {
        "function": "",
        "points": "d",
        "ulp": ".3f",
        "bound": ".1f",
        "at": "",
        "near zeros": ".1e",
        "check": ".0e",
        "s": ".0f",
    }
    table = Table(
        "math_accuracy",
        f"largest errors, against {source()} of {BITS} bits; check: what chooses the points for that",
        columns,
    )
    bad = 0
    for name in given.functions.split(","):
        start, trial = time.process_time(), TRIALS[name]
        worst = measured(name, given.points, given.seed)
        bad += worst.units > trial.bound
        table.add(
            function=name + (" !" if worst.units > trial.bound else ""),
            points=worst.count,
            ulp=worst.units,
            bound=trial.bound,
            at=", ".join(x.hex() for x in worst.at),
            **{"near zeros": worst.near_zeros or None},
            check=doubt(name, given.seed),
            s=time.process_time() - start,
        )
    table.finish(given.json)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
