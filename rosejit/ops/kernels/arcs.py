"""Kernels of the inverse trigonometric functions, all from the angle of a point (b, a) with 0 <= a <= b.

With c a multiple of 1/4 near a / b, the angle is atan(c) + atan(t) where t = (a - c b) / (b + c a) and |t| <= 1/8; t is
a pair and atan(t) a fitted polynomial.
"""

from typing import Any

from rosejit.ir.types import REAL
from rosejit.ops.arith import abs_, copysign, nearest, select
from rosejit.ops.integer import bits
from rosejit.ops.kernels.coefficients import ATAN
from rosejit.ops.kernels.definition import Definition
from rosejit.ops.kernels.double import (
    Pair,
    add,
    divide,
    fast_two_sum,
    multiply,
    negative,
    square_root,
    two_product,
    two_sum,
)
from rosejit.ops.kernels.exponential import pick
from rosejit.ops.kernels.polynomial import estrin

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


def _atan(x: Any) -> Any:
    a = abs_(x)
    hi, lo = _quadrants((select(a < 2.0**60, a, 2.0**60), 0.0), (1.0, 0.0), False)
    value = copysign(select(a < 2.0**60, hi + lo, HALF_PI[0]), x)
    return select(a < 2.0**-27, x, select(a != a, x, value))


def _complement(a: Any) -> Pair:
    """sqrt(1 - a**2) for 0 <= a < 1."""
    return square_root(multiply(two_sum(1.0, -a), two_sum(1.0, a)))


def _asin(x: Any) -> Any:
    a = abs_(x)
    inside = a < 1.0
    b = select(inside, a, 0.0)
    hi, lo = _quadrants((b, 0.0), _complement(b), False)
    value = copysign(select(inside, hi + lo, select(a == 1.0, HALF_PI[0], NAN)), x)
    return select(a < 2.0**-27, x, value)


def _acos(x: Any) -> Any:
    a = abs_(x)
    inside = a < 1.0
    b = select(inside, a, 0.0)
    hi, lo = _quadrants(_complement(b), (b, 0.0), x < 0.0)
    edge = select(x == 1.0, 0.0, select(x == -1.0, PI[0], NAN))
    return select(inside, hi + lo, edge)


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
