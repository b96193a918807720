"""Worlds that differ have digests that differ; equal ones, made anew, have one."""

import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosejit.frontend.codes import Open
from rosejit.frontend.world import World

LEAVES = st.one_of(
    st.sampled_from([0, 1, -1, 2**70, True, False, None, 0.0, -0.0, math.nan, -math.nan, 1.0, "", "a", b"", b"a"]),
    st.sampled_from([1j, complex(0.0, -0.0), complex(-0.0, 0.0), bytes(8), range(2), range(0, 2, 1), ..., float, int]),
    st.builds(lambda kind, flag: kind(flag), st.sampled_from([np.float64, np.int64, np.uint64]), st.booleans()),
    st.builds(np.zeros, st.sampled_from([0, 1, (1, 1)]), st.sampled_from(["f8", "f4", "i8", "?"])),
)


def doubled(value: Any) -> list[Any]:
    """The same object twice."""
    return [value, value]


VALUES = st.recursive(
    LEAVES,
    lambda inside: st.one_of(
        st.lists(inside, max_size=2),
        st.lists(inside, max_size=2).map(tuple),
        st.lists(st.tuples(st.sampled_from("ab"), inside), max_size=2).map(dict),
        inside.map(doubled),
    ),
    max_leaves=6,
)


def written(value: Any, seen: dict[int, int]) -> str:
    """A value as a text: type and bits, order, and which containers are one."""
    kind = type(value)
    if kind in (list, dict, np.ndarray):
        if id(value) in seen:
            return f"#{seen[id(value)]}"
        seen[id(value)] = len(seen)
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{kind.__name__}{value.dtype.str}{np.shape(value)}{value.tobytes()!r}"
    if kind is float:
        return f"float{struct.pack('<d', value).hex()}"
    if kind is complex:
        return f"complex{struct.pack('<2d', value.real, value.imag).hex()}"
    if kind in (list, tuple):
        return f"{kind.__name__}({','.join(written(item, seen) for item in value)})"
    if kind is dict:
        return f"dict({','.join(f'{key!r}:{written(item, seen)}' for key, item in value.items())})"
    return f"{kind.__name__}{value!r}"


@given(VALUES, VALUES)
def test_digests_are_equal_only_for_equal_values(one, other):
    if written(one, {}) != written(other, {}):
        assert World().digest(one) != World().digest(other)
    assert World().digest(one) == World().digest(one)


@pytest.mark.parametrize("value", [{1}, frozenset(), bytearray(1), iter([]), np.array([None]), object()])
def test_what_has_no_content_is_refused(value):
    for held in (value, [value], {"a": (value,)}):
        with pytest.raises(Open):
            World().digest(held)


def test_a_value_that_contains_itself_has_an_end():
    one, other = [1.0], [1.0]
    one.append(one)
    other.append([1.0])
    assert World().digest(one) != World().digest(other)
