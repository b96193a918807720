"""Functions that make plain arrays, under NumPy's names."""

import math
from typing import Any

from rosejit.plain.dtypes import dtype
from rosejit.plain.ndarray import array_of, made, ndarray, shape_of, stretched


def array(value: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> ndarray:
    """A new array."""
    found = array_of(value, dtype)
    found = found.copy() if found is value and copy else found
    return found.reshape((1,) * (ndmin - found.ndim) + found.shape) if ndmin > found.ndim else found


def asarray(value: Any, dtype: Any = None) -> ndarray:
    """An array, itself if it is one."""
    return array_of(value, dtype)


def ascontiguousarray(value: Any, dtype: Any = None) -> ndarray:
    """An array whose elements lie one behind the other."""
    found = array_of(value, dtype)
    return found if found.is_contiguous else found.copy()


def full(shape: Any, value: Any, dtype: Any = None) -> ndarray:
    """The same value everywhere, or values that stretch."""
    given = array_of(value, dtype)
    return stretched(given, shape_of(shape)).copy()


def zeros(shape: Any, dtype: Any = float) -> ndarray:
    """Zeros."""
    return full(shape, 0, dtype)


def ones(shape: Any, dtype: Any = float) -> ndarray:
    """Ones."""
    return full(shape, 1, dtype)


def empty(shape: Any, dtype: Any = float) -> ndarray:
    """Zeros, which nobody may rely on."""
    return full(shape, 0, dtype)


def full_like(a: Any, value: Any, dtype: Any = None) -> ndarray:
    """As `full`, with the shape and kind of another array."""
    given = array_of(a)
    return full(given.shape, value, dtype or given.dtype)


def zeros_like(a: Any, dtype: Any = None) -> ndarray:
    """Zeros in the shape of another array."""
    return full_like(a, 0, dtype)


def ones_like(a: Any, dtype: Any = None) -> ndarray:
    """Ones in the shape of another array."""
    return full_like(a, 1, dtype)


def empty_like(a: Any, dtype: Any = None) -> ndarray:
    """As `zeros_like`."""
    return full_like(a, 0, dtype)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> ndarray:
    """Numbers at even distances, without the last."""
    first, last = (0, start) if stop is None else (start, stop)
    count = max(0, math.ceil((last - first) / step))
    return array_of([first + k * step for k in range(count)], dtype or type(first + last + step))


def linspace(start: float, stop: float, num: int = 50, endpoint: bool = True) -> ndarray:
    """So many numbers at even distances."""
    gaps = num - 1 if endpoint else num
    step = (stop - start) / gaps if gaps else 0.0
    found = [float(start + k * step) for k in range(num)]
    return made([*found[:-1], float(stop)] if endpoint and num > 1 else found, (num,), "f8")


def eye(n: int, m: int | None = None, k: int = 0, dtype: Any = float) -> ndarray:
    """Ones on a diagonal."""
    wide = n if m is None else m
    return array_of([[int(j - i == k) for j in range(wide)] for i in range(n)], dtype).reshape(n, wide)


def identity(n: int, dtype: Any = float) -> ndarray:
    """Ones on the diagonal of a square."""
    return eye(n, dtype=dtype)


def frombuffer(buffer: Any, kind: Any = float, count: int = -1, offset: int = 0) -> ndarray:
    """A vector that shares the memory of a buffer."""
    of = dtype(kind)
    cells: Any = memoryview(buffer).cast("B")[offset:]
    count = len(cells) // of.itemsize if count < 0 else count
    found = ndarray(cells[: count * of.itemsize].cast(of.letter), (count,), of)
    found.flags.writeable = not cells.readonly
    return found


def copy(a: Any) -> ndarray:
    """A new array with the same elements."""
    return array_of(a).copy()
