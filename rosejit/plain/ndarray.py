"""Arrays of numbers in plain Python, under the names and with the meaning of NumPy's `ndarray`."""

import array
import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from rosejit.plain import indices
from rosejit.plain.dtypes import Kind, common, kind_of
from rosejit.plain.dtypes import dtype as Dtype

Shape = tuple[int, ...]


class Flags:
    """What may be done with an array."""

    def __init__(self, owner: "ndarray", writeable: bool) -> None:
        self._owner = owner
        self.writeable = writeable

    @property
    def c_contiguous(self) -> bool:
        """Whether the elements lie one behind the other."""
        return self._owner.is_contiguous


class ndarray:  # NumPy's name
    """Elements in a grid. Slices, transposes and reshapes are views, as in NumPy."""

    __slots__ = ("__weakref__", "base", "cells", "dtype", "flags", "shape", "start", "steps")

    # elementwise.py
    __add__: Callable[[Any], Any]
    __sub__: Callable[[Any], Any]
    __mul__: Callable[[Any], Any]
    __abs__: Callable[[], Any]
    __matmul__: Callable[[Any], Any]
    __rmatmul__: Callable[[Any], Any]

    def __init__(
        self, cells: Any, shape: Shape, kind: Dtype, start: int = 0, steps: Shape | None = None, base: Any = None
    ) -> None:
        self.cells = cells
        """All elements of the block that this array, or one it is a view of, was made with."""
        self.shape = shape
        self.dtype = kind
        self.start = start
        self.steps = row_major(shape) if steps is None else steps
        self.base = base
        self.flags = Flags(self, base is None or base.flags.writeable)

    # --- what it is

    @property
    def ndim(self) -> int:
        """How many axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements."""
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one behind the other."""
        return self.steps == row_major(self.shape) or not self.size

    @property
    def places(self) -> list[int]:
        """Where the elements are in `cells`, the last axis first to move."""
        found = [self.start]
        for length, step in zip(self.shape, self.steps, strict=True):
            found = [at + k * step for at in found for k in range(length)]
        return found

    @property
    def values(self) -> list[Any]:
        """The elements, in that order."""
        if self.is_contiguous and isinstance(self.cells, memoryview):
            found: list[Any] = self.cells[self.start : self.start + self.size].tolist()
            return found
        return [self.cells[at] for at in self.places]

    @property
    def flat(self) -> Iterator[Any]:
        """One element after the other."""
        return iter(self.values)

    def tolist(self) -> Any:
        """Nested lists of Python's numbers."""
        return nested(self.values, self.shape)

    def item(self, *at: int) -> Any:
        """The only element, or the one at a place."""
        if at:
            return self.ravel()[at[0]] if len(at) == 1 else self[at]
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.values[0]

    def tobytes(self) -> bytes:
        """The bytes of the elements."""
        return array.array(self.dtype.letter.replace("?", "b"), self.values).tobytes()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        kind = "" if self.dtype.kind in "fib" and self.size else f", dtype={self.dtype}"
        return f"array({self.tolist()}{kind})"

    def __bool__(self) -> bool:
        if self.size == 1:
            return bool(self.values[0])
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def _number(self) -> Any:
        if self.shape:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return self.cells[self.start]

    def __index__(self) -> int:
        if self.shape or self.dtype.kind != "i":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self.item())

    def __contains__(self, value: Any) -> bool:
        return value in self.values

    def __reduce__(self) -> Any:
        return made, (self.values, self.shape, self.dtype)

    def __copy__(self) -> "ndarray":
        return self.copy()

    def __deepcopy__(self, memo: Any) -> "ndarray":
        return self.copy()

    # --- views and copies

    def seen(self, shape: Shape, start: int, steps: Shape) -> "ndarray":
        """Other, or the same, elements of the same block."""
        return ndarray(self.cells, shape, self.dtype, start, steps, self)

    def view(self) -> "ndarray":
        """The same elements."""
        return self.seen(self.shape, self.start, self.steps)

    def copy(self) -> "ndarray":
        """The same numbers in a block of their own."""
        return made(self.values, self.shape, self.dtype)

    def astype(self, kind: Any, copy: bool = True) -> "ndarray":
        """The elements as another kind."""
        kind = Dtype(kind)
        if kind is self.dtype:
            return self.copy() if copy else self
        change: Callable[[Any], Any] = {"f": float, "i": int, "b": bool, "O": lambda x: x}[kind.kind]
        return made([change(x) for x in self.values], self.shape, kind)

    def setflags(self, write: bool) -> None:
        """Say whether it may be written."""
        self.flags.writeable = write

    @property
    def T(self) -> "ndarray":  # NumPy's name
        """With its axes in reverse."""
        return self.transpose()

    @property
    def real(self) -> "ndarray":
        """Itself."""
        return self

    def transpose(self, *axes: Any) -> "ndarray":
        """With its axes in another order."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = [axis % self.ndim for axis in order] if order else list(range(self.ndim))[::-1]
        return self.seen(tuple(self.shape[k] for k in order), self.start, tuple(self.steps[k] for k in order))

    def reshape(self, *shape: Any) -> "ndarray":
        """Under another shape, as a view if that is possible."""
        wanted = shape_of(shape[0] if len(shape) == 1 else shape)
        if -1 in wanted:
            known = prod(n for n in wanted if n != -1)
            wanted = tuple(self.size // (known or 1) if n == -1 else n for n in wanted)
        if prod(wanted) != self.size:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {wanted}")
        if self.is_contiguous:
            return self.seen(wanted, self.start, row_major(wanted))
        return made(self.values, wanted, self.dtype)

    def ravel(self) -> "ndarray":
        """As a vector."""
        return self.reshape(-1)

    def flatten(self) -> "ndarray":
        """As a vector of its own."""
        return made(self.values, (self.size,), self.dtype)

    def fill(self, value: Any) -> None:
        """Write all elements."""
        self[...] = value

    # --- elements

    def __getitem__(self, index: Any) -> Any:
        if type(index) is int and len(self.shape) == 1:
            return self.cells[self.start + indices.wrapped(index, self.shape[0]) * self.steps[0]]
        found = indices.picked(self, index)
        if isinstance(found, indices.View):
            if not found.shape and not found.whole:
                return self.cells[found.start]
            return self.seen(found.shape, found.start, found.steps)
        return made([self.cells[at] for at in found.places], found.shape, self.dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        if not self.flags.writeable:
            raise ValueError("assignment destination is read-only")
        found = indices.picked(self, index)
        shape = found.shape
        is_view = isinstance(found, indices.View)
        places = self.seen(shape, found.start, found.steps).places if is_view else found.places
        given = array_of(value)
        if given.dtype is not self.dtype:
            given = given.astype(self.dtype)
        while given.ndim > len(shape) and given.shape[0] == 1:
            given = given[0] if given.ndim > 1 else given.reshape(())
        for at, x in zip(places, stretched(given, shape).values, strict=True):
            self.cells[at] = x


def row_major(shape: Shape) -> Shape:
    """How far the next element of each axis is where the last axis moves first."""
    steps: list[int] = []
    step = 1
    for length in reversed(shape):
        steps.append(step)
        step *= length
    return tuple(reversed(steps))


def shape_of(given: Any) -> Shape:
    """A shape from a number or several."""
    if isinstance(given, (Sequence, ndarray)):
        return tuple(operator.index(n) for n in given)
    return (operator.index(given),)


def made(values: Sequence[Any], shape: Shape, kind: Any) -> ndarray:
    """A new array of these elements, in order."""
    kind = Dtype(kind)
    if kind.kind == "O":
        return ndarray(list(values), shape, kind)
    if kind.kind == "b":
        return ndarray(memoryview(bytearray(values)).cast("B").cast("?"), shape, kind)
    try:
        block = array.array(kind.letter, values)
    except OverflowError:  # NumPy's integers wrap
        block = array.array("q", [(x + (1 << 63)) % (1 << 64) - (1 << 63) for x in values])
    return ndarray(memoryview(block), shape, kind)


def array_of(value: Any, kind: Any = None) -> ndarray:
    """An array from what may be one: numbers, nested lists and tuples, buffers."""
    if isinstance(value, ndarray):
        return value if kind is None or Dtype(kind) is value.dtype else value.astype(kind)
    if isinstance(value, (array.array, memoryview)):
        value = value.tolist()
    values: list[Any] = []
    shape = _gathered(value, values)
    if kind is None:
        kinds: set[Kind] = {kind_of(x) for x in values}
        found = Dtype(common(*kinds) if kinds else "f")
    else:
        found = Dtype(kind)
    change: Callable[[Any], Any] = {"f": float, "i": int, "b": bool, "O": lambda x: x}[found.kind]
    if found.kind == "i" and any(not -(1 << 63) <= int(x) < 1 << 63 for x in values):
        raise OverflowError("Python int too large to convert to int64")
    return made([change(x) for x in values], shape, found)


def _gathered(value: Any, values: list[Any]) -> Shape:
    """The shape of nested sequences, whose items go to `values`."""
    if isinstance(value, ndarray):
        values += value.values
        return value.shape
    if not isinstance(value, (list, tuple, range, array.array)):
        values.append(value)
        return ()
    shapes = [_gathered(item, values) for item in value]
    if len(set(shapes)) > 1:
        raise ValueError("setting an array element with a sequence. The requested array has an inhomogeneous shape")
    return (len(value), *(shapes[0] if shapes else ()))


def nested(values: list[Any], shape: Shape) -> Any:
    """The elements as lists in lists."""
    if not shape:
        return values[0]
    for length in reversed(shape[1:]):
        count = len(values) // length if length else prod(shape[:-1])
        values = [values[k * length : (k + 1) * length] for k in range(count)]
    return values


def broadcast_shapes(*shapes: Any) -> Shape:
    """The shape that all these stretch to. Raises ValueError if there is none."""
    given = [shape_of(shape) for shape in shapes]
    rank = max(map(len, given), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in given]
    found: list[int] = []
    for lengths in zip(*padded, strict=True):
        wanted = {n for n in lengths if n != 1}
        if len(wanted) > 1:
            names = " ".join(str(shape) for shape in given)
            raise ValueError(f"operands could not be broadcast together with shapes {names}")
        found.append(wanted.pop() if wanted else 1)
    return tuple(found)


def stretched(a: ndarray, shape: Shape) -> ndarray:
    """A view of `a` in which axes of one element are repeated."""
    if a.shape == shape:
        return a
    if broadcast_shapes(a.shape, shape) != shape:
        raise ValueError(f"could not broadcast input array from shape {a.shape} into shape {shape}")
    missing = len(shape) - a.ndim
    lengths = (1,) * missing + a.shape
    steps = (0,) * missing + a.steps
    return a.seen(shape, a.start, tuple(0 if n == 1 else s for n, s in zip(lengths, steps, strict=True)))


def every(*axes: int) -> Iterator[tuple[int, ...]]:
    """All places of a grid."""
    return product(*map(range, axes))
