"""Mathematical functions of numbers and arrays, staged or not; the same bits in compiled code and outside."""

from typing import Any, TypeVar

from rosejit.abi import Leaf
from rosejit.api.checking.plain_calls import held
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.asarray import is_staged_deep
from rosejit.frontend.arrays.broadcast import broadcast_map
from rosejit.frontend.numpy.exponentials import FUNCTIONS, NAMES, constant, logsumexp, softmax
from rosejit.frontend.values.pytree import parts, staged_leaf, with_parts

__all__ = ["FUNCTIONS", "NAMES", "logsumexp", "softmax", "stop_gradient"]

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """`x`, as a constant: its derivative is 0. Numbers, arrays and structures of them.

    >>> import rosejit as rose
    >>> rose.grad(lambda x: x * rose.stop_gradient(x))(3.0)
    3.0
    """
    value: Any = x
    if isinstance(value, Array):
        return broadcast_map(value.tape, constant, value) if value.leaf.element == "real" else x
    leaf = staged_leaf(value)
    if isinstance(leaf, Leaf):
        return constant(value) if leaf.kind == "real" else x
    inside = parts(value)
    if inside is None or not is_staged_deep(value):
        return held(value)
    return with_parts(value, [stop_gradient(part) for part in inside])
