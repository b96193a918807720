"""Names and values of Python in JavaScript."""

import math

import numpy as np
import pytest

from rosejit.errors import StagingTypeError
from rosejit.export import js_names


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"), (True, "true"), (3, "3"), (2**60, f"{2**60}n"), (0.1, "0.1"), (-0.0, "-0.0"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"), (math.nan, "NaN"), ('a "b"\n', r'"a \"b\"\n"'), ([1, (2.0,)], "[1, [2.0]]"),
        ({"a": 1, "b c": None}, '{ a: 1, "b c": null }'), (np.eye(2), "[[1.0, 0.0], [0.0, 1.0]]"),
        (np.float64(2), "2.0"), (np.int32(3), "3"),
    ],
)  # fmt: skip
def test_literals(value, text):
    assert js_names.literal(value, "it") == text
    assert js_names.has_literal(value)


def test_a_value_without_a_form():
    with pytest.raises(StagingTypeError, match="it is a set, which has no form in JavaScript"):
        js_names.literal({1}, "it")
    assert not js_names.has_literal([{1}])


def test_names_that_javascript_reserves():
    assert js_names.variable("x") == "x"
    assert js_names.variable("new") == "new$"
    assert js_names.member("p", "x") == "p.x"
    assert js_names.member("p", "x y") == 'p["x y"]'
    assert js_names.member("p", 3) == 'p["3"]'
