"""Mathematical functions of numbers and arrays, staged or not; the same bits in compiled code and outside."""

import sys
from collections.abc import Callable
from typing import Any

from rosejit.abi import Leaf
from rosejit.api.checking.plain_calls import held
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.asarray import is_staged_deep, staged_items
from rosejit.frontend.arrays.broadcast import broadcast_map
from rosejit.frontend.values.pytree import parts, staged_leaf, with_parts
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
    x = _array(x)
    top = stop_gradient(_finite(x.max() if axis is None else x.max(axis=axis, keepdims=True)))
    total = _weights(x - top).sum(axis=axis)
    return (top if axis is None else top.squeeze(axis)) + FUNCTIONS["log"](total)


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
    """exp(x) / Σ exp(x) of an array, or along axes of it, without overflow."""
    x = _array(x)
    scaled = FUNCTIONS["exp"](x - stop_gradient(x.max(axis=axis, keepdims=axis is not None)))
    return scaled / scaled.sum(axis=axis, keepdims=axis is not None)


def _finite(x: Any) -> Any:
    """The largest numbers in the place of infinities."""
    return FUNCTIONS["max"](FUNCTIONS["min"](x, sys.float_info.max), -sys.float_info.max)


def _array(x: Any) -> Any:
    """`x` as an array, staged or NumPy's."""
    staged = staged_items(x)
    return x if isinstance(x, Array) else np.asarray(x, dtype=float) if staged is None else staged


def stop_gradient(x: Any) -> Any:
    """`x`, as a constant: its derivative is 0. Numbers, arrays and structures of them.

    >>> import rosejit as rose
    >>> rose.grad(lambda x: x * rose.stop_gradient(x))(3.0)
    3.0
    """
    if isinstance(x, Array):
        return broadcast_map(x.tape, _constant, x) if x.leaf.element == "real" else x
    leaf = staged_leaf(x)
    if isinstance(leaf, Leaf):
        return _constant(x) if leaf.kind == "real" else x
    inside = parts(x)
    if inside is None or not is_staged_deep(x):
        return held(x)
    return with_parts(x, [stop_gradient(part) for part in inside])


def _constant(x: Any) -> Any:
    """The same bits, by way of an integer, which has no derivative."""
    return PRIMITIVES["from_bits"](PRIMITIVES["bits"](x))
