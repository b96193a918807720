"""What functions that know nothing of staged code are given: NumPy's arrays, where their elements are known."""

# Values of users are of any type: what they are is asked while staging.

from typing import Any

from rosejit.frontend.arrays.array import Array, host_data
from rosejit.frontend.lists.dynamic_dict import DYNAMIC
from rosejit.frontend.values.pytree import detached, is_row, parts, with_parts


def _seen(a: Array, data: Any) -> Any:
    """What others may see of an array, and write only where staged code could."""
    if a.box.readonly or a.tape.is_staged:
        data = data.view()
        data.flags.writeable = False
    return data


def as_numpy(value: Any) -> Any:
    """Arrays whose elements are known as NumPy's, in structures too."""
    if value.__class__ is Array:
        data = host_data(value)
        return value if data is None else _seen(value, data)
    if is_row(value):
        return as_numpy(detached(value))
    inside = None if value.__class__ in DYNAMIC else parts(value)
    if not inside:
        return value
    made = [as_numpy(item) for item in inside]
    return value if all(a is b for a, b in zip(made, inside, strict=True)) else with_parts(value, made)
