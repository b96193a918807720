"""Lengths that stay open: arithmetic of polynomials, and what is known of them."""

import pytest

from rosejit.errors import StagingTypeError
from rosejit.ir.lengths import clipped, named, names_in

n, m = named("n"), named("m")


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (n + 1, "n + 1"), (1 - n, "-n + 1"), (2 * n * n - n * m, "-m*n + 2*n*n"), (n + m + n, "m + 2*n"),
        (clipped(n - 1) + 2, "max(0, n - 1) + 2"), (3 * (n - 2), "3*n - 6"),
    ],
)  # fmt: skip
def test_it_is_shown_as_a_polynomial(length, text):
    assert repr(length) == text


def test_what_cancels_is_a_number():
    assert (n + 3) - n == 3
    assert n * 0 == 0
    assert (n + m) * (n - m) == n * n - m * m
    assert type((n + 3) - n) is int


def test_equal_polynomials_are_equal_lengths():
    assert n + m == m + n
    assert hash(n + m) == hash(m + n)
    assert n != m
    assert n != n + 1
    assert n != -1
    assert n is not None


def test_what_the_signs_decide():
    assert n >= 0
    assert n + 2 > 1
    assert not n + 1 < 1
    assert n + m >= n
    assert -1 * n <= 0
    assert clipped(n) is n
    assert clipped(-1 * n) == 0
    assert clipped(n - 1) >= 0


@pytest.mark.parametrize(
    "ask",
    [lambda: n > 0, lambda: n == 3, lambda: n < m, lambda: bool(n), lambda: int(n), lambda: range(n), lambda: float(n)],
)
def test_what_only_the_run_decides_is_refused(ask):
    with pytest.raises(StagingTypeError, match=r"the length `n.*` is open"):
        ask()


def test_its_names():
    assert sorted(set(names_in(clipped(n - 1) * m))) == ["m", "n"]
