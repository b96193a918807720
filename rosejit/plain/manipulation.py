"""Functions that join, part, repeat and choose elements of plain arrays, under NumPy's names."""

from collections.abc import Callable, Sequence
from typing import Any

from rosejit.plain.creation import zeros, zeros_like
from rosejit.plain.dtypes import Kind, common
from rosejit.plain.elementwise import UFUNCS, along
from rosejit.plain.ndarray import array_of, broadcast_shapes, every, made, ndarray, shape_of, stretched
from rosejit.plain.transposition import atleast_1d, atleast_2d, expand_dims, moveaxis


def concatenate(arrays: Sequence[Any], axis: int | None = 0) -> ndarray:
    """One after the other along an axis."""
    parts = [array_of(a) for a in arrays]
    parts, axis = ([p.ravel() for p in parts], 0) if axis is None else (parts, axis % parts[0].ndim)
    kinds: list[Kind] = [p.dtype.kind for p in parts]
    kind = common(*kinds)
    moved = [moveaxis(p, axis, 0) for p in parts]
    if len({p.shape[1:] for p in moved}) > 1:
        raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
    values = [x for p in moved for x in p.astype(kind, copy=False).values]
    whole = made(values, (sum(len(p) for p in moved), *moved[0].shape[1:]), kind)
    return moveaxis(whole, 0, axis)


def stack(arrays: Sequence[Any], axis: int = 0) -> ndarray:
    """Along a new axis."""
    return concatenate([expand_dims(a, axis) for a in arrays], axis)


def vstack(arrays: Sequence[Any]) -> ndarray:
    """One below the other."""
    return concatenate([atleast_2d(a) for a in arrays])


def hstack(arrays: Sequence[Any]) -> ndarray:
    """Side by side."""
    parts = [atleast_1d(a) for a in arrays]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1)


def column_stack(arrays: Sequence[Any]) -> ndarray:
    """Vectors as columns."""
    return concatenate([a.reshape(-1, 1) if a.ndim == 1 else a for a in map(array_of, arrays)], 1)


def append(a: Any, values: Any, axis: int | None = None) -> ndarray:
    """Some more at the end."""
    return concatenate([a, values], axis)


def array_split(a: Any, sections: Any, axis: int = 0) -> list[ndarray]:
    """In parts, as even as may be."""
    given = moveaxis(array_of(a), axis, 0)
    if isinstance(sections, int):
        more = len(given) % sections
        sizes = [len(given) // sections + (k < more) for k in range(sections)]
        ends = [sum(sizes[: k + 1]) for k in range(sections)]
    else:
        ends = [*sections, len(given)]
    return [moveaxis(given[i:j], 0, axis) for i, j in zip([0, *ends], ends, strict=False)]


def split(a: Any, sections: Any, axis: int = 0) -> list[ndarray]:
    """In even parts."""
    if isinstance(sections, int) and array_of(a).shape[axis] % sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(a, sections, axis)


def roll(a: Any, shift: int, axis: int | None = None) -> ndarray:
    """What leaves at the end comes in at the start."""
    given = array_of(a)
    if axis is None:
        return roll(given.ravel(), shift, 0).reshape(given.shape)
    return along(given, lambda line: line[-shift % len(line) :] + line[: -shift % len(line)], axis)


def tile(a: Any, times: Any) -> ndarray:
    """Again and again, as a whole."""
    given, counts = array_of(a), shape_of(times)
    rank = max(given.ndim, len(counts))
    given = given.reshape((1,) * (rank - given.ndim) + given.shape)
    for axis, count in enumerate((1,) * (rank - len(counts)) + counts):
        given = along(given, lambda line, count=count: line * count, axis)
    return given


def repeat(a: Any, times: Any, axis: int | None = None) -> ndarray:
    """Each element again and again."""
    given = array_of(a)
    n = given.size if axis is None else given.shape[axis]
    counts = stretched(array_of(times), (n,)).values
    return along(given, lambda line: [x for x, k in zip(line, counts, strict=True) for _ in range(k)], axis)


def delete(a: Any, index: Any, axis: int | None = None) -> ndarray:
    """Without some elements."""
    given = array_of(a)
    n = given.size if axis is None else given.shape[axis]
    gone = {k % n for k in array_of(list(range(n))[index] if isinstance(index, slice) else index).values}
    return along(given, lambda line: [x for k, x in enumerate(line) if k not in gone], axis)


def pad(a: Any, width: Any, mode: str = "constant", constant_values: Any = 0) -> ndarray:
    """With more elements around."""
    given = array_of(a)
    sides = stretched(array_of(width), (given.ndim, 2)).tolist()
    made_of = {
        "constant": lambda line, n, end: [constant_values] * n,
        "edge": lambda line, n, end: [line[-1 if end else 0]] * n,
        "wrap": lambda line, n, end: (line * (n // len(line) + 1))[:n] if end else (line * (n // len(line) + 1))[-n:],
        "reflect": lambda line, n, end: line[-n - 1 : -1][::-1] if end else line[1 : n + 1][::-1],
        "symmetric": lambda line, n, end: line[-n:][::-1] if end else line[:n][::-1],
    }[mode]
    for axis, (before, after) in enumerate(sides):
        given = along(given, lambda line, b=before, e=after: _padded(line, b, e, made_of), axis)
    return given


def _padded(line: list[Any], before: int, after: int, more: Callable[..., list[Any]]) -> list[Any]:
    return [*(more(line, before, False) if before else []), *line, *(more(line, after, True) if after else [])]


def tril(a: Any, k: int = 0) -> ndarray:
    """The lower triangle, zeros above."""
    given = array_of(a)
    rows, columns = given.shape[-2:]
    return where([[j - i <= k for j in range(columns)] for i in range(rows)], given, zeros_like(given))


def triu(a: Any, k: int = 0) -> ndarray:
    """The upper triangle, zeros below."""
    given = array_of(a)
    return given - tril(given, k - 1)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """The elements whose two indices are the same."""
    given = moveaxis(array_of(a), (axis1, axis2), (-2, -1))
    rows, columns = given.shape[-2:]
    start = given.start + max(offset, 0) * given.steps[-1] + max(-offset, 0) * given.steps[-2]
    length = max(0, min(rows - max(-offset, 0), columns - max(offset, 0)))
    found = given.seen((*given.shape[:-2], length), start, (*given.steps[:-2], given.steps[-1] + given.steps[-2]))
    found.flags.writeable = False
    return found


def diag(a: Any, k: int = 0) -> ndarray:
    """The diagonal of a matrix, or the matrix with a diagonal."""
    given = array_of(a)
    if given.ndim == 2:
        return diagonal(given, k)
    n = len(given) + abs(k)
    found = zeros((n, n), given.dtype)
    for i, x in enumerate(given):
        found[i + max(-k, 0), i + max(k, 0)] = x
    return found


def where(condition: Any, *sides: Any) -> Any:
    """One or the other; alone, the places where it holds."""
    if not sides:
        return nonzero(condition)
    on, left, right = map(array_of, (condition, *sides))
    shape = broadcast_shapes(on.shape, left.shape, right.shape)
    kind = common(left.dtype.kind, right.dtype.kind)
    columns = (stretched(a, shape).values for a in (on, left.astype(kind), right.astype(kind)))
    return made([x if c else y for c, x, y in zip(*columns, strict=True)], shape, kind)


def nonzero(a: Any) -> tuple[ndarray, ...]:
    """The indices of what is not zero."""
    given = array_of(a)
    found = [at for at, on in zip(every(*given.shape), given.values, strict=True) if on]
    return tuple(made([at[k] for at in found], (len(found),), "i8") for k in range(given.ndim))


def flatnonzero(a: Any) -> ndarray:
    """The indices of what is not zero, in a vector."""
    return nonzero(array_of(a).ravel())[0]


def take(a: Any, index: Any, axis: int | None = None) -> Any:
    """The elements at some indices."""
    given = array_of(a)
    if axis is None:
        return given.ravel()[array_of(index)]
    return given[(slice(None),) * (axis % given.ndim) + (array_of(index),)]


def unique(a: Any) -> ndarray:
    """Each element once, in order."""
    return array_of(sorted(set(array_of(a).values)), array_of(a).dtype)


def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """No less than one, no more than the other."""
    low, high = (x if y is None else y for x, y in ((a_min, min), (a_max, max)))
    found = a if low is None else UFUNCS["maximum"](a, low)
    return found if high is None else UFUNCS["minimum"](found, high)


def argsort(a: Any, axis: int | None = -1, kind: str = "stable") -> ndarray:
    """The indices that would sort."""
    return along(array_of(a), lambda line: sorted(range(len(line)), key=lambda k: _order(line[k])), axis)


def sort(a: Any, axis: int | None = -1) -> ndarray:
    """The elements in order."""
    return along(array_of(a), lambda line: sorted(line, key=_order), axis)


def _order(x: Any) -> Any:
    return (x != x, x)  # what is not a number comes last
