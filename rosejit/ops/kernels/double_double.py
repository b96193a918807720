"""Double-double arithmetic (Dekker 1971, Knuth): a pair (hi, lo) stands for hi + lo, about 106 bits.

Everything here is a macro that appends its steps to the kernel that uses it. Nothing needs a fused multiply-add.
"""

from typing import Any

from rosejit.ops.arith import sqrt
from rosejit.ops.integer import bits, from_bits

Pair = tuple[Any, Any]

_SPLITTER = 2.0**27 + 1.0


def fast_two_sum(a: Any, b: Any) -> Pair:
    """a + b exactly, where |a| >= |b| or a is 0."""
    s = a + b
    return s, b - (s - a)


def two_sum(a: Any, b: Any) -> Pair:
    """a + b exactly."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def short(x: Any) -> Any:
    """The first 21 bits: products of two such numbers are exact."""
    return from_bits(bits(x) & -(2**32))


def split(a: Any) -> Pair:
    """Two halves of at most 26 bits; |a| below 2**996."""
    c = a * _SPLITTER
    hi = c - (c - a)
    return hi, a - hi


def two_product(a: Any, b: Any) -> Pair:
    """a * b exactly, away from overflow and underflow."""
    p = a * b
    (ah, al), (bh, bl) = split(a), split(b)
    return p, al * bl - (((p - ah * bh) - al * bh) - ah * bl)


def two_square(a: Any) -> Pair:
    """a * a exactly, away from overflow and underflow."""
    p = a * a
    hi, lo = split(a)
    return p, lo * lo - ((p - hi * hi) - (hi + hi) * lo)


def add(a: Pair, b: Pair) -> Pair:
    """The sum; accurate unless it cancels."""
    s, e = two_sum(a[0], b[0])
    return fast_two_sum(s, e + (a[1] + b[1]))


def multiply(a: Pair, b: Pair) -> Pair:
    """The product."""
    p, e = two_product(a[0], b[0])
    return fast_two_sum(p, e + (a[0] * b[1] + a[1] * b[0]))


def divide(a: Pair, b: Pair) -> Pair:
    """The quotient."""
    q = a[0] / b[0]
    p, e = two_product(q, b[0])
    return fast_two_sum(q, (((a[0] - p) - e) + (a[1] - q * b[1])) / b[0])


def square_root(a: Pair) -> Pair:
    """The square root of a positive number."""
    r = sqrt(a[0])
    p, e = two_square(r)
    return fast_two_sum(r, (((a[0] - p) - e) + a[1]) / (r + r))


def scale(a: Pair, c: Any) -> Pair:
    """The product by a power of two."""
    return a[0] * c, a[1] * c


def negative(a: Pair) -> Pair:
    """The opposite."""
    return -a[0], -a[1]
