"""Functions that add plain arrays up and compare them, under NumPy's names."""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import Any

from rosejit.plain.creation import arange
from rosejit.plain.dtypes import common, dtype
from rosejit.plain.elementwise import UFUNCS, along, folded
from rosejit.plain.manipulation import diagonal
from rosejit.plain.ndarray import array_of, broadcast_shapes, made, ndarray, stretched
from rosejit.plain.transposition import moveaxis, swapaxes


def _fold(name: str, fold: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    def function(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return folded(array_of(a), fold, axis, keepdims)

    function.__name__ = function.__qualname__ = name
    return function


def _summed(values: list[Any]) -> Any:
    return sum(values[1:], values[0] + 0) if values else 0.0


def _extreme(better: Callable[[Any, Any], bool]) -> Callable[[list[Any]], int]:
    """The index of the first that none is better than, or of the first that is not a number."""

    def first(values: list[Any]) -> int:
        if not values:
            raise ValueError("attempt to get the extreme of an empty sequence")
        best = 0
        for k, x in enumerate(values):
            if x != x:
                return k
            best = k if better(x, values[best]) else best
        return best

    return first


_largest, _smallest = _extreme(lambda x, y: x > y), _extreme(lambda x, y: x < y)
sum_ = _fold("sum", _summed)
prod_ = _fold("prod", lambda values: math.prod(values) if values else 1.0)
max_ = _fold("max", lambda values: values[_largest(values)])
min_ = _fold("min", lambda values: values[_smallest(values)])
argmax = _fold("argmax", _largest)
argmin = _fold("argmin", _smallest)
all_ = _fold("all", lambda values: all(map(bool, values)))
any_ = _fold("any", lambda values: any(map(bool, values)))
mean = _fold("mean", lambda values: math.fsum(values) / len(values) if values else math.nan)


def _varied(values: list[Any]) -> float:
    middle = math.fsum(values) / len(values)
    return math.fsum((x - middle) ** 2 for x in values) / len(values)


var = _fold("var", _varied)
std = _fold("std", lambda values: math.sqrt(_varied(values)))


def sqrt_of_sum(a: ndarray, axis: Any = None) -> Any:
    """The root of the sum of squares."""
    return UFUNCS["sqrt"](folded(a * a, _summed, axis))


def cumsum(a: Any, axis: int | None = None) -> ndarray:
    """What the sum is after each element."""
    given = array_of(a)
    return UFUNCS["add"].accumulate(given.ravel() if axis is None else given, axis or 0)


def cumprod(a: Any, axis: int | None = None) -> ndarray:
    """What the product is after each element."""
    given = array_of(a)
    return UFUNCS["multiply"].accumulate(given.ravel() if axis is None else given, axis or 0)


def trace(a: Any, offset: int = 0) -> Any:
    """The sum of the diagonal."""
    return sum_(diagonal(a, offset), -1)


def count_nonzero(a: Any) -> int:
    """How many are not zero."""
    return sum(map(bool, array_of(a).values))


def diff(a: Any, n: int = 1, axis: int = -1) -> ndarray:
    """Each element less the one before."""
    found = array_of(a)
    for _ in range(n):
        found = along(found, lambda line: [y - x for x, y in pairwise(line)], axis)
    return found


# --- products


def matmul(a: Any, b: Any) -> Any:
    """The product of matrices, in the last two axes."""
    left, right = array_of(a), array_of(b)
    if not left.ndim or not right.ndim:
        raise ValueError("matmul: an operand has no axes")
    row, column = left.ndim == 1, right.ndim == 1
    left, right = left.reshape(1, -1) if row else left, right.reshape(-1, 1) if column else right
    n, k, m = left.shape[-2], left.shape[-1], right.shape[-1]
    if right.shape[-2] != k:
        raise ValueError(f"matmul: mismatch in its core dimension (size {right.shape[-2]} is different from {k})")
    outer = broadcast_shapes(left.shape[:-2], right.shape[:-2])
    rows = stretched(left, (*outer, n, k)).values
    columns = stretched(moveaxis(right, -1, -2), (*outer, m, k)).values
    values = [
        _summed([rows[(at * n + i) * k + x] * columns[(at * m + j) * k + x] for x in range(k)])
        for at in range(math.prod(outer))
        for i in range(n)
        for j in range(m)
    ]
    kind = common(left.dtype.kind, right.dtype.kind)
    shape = (*outer, *(() if row else (n,)), *(() if column else (m,)))
    found = made([float(x) for x in values] if kind == "f" else values, shape, kind)
    return found if shape else found.item()


def dot(a: Any, b: Any) -> Any:
    """The product of vectors or matrices, or with a number."""
    left, right = array_of(a), array_of(b)
    return matmul(left, right) if left.ndim and right.ndim else left * right


def outer(a: Any, b: Any) -> ndarray:
    """Each element of one times each of the other."""
    return UFUNCS["multiply"].outer(array_of(a).ravel(), array_of(b).ravel())


def inner(a: Any, b: Any) -> Any:
    """Sums of products over the last axis of each."""
    left, right = array_of(a), array_of(b)
    if not left.ndim or not right.ndim:
        return left * right
    n = left.shape[-1]
    found = matmul(left.reshape(-1, n), right.reshape(-1, n).transpose())
    shape = left.shape[:-1] + right.shape[:-1]
    return found.reshape(*shape) if shape else found.item()


def vdot(a: Any, b: Any) -> Any:
    """The sum of all products."""
    return inner(array_of(a).ravel(), array_of(b).ravel())


def kron(a: Any, b: Any) -> ndarray:
    """Each element of one times all of the other, as one matrix."""
    left, right = array_of(a), array_of(b)
    if left.ndim == right.ndim == 1:
        return UFUNCS["multiply"].outer(left, right).ravel()
    (n, m), (p, q) = left.shape, right.shape
    return UFUNCS["multiply"].outer(left, right).transpose(0, 2, 1, 3).reshape(n * p, m * q)


def convolve(a: Any, b: Any) -> ndarray:
    """The product of two polynomials."""
    x, y = array_of(a).values, array_of(b).values
    pairs = [[(i, k - i) for i in range(len(x)) if 0 <= k - i < len(y)] for k in range(len(x) + len(y) - 1)]
    return array_of([_summed([x[i] * y[j] for i, j in at]) for at in pairs])


def average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    """The mean, each element with its weight."""
    given = array_of(a)
    if weights is None:
        return mean(given, axis)
    heavy = stretched(array_of(weights), given.shape)
    return sum_(given * heavy, axis) / sum_(heavy, axis)


def interp(x: Any, xs: Any, ys: Any) -> Any:
    """The places on a line through points, level before the first and after the last."""
    at, heights = array_of(xs).values, array_of(ys).values

    def one(place: float) -> float:
        k = sum(p <= place for p in at) - 1
        if k < 0 or k == len(at) - 1:
            return heights[max(k, 0)]
        return heights[k] + (heights[k + 1] - heights[k]) / (at[k + 1] - at[k]) * (place - at[k])

    given = array_of(x)
    values = [float(one(place)) for place in given.values]
    return made(values, given.shape, "f8") if given.shape else values[0]


def bincount(a: Any, weights: Any = None, minlength: int = 0) -> ndarray:
    """How often each whole number is there, or what it weighs."""
    values = array_of(a).values
    heavy = [1] * len(values) if weights is None else array_of(weights).values
    found = [0 * sum(heavy)] * max([minlength, *(k + 1 for k in values)])
    for k, weight in zip(values, heavy, strict=True):
        found[k] += weight
    return array_of(found)


def round_(a: Any, decimals: int = 0) -> Any:
    """To so many digits, halves to even."""
    given = array_of(a)
    if given.dtype.kind != "f":
        return a
    values = [round(x, decimals) if math.isfinite(x) else x for x in given.values]
    return made(values, given.shape, "f8") if given.shape else values[0]


def shape(a: Any) -> tuple[int, ...]:
    """How long each axis is."""
    return array_of(a).shape


def ndim(a: Any) -> int:
    """How many axes."""
    return array_of(a).ndim


def size(a: Any, axis: int | None = None) -> int:
    """How many elements."""
    return array_of(a).size if axis is None else array_of(a).shape[axis]


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Any:
    """Whether elements are near each other."""
    x, y = array_of(a), array_of(b)
    return UFUNCS["less_equal"](UFUNCS["absolute"](x - y), atol + rtol * UFUNCS["absolute"](y)) | UFUNCS["equal"](x, y)


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> bool:
    """Whether all elements are near each other."""
    return bool(all_(isclose(a, b, rtol, atol)))


def array_equal(a: Any, b: Any) -> bool:
    """Whether shapes and elements are the same."""
    x, y = array_of(a), array_of(b)
    return x.shape == y.shape and x.values == y.values


def shares_memory(a: ndarray, b: ndarray) -> bool:
    """Whether two arrays may have an element in common."""
    return may_share_memory(a, b)


def may_share_memory(a: ndarray, b: ndarray) -> bool:
    """Whether two arrays are of one block."""
    return a.cells is b.cells


def meshgrid(*vectors: Any, indexing: str = "xy") -> list[ndarray]:
    """The coordinates of a grid."""
    parts = [array_of(v).ravel() for v in vectors]
    n = len(parts)
    grids = [p.reshape(*(-1 if j == k else 1 for j in range(n))) for k, p in enumerate(parts)]
    whole = tuple(len(p) for p in parts)
    found = [stretched(g, whole).copy() for g in grids]
    return [swapaxes(g, 0, 1) for g in found] if indexing == "xy" and n > 1 else found


class _Grid:
    """`ogrid[0:n, 0:m]`."""

    def __getitem__(self, slices: Any) -> Any:
        given = slices if isinstance(slices, tuple) else (slices,)
        lines = [arange(s.start or 0, s.stop, s.step or 1) for s in given]
        found = [line.reshape(*(-1 if j == k else 1 for j in range(len(lines)))) for k, line in enumerate(lines)]
        return found if isinstance(slices, tuple) else found[0]


ogrid = _Grid()


def errstate(**kinds: str) -> AbstractContextManager[None]:
    """Nothing: plain arrays warn of nothing."""
    return nullcontext()


def put(a: ndarray, index: Any, values: Any) -> None:
    """Write some elements of a vector."""
    a[array_of(index)] = values


def copyto(target: ndarray, values: Any) -> None:
    """Write all elements."""
    target[...] = values


class finfo:  # NumPy's name
    """The limits of reals."""

    eps = 2.0**-52
    max = 1.7976931348623157e308
    min = -max
    tiny = 2.0**-1022

    def __init__(self, kind: Any = float) -> None:
        self.dtype = dtype(kind)


def vectorize(function: Callable[..., Any], otypes: Any = None) -> Callable[..., Any]:
    """`function` of each element."""

    def mapped(*given: Any) -> Any:
        arrays = [array_of(x) for x in given]
        whole = broadcast_shapes(*(a.shape for a in arrays))
        values = [function(*row) for row in zip(*(stretched(a, whole).values for a in arrays), strict=True)]
        return array_of(values, otypes[0] if otypes else None).reshape(whole)

    return mapped
