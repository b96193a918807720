"""Loops that are neighbours at an offset: Runge and Kutta's method on y'[i] = x[i] y[i - 1], n numbers, written as
arrays and as loops, beside C++ by hand (`peers/programs.cpp`): milliseconds of CPU a call, both divided by C++'s value.
"""

import ctypes
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import Table, has_compiler, native, options, per_call, per_call_each
from rosejit import Vec

SIZES = (1_000, 1), (1_000, 100), (100_000, 100)
RNG = np.random.default_rng(31337)


@rose.jit
def slope(x: Vec["n"], y: Vec["n"]) -> Vec["n"]:
    z = np.zeros(len(x))
    z[0] = x[0]
    for i in rose.range(1, len(x)):
        z[i] = x[i] * y[i - 1]
    return z


@rose.jit
def arrays(x: Vec["n"], steps: int) -> Vec["n"]:
    h, y = 2.0 / steps, np.zeros(len(x))
    for _ in rose.range(steps):
        k1 = slope(x, y)
        k2 = slope(x, y + h * k1 / 2.0)
        k3 = slope(x, y + h * k2 / 2.0)
        k4 = slope(x, y + h * k3)
        y = y + h * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0
    return y


@rose.jit
def loops(x: Vec["n"], steps: int) -> Vec["n"]:
    n = len(x)
    h, y, t = 2.0 / steps, np.zeros(n), np.zeros(n)
    for _ in rose.range(steps):
        k1 = slope(x, y)
        for i in rose.range(n):
            t[i] = y[i] + h * k1[i] / 2.0
        k2 = slope(x, t)
        for i in rose.range(n):
            t[i] = y[i] + h * k2[i] / 2.0
        k3 = slope(x, t)
        for i in rose.range(n):
            t[i] = y[i] + h * k3[i]
        k4 = slope(x, t)
        for i in rose.range(n):
            y[i] += h * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]) / 6.0
    return y


@rose.jit
def arrays_last(x: Vec["n"], steps: int) -> float:
    return arrays(x, steps)[len(x) - 1]


@rose.jit
def loops_last(x: Vec["n"], steps: int) -> float:
    return loops(x, steps)[len(x) - 1]


WRITTEN: dict[str, tuple[Any, Any]] = {
    "arrays": (arrays, rose.grad(arrays_last)),
    "loops": (loops, rose.grad(loops_last)),
}


def main() -> None:
    asked = options(__doc__ or "")
    columns = {"n": ",", "steps": ",", "written": "", "value": ".4f", "gradient": ".4f", "c++": ".4f"}
    columns |= {"value / c++": ".2f", "gradient / c++": ".2f"}
    table = Table("neighbours", "loops at an offset (ms of CPU; c++: the value)", columns)
    library = native("programs") if has_compiler() else None
    for n, steps in SIZES:
        x, y = RNG.uniform(size=n), np.empty(n)
        given = [ctypes.c_long(n), ctypes.c_long(steps), *(ctypes.c_void_p(a.ctypes.data) for a in (x, y))]
        for name, (value, gradient) in WRITTEN.items():
            runs = [lambda f=value, x=x, steps=steps: f(x, steps), lambda f=gradient, x=x, steps=steps: f(x, steps)]
            if library is not None:
                runs.append(lambda given=given: library.ode(*given))
                runs[-1]()
                assert np.allclose(value(x, steps), y, rtol=1e-12, atol=1e-300), f"{name} differs from C++"
            for run in runs:
                per_call(run, batch=0.1)  # the engine's good code is made of what has run for a while
            ours, back, *theirs = [1e3 * seconds for seconds in per_call_each(*runs, batches=9)]
            row = (
                {"c++": theirs[0], "value / c++": ours / theirs[0], "gradient / c++": back / theirs[0]}
                if theirs
                else {}
            )
            table.add(n=n, steps=steps, written=name, value=ours, gradient=back, **row)
    table.finish(asked.json)


if __name__ == "__main__":
    main()
