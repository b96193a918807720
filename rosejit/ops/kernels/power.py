"""Kernels of powers and roots: pow, cbrt, hypot and what goes with them.

`pow` is exp(y log(x)) with both in pairs; log(x) is reduced by 1 or 3/2 to |s| <= 0.1 as in fdlibm (Sun Microsystems
1993). The roots end in one step of Newton's method on the exact residual.
"""

from typing import Any

from rosejit.ir.types import REAL
from rosejit.ops.arith import abs_, floor, select
from rosejit.ops.integer import bits, from_bits, to_real
from rosejit.ops.kernels.coefficients import LOG_FIFTH
from rosejit.ops.kernels.definition import Definition
from rosejit.ops.kernels.double_double import (
    Pair,
    add,
    fast_two_sum,
    multiply,
    short,
    square_root,
    two_square,
)
from rosejit.ops.kernels.exponential import LN2_HIGH, LN2_LOW, below, clamped, pick, precise_exponential, scaled
from rosejit.ops.kernels.logarithm import extended_bits, is_normal, mantissa_of
from rosejit.ops.kernels.polynomial import estrin
from rosejit.ops.traced_value import branch

INF = float("inf")
NAN = float("nan")

_HALF_SQRT_3 = 0x3FEBB67AE8584CAA
_SQRT_3_HALVES = float.fromhex("0x1.3988e1409212ep+0")
_LOG_3_HALVES_SHORT = float.fromhex("0x1.9f32300000000p-2")
_LOG_3_HALVES_REST = float.fromhex("0x1.d97f3097e56d2p-23")
_TWO_THIRDS_SHORT = float.fromhex("0x1.5555500000000p-1")
_TWO_THIRDS_REST = float.fromhex("0x1.5555555555555p-23")
_TWO_THIRDS = float.fromhex("0x1.5555555555555p-1")


def short_logarithm(i: Any) -> Pair:
    """log(x) as a short number and the rest, right to 66 bits, for x > 0 with the bits `i`.

    2 atanh(s) is 2/3 s (3 + s**2 + r) with s = f / d; s, d and that sum are short numbers and rests, as in fdlibm.
    """
    k, m = mantissa_of(i, _HALF_SQRT_3)
    k = to_real(k)
    upper = m > _SQRT_3_HALVES
    center = pick(upper, 1.5, 1.0)
    f, d = m - center, m + center
    inverse = 1.0 / d
    s, d = f * inverse, short(d)
    sh = short(s)
    sl = inverse * ((f - sh * d) - sh * (m - (d - center)))
    z, square = s * s, sh * sh
    r = (z * z) * (estrin(LOG_FIFTH, z) * 1.5) + sl * (sh + s)
    th = short(square + 3.0 + r)
    tl = r - ((th - 3.0) - square)
    first, second = sh * th, sl * th + tl * s
    p = short(first + second)
    hi = p * _TWO_THIRDS_SHORT
    lo = p * _TWO_THIRDS_REST + (second - (p - first)) * _TWO_THIRDS
    whole, part = k * LN2_HIGH, pick(upper, _LOG_3_HALVES_SHORT, 0.0)
    t = short(((hi + lo) + part) + whole)
    rest = lo - (((t - whole) - part) - hi)
    return t, rest + (k * LN2_LOW + pick(upper, _LOG_3_HALVES_REST, 0.0))


def times_logarithm(y: Any, log_x: Pair) -> Pair:
    """y log(x), of which log(x) is a short number and the rest."""
    y_short = short(y)
    return fast_two_sum(y_short * log_x[0], (y - y_short) * log_x[0] + y * log_x[1])


def _within_limits(y: Any, log_x: Pair) -> Pair:
    """The same where it may be too large."""
    hi, lo = times_logarithm(clamped(y, -(2.0**66), 2.0**66), log_x)
    return clamped(hi, -800.0, 800.0), select(below(hi, 800.0), lo, 0.0)


def _pow(x: Any, y: Any) -> Any:
    usual = is_normal(x)
    log_x = short_logarithm(branch(usual, lambda: bits(x), lambda: extended_bits(abs_(x))))
    hi, lo = times_logarithm(y, log_x)
    small = below(hi, 708.0)
    hi, lo = branch(small, lambda: (hi, lo), lambda: _within_limits(y, log_x))
    k, (s, _) = precise_exponential(hi, lo)
    return branch(usual & small, lambda: from_bits(bits(s) + (k << 52)), lambda: _any_power(x, y, scaled(s, k)))


def _any_power(x: Any, y: Any, size: Any) -> Any:
    """x**y, of which `size` is the absolute value where it is not 0, 1, inf or NaN."""
    a, b = abs_(x), abs_(y)
    extreme = (a == 0.0) | (a == INF) | (b == INF)
    at_limit = select(a == 1.0, 1.0, select((a > 1.0) ^ (y < 0.0), INF, 0.0))
    size = select(extreme, at_limit, size)
    whole, half = floor(y) == y, 0.5 * y
    odd = whole & (floor(half) != half)
    signed = select((bits(x) < 0) & odd, -size, size)
    value = select((x < 0.0) & (a < INF) & ~whole, NAN, signed)
    value = select((x != x) | (y != y), NAN, value)
    return select((y == 0.0) | (x == 1.0), 1.0, value)


def _cbrt(x: Any) -> Any:
    a = abs_(x)
    small, large = a < 2.0**-900, a > 2.0**900
    a = a * select(small, 2.0**300, select(large, 2.0**-300, 1.0))
    r = from_bits((bits(a) >> 32) * 0x55555556 + 0x2A9F7893782DA1CE)  # a third of the exponent; within 6 %
    for _ in range(3):  # Halley: the number of right bits grows by three
        cube = r * r * r
        r = r * ((cube + 2.0 * a) / (2.0 * cube + a))
    square = two_square(r)
    cube = multiply(square, (r, 0.0))
    r = r + ((a - cube[0]) - cube[1]) / (3.0 * square[0])
    r = r * select(small, 2.0**-100, select(large, 2.0**100, 1.0))
    r = from_bits(bits(r) | (bits(x) & -(2**63)))
    return select((x == 0.0) | ~(abs_(x) < INF), x, r)


def _hypot(x: Any, y: Any) -> Any:
    x, y = abs_(x), abs_(y)
    a, b = pick(y > x, y, x), pick(y > x, x, y)
    up, down = a < 2.0**-400, a > 2.0**500
    factor = select(up, 2.0**600, select(down, 2.0**-600, 1.0))
    back = select(up, 2.0**-600, select(down, 2.0**600, 1.0))
    c = select(a == INF, 1.0, a * factor)
    hi, lo = square_root(add(two_square(c), two_square(b * factor)))
    value = select(b <= a * 2.0**-60, a, (hi + lo) * back)
    return select((x == INF) | (y == INF), INF, value)


HYPOT = Definition(_hypot, REAL, REAL)


def _unit(x: Any, y: Any) -> Any:
    factor = select((abs_(x) < 2.0**-500) & (abs_(y) < 2.0**-500), 2.0**500, 1.0)  # subnormal lengths have few bits
    x = x * factor
    r = HYPOT(x, y * factor)
    return select(r == 0.0, 0.0, x / r)


def _one_minus_square(x: Any) -> Any:
    return select(abs_(x) < 0.5, 1.0 - x * x, (1.0 - x) * (1.0 + x))


ALL = (
    *(Definition(body, REAL, REAL) for body in (_pow, _unit)),
    HYPOT,
    *(Definition(body) for body in (_cbrt, _one_minus_square)),
)
