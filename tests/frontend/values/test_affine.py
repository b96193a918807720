"""By how much two staged Ints differ."""

from typing import Any

import pytest

import rosejit as rose
from rosejit.frontend.values.pytree import is_staged_deep
from rosejit.frontend.values.scalars import int_atom
from tests.frontend.oracle import define

CASES = {
    "i + 2, i": 2,
    "i - 1, i + 2": -3,
    "2 * i + 4, i + i": 4,
    "(i + 1) * 3, 3 * i": 3,
    "i + j, j + i": 0,
    "-(i - j) + 1, j - i": 1,
    "(i + j) * 2 - j, i * 2 + j": 0,
    "7 - i, 5 - i": 2,
    "i * 0 + 5, 2": 3,
    "i // 2 + 1, i // 2": 1,
    "(i + 1) * j, j * (1 + i)": None,
    "i * j + 1, i * j": 1,
    "at[i] + 2, at[i]": 2,
    "at[i + 1], at[1 + i]": 0,
    "at[i], at[j]": None,
    "m[i, j] - 1, m[i, j]": -1,
    "int(x) + 1, int(x)": 1,
    "int(x), int(-x)": None,
    "max(i, j), max(i, j)": 0,
    "i, j": None,
    "i, 0": None,
    "i // 2, i // 3": None,
}


def differences(text: str, **scope: Any) -> list[int | None]:
    """What is known of `difference(a, b)`, two parts of `text`, while it is staged."""
    found: list[int | None] = []

    def difference(a: Any, b: Any) -> None:
        tape = (a if is_staged_deep(a) else b).tape
        blocks = [frame.lets for frame in tape.frames]
        first, second = int_atom(tape, a), int_atom(tape, b)
        assert first is not None
        assert second is not None
        found.append(tape.definitions.difference(blocks, first, second))

    body = text if "\n" in text else f"difference({text})\nreturn i"
    lines = "\n    ".join(body.splitlines())
    hints = "i: int, j: int, x: float, at: rose.Array[5, int], m: rose.Array[3, 3, int]"
    f = define(f"def f({hints}):\n    {lines}\n", rose=rose, difference=difference, **scope)
    rose.jit(f).lower(1, 2, 1.0, rose.ShapeOf(5, dtype=int), rose.ShapeOf(3, 3, dtype=int))
    return found


@pytest.mark.parametrize("text", CASES)
def test_differences(text: str) -> None:
    assert differences(text) == [CASES[text]]


def test_an_array_that_was_written_is_another() -> None:
    text = "k = at.copy()\na = k[i]\nk[j] = 7\ndifference(k[i], a)\ndifference(k[j] + 1, k[j])\nreturn i"
    assert differences(text) == [None, 1]


def test_long_sums_are_followed_so_far_only() -> None:
    text = "k = i\nfor _ in range(100):\n    k = k + 1\ndifference(k + 2, k)\ndifference(k, i)\nreturn i"
    assert differences(text) == [2, None]


def test_sums_that_double_take_no_time() -> None:
    text = "k = i\nfor _ in range(60):\n    k = k + k\ndifference(k + 2, k)\nreturn i"
    assert differences(text) == [2]
