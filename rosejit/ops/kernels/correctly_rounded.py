"""Kernels whose results are exact or correctly rounded: selections, remainders, the fused multiply-add."""

from typing import Any

from rosejit.ir.types import REAL
from rosejit.ops.arith import abs_, copysign, floor, select
from rosejit.ops.integer import (
    SMALLEST,
    bits,
    bool_to_int,
    clz,
    from_bits,
    imax,
    imin,
    iselect,
    quot,
    rem,
    shl,
    to_real,
    ushr,
)
from rosejit.ops.kernels.definition import Definition
from rosejit.ops.traced_value import branch, repeat

INF = float("inf")
NAN = float("nan")
MANTISSA = 2**52 - 1

Pair = tuple[Any, Any]


def _max(x: Any, y: Any) -> Any:
    return select(y > x, y, x)


def _min(x: Any, y: Any) -> Any:
    return select(y < x, y, x)


def _ratio(x: Any, y: Any) -> Any:
    return select((x == 0.0) & (y == 0.0), 0.0, x / y)


def _sign(x: Any) -> Any:
    return select(x == 0.0, 0.0, select(x != x, x, copysign(1.0, x)))


def _isnan(x: Any) -> Any:
    return x != x


def _isinf(x: Any) -> Any:
    return abs_(x) == INF


def _isfinite(x: Any) -> Any:
    return abs_(x) < INF


# --- remainders


def parts(x: Any) -> Pair:
    """Integers `m`, `e` of a finite `x >= 0` with `x == m * 2**e`; `m` below 2**53, `e` at least -1074."""
    i = bits(x)
    exponent = i >> 52
    normal = exponent > 0
    return (i & MANTISSA) + iselect(normal, 2**52, 0), imax(exponent, 1) - 1075


def power_of_two(e: Any) -> Any:
    """2.0**e for -1022 <= e <= 1023."""
    return from_bits((e + 1023) << 52)


def scaled(x: Any, e: Any) -> Any:
    """x * 2.0**e with at most one rounding where the product by half of the power is exact."""
    half = e >> 1
    return x * power_of_two(half) * power_of_two(e - half)


def _fmod(x: Any, y: Any) -> Any:
    """Long division, ten bits of the quotient an iteration: a remainder below 2**53 shifted by ten stays an Int."""

    def reduce() -> Any:
        a, ea = parts(abs_(x))
        b, eb = parts(abs_(y))
        digits = ea - eb
        first = rem(digits, 10)

        def next_ten(_: Any, r: Any) -> Any:
            return rem(r << 10, b)

        a = rem(rem(a, b) << first, b)
        a = repeat(quot(digits, 10), next_ten, a)
        return copysign(scaled(to_real(a), eb), x)

    def larger() -> Any:
        return branch((abs_(x) < INF) & (abs_(y) > 0.0), reduce, lambda: NAN)

    return branch(abs_(x) < abs_(y), lambda: select(abs_(x) < INF, x, NAN), larger)


FMOD = Definition(_fmod, REAL, REAL)


def _mod(x: Any, y: Any) -> Any:
    r = FMOD(x, y)
    return select(r == 0.0, copysign(0.0, y), select((y < 0.0) ^ (r < 0.0), r + y, r))


def _floordiv(x: Any, y: Any) -> Any:
    """The steps of CPython's `float.__floordiv__`."""

    def divide() -> Any:
        r = FMOD(x, y)
        q = (x - r) / y
        q = select((r != 0.0) & ((y < 0.0) ^ (r < 0.0)), q - 1.0, q)
        down = floor(q)
        return select(q == 0.0, copysign(0.0, x / y), select(q - down > 0.5, down + 1.0, down))

    return branch(y == 0.0, lambda: x / y, divide)


# --- fused multiply-add: 128 bits of the product, 128 of what is added, one rounding


def long_product(a: Any, b: Any) -> Pair:
    """The high and the low 64 bits of the product of unsigned Ints, `a` below 2**53."""
    mask = 2**32 - 1
    a1, a0, b1, b0 = a >> 32, a & mask, ushr(b, 32), b & mask
    p = a0 * b0
    middle = a1 * b0 + ushr(p, 32)
    last = a0 * b1 + (middle & mask)
    return a1 * b1 + (middle >> 32) + ushr(last, 32), (last << 32) | (p & mask)


def _normal(x: Any) -> Pair:
    """As `parts` of |x|, with `m` from 2**52 to 2**53; x is not 0."""
    m, e = parts(abs_(x))
    shift = clz(m) - 11
    return m << shift, e - shift


def _up(high: Any, low: Any, k: Any) -> Pair:
    """128 bits shifted up by `k`, 0 to 127."""
    far = k > 63
    high, low = iselect(far, low, high), iselect(far, 0, low)
    return (high << k) | ushr(ushr(low, 1), 63 - (k & 63)), low << k


def _down(high: Any, low: Any, k: Any) -> Pair:
    """128 bits shifted down by `k`, 0 to 127; the lowest bit is set where a set bit is lost."""
    far = k > 63
    high, low, lost = iselect(far, 0, high), iselect(far, high, low), iselect(far, low, 0)
    lost = lost | ((low << 1) << (63 - (k & 63)))
    kept = ushr(low, k) | ((high << 1) << (63 - (k & 63)))
    return ushr(high, k), kept | bool_to_int(lost != 0)


def negated_if(sign: Any, high: Any, low: Any) -> Pair:
    """128 bits, their opposite where `sign` is -1 (and not 0)."""
    return (high ^ sign) + (sign & bool_to_int(low == 0)), (low ^ sign) - sign


def _rounded(i: Any, e: Any) -> Any:
    """i * 2.0**e rounded once; `i` from 2**62 to 2**63, its lowest bit set where bits were lost."""
    drop = imax(10, -1074 - e)
    k = imin(drop, 63)
    q, rest, half = i >> k, i & (shl(1, k) - 1), shl(1, k - 1)
    q = q + bool_to_int((rest > half) | ((rest == half) & ((q & 1) == 1)))
    return scaled(to_real(iselect(drop > 63, 0, q)), imin(e + drop, 2000))


def _fma(x: Any, y: Any, z: Any) -> Any:
    def sum_of_parts() -> Any:
        (a, ea), (b, eb), (c, ec) = _normal(x), _normal(y), _normal(z)
        high, low = _up(*long_product(a, b), 20)  # from 2**124 to 2**126, times 2**e
        e, c, ec = ea + eb - 20, c << 9, ec - 9  # c from 2**61 to 2**62
        up = ec - e

        def product_leads() -> Any:
            far, near = _down(0, c, imin(imax(0 - up, 0), 127)), _up(0, c, imax(up, 0))
            return high, low, iselect(up < 0, far[0], near[0]), iselect(up < 0, far[1], near[1]), e

        def addend_leads() -> Any:
            return *_down(high, low, imin(up - 64, 127)), c, 0, ec - 64

        high, low, c_high, c_low, e = branch(up < 64, product_leads, addend_leads)
        sign = bits(x) ^ bits(y)
        c_high, c_low = negated_if((sign ^ bits(z)) >> 63, c_high, c_low)
        total = low + c_low
        carry = bool_to_int((total ^ SMALLEST) < (low ^ SMALLEST))
        high, low = high + c_high + carry, total
        sign = (sign ^ high) >> 63
        high, low = negated_if(high >> 63, high, low)
        shift = iselect(high == 0, 64 + clz(low), clz(high)) - 1
        high, low = _up(high, low, imin(shift, 127))
        magnitude = _rounded(high | bool_to_int(low != 0), e + 64 - shift)
        return select((high | low) == 0, 0.0, select(sign == -1, -magnitude, magnitude))

    def simple() -> Any:
        return select(
            (abs_(x) < INF) & (abs_(y) < INF) & (abs_(z) == INF), z, select(z == 0.0, _plus_zero(x, y, z), x * y + z)
        )

    ordinary = (abs_(x) < INF) & (abs_(y) < INF) & (abs_(z) < INF) & (x != 0.0) & (y != 0.0) & (z != 0.0)
    return branch(ordinary, sum_of_parts, simple)


def _plus_zero(x: Any, y: Any, z: Any) -> Any:
    """x * y + z for a zero `z`: a product that underflows keeps its sign."""
    return select((x == 0.0) | (y == 0.0), x * y + z, x * y)


ALL = (
    *(Definition(body, REAL, REAL) for body in (_max, _min, _ratio, _mod, _floordiv)),
    *(Definition(body, REAL) for body in (_sign, _isnan, _isinf, _isfinite)),
    FMOD,
    Definition(_fma, REAL, REAL, REAL),
)
