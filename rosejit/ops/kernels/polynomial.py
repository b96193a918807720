"""A tuple of coefficients and an argument into the steps that evaluate the polynomial.

Constants are second operands: engines take those from memory, others by two instructions.
"""

from collections.abc import Sequence
from typing import Any


def horner(coefficients: Sequence[float], x: Any) -> Any:
    """One step after the other: fewest operations."""
    result: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        result = x * result + c
    return result


def estrin(coefficients: Sequence[float], x: Any) -> Any:
    """Pairs, then pairs of pairs (Estrin 1960): steps that do not wait for each other."""
    terms: list[Any] = list(coefficients)
    while len(terms) > 1:
        pairs = [x * b + a for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(pairs) * 2 :]
        x = x * x
    return terms[0]
