"""How much of the large tables is run: all of them with ROSE_TEST_PROFILE=product, else a part that meets each row and
each column."""

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")
S = TypeVar("S")

PROFILE = os.environ.get("ROSE_TEST_PROFILE", "full")
IS_WHOLE = PROFILE == "product"
IS_QUICK = PROFILE == "quick"
"""Whether another interpreter runs all the rest."""


def stride(every: int) -> int:
    """One in how many cases is run."""
    return 1 if IS_WHOLE else every


def part(cases: Sequence[T], every: int) -> Sequence[T]:
    """One in `every` cases of a table."""
    return cases[:: stride(every)]


def crossed(rows: Iterable[T], columns: Iterable[S], every: int) -> list[tuple[T, S]]:
    """One in `every` pairs of a table, in diagonals."""
    columns = list(columns)
    step = stride(every)
    return [(row, column) for i, row in enumerate(rows) for j, column in enumerate(columns) if (i + j) % step == 0]
