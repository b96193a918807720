"""Values and hints in the words of errors."""

# Values of users are of any type: what they are is asked while staging.

import enum
import types
from typing import Any

from rosejit.abi import Leaf
from rosejit.frontend.values.host_scalars import Bound
from rosejit.frontend.values.pytree import staged_leaf
from rosejit.narrow_values import NarrowValue
from rosejit.numeric import np


def described(value: Any) -> str:
    """A value in the words of an error: its type, and its shape or its value where that is short."""
    value = value.value if value.__class__ is Bound else value
    if hasattr(type(value), "__rose_options__"):
        return f"one of {', '.join(map(repr, value.__rose_options__))}, which only running tells"
    staged = staged_leaf(value)
    if isinstance(staged, Leaf):
        return f"a staged {_staged(staged)}"
    if isinstance(value, NarrowValue):
        return f"a staged {'array' if getattr(value, 'shape', ()) else 'number'} of {value.dtype}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    if isinstance(value, (list, tuple)):
        items: Any = value
        return f"a {type(items).__name__} of {len(items)}"
    if isinstance(value, types.FunctionType):
        return f"the function `{value.__qualname__}`"
    if isinstance(value, int) and value.bit_length() > 128:  # CPython refuses to show ints of 4,300 digits
        return f"an int of {value.bit_length():,} bits"
    shown = repr(value)
    is_short = len(shown) <= 40 and type(value).__repr__ is not object.__repr__
    return f"{type(value).__name__} {shown}" if is_short else f"a {type(value).__name__}"


def _staged(leaf: Leaf) -> str:
    if leaf.kind in ("array", "dyn"):
        return f"{leaf.element.capitalize()} array of shape {leaf.shape}"
    return leaf.kind.capitalize()


def hint_text(hint: Any) -> str:
    """A hint as it was written."""
    return hint.__name__ if isinstance(hint, type) else str(hint).removeprefix("typing.")


def remedy(value: Any) -> str | None:
    """What to do with a value that is no argument."""
    if hasattr(type(value), "__rose_options__"):
        return "give a number that tells which it is (an index, the `value` of a member), and look it up outside"
    if isinstance(value, (str, enum.Enum, types.FunctionType)) or value is None:
        return "a value that Python needs is hinted `rose.Static[...]` or named in `static_argnames`"
    if isinstance(value, (complex, np.complexfloating)):
        return "hint it `complex`, or pass `z.real`, `z.imag` or `abs(z)`"
    return None
