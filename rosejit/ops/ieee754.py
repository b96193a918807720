"""IEEE 754 arithmetic on Python floats: infinities and NaN where Python would raise."""

import math
import struct

INF = math.inf
NAN = math.nan


def finite(x: float) -> bool:
    """Whether `x` is neither infinite nor NaN."""
    return -INF < x < INF


def divide(x: float, y: float) -> float:
    """The quotient, by zero too."""
    if y != 0.0:
        return x / y
    return NAN if x == 0.0 or x != x else math.copysign(INF, x) * math.copysign(1.0, y)


def ratio(x: float, y: float) -> float:
    """The quotient, by zero too: 0 of 0 by 0."""
    return 0.0 if x == 0.0 and y == 0.0 else divide(x, y)


def square_root(x: float) -> float:
    """The square root, NaN below 0."""
    return math.sqrt(x) if x >= 0.0 else NAN


def floor(x: float) -> float:
    """The next integer downwards; keeps the sign of zeros, as the next three."""
    return math.copysign(math.floor(x), x) if -INF < x < INF else x


def ceil(x: float) -> float:
    """The next integer upwards."""
    return math.copysign(math.ceil(x), x) if -INF < x < INF else x


def trunc(x: float) -> float:
    """The integer part."""
    return math.copysign(math.trunc(x), x) if -INF < x < INF else x


def nearest(x: float) -> float:
    """The nearest integer, halves to even."""
    return math.copysign(round(x), x) if -INF < x < INF else x


def sign(x: float) -> float:
    """1, -1, 0.0 of either zero, or NaN."""
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else x + 0.0


def maximum(x: float, y: float) -> float:
    """The larger, or NaN."""
    if x == y:
        return x + y if x == 0.0 else x  # 0.0 of 0.0 and -0.0
    return x if x > y or x != x else y


def minimum(x: float, y: float) -> float:
    """The smaller, or NaN."""
    if x == y:
        return -(-x - y) if x == 0.0 else x  # -0.0 of 0.0 and -0.0
    return x if x < y or x != x else y


def fmod(x: float, y: float) -> float:
    """The remainder with the sign of `x`."""
    return math.fmod(x, y) if finite(x) and y == y and y != 0.0 else NAN


def mod(x: float, y: float) -> float:
    """The remainder with the sign of `y`."""
    return x % y if finite(x) and y == y and y != 0.0 else NAN


def floordiv(x: float, y: float) -> float:
    """The floored quotient, rounded as CPython does."""
    if y == 0.0:
        return divide(x, y)
    return x // y if finite(x) and y == y else NAN


def fma(x: float, y: float, z: float) -> float:
    """`x * y + z`, rounded once."""
    if x == 0.0 or y == 0.0 or not (finite(x) and finite(y)):
        return x * y + z
    if not finite(z):
        return z
    from fractions import Fraction  # with `decimal` and `re` a long import for one operation

    exact = Fraction(x) * Fraction(y) + Fraction(z)
    try:
        return float(exact)
    except OverflowError:
        return INF if exact > 0 else -INF


def single(x: float) -> float:
    """The nearest float of 32 bits."""
    try:
        return _SINGLE.unpack(_SINGLE.pack(x))[0]
    except OverflowError:
        return math.copysign(INF, x)


def bits(x: float) -> int:
    """The bits of `x` as a signed integer."""
    return _INT.unpack(_REAL.pack(x))[0]


def from_bits(i: int) -> float:
    """The inverse of `bits`."""
    return _REAL.unpack(_INT.pack(i))[0]


_REAL = struct.Struct("<d")
_SINGLE = struct.Struct("<f")
_INT = struct.Struct("<q")
