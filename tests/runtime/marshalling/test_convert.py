"""Values to the border, without an engine."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from rosejit.errors import RoseOverflowError
from rosejit.runtime.marshalling.convert import INT_MAX, INT_MIN, Mismatch, array, boolean, integer, real, too_big
from tests.runtime.programs import prints


@given(some.floats() | some.integers(-(2**60), 2**60) | some.booleans())
def test_reals_are_what_python_says(value):
    assert np.array_equal(real(value), float(value), equal_nan=True)


@given(some.integers())
def test_ints_are_exact_or_an_overflow(value):
    if INT_MIN <= value <= INT_MAX:
        assert integer(value) == value
    else:
        with pytest.raises(RoseOverflowError):
            integer(value)


@given(some.lists(some.lists(some.floats(allow_nan=False), min_size=2, max_size=2), max_size=4))
def test_nested_lists_are_arrays(rows):
    if rows:
        assert array(rows, (len(rows), 2), "real").tolist() == rows
    with pytest.raises(Mismatch):
        array(rows, (len(rows) + 1, 2), "real")


ANYTHING = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=3) | some.binary(max_size=3),
    lambda inner: some.lists(inner, max_size=3) | some.tuples(inner) | some.dictionaries(some.text(max_size=2), inner),
    max_leaves=6,
)


@given(ANYTHING)
def test_anything_is_converted_or_refused(value):
    for convert in (real, integer, boolean, lambda v: array(v, (2,), "real"), lambda v: array(v, (2,), "int")):
        try:
            convert(value)
        except (Mismatch, RoseOverflowError):
            pass


def test_the_first_that_is_too_big_is_named():
    with pytest.raises(RoseOverflowError, match=str(2**64)):
        too_big(1, [2, 3, 2**64], 2**65)


def test_numbers_need_no_numpy():
    prints(
        """
import sys
from rosejit.runtime.marshalling.convert import Mismatch, integer, real
print(real(3), integer(4), "numpy" in sys.modules)
try:
    real("x")
except Mismatch as mismatch:
    print(mismatch, "numpy" in sys.modules)
""",
        "3.0 4 False\na real number is needed, not a str False",
    )
