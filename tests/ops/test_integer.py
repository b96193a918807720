"""Int arithmetic is Python's, or an exception."""

import operator

import pytest

from rosejit.ops import PRIMITIVES, integer
from tests.ops.points import LARGEST, SMALLEST, awkward

PYTHON = {
    "iadd": operator.add,
    "isub": operator.sub,
    "imul": operator.mul,
    "ineg": operator.neg,
    "iabs": abs,
    "ifloordiv": operator.floordiv,
    "imod": operator.mod,
}


@pytest.mark.parametrize("name", PYTHON)
def test_checked_arithmetic_is_never_silently_wrong(name):
    op = PRIMITIVES[name]
    for args in awkward(op, 500):
        try:
            expected = PYTHON[name](*args)
        except ZeroDivisionError:
            with pytest.raises(ZeroDivisionError):
                op.evaluate(*args)
            continue
        if SMALLEST <= expected <= LARGEST:
            assert op.evaluate(*args) == expected
        else:
            with pytest.raises(OverflowError):
                op.evaluate(*args)


@pytest.mark.parametrize(
    ("i", "k"), [(0, 0), (0, 10**18), (1, 10**18), (-1, 10**18), (-1, 10**18 + 1), (2, 62), (-2, 63), (3, 39)]
)
def test_powers_that_fit(i, k):
    assert integer.ipow(i, k) == i ** (k if abs(i) > 1 else k % 2 + 2 * (k > 0))


@pytest.mark.parametrize(
    ("i", "k"), [(2, 63), (3, 40), (-3, 41), (10, 19), (2, 10**18), (-2, 64), (SMALLEST, 2), (2, -1)]
)
def test_powers_that_do_not_fit(i, k):
    with pytest.raises(OverflowError):
        integer.ipow(i, k)


@pytest.mark.parametrize(
    ("i", "k", "expected"), [(1, 62, 2**62), (-1, 63, SMALLEST), (0, 1000, 0), (5, 0, 5), (-3, 2, -12)]
)
def test_shifts_that_fit(i, k, expected):
    assert integer.ishl(i, k) == expected


@pytest.mark.parametrize(("i", "k"), [(1, 63), (3, 62), (-1, 64), (1, 64), (1, -1)])
def test_shifts_that_do_not_fit(i, k):
    with pytest.raises(OverflowError):
        integer.ishl(i, k)


@pytest.mark.parametrize("k", [0, 1, 63, 64, 1000])
def test_right_shifts_are_those_of_python(k):
    assert integer.ishr(5, k) == 5 >> k
    assert integer.ishr(-5, k) == -5 >> k


def test_nan_is_no_integer():
    with pytest.raises(ValueError, match="NaN"):
        integer.to_int(float("nan"))


@pytest.mark.parametrize("x", [float("inf"), -float("inf"), 2.0**63, -(2.0**63) - 2048.0])
def test_reals_that_do_not_fit(x):
    with pytest.raises(OverflowError):
        integer.to_int(x)


def test_conversion_truncates():
    assert [integer.to_int(x) for x in (1.9, -1.9, -0.0, -(2.0**63))] == [1, -1, 0, SMALLEST]
    assert integer.sat_int(1e300) == LARGEST


def test_an_index_wraps_when_negative():
    assert [integer.wrap_index(i, 5) for i in (-5, -1, 0, 4, 5, -6)] == [0, 4, 0, 4, 5, -1]


def test_bits_are_those_of_the_format():
    assert integer.bits(1.0) == 0x3FF0000000000000
    assert integer.bits(-0.0) == SMALLEST
    assert integer.from_bits(0x7FF0000000000000) == float("inf")
