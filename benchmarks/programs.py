"""Programs of loops, and gradients of theirs beside C++ written by hand (`peers/programs.cpp`) and numba, where it is
here: microseconds of CPU a call. `newton` does a thousand roots in a call, so that its row is nanoseconds a root.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import Table, has, has_compiler, native, options, per_call_each
from rosejit import Mat, Vec

STEPS, DT = 1000, 0.01
RATES = (1.1, 0.4, 0.4, 0.1)
BODIES = 20
RNG = np.random.default_rng(31337)
PLACES, MASSES = RNG.normal(size=(BODIES, 3)), RNG.uniform(0.5, 1.5, size=BODIES)
ROOTS = 1000
SIZE = 9
MATRIX = RNG.normal(size=(SIZE, SIZE))


@rose.jit
def lotka_volterra(a: float, b: float, c: float, d: float) -> float:
    """The square of what a population of hunters and hunted comes to, by Runge and Kutta's method."""

    def slope(x, y):
        return a * x - b * x * y, d * x * y - c * y

    x, y = 1.0, 1.0
    for _ in rose.range(STEPS):
        x1, y1 = slope(x, y)
        x2, y2 = slope(x + DT / 2 * x1, y + DT / 2 * y1)
        x3, y3 = slope(x + DT / 2 * x2, y + DT / 2 * y2)
        x4, y4 = slope(x + DT * x3, y + DT * y3)
        x += DT / 6 * (x1 + 2 * x2 + 2 * x3 + x4)
        y += DT / 6 * (y1 + 2 * y2 + 2 * y3 + y4)
    return x * x + y * y


@rose.jit
def n_body(at: Mat["n", 3], mass: Vec["n"]) -> float:
    """The energy of bodies that attract each other."""
    energy = 0.0
    for i in rose.range(len(mass)):
        for j in rose.range(i):
            dx, dy, dz = at[i, 0] - at[j, 0], at[i, 1] - at[j, 1], at[i, 2] - at[j, 2]
            energy -= mass[i] * mass[j] / np.sqrt(dx * dx + dy * dy + dz * dz)
    return energy


@rose.jit
def root(v: float) -> float:
    """The cube root by Newton's method."""
    x = v
    while abs(x * x * x - v) > 1e-12 * v:
        x = x - (x * x * x - v) / (3 * x * x)
    return x


@rose.jit
def roots(a: float) -> float:
    total = 0.0
    for i in rose.range(ROOTS):
        total += root(a + 0.001 * i)
    return total


@rose.jit
def slopes(a: float) -> float:
    """The sum of the slopes of `root`, each by itself."""
    total = 0.0
    for i in rose.range(ROOTS):
        total += rose.grad(root)(a + 0.001 * i)
    return total


@rose.jit
def determinant(a: Mat["n", "n"], row: int, columns: int) -> float:
    """By minors of the rows from `row` on, over the columns that are left."""
    if row == len(a):
        return 1.0
    total, sign = 0.0, 1.0
    for j in range(len(a)):
        if columns >> j & 1:
            total += sign * a[row, j] * determinant(a, row + 1, columns & ~(1 << j))
            sign = -sign
    return total


CASES: dict[str, tuple[Any, Any, tuple[Any, ...]]] = {
    "Lotka-Volterra": (lotka_volterra, rose.grad(lotka_volterra, argnums=(0, 1, 2, 3)), RATES),
    "n-body 20": (n_body, rose.grad(n_body), (PLACES, MASSES)),
    "newton": (roots, slopes, (2.0,)),
    f"det {SIZE}": (determinant, rose.grad(determinant), (MATRIX, 0, 2**SIZE - 1)),
}


def peers() -> dict[str, Callable[[], Any]]:
    """The same gradients in C++."""
    library = native("programs")
    number, count, pointer = ctypes.c_double, ctypes.c_long, ctypes.c_void_p
    made: dict[str, Callable[[], Any]] = {}
    rates, forces, slope, minors = np.empty(4), np.empty_like(PLACES), np.empty(1), np.empty_like(MATRIX)
    given = [*map(number, RATES), count(STEPS), number(DT), pointer(rates.ctypes.data)]
    bodies = [count(BODIES), *(pointer(a.ctypes.data) for a in (PLACES, MASSES, forces))]
    calls = {
        "Lotka-Volterra": (library.lotka_volterra, given, rates),
        "n-body 20": (library.n_body, bodies, forces),
        "newton": (library.newton, [number(2.0), count(ROOTS), pointer(slope.ctypes.data)], slope),
        f"det {SIZE}": (
            library.determinant,
            [count(SIZE), *map(pointer, (MATRIX.ctypes.data, minors.ctypes.data))],
            minors,
        ),
    }
    for name, (f, args, output) in calls.items():
        f.restype = number
        made[name] = lambda f=f, args=args, output=output: (f(*args), output)[1]
    return made


def by_numba() -> dict[str, Callable[[], Any]]:
    """Two of them by numba."""
    from benchmarks.peers.numba_programs import lotka_volterra_gradient, n_body_gradient

    return {
        "Lotka-Volterra": lambda: np.array(lotka_volterra_gradient(*RATES, STEPS, DT)),
        "n-body 20": lambda: n_body_gradient(PLACES, MASSES),
    }


def main() -> None:
    asked = options(__doc__ or "")
    here = {"g++": has_compiler(), "numba": has("numba")}
    absent = [name for name, found in here.items() if not found or name in asked.without]
    columns = {"program": "", "value": ".2f", "gradient": ".2f", "c++": ".2f", "ratio": ".2f", "numba": ".2f"}
    title = "gradients of loops (us of CPU; newton: of a thousand roots; ratio: gradient by C++)"
    table = Table("programs", title, columns, absent=absent)
    compiled = {} if "g++" in absent else peers()
    jitted = {} if "numba" in absent else by_numba()
    for name, (f, gradient, args) in CASES.items():
        others = {"c++": compiled.get(name), "numba": jitted.get(name)}
        runs = {"value": lambda f=f, args=args: f(*args), "gradient": lambda g=gradient, args=args: g(*args)}
        runs |= {key: run for key, run in others.items() if run is not None}
        found = runs["gradient"]()
        for key in set(runs) - {"value", "gradient"}:
            assert np.allclose(found, runs[key](), rtol=1e-9), f"{name} differs from {key}"
        row = {key: 1e6 * seconds for key, seconds in zip(runs, per_call_each(*runs.values()), strict=True)}
        table.add(program=name, **row, ratio=row["gradient"] / row["c++"] if "c++" in row else None)
    table.finish(asked.json)


if __name__ == "__main__":
    main()
