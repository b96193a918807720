"""`numpy.linalg` for plain arrays: systems of equations by elimination with the largest pivot."""

import math
from typing import Any

from rosejit.plain.creation import eye
from rosejit.plain.ndarray import array_of, made, ndarray
from rosejit.plain.reductions import matmul, sqrt_of_sum


class LinAlgError(ValueError):
    """A matrix that has no inverse, and the like."""


def solve(a: Any, b: Any) -> ndarray:
    """The x with a x = b; b has one column or several."""
    matrix, right = array_of(a).astype(float), array_of(b).astype(float)
    columns = right.reshape(len(right), -1)
    rows = [[*row, *side] for row, side in zip(matrix.tolist(), columns.tolist(), strict=True)]
    if _eliminated(rows) == 0.0:
        raise LinAlgError("Singular matrix")
    n = len(rows)
    for k in reversed(range(n)):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(k):
            rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return made([x for row in rows for x in row[n:]], right.shape, "f8")


def inv(a: Any) -> ndarray:
    """The inverse."""
    return solve(a, eye(len(array_of(a))))


def det(a: Any) -> float:
    """The determinant."""
    return _eliminated(array_of(a).astype(float).tolist())


def slogdet(a: Any) -> tuple[float, float]:
    """Sign and logarithm of the determinant."""
    found = det(a)
    return (math.copysign(1.0, found), math.log(abs(found))) if found else (0.0, -math.inf)


def cholesky(a: Any) -> ndarray:
    """The lower triangle whose square is a."""
    rows = array_of(a).astype(float).tolist()
    n = len(rows)
    found = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            rest = rows[i][j] - sum(x * y for x, y in zip(found[i][:j], found[j][:j], strict=True))
            if i == j and rest <= 0.0:
                raise LinAlgError("Matrix is not positive definite")
            found[i][j] = math.sqrt(rest) if i == j else rest / found[j][j]
    return array_of(found)


def norm(a: Any, ord: Any = None, axis: Any = None) -> Any:
    """The length of a vector, or of all elements as one."""
    if ord not in (None, 2, "fro") or (ord == 2 and array_of(a).ndim != 1):
        raise AttributeError(f"`np.linalg.norm` of order {ord!r} needs NumPy, which is not installed")
    return sqrt_of_sum(array_of(a).astype(float), axis)


def matrix_power(a: Any, exponent: int) -> ndarray:
    """The matrix times itself."""
    base = inv(a) if exponent < 0 else array_of(a)
    found = eye(len(base), dtype=base.dtype)
    for _ in range(abs(exponent)):
        found = matmul(found, base)
    return found


def multi_dot(arrays: Any) -> Any:
    """The product of several matrices."""
    first, *rest = arrays
    for matrix in rest:
        first = matmul(first, matrix)
    return first


def _eliminated(rows: list[list[float]]) -> float:
    """The determinant; `rows` become an upper triangle."""
    n, found = len(rows), 1.0
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if pivot != k:
            rows[k], rows[pivot], found = rows[pivot], rows[k], -found
        found *= rows[k][k]
        if rows[k][k] == 0.0:
            return 0.0
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return found
