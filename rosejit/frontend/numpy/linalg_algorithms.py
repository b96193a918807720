"""Algorithms for matrices in the Python that users write, which are staged as their code is."""

# Arguments are staged arrays. Every loop stays a loop.

from collections.abc import Callable
from typing import Any

from rosejit.frontend.values import rose_functions as rose
from rosejit.numeric import np


def substituted(a: Any, b: Any, check: Callable[[Any], None]) -> Any:
    """The `x` of `a @ x = b`: elimination with the largest pivot of each column, then substitution."""
    n = a.shape[0]
    w, x = np.concatenate([a, b], axis=1), np.zeros(b.shape)
    for k in rose.range(n):
        p = k
        for i in rose.range(k + 1, n):
            if abs(w[i, k]) > abs(w[p, k]):
                p = i
        row = w[p].copy()
        w[p] = w[k]
        w[k] = row
        check(row[k])
        for i in rose.range(k + 1, n):
            w[i] -= (w[i, k] / row[k]) * row
    for iteration in rose.range(n):
        k = n - 1 - iteration
        rest = w[k, n:].copy()
        for i in rose.range(k + 1, n):
            rest -= w[k, i] * x[i]
        x[k] = rest / w[k, k]
    return x


def pivots(a: Any) -> Any:
    """The pivots of the elimination of `a`, and the sign of the order of its rows."""
    n = a.shape[0]
    w, found = a.copy(), np.zeros(n)
    sign = 1.0
    for k in rose.range(n):
        p = k
        for i in rose.range(k + 1, n):
            if abs(w[i, k]) > abs(w[p, k]):
                p = i
        sign = sign if p == k else -sign
        row = w[p].copy()
        w[p] = w[k]
        found[k] = row[k]
        for i in rose.range(k + 1, n):
            if row[k] != 0.0:
                w[i] -= (w[i, k] / row[k]) * row
    return found, sign


def determinant(a: Any, pivots: Callable[[Any], Any]) -> Any:
    """The product of the pivots."""
    found, sign = pivots(a)
    for k in rose.range(a.shape[0]):
        sign *= found[k]
    return sign


def log_determinant(a: Any, pivots: Callable[[Any], Any]) -> Any:
    """The sign of the determinant, and the logarithm of its magnitude."""
    found, sign = pivots(a)
    total = 0.0
    for k in rose.range(a.shape[0]):
        sign *= np.sign(found[k])
        total += np.log(abs(found[k]))
    return sign, total


def triangular(a: Any, check: Callable[[Any], None]) -> Any:
    """The lower triangle whose product with its transpose is `a`."""
    n = a.shape[0]
    c = np.zeros((n, n))
    for j in rose.range(n):
        for i in rose.range(j, n):
            rest = a[i, j]
            for k in rose.range(j):
                rest -= c[i, k] * c[j, k]
            if i == j:
                check(rest)
                c[i, j] = np.sqrt(rest)
            else:
                c[i, j] = rest / c[j, j]
    return c


def each(one: Callable[..., Any], made: Any, *stacks: Any) -> Any:
    """`one` of each of the matrices in some stacks, in an array like `made`."""
    found = made.copy()
    for k in rose.range(len(found)):
        found[k] = one(*[stack[k] for stack in stacks])
    return found
