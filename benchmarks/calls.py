"""What one call costs: `f(float, float) -> float`, the gradient of a sum of squares over a vector, and first elements
of three or four arrays of 30, beside NumPy's sum of these. `looked at and copied`: what Python and NumPy take for the
look at four arrays and for their bytes, without which no call can be."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import Table, has, options, per_call
from rosejit import Vec


def f(x: float, y: float) -> float:
    return x * y + x


def squares(x: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(x)):
        total += x[i] * x[i]
    return total


def first(x: Vec["n"]) -> float:
    return x[0]


def first_of_three(x: Vec["n"], y: Vec["n"], z: Vec["n"], a: float) -> float:
    return x[0] + y[0] + z[0] * a


def first_of_four(x: Vec["n"], y: Vec["n"], z: Vec["n"], w: Vec["n"]) -> float:
    return x[0] + y[0] + z[0] + w[0]


TENS = [np.linspace(0.0, 1.0, 30) + k for k in range(4)]


PLACE: Any = (ctypes.c_char * TENS[0].nbytes)()
ARRAY, DTYPE = np.ndarray, TENS[0].dtype


def look_and_copy(*arrays: Any) -> None:
    for a in arrays:
        if type(a) is not ARRAY or a.dtype is not DTYPE or a.ndim != 1 or len(a) != 30:
            raise TypeError(a)
        PLACE.raw = a.tobytes()


Case = tuple[str, Callable[[], Any]]


def python() -> list[Case]:
    """Plain Python, and the gradient by NumPy into a new array."""
    x = np.linspace(0.0, 1.0, 1000)
    a, b, c, d = TENS
    return [
        ("scalars", lambda: f(2.0, 3.0)),
        ("gradient", lambda: 2.0 * x),
        ("vector in", lambda: float(x[0])),
        ("three arrays, a number", lambda: a + b + c * 2.0),
        ("four arrays", lambda: a + b + c + d),
        ("four arrays, looked at and copied", lambda: look_and_copy(a, b, c, d)),
    ]


def ours() -> list[Case]:
    """A decorated function, a gradient, and what is left of it without the arithmetic."""
    x = np.linspace(0.0, 1.0, 1000)
    scalars, gradient, vector = rose.jit(f), rose.grad(squares), rose.jit(first)
    three, four, (a, b, c, d) = rose.jit(first_of_three), rose.jit(first_of_four), TENS
    out = np.empty(1000)
    assert scalars(2.0, 3.0) == f(2.0, 3.0)
    assert np.array_equal(gradient(x), 2.0 * x)
    return [
        ("scalars", lambda: scalars(2.0, 3.0)),
        ("gradient", lambda: gradient(x)),
        ("gradient, out=", lambda: gradient(x, out=out)),
        ("vector in", lambda: vector(x)),
        ("three arrays, a number", lambda: three(a, b, c, 2.0)),
        ("four arrays", lambda: four(a, b, c, d)),
    ]


def by_numba() -> list[Case]:
    """The gradient written by hand."""
    import numba

    x = np.linspace(0.0, 1.0, 1000)
    scalars = numba.njit(f)

    @numba.njit
    def gradient(x: Any) -> Any:
        y = np.empty_like(x)
        for i in range(len(x)):
            y[i] = 2.0 * x[i]
        return y

    vector = numba.njit(first)
    three, four, (a, b, c, d) = numba.njit(first_of_three), numba.njit(first_of_four), TENS
    return [
        ("scalars", lambda: scalars(2.0, 3.0)),
        ("gradient", lambda: gradient(x)),
        ("vector in", lambda: vector(x)),
        ("three arrays, a number", lambda: three(a, b, c, 2.0)),
        ("four arrays", lambda: four(a, b, c, d)),
    ]


def by_jax() -> list[Case]:
    """Floats in, and an array that is there already."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    x = jax.numpy.linspace(0.0, 1.0, 1000)
    scalars = jax.jit(f)
    gradient = jax.jit(jax.grad(lambda x: (x * x).sum()))
    vector = jax.jit(first)
    return [
        ("scalars", lambda: scalars(2.0, 3.0).block_until_ready()),
        ("gradient", lambda: gradient(x).block_until_ready()),
        ("vector in", lambda: vector(x).block_until_ready()),
    ]


SYSTEMS: dict[str, Callable[[], list[Case]]] = {"python": python, "rosejit": ours, "numba": by_numba, "jax": by_jax}


def main() -> None:
    """The table; rosejit's figures are those of 1.0 in the last column."""
    given = options(__doc__ or "")
    absent = [peer for peer in ("numba", "jax") if not has(peer) or peer in given.without]
    columns = {"case": "", "system": "", "us": ".3f", "system/rosejit": ".2f"}
    table = Table("calls", "one call (us of CPU)", columns, absent=absent)
    figures = {
        (case, system): 1e6 * per_call(call)
        for system, cases in SYSTEMS.items()
        if system not in absent
        for case, call in cases()
    }
    for case in dict.fromkeys(case for case, _ in figures):
        for system in SYSTEMS:
            us, own = figures.get((case, system)), figures.get((case, "rosejit"))
            if us is not None:
                table.add(case=case, system=system, us=us, **({"system/rosejit": us / own} if own else {}))
    table.finish(given.json)


if __name__ == "__main__":
    main()
