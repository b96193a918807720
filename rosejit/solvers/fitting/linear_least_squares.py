"""Dense linear systems: least squares by Householder's reflections, square ones by Gaussian elimination."""

import math

from rosejit.frontend.values.rose_functions import range as iterations
from rosejit.numeric import np

EPSILON = 2.0**-52


def least(a, b):
    """The vector x with the smallest |a x - b|, and whether the columns of `a` are independent as far as rounding lets
    one see. Where they are not, x is of no use.
    """
    rows, columns = a.shape
    r, y = a.copy(), b.copy()
    regular = rows >= columns
    for k in iterations(min(rows, columns)):
        whole, below = 0.0, 0.0
        for i in iterations(rows):
            whole = max(whole, abs(r[i, k]))
            below = max(below, abs(r[i, k]) if i >= k else 0.0)
        if not (EPSILON * whole < below < math.inf):
            regular = False
        else:
            reflect(r, y, k, below)
    return backward(lambda i, j: r[i, j], y, columns)[:columns] if regular else np.zeros(columns), regular


def backward(upper, y, n):
    """The vector whose first `n` numbers solve an upper triangle, `upper(i, j)` its entries, for those of `y`."""
    x = np.zeros(len(y))
    for back in iterations(n):
        i = n - 1 - back
        total = y[i]
        for j in iterations(i + 1, n):
            total -= upper(i, j) * x[j]
        x[i] = total / upper(i, i)
    return x


def reflect(r, y, k, largest):
    """Reflect the rows of `r` and `y` from `k` on so that column `k` of `r` is zero below the diagonal."""
    rows, columns = r.shape
    v = np.zeros(rows)
    square = 0.0
    for i in iterations(k, rows):
        v[i] = r[i, k] / largest
        square += v[i] * v[i]
    length = -math.copysign(math.sqrt(square), v[k])
    half = square - v[k] * length
    v[k] -= length
    along, total = np.zeros(columns), 0.0
    for i in iterations(k, rows):
        if v[i] != 0.0:  # matrices of fits and equations have many zeros
            total += v[i] * y[i]
            for j in iterations(k + 1, columns):
                along[j] += v[i] * r[i, j]
    for j in iterations(k + 1, columns):
        along[j] /= half
    for i in iterations(k, rows):
        if v[i] != 0.0:
            y[i] -= total / half * v[i]
            for j in iterations(k + 1, columns):
                r[i, j] -= along[j] * v[i]
    r[k, k] = length * largest


def eliminated(a, b):
    """As `least` of a square matrix: the x with a x = b, with partial pivoting, and whether the columns of `a` are
    independent as far as rounding lets one see. It takes half the operations, and few where `a` has many zeros.
    """
    n = len(b)
    r, x = a.copy(), b.copy()
    regular = True
    for k in iterations(n):
        whole, pivot, at = 0.0, 0.0, k
        for i in iterations(n):
            size = abs(r[i, k])
            whole = max(whole, size)
            if i >= k and not (size <= pivot):
                pivot, at = size, i
        if not (EPSILON * whole < pivot < math.inf):
            regular = False
        else:
            swap(r, x, k, at)
            for i in iterations(k + 1, n):
                factor = r[i, k] / r[k, k]
                if factor != 0.0:
                    for j in iterations(k + 1, n):
                        r[i, j] -= factor * r[k, j]
                    x[i] -= factor * x[k]
    return backward(lambda i, j: r[i, j], x, n) if regular else np.zeros(n), regular


def swap(r, x, k, at):
    """Swap two rows of a system, from column `k` on."""
    if at != k:
        for j in iterations(k, len(x)):
            r[k, j], r[at, j] = r[at, j], r[k, j]
        x[k], x[at] = x[at], x[k]


def norm(x):
    """The Euclidean length of a vector; also where its square is no normal number."""
    square = x @ x
    if 1e-280 < square < math.inf:
        return math.sqrt(square)
    most = abs(x).max()
    if not (0.0 < most < math.inf):
        return most
    part = x / most
    return most * math.sqrt(part @ part)


def columns(matrix):
    """The length of each column; 1 where that is zero."""
    found = np.zeros(matrix.shape[1])
    for j in iterations(len(found)):
        total = 0.0
        for i in iterations(matrix.shape[0]):
            total += matrix[i, j] * matrix[i, j]
        found[j] = math.sqrt(total) if total > 0.0 else 1.0
    return found
