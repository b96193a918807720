"""Functions of numbers and arrays, staged or not, with the same bits; sums of exponentials without overflow."""

# Values of users are of any type: what they are is asked while staging.

import sys
from collections.abc import Callable
from typing import Any

from rosejit.abi import Leaf
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.asarray import staged_items
from rosejit.frontend.arrays.broadcast import broadcast_map
from rosejit.frontend.values.pytree import staged_leaf
from rosejit.numeric import np
from rosejit.ops import PRIMITIVES

NAMES = {op.rose: op.name for op in PRIMITIVES.values() if op.rose}
"""The public functions, and the primitives that they are."""


_FLOATS = frozenset({float})


def _elementwise_function(name: str) -> Callable[..., Any]:
    op = PRIMITIVES[NAMES[name]]

    def function(*args: Any) -> Any:
        if len(args) != len(op.params):
            raise TypeError(f"rose.{name}() takes {len(op.params)} arguments, given {len(args)}")
        if _FLOATS.issuperset(map(type, args)):
            return op.evaluate(*args)
        arrays = [a for a in args if isinstance(a, Array)]
        if arrays:
            return broadcast_map(arrays[0].tape, op.__call__, *args)
        if any(isinstance(a, np.ndarray | list) for a in args):
            with np.errstate(all="ignore"):  # which flags the steps of a kernel raise says nothing of its result
                return np.vectorize(op.__call__, otypes=[bool if op.result.name == "Bool" else float])(*args)
        return op(*[a if staged_leaf(a) is not None else float(a) for a in args])

    function.__name__ = function.__qualname__ = name
    function.__module__ = "rosejit"  # where pickles find it
    function.__doc__ = f"{op.doc}\n\nOf numbers, or element by element of arrays."
    function.__rose_primitive__ = op  # staging knows by it that the bits are the same
    return function


FUNCTIONS: dict[str, Callable[..., Any]] = {name: _elementwise_function(name) for name in NAMES}


def logsumexp(x: Any, axis: int | tuple[int, ...] | None = None) -> Any:
    """log Σ exp(x) of an array, or along axes of it, without overflow.

    >>> import rosejit as rose
    >>> bool(rose.logsumexp([1000.0, 1000.0]) == 1000.0 + rose.log(2.0))
    True
    """
    return weighted_logsumexp(_array(x), axis)


def weighted_logsumexp(x: Any, axis: Any = None, weights: Any = None, keepdims: bool = False) -> Any:
    """log Σ b exp(x) of an array, with `weights` b."""
    top = _fixed(_finite(x.max() if axis is None else x.max(axis=axis, keepdims=True)))
    terms = _weights(x - top)
    total = (terms if weights is None else terms * weights).sum(axis=axis, keepdims=keepdims)
    return (top if axis is None or keepdims else top.squeeze(axis)) + FUNCTIONS["log"](total)


NEGLIGIBLE = -690.0
"""Terms so far below the largest add nothing to a sum, and are nothing in its derivative: exp(-690) is 1e-300. Numbers
not far from there are less than the smallest normal ones, which processors take a hundred cycles over, and so is what
is multiplied by them: a derivative of a mixture was mostly that."""


def _weights(x: Any) -> Any:
    """exp(x), where that is not negligible beside 1."""
    small = x < NEGLIGIBLE
    if isinstance(x, Array):
        return broadcast_map(x.tape, _unless, small, FUNCTIONS["exp"](x))
    return np.where(small, 0.0, FUNCTIONS["exp"](x))


def _unless(small: Any, x: Any) -> Any:
    return PRIMITIVES["select"](small, 0.0, x)


def softmax(x: Any, axis: int | tuple[int, ...] | None = None) -> Any:
    """exp(x) / Σ exp(x) of an array, or along axes of it, without overflow.

    >>> import numpy as np
    >>> import rosejit as rose
    >>> rose.softmax(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    x = _array(x)
    scaled = FUNCTIONS["exp"](x - _fixed(x.max(axis=axis, keepdims=axis is not None)))
    return scaled / scaled.sum(axis=axis, keepdims=axis is not None)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """The logarithm of `softmax`, without underflow."""
    below = x - _fixed(_finite(x.max(axis=axis, keepdims=axis is not None)))
    return below - FUNCTIONS["log"](_weights(below).sum(axis=axis, keepdims=axis is not None))


def _finite(x: Any) -> Any:
    """The largest numbers in the place of infinities."""
    return FUNCTIONS["max"](FUNCTIONS["min"](x, sys.float_info.max), -sys.float_info.max)


def _array(x: Any) -> Any:
    """`x` as an array, staged or NumPy's."""
    staged = staged_items(x)
    return x if isinstance(x, Array) else np.asarray(x, dtype=float) if staged is None else staged


def constant(x: Any) -> Any:
    """The same bits, by way of an integer, which has no derivative."""
    return PRIMITIVES["from_bits"](PRIMITIVES["bits"](x))


def _fixed(x: Any) -> Any:
    """An array, or a number, as a constant."""
    if isinstance(x, Array):
        return broadcast_map(x.tape, constant, x) if x.leaf.element == "real" else x
    leaf = staged_leaf(x)
    return constant(x) if isinstance(leaf, Leaf) and leaf.kind == "real" else x
