"""Arithmetic and mathematical functions of numbers."""

import math
from fractions import Fraction

import numpy as np

import rosejit as rose
from tests.programs.record import Program


@rose.jit
def identity(x: float) -> float:
    return x


@rose.jit
def constant(x: float) -> float:
    return 3.0


@rose.jit
def polynomial(x: float) -> float:
    return ((3.0 * x - 2.0) * x + 1.0) * x - 7.0


@rose.jit
def rational(x: float, y: float) -> float:
    return (x * x + y) / (1.0 + y * y) - x / y


@rose.jit
def heron(a: float, b: float, c: float) -> float:
    s = (a + b + c) / 2
    return math.sqrt(s * (s - a) * (s - b) * (s - c))


@rose.jit
def gaussian(x: float, mu: float, sigma: float) -> float:
    z = (x - mu) / sigma
    return math.exp(-0.5 * z * z) / (sigma * math.sqrt(2.0 * math.pi))


@rose.jit
def logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


@rose.jit
def powers(x: float, y: float) -> float:
    return x**3 - x**-2 + y**0.5 + x**y + 2.0**x


@rose.jit
def cubed(x: float) -> float:
    return (-x) ** 3 + x**0 - x**1


@rose.jit
def pythagoras(x: float) -> float:
    return math.sin(x) ** 2 + math.cos(x) ** 2


@rose.jit
def arcs(x: float, y: float) -> float:
    return math.asin(x) + math.acos(x) + math.atan(y) + math.atan2(y, x) + math.tan(x)


@rose.jit
def hyperbolic(x: float) -> float:
    return math.asinh(math.sinh(x)) + math.acosh(math.cosh(x)) + math.atanh(math.tanh(x))


@rose.jit
def logarithms(x: float) -> float:
    return math.log(x) + math.log2(x) + math.log10(x) + math.log1p(x) + math.expm1(x) + math.log(x, 3.0)


@rose.jit
def special(x: float) -> float:
    return math.erf(x) + math.erfc(x) + math.lgamma(x) - math.log(math.gamma(x))


@rose.jit
def named_by_numpy(x: float, y: float) -> float:
    return np.sin(x) * np.exp(-y) + np.sqrt(x) + np.hypot(x, y) + np.cbrt(y) + np.exp2(x) + np.log1p(y) + np.pi


@rose.jit
def named_by_rose(x: float) -> float:
    return rose.sigmoid(x) + rose.sigmoid(-x) + rose.softplus(x) - rose.softplus(-x)


@rose.jit
def distance(x: float, y: float, z: float) -> float:
    return math.hypot(x, y, z) + math.hypot(x, y - 1.0)


@rose.jit
def sawtooth(x: float) -> float:
    return x - math.floor(x) + math.ceil(x) * x + math.trunc(x) - round(x)


@rose.jit
def binary_parts(x: float, n: int) -> float:
    """The parts of a number that its exponent tells, and a remainder; counts that divisors tell."""
    part, whole = math.modf(x)
    fraction, exponent = math.frexp(x)
    near = math.remainder(x, 0.75)
    scale = math.comb(n, 2) + math.isqrt(n) + math.gcd(n, 6) + n.bit_count()
    return math.ldexp(part * fraction, n) + scale * near + exponent * whole


@rose.jit
def remainders(x: float, y: float) -> float:
    return x % y + x // y + math.fmod(x, y) + math.copysign(x, y)


@rose.jit
def magnitudes(x: float, y: float) -> float:
    return abs(x) + math.fabs(y) + abs(x * y)


@rose.jit
def extremes(x: float, y: float, z: float) -> float:
    return max(x, y, z) - min(x, y, z) + max(x, 0.25) * min(y, 0.25)


@rose.jit
def digits(n: int) -> int:
    return n // 7 * 100 + n % 7 + abs(n) - (-n) // 3 + n**2


@rose.jit
def bits(n: int, k: int) -> int:
    return (n & k) | (n ^ 5) + (n << 3) - (k >> 1)


@rose.jit
def mixed(n: int, x: float) -> float:
    return n * x + n / 4 + n


@rose.jit
def widened(n: int) -> float:
    return n + 1


@rose.jit
def conversions(x: float, n: int, b: bool) -> float:
    return int(x) + float(n) * x + b + bool(n) * x


@rose.jit
def greater(x: float, y: float) -> bool:
    return x > y


@rose.jit
def ordered(n: int, x: float) -> tuple[bool, bool, bool, bool, int]:
    """How often an Int that grows is below a Real, and how they compare: exactly, where they differ by one."""
    below = 0
    for k in rose.range(5):
        below += n + k < x
        below += k * 10 if k >= x else 0
    return n < x, x <= n, n == x, x != n, below


@rose.jit
def several(x: float, n: int) -> tuple[float, int, bool, float]:
    return x * n, n + 1, x < n, x / 3.0


@rose.jit
def nothing_staged(x: float) -> tuple[int, float]:
    return 2 + 3, math.pi


@rose.jit
def reassigned(x: float) -> float:
    y = x
    x = x * x
    y, x = x, y
    x += y
    x -= 1.0
    x *= 2.0
    x /= y
    return x


PROGRAMS = (
    Program(identity, [(1.5,), (-0.0,)], lambda x: x, lambda x: 1.0),
    Program(constant, [(1.5,), (0.0,)], lambda x: 3.0, lambda x: 0.0),
    Program(
        polynomial, [(1.5,), (-2.0,), (0.0,)], lambda x: 3 * x**3 - 2 * x**2 + x - 7, lambda x: 9 * x**2 - 4 * x + 1
    ),
    Program(rational, [(1.5, 2.0), (-1.0, 0.5)], None, lambda x, y: 2 * x / (1 + y * y) - 1 / y),
    Program(
        heron,
        [(3.0, 4.0, 5.0), (2.0, 2.0, 2.0)],
        lambda a, b, c: a * b * math.sin(math.acos((a * a + b * b - c * c) / (2 * a * b))) / 2,
    ),
    Program(
        gaussian,
        [(0.3, 0.1, 1.5), (-1.0, 0.5, 0.7)],
        lambda x, m, s: math.exp(-((x - m) ** 2) / (2 * s * s)) / math.sqrt(2 * math.pi * s * s),
        lambda x, m, s: -(x - m) / s**2 * math.exp(-((x - m) ** 2) / (2 * s * s)) / math.sqrt(2 * math.pi * s * s),
        exact=False,
    ),
    Program(
        logistic,
        [(0.0,), (2.0,), (-30.0,)],
        lambda x: (1 + math.tanh(x / 2)) / 2 if x > -9 else math.exp(x),
        lambda x: 1 / (2 + 2 * math.cosh(x)),
        exact=False,
    ),
    Program(
        powers,
        [(1.5, 2.5), (0.7, 0.3)],
        None,
        lambda x, y: 3 * x * x + 2 / x**3 + y * x ** (y - 1) + math.log(2) * 2**x,
        exact=False,
    ),
    Program(cubed, [(1.5,), (-2.0,), (0.0,)], lambda x: -(x**3) + 1 - x, lambda x: -3 * x**2 - 1, exact=False),
    Program(pythagoras, [(0.3,), (100.0,)], lambda x: 1.0, None, exact=False),
    Program(
        arcs,
        [(0.3, 0.8), (-0.5, 1.7)],
        lambda x, y: math.pi / 2 + math.atan(y) + math.atan2(y, x) + math.tan(x),
        lambda x, y: -y / (x * x + y * y) + 1 / math.cos(x) ** 2,
        exact=False,
    ),
    Program(hyperbolic, [(0.3,), (1.7,)], lambda x: 3 * x, lambda x: 3.0, exact=False),
    Program(
        logarithms,
        [(1.5,), (0.2,)],
        lambda x: (
            math.log(x) * (1 + 1 / math.log(2) + 1 / math.log(10) + 1 / math.log(3)) + math.log(1 + x) + math.exp(x) - 1
        ),
        lambda x: (1 + 1 / math.log(2) + 1 / math.log(10) + 1 / math.log(3)) / x + 1 / (1 + x) + math.exp(x),
        exact=False,
    ),
    Program(special, [(1.5,), (0.7,)], lambda x: 1.0, None, exact=False),
    Program(
        named_by_numpy,
        [(1.5, 0.5), (0.3, 2.0)],
        lambda x, y: (
            math.sin(x) * math.exp(-y)
            + x**0.5
            + (x * x + y * y) ** 0.5
            + y ** (1 / 3)
            + 2**x
            + math.log(1 + y)
            + math.pi
        ),
        lambda x, y: math.cos(x) * math.exp(-y) + 0.5 / x**0.5 + x / math.hypot(x, y) + math.log(2) * 2**x,
        exact=False,
    ),
    Program(named_by_rose, [(1.5,), (-0.3,)], lambda x: 1 + x, lambda x: 1.0, exact=False),
    Program(
        distance,
        [(1.5, 0.5, -2.0), (0.3, 2.0, 1.0)],
        lambda x, y, z: (x * x + y * y + z * z) ** 0.5 + (x * x + (y - 1) ** 2) ** 0.5,
        exact=False,
    ),
    Program(sawtooth, [(1.3,), (-2.7,), (2.8,)], None, lambda x: 1 + math.ceil(x)),
    Program(
        binary_parts,
        [(5.3, 4), (-0.3, 9), (0.1, 3)],
        None,
        lambda x, n: (
            2**n * (math.frexp(x)[0] + math.modf(x)[0] / 2 ** math.frexp(x)[1])
            + math.comb(n, 2)
            + math.isqrt(n)
            + math.gcd(n, 6)
            + n.bit_count()
        ),
    ),
    Program(
        remainders,
        [(7.3, 2.0), (-7.3, 2.0), (7.3, -2.0)],
        None,
        lambda x, y: 2 + math.copysign(1, x) * math.copysign(1, y),
    ),
    Program(
        magnitudes,
        [(1.5, -2.0), (-0.5, 3.0)],
        lambda x, y: (1 + abs(x)) * (1 + abs(y)) - 1,
        lambda x, y: math.copysign(1 + abs(y), x),
    ),
    Program(extremes, [(1.5, -2.0, 0.5), (0.1, 0.7, 0.2)], None, lambda x, y, z: (x > z) + (x > 0.25) * y - (x < 0.2)),
    Program(digits, [(100,), (-100,), (0,)]),
    Program(bits, [(100, 7), (12, 9)]),
    Program(mixed, [(3, 1.5), (-2, 0.5)], lambda n, x: n * (x + 1.25)),
    Program(widened, [(3,), (-1,)], lambda n: n + 1.0),
    Program(conversions, [(2.7, 3, True), (-2.7, 0, False)], lambda x, n, b: math.trunc(x) + n * x + b + (n != 0) * x),
    Program(
        ordered,
        [(3, 2.5), (2**53 + 1, 2.0**53), (-(2**53) - 1, -(2.0**53)), (2**62 + 1, 2.0**62), (2**63 - 9, 2.0**63)],
        lambda n, x: (
            *(n < Fraction(x), Fraction(x) <= n, n == Fraction(x), Fraction(x) != n),
            sum((n + k < Fraction(x)) + k * 10 * (k >= Fraction(x)) for k in range(5)),
        ),
    ),
    Program(greater, [(1.5, 1.0), (1.0, 1.0)]),
    Program(several, [(1.5, 4), (-0.5, -3)], lambda x, n: (x * n, n + 1, x < n, x / 3)),
    Program(nothing_staged, [(1.0,)], lambda x: (5, math.pi)),
    Program(reassigned, [(1.5,), (-0.7,)], lambda x: 2 * (x + x * x - 1) / (x * x), lambda x: -2 / x**2 + 4 / x**3),
)
