"""Kernels of erf and erfc: a polynomial near 0, exp(-x**2) times a flat function of (x - 7/2) / (x + 7/2) beyond.

The variable is that of Shepherd and Laframboise (1981); polynomials are fitted.
"""

from typing import Any

from rosejit.ops.arith import abs_, copysign, select
from rosejit.ops.kernels.coefficients import ERF, ERFC
from rosejit.ops.kernels.definition import Definition
from rosejit.ops.kernels.double_double import divide, fast_two_sum, multiply, two_square
from rosejit.ops.kernels.exponential import clamped, exponential, scaled
from rosejit.ops.kernels.polynomial import estrin


def _tail(x: Any) -> Any:
    """erfc(x) for x >= 1/2."""
    x = clamped(x, 0.5, 28.0)
    hi, lo = two_square(x)
    k, (s, e) = exponential(-hi)
    flat = fast_two_sum(1.25, estrin(ERFC, (x - 3.5) / (x + 3.5)))
    quotient, _ = divide(multiply((s, e - s * lo), flat), fast_two_sum(2.0 * x, 1.0))
    return scaled(quotient, k)


TAIL = Definition(_tail, name="erfc_tail")


def _erf(x: Any) -> Any:
    a = abs_(x)
    return select(a < 0.75, x + x * estrin(ERF, x * x), copysign(1.0 - TAIL(a), x))


def _erfc(x: Any) -> Any:
    s, e = fast_two_sum(1.0, -x)
    tail = TAIL(abs_(x))
    return select(abs_(x + 0.125) < 0.625, s + (e - x * estrin(ERF, x * x)), select(x < 0.0, 2.0 - tail, tail))


ALL = (TAIL, Definition(_erf), Definition(_erfc))
