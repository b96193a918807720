"""Mathematical functions of numbers and arrays, staged or not; the same bits in compiled code and outside."""

from typing import Any

from rosejit.abi import Leaf
from rosejit.api.checking.plain_calls import held
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.asarray import is_staged_deep
from rosejit.frontend.arrays.broadcast import broadcast_map
from rosejit.frontend.numpy.exponentials import FUNCTIONS, NAMES, constant, logsumexp, softmax
from rosejit.frontend.values.pytree import parts, staged_leaf, with_parts

__all__ = ["FUNCTIONS", "NAMES", "logsumexp", "softmax", "stop_gradient"]


def stop_gradient(x: Any) -> Any:
    """`x`, as a constant: its derivative is 0. Numbers, arrays and structures of them.

    >>> import rosejit as rose
    >>> rose.grad(lambda x: x * rose.stop_gradient(x))(3.0)
    3.0
    """
    if isinstance(x, Array):
        return broadcast_map(x.tape, constant, x) if x.leaf.element == "real" else x
    leaf = staged_leaf(x)
    if isinstance(leaf, Leaf):
        return constant(x) if leaf.kind == "real" else x
    inside = parts(x)
    if inside is None or not is_staged_deep(x):
        return held(x)
    return with_parts(x, [stop_gradient(part) for part in inside])
