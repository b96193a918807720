"""`round(x, digits)` as CPython rounds: the decimal number of so many digits that is nearest to the exact value, ties
to even, as the nearest Real.

The product of a Real and a power of ten is known exactly as two Reals (Dekker's product), so it is known which whole
number is nearest; a whole number below 2**53 over a power of ten that is a Real is rounded once. Powers are Reals up to
10**22. A Real above 2**53 units of the last digit is the nearest Real to itself, rounded.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from typing import Any

from rosejit.frontend.values.scalars import P

DIGITS = 22
"""Powers of ten up to here are Reals."""
_SPLIT = 134217729.0
_EXACT = 2.0**53
_select, _nearest, _bits, _from_bits = (P[name].__call__ for name in ("select", "nearest", "bits", "from_bits"))


def _halves(x: Any) -> tuple[Any, Any]:
    """Veltkamp's splitting: `x` as the sum of two Reals of 26 bits."""
    scaled = x * _SPLIT
    high = scaled - (scaled - x)
    return high, x - high


def _product(x: Any, y: float) -> tuple[Any, Any]:
    """`x * y` as the sum of two Reals, exactly."""
    product = x * y
    (a, b), (c, d) = _halves(x), _halves(y)
    return product, b * d - (((product - a * c) - b * c) - a * d)


def rounded(x: Any, digits: int) -> Any:
    """A Real to `digits` decimal digits, at most 22 before or after the point."""
    scale = 10.0 ** abs(digits)
    if digits >= 0:
        scaled, rest = _product(x, scale)
        whole = _nearest(scaled)
        apart = scaled - whole
        up = (apart >= 0.5) & (rest > 0.0)
        down = (apart <= -0.5) & (rest < 0.0)
        many = abs(scaled)
    else:
        many = abs(x / scale)
        whole = _nearest(x / scale)
        product, rest = _product(whole, scale)
        apart = (x - product) - rest
        up, down = apart > 0.5 * scale, apart < -0.5 * scale
    whole = _select(up, whole + 1.0, _select(down, whole - 1.0, whole))
    made = whole / scale if digits >= 0 else whole * scale
    return _select(many < _EXACT, made, _from_bits(_bits(x)))


def rounded_whole(n: Any, digits: int) -> Any:
    """An Int to `digits` digits, which are before the point."""
    if digits >= 0:
        return +n
    scale = 10**-digits
    below, rest = n // scale, n % scale
    up = (rest * 2 > scale) | ((rest * 2 == scale) & (below % 2 == 1))
    return P["iselect"].__call__(up, below + 1, below) * scale
