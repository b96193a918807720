"""What host values are as numbers and arrays; where running code stands; dimensions of hints."""

import sys
from fractions import Fraction

import numpy as np
import pytest

from rosejit.errors import StagingTypeError
from rosejit.frontend.hints.hints import dimension
from rosejit.frontend.values.host_scalars import as_array, as_number, number_kind
from rosejit.frontend.values.locations import Places
from tests.frontend.oracle import define


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (1.5, "real"), (np.float32(1), "real"), (np.array(1.0), "real"), (1, "int"), (np.uint8(3), "int"),
        (True, "bool"), (np.bool_(True), "bool"), (1j, None), ("1", None), (None, None), ([1], None),
        (np.zeros(1), None), (Fraction(1, 2), None), (np.datetime64(1, "s"), None),
    ],
)  # fmt: skip
def test_kinds_of_numbers(value, kind):
    assert number_kind(value) == kind


def test_numbers_widen_to_reals_only():
    assert as_number("real", np.int32(2)) == 2.0
    assert type(as_number("int", np.int32(2))) is int
    assert as_number("int", 2.0) is None
    assert as_number("bool", 1) is None


def test_arrays_and_why_not():
    found, kind = as_array("real", [[1, 2], [3, 4]])
    assert (found.dtype, found.shape, kind) == (np.float64, (2, 2), "real")
    assert as_array("int", np.arange(4)[::2])[0].flags["C_CONTIGUOUS"]
    assert as_array("int", [])[0].dtype == np.int64
    assert as_array(None, np.array([True]))[1] == "bool"
    assert as_array("real", 3.0) == (None, "it is no array and no list")
    assert as_array("int", [1.5])[1] == "its elements are float64"
    assert as_array("real", [[1], [2, 3]])[1].startswith("NumPy says")
    assert as_array("int", np.array([2**63], np.uint64))[1] == "an element does not fit 64 bits"


def test_places_of_running_code():
    where = []
    f = define("def f(look):\n    x = 1\n    look(\n        x)\n    return (lambda: look(2))()", where=where)
    places = Places()
    places.enter(f.__code__)
    f(lambda _: where.append((places.of(sys._getframe()), len(places.chain(sys._getframe())))))
    (first, one), (second, two) = where
    assert (first.line, first.function, one) == (3, "f", 1)
    assert (second.line, two) == (5, 2)
    if sys.version_info >= (3, 11):
        assert (first.col, first.end_line) == (4, 4)
        assert second.function == "f.<locals>.<lambda>"
    assert places.of(sys._getframe()) is None


@pytest.mark.parametrize(
    ("given", "known", "size"),
    [
        (3, {}, 3),
        ("4", {}, 4),
        ("n", {"n": 2}, 2),
        ("n+1", {"n": 2}, 3),
        ("2*n*m", {"n": 2, "m": 3}, 12),
        ("n", {}, None),
    ],
)
def test_dimensions(given, known, size):
    assert dimension(given).value(known) == size


def test_other_dimensions():
    assert dimension(...).many
    assert dimension("*batch").many
    assert dimension("_").anonymous
    assert dimension("n").is_name
    assert not dimension("n+1").is_name


@pytest.mark.parametrize("given", [-1, True, 1.5, "n +", "f(n)", "n ** 2", "n.real", None])
def test_what_is_no_dimension(given):
    with pytest.raises(StagingTypeError, match="is no dimension"):
        dimension(given)
