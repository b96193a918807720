"""Kernels of the inverse trigonometric functions.

atan, asin and acos reduce their argument as fdlibm (Sun Microsystems 1993) does. atan2 is the angle of a point (b, a)
with 0 <= a <= b: with c a multiple of 1/4 near a / b it is atan(c) + atan(t) where t = (a - c b) / (b + c a) is a pair
and |t| <= 1/8. Polynomials are fitted.
"""

from typing import Any

from rosejit.ir.types import REAL
from rosejit.ops.arith import abs_, copysign, nearest, select, sqrt
from rosejit.ops.integer import bits, from_bits
from rosejit.ops.kernels.coefficients import ASIN, ATAN, ATAN_WIDE
from rosejit.ops.kernels.definition import Definition
from rosejit.ops.kernels.double_double import (
    Pair,
    add,
    divide,
    fast_two_sum,
    negative,
    two_product,
    two_sum,
)
from rosejit.ops.kernels.exponential import below, pick
from rosejit.ops.kernels.polynomial import estrin
from rosejit.ops.traced_value import branch

INF = float("inf")
NAN = float("nan")
PI = (float.fromhex("0x1.921fb54442d18p+1"), float.fromhex("0x1.1a62633145c07p-53"))
HALF_PI = (PI[0] / 2.0, PI[1] / 2.0)

_ARCS = (
    (0.25, float.fromhex("0x1.f5b75f92c80ddp-3"), float.fromhex("0x1.8ab6e3cf7afbdp-57")),
    (0.5, float.fromhex("0x1.dac670561bb4fp-2"), float.fromhex("0x1.a2b7f222f65e2p-56")),
    (0.75, float.fromhex("0x1.4978fa3269ee1p-1"), float.fromhex("0x1.2419a87f2a458p-56")),
    (1.0, PI[0] / 4.0, PI[1] / 4.0),
)

_NEAREST = (
    (0.4375, 0.5, float.fromhex("0x1.dac670561bb4fp-2"), float.fromhex("0x1.a2b7f222f65e2p-56")),
    (0.6875, 1.0, PI[0] / 4.0, PI[1] / 4.0),
    (1.1875, 1.5, float.fromhex("0x1.f730bd281f69bp-1"), float.fromhex("0x1.007887af0cbbdp-56")),
)
"""From where on a center is nearest, and its angle."""
_FAR = 2.4375


def _choose(condition: Any, a: Pair, b: Pair) -> Pair:
    return pick(condition, a[0], b[0]), pick(condition, a[1], b[1])


def _times(c: Any, a: Pair) -> Pair:
    hi, e = two_product(c, a[0])
    return hi, e + c * a[1]


def angle(a: Pair, b: Pair) -> Pair:
    """atan(a / b) for 0 <= a <= b, away from overflow and underflow; near 0 relative to the result."""
    c = 0.25 * nearest(4.0 * (a[0] / b[0]))
    high: Any = 0.0
    low: Any = 0.0
    for center, hi, lo in _ARCS:
        high, low = pick(c >= center, hi, high), pick(c >= center, lo, low)
    above, below = add(a, negative(_times(c, b))), add(b, _times(c, a))
    t, tl = divide(above, below)
    z = t * t
    hi, e = fast_two_sum(high, t)
    return hi, e + (low + (tl + (t * z) * estrin(ATAN, z)))


def _quadrants(y: Pair, x: Pair, left: Any) -> Pair:
    """The angle from 0 to π of the point (±x, y), x and y not negative; `left`: x counts negative."""
    steep = y[0] > x[0]
    theta = angle(_choose(steep, x, y), _choose(steep, y, x))
    # π/2 - theta, π/2 + theta, π - theta or theta
    base = _choose(steep, HALF_PI, _choose(left, PI, (0.0, 0.0)))
    turned = _choose(steep ^ left, negative(theta), theta)
    s, e = two_sum(base[0], turned[0])
    return s, e + (base[1] + turned[1])


# --- of one argument: quicker, and still within 1 unit in the last place


def _atan(x: Any) -> Any:
    """The angle of 0, 1/2, 1, 3/2 or infinity, whichever is nearest, and what is left."""
    a = abs_(x)
    center: Any = 0.0
    high: Any = 0.0
    low: Any = 0.0
    for start, c, hi, lo in _NEAREST:
        center, high, low = pick(a >= start, c, center), pick(a >= start, hi, high), pick(a >= start, lo, low)
    far = a >= _FAR
    t = pick(far, -1.0, a - center) / pick(far, a, a * center + 1.0)
    high, low = pick(far, HALF_PI[0], high), pick(far, HALF_PI[1], low)
    z = t * t
    return copysign(high + (t + ((t * z) * estrin(ATAN_WIDE, z) + low)), x)


def _halved(x: Any) -> tuple[Any, ...]:
    """Where |x| < 1/2: |x| and its square. Else s = sqrt((1 - |x|) / 2), its square; s as a short number and a rest."""
    a = abs_(x)
    small = a < 0.5
    z = pick(small, a * a, (1.0 - a) * 0.5)
    root = sqrt(z)
    short = from_bits(bits(root) & -(2**32))
    s = pick(small, a, root)
    return small, s, s * (z * estrin(ASIN, z)), short, (z - short * short) / (root + short)


def _asin(x: Any) -> Any:
    def inside() -> Any:
        small, s, rest, short, low = _halved(x)
        quarter = PI[0] / 4.0
        steep = quarter - ((2.0 * rest - (HALF_PI[1] - 2.0 * low)) - (quarter - 2.0 * short))
        return copysign(pick(small, s + rest, steep), x)

    def edge() -> Any:
        return select(abs_(x) == 1.0, copysign(HALF_PI[0], x), NAN)

    return branch(below(x, 1.0), inside, edge)


def _acos(x: Any) -> Any:
    def inside() -> Any:
        small, s, rest, short, low = _halved(x)
        middle = HALF_PI[0] - (x - (HALF_PI[1] - copysign(rest, x)))
        right = 2.0 * (short + (rest + low))
        left = PI[0] - 2.0 * (s + (rest - HALF_PI[1]))
        return pick(small, middle, pick(x < 0.0, left, right))

    def edge() -> Any:
        return select(x == 1.0, 0.0, select(x == -1.0, PI[0], NAN))

    return branch(below(x, 1.0), inside, edge)


# --- of two


def _atan2(y: Any, x: Any) -> Any:
    a, b = abs_(y), abs_(x)
    infinite = (a == INF) | (b == INF)
    a, b = (select(infinite, select(v == INF, 1.0, 0.0), v) for v in (a, b))
    larger = select(a > b, a, b)
    factor = select(larger > 2.0**500, 2.0**-600, select(larger < 2.0**-400, 2.0**600, 1.0))
    left = bits(x) < 0
    ratio = a / b
    a, b = a * factor, b * factor
    hi, lo = _quadrants((a, 0.0), (select(larger == 0.0, 1.0, b), 0.0), left)
    tiny = ~left & (ratio < 2.0**-30)
    value = copysign(select(tiny, ratio, hi + lo), y)
    return select((x != x) | (y != y), NAN, value)


ALL = (*(Definition(body) for body in (_atan, _asin, _acos)), Definition(_atan2, REAL, REAL))
