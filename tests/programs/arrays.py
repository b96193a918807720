"""Arrays: written in place, swapped, shared under two names, read after they changed."""

import math

import numpy as np
from numpy.typing import NDArray

import rosejit as rose
from rosejit import Array, Mat, Vec
from tests.programs.record import Program


@rose.jit
def cumulative_product(x: Vec["n"]) -> Vec["n"]:
    y = x.copy()
    for i in rose.range(1, len(x)):
        y[i] = y[i - 1] * x[i]
    return y


@rose.jit
def cumulative_sum(x: Vec["n"]) -> Vec["n"]:
    y = np.zeros(len(x))
    total = 0.0
    for i in rose.range(len(x)):
        total += x[i]
        y[i] = total
    return y


@rose.jit
def reversed_copy(x: Vec["n"]) -> Vec["n"]:
    y = np.empty(len(x))
    for i in rose.range(len(x)):
        y[len(x) - 1 - i] = x[i] * (i + 1)
    return y


@rose.jit
def swap_arrays(x: Vec["n"], y: Vec["n"]) -> float:
    """Two arrays change names in every iteration."""
    a, b = x.copy(), y.copy()
    for i in rose.range(len(x)):
        a[i] = a[i] * b[i]
        a, b = b, a
    return a[0] * b[1] * a[2]


@rose.jit
def swap_elements(x: Vec["n"]) -> Vec["n"]:
    y = x.copy()
    for i in rose.range(len(x) - 1):
        y[i], y[i + 1] = y[i + 1], y[i] * 2.0
    return y


@rose.jit
def aliases(x: Vec["n"]) -> float:
    y = x.copy()
    z = y
    z[0] = 3.0 * x[1]
    y[1] += z[0]
    return z[1] * y[0]


@rose.jit
def copies(x: Vec["n"]) -> float:
    y = x.copy()
    z = y.copy()
    z[0] = 3.0 * x[1]
    return z[0] * y[0]


@rose.jit
def old_element(x: Vec["n"]) -> float:
    y = x.copy()
    old = y[0]
    y[0] = old * old
    return old * y[0]


@rose.jit
def old_array(x: Vec["n"]) -> float:
    """The array as it was is read after each update."""
    y = x.copy()
    s = 0.0
    for i in rose.range(len(x)):
        before = y.copy()
        y[0] = y[i] * s + 1.0
        s += before[0] * y[i]
    return s


@rose.jit
def update_on_one_side(x: Vec["n"]) -> float:
    y = x.copy()
    s = 0.0
    for i in rose.range(len(x)):
        if y[i] < 1.0:
            y[i] = y[i] * y[i]
        s += y[i] * x[i]
    return s * y[len(x) - 1]


@rose.jit
def update_before_and_after(x: Vec[3], c: float) -> Vec[3]:
    y = x.copy()
    y[0] = c
    if c > 0.0:
        y[1] = y[0] * c
    else:
        y[2] = y[0] / c
    y[0] += y[1] * y[2]
    return y


@rose.jit
def matvec(a: Mat["n", "m"], x: Vec["m"]) -> Vec["n"]:
    y = np.zeros(a.shape[0])
    for i in rose.range(a.shape[0]):
        for j in rose.range(a.shape[1]):
            y[i] += a[i, j] * x[j]
    return y


@rose.jit
def matmul(a: Mat["n", "k"], b: Mat["k", "m"]) -> Mat["n", "m"]:
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in rose.range(a.shape[0]):
        for j in rose.range(b.shape[1]):
            s = 0.0
            for k in rose.range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return c


@rose.jit
def rows(a: Mat["n", "m"]) -> float:
    """A row is a view: writing it writes the matrix."""
    b = a.copy()
    row = b[0]
    row[1] = row[0] * b[1, 1]
    b[1][0] = b[0, 1] * 2.0
    b[1] = row
    return b[1, 1] * b[0, 0] + b[0, 1]


@rose.jit
def swap_rows(a: Mat[2, 3]) -> Mat[2, 3]:
    b = a.copy()
    for i in rose.range(3):
        t = b[0].copy()
        b[0] = b[1]
        b[1] = t
        b[0, i] *= 2.0
    return b


@rose.jit
def heat(x: Vec["n"], rate: float, steps: int) -> Vec["n"]:
    old, new = x.copy(), x.copy()
    for _ in rose.range(steps):
        for i in rose.range(1, len(x) - 1):
            new[i] = old[i] + rate * (old[i - 1] - 2.0 * old[i] + old[i + 1])
        old, new = new, old
    return old


@rose.jit
def bubble_sort(x: Vec["n"]) -> Vec["n"]:
    y = x.copy()
    for i in rose.range(len(x) - 1):
        for j in rose.range(len(x) - 1 - i):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return y


@rose.jit
def forward_substitution(a: Mat["n", "n"], b: Vec["n"]) -> Vec["n"]:
    x = np.zeros(len(b))
    for i in rose.range(len(b)):
        s = b[i]
        for j in rose.range(i):
            s -= a[i, j] * x[j]
        x[i] = s / a[i, i]
    return x


@rose.jit
def cholesky(a: Mat["n", "n"]) -> Mat["n", "n"]:
    n = a.shape[0]
    c = np.zeros((n, n))
    for j in rose.range(n):
        for i in rose.range(j, n):
            s = a[i, j]
            for k in rose.range(j):
                s -= c[i, k] * c[j, k]
            if i == j:
                c[i, j] = math.sqrt(s)
            else:
                c[i, j] = s / c[j, j]
    return c


@rose.jit
def determinant(a: Mat["n", "n"]) -> float:
    n = a.shape[0]
    b = a.copy()
    det = 1.0
    for k in rose.range(n):
        det *= b[k, k]
        for i in rose.range(k + 1, n):
            factor = b[i, k] / b[k, k]
            for j in rose.range(k, n):
                b[i, j] -= factor * b[k, j]
    return det


@rose.jit
def convolution(x: Vec["n"], k: Vec["m"]) -> Array["n+m-1"]:
    y = np.zeros(len(x) + len(k) - 1)
    for i in rose.range(len(x)):
        for j in rose.range(len(k)):
            y[i + j] += x[i] * k[j]
    return y


def halve(v, i):
    """A helper that changes its argument."""
    v[i] = v[i] / 2.0
    return v[i]


@rose.jit
def changed_by_helper(x: Vec["n"]) -> float:
    y = x.copy()
    a = halve(y, 0)
    b = halve(y, 0)
    for i in rose.range(len(x)):
        halve(y, i)
    return a * b * y[0] * y[1]


@rose.jit
def array_of_the_turn(x: Vec["n"]) -> float:
    """An array that is made and dropped in every iteration."""
    s = 1.0
    for i in rose.range(len(x)):
        t = np.zeros(2)
        t[0] = x[i] * s
        t[1] = t[0] + x[i]
        s = t[0] * t[1]
    return s


@rose.jit
def from_the_end(x: Vec["n"]) -> float:
    y = x.copy()
    y[-1] = x[-2] * x[0]
    i = 0
    for k in rose.range(2):
        i -= 1
        y[i] *= 2.0
    return y[-1] + y[-2] + i


@rose.jit
def gathered(x: Vec["n"], at: Array["m", int]) -> Vec["m"]:
    y = np.zeros(len(at))
    for i in rose.range(len(at)):
        y[i] = x[at[i]] * x[at[i]]
    return y


@rose.jit
def histogram(at: Array["n", int], w: Vec["n"]) -> Vec[3]:
    counts = np.zeros(3)
    for i in rose.range(len(at)):
        counts[at[i] % 3] += w[i]
    return counts


@rose.jit
def counted(n: Array["n", int]) -> Array["n", int]:
    y = n.copy()
    for i in rose.range(1, len(n)):
        y[i] = y[i - 1] * 2 + n[i]
    return y


@rose.jit
def flags(x: Vec["n"], on: Array["n", bool]) -> float:
    s = 0.0
    for i in rose.range(len(x)):
        if on[i]:
            s += x[i] * x[i]
    return s


@rose.jit
def any_rank(x: NDArray[np.float64]) -> float:
    return x[0, 1, 1] * x[1, 0, 0] + len(x) * x.shape[1] * x.ndim * x.size


@rose.jit
def elementwise(x: Vec["n"], y: Vec["n"]) -> Vec["n"]:
    z = x * y + 2.0
    z[0] = x[1]
    return z / y - x


@rose.jit
def no_element(x: Vec["n"]) -> Vec["n"]:
    y = x.copy()
    for i in rose.range(1, len(x)):
        y[i] = y[i - 1] * x[i]
    return y


@rose.jit
def argument_and_result(x: Vec["n"]) -> tuple[Vec["n"], Vec["n"], float]:
    y = x.copy()
    y[0] = x[1] * x[1]
    return x, y, x[0] * y[0]


A = np.array
SPD = A([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])

PROGRAMS = (
    Program(cumulative_product, [(A([1.2, 0.7, 1.5, 0.9]),), (A([2.0]),)], np.cumprod),
    Program(cumulative_sum, [(A([1.2, 0.7, 1.5, 0.9]),)], np.cumsum),
    Program(reversed_copy, [(A([1.2, 0.7, 1.5]),)], lambda x: (x * np.arange(1, len(x) + 1))[::-1]),
    Program(
        swap_arrays,
        [(A([1.2, 0.7, 1.5]), A([0.8, 1.1, 0.6]))],
        lambda x, y: y[0] * x[1] * y[2],
        lambda x, y: [0.0, y[0] * y[2], 0.0],
    ),
    Program(swap_elements, [(A([1.2, 0.7, 1.5, 0.9]),)]),
    Program(aliases, [(A([1.2, 0.7]),)], lambda x: (x[1] + 3 * x[1]) * 3 * x[1], lambda x: [0.0, 24 * x[1]]),
    Program(copies, [(A([1.2, 0.7]),)], lambda x: 3 * x[1] * x[0], lambda x: [3 * x[1], 3 * x[0]]),
    Program(old_element, [(A([1.2, 0.7]),)], lambda x: x[0] ** 3, lambda x: [3 * x[0] ** 2, 0.0]),
    Program(old_array, [(A([1.2, 0.7, 1.5]),)]),
    Program(update_on_one_side, [(A([1.2, 0.7, 1.5, 0.9]),)], lambda x: (1.44 + 0.343 + 2.25 + 0.729) * 0.81),
    Program(
        update_before_and_after,
        [(A([1.2, 0.7, 1.5]), 2.0), (A([1.2, 0.7, 1.5]), -2.0)],
        lambda x, c: [c + c * c * x[2], c * c, x[2]] if c > 0 else [c + x[1], x[1], 1.0],
    ),
    Program(matvec, [(A([[1.2, 0.7, 1.5], [0.3, -0.5, 0.4]]), A([0.8, 1.1, 0.6]))], np.matmul),
    Program(matmul, [(A([[1.2, 0.7, 1.5], [0.3, -0.5, 0.4]]), A([[0.8, 1.1], [0.6, 2.0], [-1.0, 0.1]]))], np.matmul),
    Program(
        rows,
        [(A([[1.2, 0.7], [0.3, -0.5]]),)],
        lambda a: a[0, 0] * a[1, 1] * (a[0, 0] + 1),
        lambda a: [[a[1, 1] * (2 * a[0, 0] + 1), 0], [0, a[0, 0] * (a[0, 0] + 1)]],
    ),
    Program(
        swap_rows,
        [(A([[1.2, 0.7, 1.5], [0.3, -0.5, 0.4]]),)],
        lambda a: [[2 * a[1, 0], a[1, 1], 2 * a[1, 2]], [a[0, 0], 2 * a[0, 1], a[0, 2]]],
    ),
    Program(heat, [(A([0.0, 1.0, 0.0, 0.5, 2.0]), 0.2, 3), (A([1.0, 2.0, 4.0]), 0.1, 0)]),
    Program(bubble_sort, [(A([1.2, 0.7, 1.5, 0.9]),), (A([4.0, 3.0, 2.0, 1.0]),)], np.sort),
    Program(forward_substitution, [(SPD, A([1.0, 2.0, 3.0]))], lambda a, b: np.linalg.solve(np.tril(a), b)),
    Program(cholesky, [(SPD,), (A([[2.0]]),)], np.linalg.cholesky),
    Program(
        determinant,
        [(SPD,), (A([[2.0, 1.0], [1.0, -3.0]]),)],
        np.linalg.det,
        lambda a: np.linalg.det(a) * np.linalg.inv(a).T,
    ),
    Program(convolution, [(A([1.2, 0.7, 1.5]), A([0.5, -1.0])), (A([2.0]), A([3.0]))], np.convolve),
    Program(
        changed_by_helper,
        [(A([1.2, 0.7]),)],
        lambda x: x[0] ** 3 * x[1] / 128,
        lambda x: [3 * x[0] ** 2 * x[1] / 128, x[0] ** 3 / 128],
    ),
    Program(array_of_the_turn, [(A([1.2, 0.7]),), (A([0.5, -1.5, 0.8]),)]),
    Program(
        from_the_end,
        [(A([1.2, 0.7, 1.5]),)],
        lambda x: 2 * x[1] * x[0] + 2 * x[1] - 2,
        lambda x: [2 * x[1], 2 * x[0] + 2, 0.0],
    ),
    Program(gathered, [(A([1.2, 0.7, 1.5]), A([2, 0, -1, 2]))], lambda x, at: x[at] ** 2),
    Program(histogram, [(A([0, 1, 5, 4, 3]), A([1.0, 2.0, 4.0, 8.0, 16.0]))], lambda at, w: np.bincount(at % 3, w)),
    Program(
        counted,
        [(A([1, 2, 3]),), (A([-5]),)],
        lambda n: [n[0], 2 * n[0] + n[1], 4 * n[0] + 2 * n[1] + n[2]] if len(n) == 3 else n,
    ),
    Program(
        flags,
        [(A([1.2, 0.7, 1.5]), A([True, False, True]))],
        lambda x, on: (x[on] ** 2).sum(),
        lambda x, on: 2 * x * on,
    ),
    Program(any_rank, [(np.arange(8.0).reshape(2, 2, 2),)], lambda x: 3.0 * 4.0 + 96.0),
    Program(
        elementwise, [(A([1.2, 0.7, 1.5]), A([0.8, 1.1, 0.6]))], lambda x, y: [x[1] / y[0] - x[0], 2 / y[1], 2 / y[2]]
    ),
    Program(no_element, [(A([], float),)], lambda x: x),
    Program(argument_and_result, [(A([1.2, 0.7]),)], lambda x: (x, [x[1] ** 2, x[1]], x[0] * x[1] ** 2)),
)
