"""What an eval asks for, as a function with the way to its arguments and back to JSON."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """A result as JSON has it."""
    match value:
        case np.ndarray():
            return value.tolist()
        case dict():
            return {key: plain(part) for key, part in value.items()}
        case tuple() | list():
            return [plain(part) for part in value]
        case _:
            return value


@dataclass(frozen=True)
class Task:
    """One function of an eval; `function` has `lower`, as what `rose.jit` and `rose.grad` give."""

    function: Any
    arguments: Callable[[Any], tuple[Any, ...]]
    output: Callable[[Any], Any] = plain


MODULES = ("hello", "gmm", "ba", "lstm", "kmeans", "llsq", "particle")


def functions(module: str) -> dict[str, Task]:
    """The functions of an eval. Raises LookupError for one that is not here."""
    if module not in MODULES:
        raise LookupError(f"no eval `{module}`; there are {', '.join(MODULES)}")
    return importlib.import_module(f"benchmarks.gradbench.{module}").FUNCTIONS
