"""The functions of `rose` that loops are written with, as they are outside of staged code."""

import builtins
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def range(*args: int) -> "builtins.range":
    """`range` whose loop stays a loop in the compiled code; outside of staged code Python's own."""
    return builtins.range(*args)


def unroll(items: Iterable[T]) -> Iterable[T]:
    """`items`, whose loop is staged turn by turn, however many there are."""
    return items
