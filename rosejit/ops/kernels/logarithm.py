"""Kernels of the logarithms and of the inverse hyperbolic functions, from log(m) = 2 atanh(s), s = (m - 1) / (m + 1).

The reduction to m from sqrt(1/2) to sqrt(2) and the formula of `log` are those of fdlibm (Sun Microsystems 1993); the
others keep s as a pair. Polynomials are fitted.
"""

from typing import Any

from rosejit.ops.arith import abs_, copysign, select
from rosejit.ops.integer import bits, from_bits, imax, iselect, to_real, ushr
from rosejit.ops.kernels.coefficients import LOG, LOG_SHORT
from rosejit.ops.kernels.definition import Definition
from rosejit.ops.kernels.double_double import (
    Pair,
    add,
    divide,
    fast_two_sum,
    multiply,
    short,
    square_root,
    two_product,
    two_square,
    two_sum,
)
from rosejit.ops.kernels.exponential import LN2_HIGH, LN2_LOW, clamped, exponential, pick, power_of_two, scaled
from rosejit.ops.kernels.polynomial import estrin
from rosejit.ops.traced_value import branch

INF = float("inf")
NAN = float("nan")
SMALLEST_NORMAL = 2.0**-1022

_ONE = 0x3FF0000000000000
_SQRT_HALF = 0x3FE6A09E667F3BCD
_MANTISSA = 2**52 - 1
_TWO_52 = 0x4330000000000000

_INVERSE_LN2 = (float.fromhex("0x1.71547652b82fep+0"), float.fromhex("0x1.777d0ffda0d24p-56"))
_INVERSE_LN10 = (float.fromhex("0x1.bcb7b1526e50ep-2"), float.fromhex("0x1.95355baaafad3p-57"))
_INVERSE_LN2_SHORT = (float.fromhex("0x1.7154700000000p+0"), float.fromhex("0x1.94ae0bf85ddf4p-22"))
_INVERSE_LN10_SHORT = (float.fromhex("0x1.bcb7b00000000p-2"), float.fromhex("0x1.526e50e32a6abp-26"))
_LOG10_2_HIGH = float.fromhex("0x1.34413509f7800p-2")  # ends in 11 zeros
_LOG10_2_LOW = float.fromhex("0x1.fef311f12b358p-46")


def mantissa(x: Any) -> tuple[Any, Any]:
    """Int k and m with x = m * 2**k, for normal x > 0; m from sqrt(1/2) to sqrt(2)."""
    return mantissa_of(bits(x), _SQRT_HALF)


def mantissa_of(i: Any, lowest: int) -> tuple[Any, Any]:
    """The same for the number with the bits `i`; m from the number with the bits `lowest` to its double."""
    i = i + (_ONE - lowest)
    return (i >> 52) - 1023, from_bits((i & _MANTISSA) + lowest)


def extended_bits(x: Any) -> Any:
    """The bits of finite x > 0; of a subnormal one those that it would have if exponents went on below zero."""
    return iselect(x < SMALLEST_NORMAL, bits(x * 2.0**54) - (54 << 52), bits(x))


def normal(x: Any) -> tuple[Any, Any]:
    """`x` times 2**54 if it is subnormal, and what that adds to its exponent."""
    small = x < SMALLEST_NORMAL
    return select(small, x * 2.0**54, x), select(small, -54.0, 0.0)


def on_domain(x: Any, value: Any) -> Any:
    """`value`, and the logarithm of 0, of negative numbers, inf and NaN."""
    special = select(x == 0.0, -INF, select(x < 0.0, NAN, x))
    return select((x > 0.0) & (x < INF), value, special)


def _mantissa_less_one(x: Any) -> tuple[Any, Any]:
    """Real k and f with x = (1 + f) * 2**k, for normal x > 0; f from sqrt(1/2) - 1 to sqrt(2) - 1."""
    i = bits(x) + (_ONE - _SQRT_HALF)
    k = from_bits(ushr(i, 52) | _TWO_52) - (2.0**52 + 1023.0)  # engines take longer to convert an Int
    return k, from_bits((i & _MANTISSA) + _SQRT_HALF) - 1.0


def _of_mantissa(f: Any, k: Any, low: Any = None) -> Any:
    """log(1 + f) + k log(2) + low, for a Real k and a small `low`."""
    s = f / (f + 2.0)
    z = s * s
    half = f * 0.5 * f
    rest = k * LN2_LOW if low is None else k * LN2_LOW + low
    square = half - (s * half + rest)
    return k * LN2_HIGH - ((square - (s * z) * estrin(LOG_SHORT, z)) - f)


def is_normal(x: Any) -> Any:
    """Whether `x` is positive, normal and finite."""
    return ushr(bits(x) - 2**52, 52) < 2046


def _log(x: Any) -> Any:
    def usual() -> Any:
        k, f = _mantissa_less_one(x)
        return _of_mantissa(f, k)

    def subnormal() -> Any:
        k, f = _mantissa_less_one(x * 2.0**54)
        return _of_mantissa(f, k - 54.0)

    def unusual() -> Any:
        return branch((x > 0.0) & (x < INF), subnormal, lambda: on_domain(x, x))

    return branch(is_normal(x), usual, unusual)


LOG_KERNEL = Definition(_log)


def logarithm(x: Any, low: Any = None) -> tuple[Any, Pair]:
    """Real k and the pair log(m) with x + low = m * 2**k, for normal x > 0; near 1 relative to the result."""
    k, m = mantissa(x)
    fh, fl = m - 1.0, 0.0
    if low is not None:
        fh, fl = two_sum(fh, low * power_of_two(imax(0 - k, -1022)))
    d, dl = fast_two_sum(2.0, fh)
    inverse = 1.0 / d
    s = fh * inverse
    p, e = two_product(s, d)
    sl = (((fh - p) - e) + (fl - s * (dl + fl))) * inverse
    z = s * s
    return to_real(k), fast_two_sum(2.0 * s, (s * z) * estrin(LOG, z) + 2.0 * sl)


def with_exponent(k: Any, log_m: Pair) -> Pair:
    """log(m * 2**k) as a pair."""
    hi, e = fast_two_sum(k * LN2_HIGH, log_m[0])
    return hi, e + (log_m[1] + k * LN2_LOW)


def plus_one(x: Pair) -> Pair:
    """log(1 + x) as a pair, for x > -1; near 0 relative to the result."""
    hi, lo = two_sum(1.0, x[0])
    return with_exponent(*logarithm(hi, lo + x[1]))


def _to_base(x: Any, inverse: Pair, whole: Any, part: Any) -> Any:
    """log(x) for normal x > 0 times a short number and the rest, and k times `whole`, which is exact, and `part`."""
    k, f = _mantissa_less_one(x)
    s = f / (f + 2.0)
    z = s * s
    half = f * 0.5 * f
    hi = short(f - half)
    lo = ((f - hi) - half) + s * (half + z * estrin(LOG_SHORT, z))
    first, rest = hi * inverse[0], (lo + hi) * inverse[1] + lo * inverse[0]
    exponent = k * whole
    s, e = two_sum(exponent, first)
    return s + (e + (rest + k * part))


def _log2(x: Any) -> Any:
    def unusual() -> Any:
        y, shift = normal(x)
        k, log_m = logarithm(y)
        hi, lo = multiply(log_m, _INVERSE_LN2)
        s, e = fast_two_sum(k + shift, hi)
        return on_domain(x, s + (e + lo))

    return branch(is_normal(x), lambda: _to_base(x, _INVERSE_LN2_SHORT, 1.0, 0.0), unusual)


def _log10(x: Any) -> Any:
    def unusual() -> Any:
        y, shift = normal(x)
        k, log_m = logarithm(y)
        k = k + shift
        hi, lo = multiply(log_m, _INVERSE_LN10)
        s, e = fast_two_sum(k * _LOG10_2_HIGH, hi)
        return on_domain(x, s + (e + (lo + k * _LOG10_2_LOW)))

    return branch(is_normal(x), lambda: _to_base(x, _INVERSE_LN10_SHORT, _LOG10_2_HIGH, _LOG10_2_LOW), unusual)


def _log1p(x: Any) -> Any:
    def usual() -> Any:
        u, e = two_sum(x, 1.0)
        k, f = _mantissa_less_one(u)
        near = ushr(bits(u) + (_ONE - _SQRT_HALF), 52) == 1023  # 1 + x may be rounded, x is not
        return _of_mantissa(pick(near, x, f), k, pick(near, 0.0, e / u))

    def unusual() -> Any:
        hi, lo = plus_one((x, 0.0))
        return select(abs_(x) < 2.0**-54, x, on_domain(1.0 + x, hi + lo))

    size = bits(x) & (2**63 - 1)
    return branch((x > -1.0) & (ushr(size - bits(2.0**-54), 52) < 1054), usual, unusual)


def _softplus(x: Any) -> Any:
    """max(x, 0) + log(1 + exp(-|x|))."""
    k, (s, e) = exponential(clamped(-abs_(x), -750.0, 0.0))
    p = power_of_two(imax(k, -500))
    hi, lo = plus_one((p * s, p * e))
    t, e1 = two_sum(select(x > 0.0, x, 0.0), hi)
    return select(x < -37.0, scaled(s + e, k), select(x < INF, t + (e1 + lo), x))


# --- inverse hyperbolic functions


def _beyond(x: Any, y: Any) -> Any:
    """log(2 x), where x > 2**28, else log(1 + y) as the sum of a pair."""
    large = x > 2.0**28
    hi, lo = two_sum(1.0, y[0])
    k, log_m = logarithm(select(large, x, hi), select(large, 0.0, lo + y[1]))
    hi, lo = with_exponent(select(large, k + 1.0, k), log_m)
    return select(x < INF, hi + lo, x)


def _asinh(x: Any) -> Any:
    """log(1 + (a + a**2 / (1 + sqrt(1 + a**2)))) of a = |x|."""
    a = abs_(x)
    b = select(a > 2.0**28, 1.0, a)
    square = two_square(b)
    root = square_root(add((1.0, 0.0), square))
    y = add((b, 0.0), divide(square, add((1.0, 0.0), root)))
    return select(a < 2.0**-28, x, copysign(_beyond(a, y), x))


def _acosh(x: Any) -> Any:
    """log(1 + (t + sqrt(t**2 + 2 t))) of t = x - 1."""
    b = select((x > 1.0) & (x <= 2.0**28), x, 2.0)
    t = two_sum(b, -1.0)
    y = add(t, square_root(add(multiply(t, t), (2.0 * t[0], 2.0 * t[1]))))
    return select(x == 1.0, 0.0, select(x < 1.0, NAN, _beyond(x, y)))


def _atanh(x: Any) -> Any:
    """log(1 + 2 a / (1 - a)) / 2 of a = |x|."""
    a = abs_(x)
    b = select(a < 1.0, a, 0.5)
    hi, lo = plus_one(divide((2.0 * b, 0.0), two_sum(1.0, -b)))
    value = select(a < 1.0, 0.5 * (hi + lo), select(a == 1.0, INF, NAN))
    return select(a < 2.0**-28, x, copysign(value, x))


ALL = (LOG_KERNEL, *(Definition(body) for body in (_log2, _log10, _log1p, _softplus, _asinh, _acosh, _atanh)))
