"""What a program of this folder is: a function, calls of it, and what is known of its answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import rosejit as rose

Call = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Program:
    """`function` called with each of `calls`; `answer` and `slope` were worked out by hand."""

    function: rose.Function
    calls: Sequence[Call]
    answer: Callable[..., Any] | None = None
    """The result in closed form, found in another way than the function finds it."""
    slope: Callable[..., Any] | None = None
    """The derivative to the first argument in closed form, where the result is one Real."""
    kinks: Sequence[Call] = ()
    """More calls, at points where the function has no derivative that differences could find."""
    exact: bool = True
    """Whether CPython gives the same bits; not so where `math` rounds the last bit in its own way."""
    plain: bool = True
    """Whether CPython can run it at all; it cannot where it differentiates."""
    differences: bool = True
    """Whether the derivative is that of the value: a custom rule may say otherwise."""

    @property
    def name(self) -> str:
        module = self.function.__wrapped__.__module__.rpartition(".")[2]
        return f"{module}.{self.function.__name__}"
