"""Kernels of sine, cosine and tangent: the angle less a multiple of π/2 as a pair, then polynomials on [-π/4, π/4].

Reductions: Cody and Waite (1980) with π/2 in parts of 33 bits, as fdlibm (Sun Microsystems 1993) has them; Payne and
Hanek (1983) in integers for huge angles. Polynomials are fitted.
"""

from typing import Any

from rosejit.ops.arith import abs_, select
from rosejit.ops.integer import bits, clz, from_bits, imax, iselect, to_real, ushr
from rosejit.ops.kernels.coefficients import COS, SIN
from rosejit.ops.kernels.correctly_rounded import long_product, negated_if
from rosejit.ops.kernels.definition import Definition
from rosejit.ops.kernels.double_double import Pair, divide, fast_two_sum, multiply, split, two_sum
from rosejit.ops.kernels.exponential import below, pick, power_of_two, rounded
from rosejit.ops.kernels.polynomial import estrin
from rosejit.ops.tables import two_over_pi
from rosejit.ops.traced_value import branch

INVERSE = float.fromhex("0x1.45f306dc9c883p-1")
PART_1 = float.fromhex("0x1.921fb54400000p+0")
PART_2 = float.fromhex("0x1.0b4611a600000p-34")
PART_3 = float.fromhex("0x1.3198a2e000000p-69")
PART_4 = float.fromhex("0x1.b839a252049c1p-104")
REST_1 = float.fromhex("0x1.0b4611a626331p-34")
HALF_PI = (float.fromhex("0x1.921fb54442d18p+0"), float.fromhex("0x1.1a62633145c07p-54"))

_LARGE = 2.0**20


def _near_multiple(x: Any, t: Any) -> Pair:
    """x - t π/2 where most of it cancels: 152 bits of π/2."""
    s, e1 = two_sum(x - t * PART_1, -(t * PART_2))
    s, e2 = two_sum(s, -(t * PART_3))
    return fast_two_sum(s, (e1 + e2) - t * PART_4)


def _moderate(x: Any) -> tuple[Any, Any, Any]:
    t, n = rounded(x * INVERSE)
    hi = x - t * PART_1
    w = t * REST_1
    r = hi - w
    kept = (t == 0.0) | (abs_(r) >= 2.0**-9)  # of x itself nothing cancels
    return n, *branch(kept, lambda: (r, (hi - r) - w), lambda: _near_multiple(x, t))


def _huge(x: Any) -> tuple[Any, Any, Any]:
    """x is m * 2**e: 192 bits of 2/π from the one that matters first, times m, modulo 4."""
    i = bits(abs_(x))
    m, start = (i & (2**52 - 1)) | 2**52, imax((i >> 52) - 1013, 0)
    word, shift = start >> 6, start & 63
    four = [two_over_pi(word + n) for n in range(4)]
    a, b, c = ((four[n] << shift) | ushr(ushr(four[n + 1], 1), 63 - shift) for n in range(3))
    b_high, b_low = long_product(m, b)
    c_high, c_low = long_product(m, c)
    middle = b_low + c_high
    carry = iselect((middle ^ -(2**63)) < (b_low ^ -(2**63)), 1, 0)
    top = m * a + b_high + carry
    n = ushr(top, 62)
    high, low = (top << 2) | ushr(middle, 62), (middle << 2) | ushr(c_low, 62)
    n, sign = n + ushr(high, 63), high >> 63  # a fraction from one half on counts from the next multiple
    high, low = negated_if(sign, high, low)
    zeros = clz(high)
    high = (high << zeros) | ushr(ushr(low, 1), 63 - zeros)
    low = low << zeros
    fraction = to_real(ushr(high, 11)), to_real(((high & 2047) << 42) | ushr(low, 22)) * 2.0**-53
    hi, lo = multiply(fraction, HALF_PI)
    unit = power_of_two(-53 - zeros)
    flip = (bits(x) ^ (sign & -(2**63))) & -(2**63)
    n = iselect(bits(x) < 0, 0 - n, n)
    return n, from_bits(bits(hi * unit) ^ flip), from_bits(bits(lo * unit) ^ flip)


HUGE = Definition(_huge, name="reduce_huge")


def reduced(x: Any) -> tuple[Any, Any, Any]:
    """Int n and the pair r, rl with x = n π/2 + r + rl (n modulo 4); NaN of inf."""

    def beyond() -> Any:
        n, r, rl = HUGE(x)
        return n, select(abs_(x) < float("inf"), r, x - x), rl

    return branch(below(x, _LARGE), lambda: _moderate(x), beyond)


def sine(r: Any, rl: Any) -> Pair:
    """sin(r + rl), |r| <= π/4, as a leading term and the rest."""
    z = r * r
    return r, (r * z) * estrin(SIN, z) + (rl - z * 0.5 * rl)


def cosine(r: Any, rl: Any) -> Pair:
    """cos(r + rl), |r| <= π/4, as a leading term and the rest."""
    z = r * r
    hi, lo = split(r)
    s, e = fast_two_sum(1.0, (hi * hi) * -0.5)
    return s, e + ((z * z) * estrin(COS, z) - (r * rl + (lo * 0.5) * (r + hi)))


def _even_odd(r: Any, rl: Any) -> tuple[Any, Any]:
    """The bits of sine and cosine of r + rl: what the sine of an even number of quarter turns more is, or of an odd."""
    (sh, sl), (ch, cl) = sine(r, rl), cosine(r, rl)
    return bits(sh + sl), bits(ch + cl)


def _turned(n: Any, even: Any, odd: Any) -> Any:
    """The sine n quarter turns on."""
    value = iselect((n & 1) == 1, odd, even)
    return from_bits(value ^ ((n & 2) << 62))


def _sin(x: Any) -> Any:
    n, r, rl = reduced(x)
    return select(abs_(x) < 2.0**-27, x, _turned(n, *_even_odd(r, rl)))


def _cos(x: Any) -> Any:
    n, r, rl = reduced(x)
    return _turned(n + 1, *_even_odd(r, rl))


def _sin_cos(x: Any) -> tuple[Any, Any]:
    """Both, for the work of one."""
    n, r, rl = reduced(x)
    known = _even_odd(r, rl)
    return select(abs_(x) < 2.0**-27, x, _turned(n, *known)), _turned(n + 1, *known)


def _tan(x: Any) -> Any:
    n, r, rl = reduced(x)
    (sh, sl), (ch, cl) = sine(r, rl), cosine(r, rl)
    odd = (n & 1) == 1
    above = pick(odd, -ch, sh), pick(odd, -cl, sl)
    under = pick(odd, sh, ch), pick(odd, sl, cl)
    return select(abs_(x) < 2.0**-27, x, divide(fast_two_sum(*above), fast_two_sum(*under))[0])


ALL = (HUGE, *(Definition(body) for body in (_sin, _cos, _sin_cos, _tan)))
