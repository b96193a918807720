"""Operators of a staged number and a value that is none: CPython's answer or its words, or a refusal; never `Real`."""

import decimal
import fractions
import operator
import sys

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define


class Silent:
    pass


class Answering:
    def __add__(self, other):
        return NotImplemented

    def __radd__(self, other):
        return 5.0

    def __mul__(self, other):
        return 3.0


OTHERS = {
    "object": Silent(), "answering": Answering(), "fraction": fractions.Fraction(2), "decimal": decimal.Decimal(2),
    "other decimal": decimal.Decimal(3), "None": None, "list": [1.0], "function": operator.add, "class": Silent,
    "ellipsis": ..., "range": range(3), "bytes": b"a", "slice": slice(1), "module": sys, "set": {1}, "dict": {},
    "masked": np.ma.array([1.0, 2.0], mask=[0, 1]),
}  # fmt: skip
OPERATORS = ["+", "-", "*", "/", "//", "**", "<", "<=", "==", "!=", "@", "&", "|", "<<"]
OURS = ("'Real'", "'Int'", "'Bool'")


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
@pytest.mark.parametrize("name", OTHERS)
def test_an_operand_that_is_no_number(name, kind):
    given = {"float": 2.0, "int": 2, "bool": True}[kind]
    for symbol in OPERATORS:
        for text in (f"x {symbol} other", f"other {symbol} x"):
            f = define(f"def f(x: {kind}):\n    return {text}\n", other=OTHERS[name])
            try:
                found = rose.jit(f)(given)
            except TypeError as error:
                assert not any(word in str(error) for word in OURS), text
                continue
            assert np.array_equal(found, f(given)), text
