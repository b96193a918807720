"""Kernels of gamma, its logarithm and its logarithmic derivatives.

Below 24 (10) the argument goes down to [1, 2] by gamma(x + 1) = x gamma(x), where polynomials are fitted; above,
Stirling's series; below 0, Euler's reflection. `polygamma` is Hurwitz's zeta function by Euler and Maclaurin's sum.
"""

from typing import Any

from rosejit.ir.types import INT, REAL
from rosejit.ops.arith import abs_, ceil, copysign, floor, nearest, select
from rosejit.ops.integer import bits, clz, imax, sat_int, to_real
from rosejit.ops.kernels.coefficients import DIGAMMA, DIGAMMA_REST, GAMMA_STAR, LOG_GAMMA, RECIPROCAL_GAMMA, STIRLING
from rosejit.ops.kernels.definition import Definition
from rosejit.ops.kernels.double_double import Pair, add, divide, fast_two_sum, multiply, negative, two_product, two_sum
from rosejit.ops.kernels.exponential import clamped, pick, precise_exponential, scaled
from rosejit.ops.kernels.inverse_trig import PI
from rosejit.ops.kernels.logarithm import LOG_KERNEL, logarithm, with_exponent
from rosejit.ops.kernels.polynomial import estrin, horner
from rosejit.ops.kernels.power import short_logarithm, times_logarithm
from rosejit.ops.kernels.trigonometric import cosine, sine
from rosejit.ops.traced_value import branch, repeat

INF = float("inf")
NAN = float("nan")
_HALF_LOG_2_PI = (float.fromhex("0x1.d67f1c864beb5p-1"), float.fromhex("-0x1.65b5a1b7ff5dfp-55"))
_DIGAMMA_ROOT = (float.fromhex("0x1.d8b618d5af8fep-2"), float.fromhex("-0x1.1e563779a1f5bp-56"))


def _half_turns(x: Any) -> tuple[Any, ...]:
    """r from -1/2 to 1/2, an integer away from x, and the pairs sin(π |r|) and cos(π r)."""
    r = x - nearest(x)
    a = abs_(r)
    steep = a > 0.25
    b = pick(steep, 0.5 - a, a)
    hi, lo = two_product(b, PI[0])
    hi, lo = fast_two_sum(hi, lo + b * PI[1])
    s, c = fast_two_sum(*sine(hi, lo)), fast_two_sum(*cosine(hi, lo))
    across = pick(steep, c[0], s[0]), pick(steep, c[1], s[1])
    along = pick(steep, s[0], c[0]), pick(steep, s[1], c[1])
    return r, *across, *along


HALF_TURNS = Definition(_half_turns)


def _falling(x: Any) -> Pair:
    """(x - 1) (x - 2) ... down to a factor from 1 to 2; 1 for x < 2."""

    def iteration(i: Any, hi: Any, lo: Any) -> Pair:
        factor = x - to_real(i + 1)
        p, e = two_product(hi, factor)
        return p, lo * factor + e

    return fast_two_sum(*repeat(imax(sat_int(x) - 1, 0), iteration, 1.0, 0.0))


FALLING = Definition(_falling, name="falling_product")


def _sum(x: Pair) -> Any:
    return x[0] + x[1]


# --- gamma


def _small_gamma(x: Any) -> Pair:
    """Gamma of 0 < x < 24 as a pair."""
    u = x - floor(x)
    below = fast_two_sum(1.0, (u * (1.0 - u)) * estrin(RECIPROCAL_GAMMA, u - 0.5))
    first = select(x < 1.0, x, 1.0)
    return divide(FALLING(x), multiply(below, (first, 0.0)))


def _large_gamma(x: Any) -> tuple[Any, Any, Any]:
    """Gamma of 24 <= x as a pair times 2**k."""
    x = clamped(x, 24.0, 190.0)
    power = add(times_logarithm(x - 0.5, short_logarithm(bits(x))), _HALF_LOG_2_PI)
    hi, lo = add(power, (-x, 0.0))
    k, (s, e) = precise_exponential(hi, lo)
    w = 1.0 / x
    return *fast_two_sum(s, e + s * (w * estrin(GAMMA_STAR, w))), k


def _gamma(x: Any) -> Any:
    a = abs_(x)

    def small() -> tuple[Any, Any, Any]:
        b = select(a < 24.0, a, 1.0)
        return *_small_gamma(select(b < 2.0**-900, 1.0, b)), 0

    hi, lo, k = branch(a < 24.0, small, lambda: _large_gamma(a))

    def reflected() -> Any:
        r, *across, _, _ = HALF_TURNS(x)
        value = divide(negative(PI), multiply(multiply((a, 0.0), (across[0], across[1])), (hi, lo)))[0]
        odd = 0.5 * nearest(x) != nearest(0.5 * nearest(x))
        value = scaled(select(odd ^ (r < 0.0), value, -value), 0 - k)
        return select(r == 0.0, NAN, value)

    value = branch(x < 0.0, reflected, lambda: select(x > 171.7, INF, scaled(hi + lo, k)))
    return select(a < 2.0**-60, 1.0 / x, select(x != x, x, value))


# --- its logarithm


def _log_pair(hi: Any, lo: Any) -> Pair:
    return with_exponent(*logarithm(hi, lo))


LOG_PAIR = Definition(_log_pair, REAL, REAL)


def _log_gamma_below_10(x: Any) -> Pair:
    u = x - floor(x)
    scale = two_product(u, 1.0 - u)
    base = multiply(scale, fast_two_sum(-0.5, -estrin(LOG_GAMMA, u - 0.5)))
    hi, lo = FALLING(x)
    below_one = x < 1.0
    hi, lo = LOG_PAIR(select(below_one, x, hi), select(below_one, 0.0, lo))
    return add(base, (select(below_one, -hi, hi), select(below_one, -lo, lo)))


def _log_gamma_from_10(x: Any) -> Pair:
    w = 1.0 / x
    power = add(multiply((x - 0.5, 0.0), LOG_PAIR(x, 0.0)), _HALF_LOG_2_PI)
    hi, lo = add(power, (-x, 0.0))
    return hi, lo + w * horner(STIRLING, w * w)


def _lgamma(x: Any) -> Any:
    a = abs_(x)

    def positive(b: Any) -> Pair:
        return branch(b < 10.0, lambda: _log_gamma_below_10(b), lambda: _log_gamma_from_10(b))

    def reflected() -> Any:
        """log(π / (a sin(π a) gamma(a)))."""
        r, s, e, _, _ = HALF_TURNS(a)
        size = divide(PI, multiply((a, 0.0), (select(r == 0.0, 1.0, s), e)))
        hi, lo = add(LOG_PAIR(*size), negative(positive(a)))
        return select(r == 0.0, INF, hi + lo)

    def ordinary() -> Any:
        return branch(x < 0.0, reflected, lambda: _sum(positive(a)))

    def extreme() -> Any:
        log_a = LOG_KERNEL(a)
        return select(x < -1.0, INF, select(a < 1.0, -log_a, a * (log_a - 1.0)))

    return branch((a > 2.0**-60) & (a < 2.0**60), ordinary, extreme)


# --- its logarithmic derivatives


def _digamma_below_10(x: Any) -> Pair:
    u = x - floor(x)
    base = two_product((u - _DIGAMMA_ROOT[0]) - _DIGAMMA_ROOT[1], 1.0 + estrin(DIGAMMA, u - 0.5))

    def iteration(i: Any, hi: Any, lo: Any) -> Pair:
        factor = x - to_real(i + 1)
        q = 1.0 / factor
        p, e = two_product(q, factor)
        hi, rest = two_sum(hi, q)
        return hi, lo + (rest + ((1.0 - p) - e) * q)

    first = select(x < 1.0, -1.0 / x, 0.0)
    hi, lo = repeat(imax(sat_int(x) - 1, 0), iteration, first, 0.0)
    return add(base, (hi, lo))


def _digamma_from_10(x: Any) -> Pair:
    w = 1.0 / x
    z = w * w
    return add(LOG_PAIR(x, 0.0), (-0.5 * w, -(z * horner(DIGAMMA_REST, z))))


def _digamma(x: Any) -> Any:
    a = abs_(x)
    hi, lo = branch(a < 10.0, lambda: _digamma_below_10(a), lambda: _digamma_from_10(a))

    def reflected() -> Any:
        """Digamma of a, plus 1 / a + π / tan(π a)."""
        r, s, e, c, f = HALF_TURNS(a)
        q, rest = divide(multiply(PI, (c, f)), (select(r == 0.0, 1.0, s), e))
        value, _ = add((hi, lo), add(divide((1.0, 0.0), (a, 0.0)), (copysign(q, r), copysign(rest, rest * r))))
        return select(r == 0.0, NAN, value)

    value = branch(x < 0.0, reflected, lambda: hi + lo)
    return select(a < 2.0**-60, -1.0 / x, select((x != x) | (a == INF), select(x > 0.0, x, NAN), value))


_BERNOULLI = (
    *(1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000),
    *(1 / 74724249600, -3617 / 10670622842880000, 43867 / 5109094217170944000, -174611 / 802857662698291200000),
)
"""Bernoulli's numbers of even index over the factorials of the index."""


def _reciprocal_power(x: Any, n: Any) -> Any:
    """x**-n for an Int n >= 0."""

    def iteration(_: Any, result: Any, square: Any, rest: Any) -> Any:
        return select((rest & 1) == 1, result * square, result), square * square, rest >> 1

    return repeat(64 - clz(n), iteration, 1.0, 1.0 / x, n)[0]


def _zeta(n: Any, x: Any) -> Any:
    """The sum of (x + k)**-(n + 1) over k >= 0, for n >= 1 and x > 0."""
    order = to_real(n)
    terms = imax(sat_int(ceil(order + 12.0 - x)), 0)

    def iteration(k: Any, total: Any) -> Any:
        return total + _reciprocal_power(x + to_real(k), n + 1)

    total = repeat(terms, iteration, 0.0)
    r = 1.0 / (x + to_real(terms))
    factor = (order + 1.0) * r
    rest: Any = 0.5
    for j, b in enumerate(_BERNOULLI):
        rest = rest + b * factor
        factor = factor * ((order + (2.0 * j + 2.0)) * r) * ((order + (2.0 * j + 3.0)) * r)
    return total + _reciprocal_power(x + to_real(terms), n) * (1.0 / order + r * rest)


ZETA = Definition(_zeta, INT, REAL, name="zeta_sum")


def _polygamma(n: Any, x: Any) -> Any:
    """(-1)**(n + 1) n! times the sum of (x + k)**-(n + 1) over k >= 0."""
    even = (n & 1) == 0

    def reflected() -> Any:
        """The terms above 0, then those below."""
        up = ZETA(n, x - floor(x))
        down = ZETA(n, ceil(x) - x) - ZETA(n, 1.0 - x)
        return select(x == floor(x), select(even, NAN, INF), select(even, up - down, up + down))

    def next_factor(i: Any, product: Any) -> Any:
        return product * to_real(i + 1)

    def general() -> Any:
        total = branch(x > 0.0, lambda: ZETA(n, x), reflected)
        total = select(x < INF, total, select(x == INF, 0.0, x))
        return repeat(n, next_factor, select(even, -1.0, 1.0)) * total

    return branch(n == 0, lambda: DIGAMMA_KERNEL(x), general)


DIGAMMA_KERNEL = Definition(_digamma)

ALL = (
    *(Definition(_gamma), Definition(_lgamma), DIGAMMA_KERNEL),
    *(HALF_TURNS, FALLING, LOG_PAIR, ZETA),
    Definition(_polygamma, INT, REAL),
)
