"""Windows against NumPy's slices: the same elements, or an error where NumPy would cut the slice off."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, RoseIndexError, StagingTypeError, Vec
from tests.frontend.oracle import define, evaluate

SLICES = [
    "i : i + 2", "i - 1 : i + 2", "2 * i : 2 * i + 3", "i : i + 3 : 2", "i : i + 4 : 2", "i + 2 : i : -1",
    "i + 3 : i - 1 : -2", "i : i - 1 : -1", "i : i", "i + 2 : i", "i : i + 2 : -1", "3 - i : 5 - i", "i : i + 6",
    "(i + 1) * 2 - 2 : 2 * i + 1", "-i : -i + 2", "i // 2 : i // 2 + 2",
]  # fmt: skip


def refuse(text: str) -> str:
    """What is said of `return x[text]`."""
    f = rose.jit(define(f"def f(x, i, j):\n    return x[{text}]\n", rose=rose, np=np))
    with pytest.raises(StagingTypeError) as caught:
        f(np.ones(4), 1, 2)
    return str(caught.value)


@pytest.mark.parametrize("text", SLICES)
def test_a_window_is_numpys_slice_or_an_error(text: str) -> None:
    plain: Callable[..., Any] = define(f"def f(x, i):\n    return x[{text}]\n")
    f = rose.jit(plain)
    length = len(plain(np.zeros(99), 40))
    for x in (np.arange(3.0), np.arange(6.0)):
        for i in range(-9, 10):
            wanted = plain(x, i)
            if len(wanted) == length:
                try:
                    assert f(x, i).tolist() == wanted.tolist()
                except RoseIndexError:  # as long, but not where it was asked for: the start was cut off
                    bounds = eval(f"slice({text.replace(':', ',')})", {"i": i})
                    assert bounds.start != bounds.stop
                    assert bounds.start not in range(-len(x), len(x)) or length == 0
            else:
                with pytest.raises(RoseIndexError, match="does not lie within length|elements"):
                    f(x, i)


def test_a_window_outside_of_the_array_fails_when_it_runs():
    def f(x: Vec["n"], n: int) -> float:
        total = 0.0
        for i in rose.range(n):
            total += x[i : i + 3].sum()
        return total

    assert evaluate(f, np.ones(5), 3) == 9.0
    with pytest.raises(RoseIndexError, match="the slice from 3 to 6 does not lie within length 5") as caught:
        evaluate(f, np.ones(5), 4)
    assert "total += x[i : i + 3].sum()" in str(caught.value)
    assert "NumPy would give fewer" in str(caught.value)
    assert evaluate(f, np.ones(2), 0) == 0.0
    with pytest.raises(RoseIndexError):
        evaluate(f, np.ones(2), 1)


def test_a_window_longer_than_the_array_is_refused_while_staging():
    with pytest.raises(RoseIndexError, match="a slice of 3 elements does not lie within length 2"):
        rose.jit(lambda x, i: x[i : i + 3]).lower(np.ones(2), 0)


def test_a_window_of_an_array_that_the_host_knows():
    table = np.arange(5) ** 2

    def f(i: int) -> float:
        return (table[i : i + 2] * 0.5).sum() + np.arange(4.0)[i : i + 2][0]

    assert evaluate(f, 2) == 6.5 + 2.0


def test_bounds_of_zero_dimensions_and_numpy_integers():
    k = np.int64(2)

    def f(x: Vec["n"], at: rose.Array["m", int]) -> Vec[2]:
        i = at.max()
        return x[i : i + k] + x[at[0] - at[1] + at[1] : at[0] + 2]

    assert evaluate(f, np.arange(4.0), np.array([1, 2])).tolist() == [3.0, 5.0]


def test_a_window_goes_through_a_loop_under_another_name():
    def f(m: Mat["n", "n"]) -> Mat["n", "n"]:
        b = m.copy()
        row = b[0].copy()
        for i in rose.range(1, len(m)):
            row = row * 0.5 + b[i]
            b[i, i - 1 : i + 1] = row[i - 1 : i + 1]
        return b

    m = np.arange(9.0).reshape(3, 3)
    wanted = m.copy()
    row = wanted[0].copy()
    for i in range(1, 3):
        row = row * 0.5 + wanted[i]
        wanted[i, i - 1 : i + 1] = row[i - 1 : i + 1]
    assert evaluate(f, m).tolist() == wanted.tolist()


def test_the_index_of_an_update_is_an_index_itself():
    """`y[k] = row` stores where `k` is now, not where it was when `row` was taken."""

    def f(m: Mat[3, 2]) -> Mat[3, 2]:
        y = m.copy()
        k = np.array(0)
        row = y[k]
        k += 1
        y[k] = row
        return y

    assert evaluate(f, np.arange(6.0).reshape(3, 2)).tolist() == [[0.0, 1.0], [0.0, 1.0], [4.0, 5.0]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("i:", "rose.range(i, len(x))"),
        (":i", "rose.range(i)"),
        ("::i", "the step of a slice"),
        ("i:j", "rose.range(i, j)"),
        ("i : 2 * i", "bounds of a slice"),
        ("i : i + x[0]", "integers, given Real"),
        ("x > 0 : 2", "integers, given Array"),
    ],
)
def test_slices_of_unknown_length_are_refused(text: str, words: str) -> None:
    assert words in refuse(text)


def test_an_int_that_turns_into_a_real_bounds_no_window():
    def f(x: Vec["n"], n: int) -> float:
        k, total = 0, 0.0
        for _ in rose.range(n):
            total += x[k : k + 2].sum()
            k = k + 0.5
        return total

    with pytest.raises(StagingTypeError, match="turns from an Int into a Real"):
        evaluate(f, np.ones(4), 1)


@pytest.mark.parametrize("i", [-9, -2, -1, 6])
def test_a_bound_is_reported_as_it_was_written(i: int) -> None:
    @rose.jit(cache=False)
    def f(x: Vec["n"], i: int) -> float:
        return x[i : i + 2].sum()

    with pytest.raises(rose.RoseIndexError, match=f"the slice from {i} to {i + 2} does not lie within length 7"):
        f(np.ones(7), i)
