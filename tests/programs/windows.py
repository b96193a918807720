"""Slices of constant length whose bounds only running tells: windows, read and written."""

import numpy as np

import rosejit as rose
from rosejit import Array, Mat, Vec
from tests.programs.record import Program

WIDTH = 3


@rose.jit
def correlated(x: Vec["n"], w: Vec["k"]) -> Vec["n-k+1"]:
    k = len(w)
    y = np.zeros(len(x) - k + 1)
    for i in rose.range(len(y)):
        y[i] = x[i : i + k] @ w
    return y


@rose.jit
def second_differences(x: Vec["n"]) -> Vec["n"]:
    y = x.copy()
    for i in rose.range(1, len(x) - 1):
        left, middle, right = x[i - 1 : i + 2]
        y[i] = left - 2.0 * middle * x[i - 1 : i + 2].sum() + right
    return y


@rose.jit
def blocks(x: Vec[8], scale: Vec[2]) -> Vec[4]:
    """Bounds that are products: `(i + 1) * k` is `k` more than `i * k`."""
    k = 2
    return np.array([np.prod(x[i * k : (i + 1) * k] * scale) for i in rose.range(4)])


@rose.jit
def overlapping_writes(x: Vec["n"]) -> Vec["n"]:
    """What a slice is given is read before it is written."""
    y = x.copy()
    for i in rose.range(len(x) - 2):
        y[i + 1 : i + 3] = y[i : i + 2]
        y[i : i + 2] += y[i + 1 : i + 3] * x[i]
    return y


@rose.jit
def window_kept(x: Vec["n"], c: float) -> Vec["n"]:
    """A window is a view: it shows what is written to the array, and the other way round."""
    y = x.copy()
    for i in rose.range(2, len(x)):
        w = y[i - 2 : i + 1]
        y[i - 1] *= c
        w[0] += w[1] * w[2]
        w[1:] *= 0.5
        w[::-1][0] += c
    return y


@rose.jit
def tiles(a: Mat["n", "m"], c: float) -> Mat["n", "m"]:
    b = a.copy()
    for i in rose.range(a.shape[0] - 1):
        for j in rose.range(a.shape[1] - 1):
            tile = b[i : i + 2, j : j + 2]
            tile *= c
            b[i, j : j + 2] += tile[:, 0] * a[i : i + 2, j]
    return b


@rose.jit
def any_axis(t: Array[3, 4, 2], i: int) -> Array[2, 2, 2]:
    """Beside numbers, slices, new axes and the rest."""
    return t[i : i + 2, 1:3] * t[:2, i : i + 2, ::-1] + t[i, None, i : i + 2] * t[..., i : i + 2, :][0].T[None]


@rose.jit
def strided(x: Vec["n"], i: int) -> Vec[2]:
    return x[2 * i : 2 * i + 4 : 2] * x[i + 2 : i : -1] - x[3 - i : 5 - i]


@rose.jit
def until_small(x: Vec["n"], limit: float) -> float:
    i, total = 0, 0.0
    while i + WIDTH <= len(x) and total < limit:
        total += np.linalg.norm(x[i : i + WIDTH]) ** 2
        i += 1
    return total * i


@rose.jit
def in_branches(x: Vec["n"], i: int, c: float) -> Vec["n"]:
    """One of two windows of an array is a window of it."""
    y = x.copy()
    w = y[i : i + 2] if c > 0.0 else y[i + 1 : i + 3]
    w *= c
    if c > 1.0:
        rest = y[i + 2 : i + 4]
    else:
        rest = w
    rest[0] += w[1] * w[1]
    return y


@rose.jit
def chosen_row(a: Mat["n", "m"], i: int, c: float) -> Mat["n", "m"]:
    """A row of an array that a branch picks is written through."""
    b = a.copy()
    if c > 0.0:
        k = i + 1
        row = b[k]
    else:
        row = b[-1]
    row[0] = c * row[1]
    b[i] += row
    return b


def blend(y, at, c):
    y[at : at + 2] += c * y[at + 1 : at + 3]


@rose.jit
def in_a_helper(x: Vec["n"]) -> Vec["n"]:
    y = x.copy()
    for i in rose.range(len(x) - 3, -1, -1):
        blend(y, i, 0.5)
    return y


@rose.jit
def with_masks_and_picks(a: Mat[4, 3], at: Array[2, int], i: int) -> Mat[2, 2]:
    b = a.copy()
    b[i : i + 2, [0, 2]] *= 2.0
    w = b[i : i + 2]
    w[w < 0.0] *= 0.5
    return b[i : i + 2, at] * w[:, :2]


@rose.jit
def empty_windows(x: Vec["n"], i: int) -> float:
    return x[i:i].sum() + x[i : i + 1].sum()


A = np.array
X = A([1.2, 0.7, -1.5, 0.9, 2.0, 0.1])
M = A([[1.2, 0.7, -1.5], [0.3, -0.5, 0.4], [0.8, 1.1, 0.6], [-0.9, 0.2, 1.3]])
T = np.sin(np.arange(24.0)).reshape(3, 4, 2)

PROGRAMS = (
    Program(correlated, [(X, A([0.2, 0.5, 0.3]))], lambda x, w: np.correlate(x, w, "valid"), exact=False),
    Program(second_differences, [(X,)]),
    Program(blocks, [(A([1.2, 0.7, -1.5, 0.9, 2.0, 0.1, 1.0, 3.0]), A([0.5, 2.0]))]),
    Program(overlapping_writes, [(X,)]),
    Program(window_kept, [(X, 1.5)]),
    Program(tiles, [(M, 0.5)]),
    Program(any_axis, [(T, 0), (T, 1), (T, -3)]),
    Program(strided, [(X, 0), (X, 1)]),
    Program(until_small, [(X, 4.0), (X, 100.0)]),
    Program(in_branches, [(X, 1, 0.5), (X, 1, -0.5), (X, 2, 1.5), (X, -5, 1.5)]),
    Program(chosen_row, [(M, 1, 0.5), (M, 1, -0.5), (M, -3, 0.5)]),
    Program(in_a_helper, [(X,)]),
    Program(with_masks_and_picks, [(M, A([2, 0]), 1), (M, A([-1, 1]), -3)]),
    Program(empty_windows, [(X, 0), (X, -2)], lambda x, i: x[i]),
)
