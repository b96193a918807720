"""Kernels of the exponential family, all from one reduction: x = k ln 2 + r with |r| <= ln(2) / 2.

Cody and Waite (1980) for the reduction: k times the first part of ln 2 is exact. cosh(r) and sinh(r) are fitted
polynomials, so that exp(r) and exp(-r) come from one evaluation. The leading terms of every sum are kept as pairs.
Where only exp(x) is needed, k counts 32nds of ln 2, and a table has the powers of two between 1 and 2 (Tang 1989).
"""

from typing import Any

from rosejit.ir.types import REAL
from rosejit.ops.arith import abs_, copysign, select
from rosejit.ops.integer import bits, from_bits, imax, iselect
from rosejit.ops.kernels.coefficients import COSH, EXP, EXP_LONG, SINH
from rosejit.ops.kernels.definition import Definition
from rosejit.ops.kernels.double_double import Pair, fast_two_sum, short, split, two_sum
from rosejit.ops.kernels.polynomial import estrin
from rosejit.ops.tables import exp2_bits, exp2_rest
from rosejit.ops.traced_value import branch

LN2 = float.fromhex("0x1.62e42fefa39efp-1")
LN2_HIGH = float.fromhex("0x1.62e42fefa3800p-1")  # ends in 11 zeros
LN2_LOW = float.fromhex("0x1.ef35793c76730p-45")
INVERSE_LN2 = float.fromhex("0x1.71547652b82fep+0")

_ROUND = 1.5 * 2.0**52
_ROUND_BITS = 0x4338000000000000
_ROUND_32 = 1.5 * 2.0**47
_ROUND_32_BITS = 0x42E8000000000000

_PART = float.fromhex("0x1.62e42fefa0000p-6")  # of ln 2, a 32nd: ends in 16 zeros
_PART_REST = float.fromhex("0x1.cf79abc9e3b3ap-45")
_PARTS = float.fromhex("0x1.71547652b82fep+5")


def rounded(x: Any) -> tuple[Any, Any]:
    """The integer nearest to `x`, |x| < 2**51, as Real and as Int: the sum with 1.5 * 2**52 ends in its bits."""
    t = x + _ROUND
    return t - _ROUND, bits(t) - _ROUND_BITS


def power_of_two(k: Any) -> Any:
    """2.0**k for an Int k from -1022 to 1023."""
    return from_bits((k + 1023) << 52)


def scaled(x: Any, k: Any) -> Any:
    """x * 2.0**k for an Int k from -2044 to 2046, rounded at most once for x near 1."""
    half = k >> 1
    return x * power_of_two(half) * power_of_two(k - half)


def clamped(x: Any, low: float, high: float) -> Any:
    """`x` cut to an interval; NaN stays."""
    x = select(x > high, high, x)
    return select(x < low, low, x)


def below(x: Any, limit: float) -> Any:
    """Whether |x| < limit, by the bits: engines compare Ints faster, and two at a time as well."""
    return (bits(x) & (2**63 - 1)) < bits(limit)


def pick(condition: Any, a: Any, b: Any) -> Any:
    """`select` for conditions that nobody can foresee: engines jump to select Reals, but not to select Ints."""
    return from_bits(iselect(condition, bits(a), bits(b)))


def reduced(x: Any) -> tuple[Any, Any, Any]:
    """Int k and the pair r, rl with x = k ln 2 + r + rl."""
    t, k = rounded(x * INVERSE_LN2)
    return k, *fast_two_sum(x - t * LN2_HIGH, -(t * LN2_LOW))


def tails(r: Any, rl: Any) -> tuple[Any, Any]:
    """cosh(r + rl) - 1 - r**2 / 2 and sinh(r + rl) - r."""
    z = r * r
    return (z * z) * estrin(COSH, z) + r * rl, rl + (r * z) * estrin(SINH, z)


def half_square(r: Any) -> Pair:
    """r**2 / 2 as an exact product and the small rest."""
    hi, lo = split(r)
    return 0.5 * (hi * hi), (0.5 * lo) * (r + hi)


def exponential(x: Any) -> tuple[Any, Pair]:
    """Int k and a pair s from 0.7 to 1.5 with exp(x) = s * 2**k."""
    k, r, rl = reduced(x)
    even, odd = tails(r, rl)
    s, e = fast_two_sum(1.0, r)
    return k, fast_two_sum(s, e + (odd + (0.5 * (r * r) + even)))


def precise_exponential(x: Any, low: Any) -> tuple[Any, Pair]:
    """The same for exp(x + low), `low` a small correction; right to 60 bits."""
    k, r, rl = reduced(x)
    even, odd = tails(r, rl)
    square, rest = half_square(r)
    s, e1 = fast_two_sum(1.0, r)
    s, e2 = fast_two_sum(s, square)
    tail = (e1 + e2) + (odd + (rest + even))
    return k, fast_two_sum(s, tail + (s + tail) * low)


def _factor(r: Any, i: Any) -> Any:
    """t with exp(r) * 2**(i / 32) = (1 + t) * s for the double s next to 2**(i / 32)."""
    z = r * r
    return (z * (r * EXP[1] + EXP[0]) + (r + exp2_rest(i))) + (z * z) * (z * EXP[4] + (r * EXP[3] + EXP[2]))


def _parts(x: Any) -> tuple[Any, Any]:
    """Int i, of which the lowest bits are right, and t with exp(x) = (1 + t) * s, s next to 2**(i / 32)."""
    t = x * _PARTS + _ROUND
    k, i = t - _ROUND, bits(t)
    return i, _factor((x - k * _PART) - k * _PART_REST, i)


def _power(i: Any) -> Any:
    """2**(i / 32) for an Int i whose 16 lowest bits are from -1022 * 32 on."""
    return from_bits(exp2_bits(i) + (i << 47))


def _exp(x: Any) -> Any:
    def usual() -> Any:
        i, t = _parts(x)
        s = _power(i)
        return s * t + s

    return branch(below(x, 708.0), usual, lambda: RESCALED(x))


def _rescaled(x: Any) -> Any:
    """exp(x) where that may be subnormal, too small, or too large."""
    i, t = _parts(clamped(x, -750.0, 710.0))
    s = _power(i & 31)
    return scaled(s * t + s, (i - _ROUND_BITS) >> 5)


RESCALED = Definition(_rescaled, name="exp_rescaled")


def _exp2(x: Any) -> Any:
    def parts(x: Any) -> tuple[Any, Any]:
        t = x + _ROUND_32
        i = bits(t)
        return i, _factor((x - (t - _ROUND_32)) * LN2, i)

    def usual() -> Any:
        i, t = parts(x)
        s = _power(i)
        return s * t + s

    def unusual() -> Any:
        i, t = parts(clamped(x, -1100.0, 1100.0))
        s = _power(i & 31)
        return scaled(s * t + s, (i - _ROUND_32_BITS) >> 5)

    return branch(below(x, 1022.0), usual, unusual)


def less_one(x: Any) -> Pair:
    """exp(x) - 1 as a pair, for |x| <= 700; near 0 relative to the result."""
    k, r, rl = reduced(x)
    even, odd = tails(r, rl)
    square, rest = half_square(r)
    p = power_of_two(k)
    s, e1 = two_sum(p, -1.0)
    t, e2 = two_sum(s, p * r)
    u, e3 = two_sum(t, p * square)
    return fast_two_sum(u, (e1 + e2 + e3) + p * (odd + (rest + even)))


def _expm1(x: Any) -> Any:
    def near() -> Any:
        return less_one(clamped(x, -50.0, 50.0))[0]

    result = branch(x <= 50.0, near, lambda: RESCALED(x))
    return select(abs_(x) < 2.0**-54, x, result)


# --- hyperbolic functions


def _sinh_and_cosh(x: Any) -> tuple[Any, Any]:
    """Half of sinh and of cosh of 0 <= x <= 710.6, before the last sum: each is the sum of a pair."""
    k, r, rl = reduced(x)
    even, odd = tails(r, rl)
    square, rest = half_square(r)
    p, q = power_of_two(k - 2), power_of_two(imax(-2 - k, -1022))  # exp(x) / 4 is p exp(r), exp(-x) / 4 is q exp(-r)
    (minus, e1), (plus, e2) = fast_two_sum(p, -q), fast_two_sum(p, q)
    s, e3 = two_sum(minus, p * r)
    s, e4 = two_sum(s, q * r)
    c, e5 = two_sum(plus, p * r)
    c, e6 = two_sum(c, -(q * r))
    whole = square + (rest + even)
    return (s, ((e1 + e3) + e4) + (minus * whole + plus * odd)), (c, ((e2 + e5) + e6) + (plus * whole + minus * odd))


def _sinh(x: Any) -> Any:
    (hi, lo), _ = _sinh_and_cosh(clamped(abs_(x), 0.0, 710.6))
    return select(abs_(x) < 2.0**-28, x, copysign(2.0 * (hi + lo), x))


def _cosh(x: Any) -> Any:
    _, (hi, lo) = _sinh_and_cosh(clamped(abs_(x), 0.0, 710.6))
    return 2.0 * (hi + lo)


def _less_one_below(x: Any) -> Pair:
    """exp(x) - 1 as a pair, for -708 <= x <= 0: s - 1 + s (r + tail), the products of first halves exact."""
    t = x * _PARTS + _ROUND
    k, i = t - _ROUND, bits(t)
    r, rl = fast_two_sum(x - k * _PART, -(k * _PART_REST))
    tail = (rl + exp2_rest(i) * (1.0 + r)) + (r * r) * estrin(EXP_LONG, r)
    s = _power(i)
    r_hi, s_hi = short(r), short(s)
    whole, e1 = fast_two_sum(-1.0, s)
    whole, e2 = fast_two_sum(whole, s_hi * r_hi)
    return fast_two_sum(whole, (e1 + e2) + ((s_hi * (r - r_hi) + (s - s_hi) * r) + s * tail))


def _tanh(x: Any) -> Any:
    """t / (2 + t) for t = exp(-2 |x|) - 1: 21 bits of it, and what these leave by the divisor again."""
    size = abs_(x)
    t, tl = _less_one_below(-2.0 * select(size > 22.0, 22.0, size))
    d, dl = fast_two_sum(2.0, t)
    q, d_hi = short(t / d), short(d)
    left = ((t - q * d_hi) - q * (d - d_hi)) + (tl - q * (dl + tl))
    return select(size < 2.0**-28, x, copysign(q + left / d, x))


def _sech2(x: Any) -> Any:
    return _sech2_by(x, _tanh(x))


def _sech2_by(x: Any, y: Any) -> Any:
    """1 / cosh(x)² from y = tanh(x) too, while 1 - y has digits enough; else 4 exp(-2 |x|) / (1 + exp(-2 |x|))²."""

    def far() -> Any:
        e = RESCALED(-2.0 * abs_(x))
        return 4.0 * e / ((1.0 + e) * (1.0 + e))

    return branch(below(x, 2.0), lambda: (1.0 - y) * (1.0 + y), far)


def _sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-|x|)), or exp(-|x|) times that."""

    def usual() -> Any:
        i, t = _parts(-abs_(x))
        s = _power(i)
        p = s * t
        e = s + p
        rest = p - (e - s)
        d = e + 1.0
        lost = (e - (d - 1.0)) + rest
        upper = x >= 0.0
        q = pick(upper, 1.0, e) / d
        return q + (pick(upper, 0.0, rest) - q * lost) / d

    return branch(below(x, 708.0), usual, lambda: select(x > 0.0, 1.0, RESCALED(x)))


def _bell(x: Any) -> Any:
    return _bell_by(x, _sigmoid(x))


def _bell_by(x: Any, y: Any) -> Any:
    """The slope of sigmoid from y = sigmoid(x) too, while 1 - y has digits enough; else exp(-x) / (1 + exp(-x))²."""

    def far() -> Any:
        e = RESCALED(-x)
        return e / ((1.0 + e) * (1.0 + e))

    return branch(x < 3.0, lambda: y * (1.0 - y), far)


ALL = (
    RESCALED,
    *map(Definition, (_exp, _exp2, _expm1, _sinh, _cosh, _tanh, _sech2, _sigmoid, _bell)),
    *(Definition(body, REAL, REAL) for body in (_sech2_by, _bell_by)),
)
