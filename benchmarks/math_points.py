"""Names of mathematical functions into what they should be, and into arguments where they are tried, hard ones too."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import mpmath
import numpy as np

Array = Any
Draw = Callable[[Any, int], tuple[Array, ...]]

# --- families of arguments


def between(a: float, b: float) -> Draw:
    """Evenly."""
    return lambda rng, n: (rng.uniform(a, b, n),)


def sizes(a: int, b: int, negative: bool = True) -> Draw:
    """From 2**a to 2**b, all binades alike."""

    def draw(rng: Any, n: int) -> tuple[Array]:
        x = np.ldexp(1.0 + rng.random(n), rng.integers(a, b, n))
        return (x * rng.choice([-1.0, 1.0], n) if negative else x,)

    return draw


def anything(rng: Any, n: int) -> tuple[Array]:
    """Random bits."""
    return (rng.integers(-(2**63), 2**63, n).view(np.float64),)


def near(*centers: float) -> Draw:
    """The nearest neighbours of each center, then further ones, all distances alike."""

    def draw(rng: Any, n: int) -> tuple[Array]:
        c = rng.choice(np.asarray(centers), n)
        steps = np.where(rng.random(n) < 0.5, rng.integers(-64, 65, n), 0)
        far = np.ldexp(rng.uniform(-1.0, 1.0, n), rng.integers(-52, -1, n)) * np.maximum(np.abs(c), 2.0**-30)
        x = np.where(steps == 0, c + far, c)
        exact = (x.view(np.int64) + steps).view(np.float64)
        return (np.where(np.abs(x) > 0.0, exact, steps * 5e-324),)

    return draw


def these(*points: float) -> Draw:
    """Points from the literature, each once or more."""
    return lambda rng, n: (np.resize(np.asarray(points), n),)


def both(first: Draw, second: Draw) -> Draw:
    """Two arguments that know nothing of each other."""
    return lambda rng, n: (*first(rng, n), *second(rng, n))


def alike(spread: float) -> Draw:
    """Two arguments of all sizes whose quotient is from 2**-spread to 2**spread."""

    def draw(rng: Any, n: int) -> tuple[Array, Array]:
        (x,) = sizes(-960, 960)(rng, n)
        return x, x * np.exp2(rng.uniform(-spread, spread, n)) * rng.choice([-1.0, 1.0], n)

    return draw


@cache
def nearest_to_quarter_turns() -> tuple[float, ...]:
    """In each binade the double that is nearest to a multiple of π/2, by continued fractions (Kahan's `nearpi`)."""
    with mpmath.workprec(3000):
        quarter = Fraction(int(mpmath.floor(mpmath.pi / 2 * mpmath.mpf(2) ** 2500)), 2**2500)
    return tuple(_nearest_multiple(quarter, e) for e in range(-52, 971))


def _nearest_multiple(quarter: Fraction, e: int) -> float:
    """m * 2**e, m from 2**52 to 2**53, a convergent of the quarter turn over 2**e; the next best one scaled up."""
    rest = quarter / Fraction(2) ** e
    (p0, q0), (p1, q1) = (0, 1), (1, 0)
    while True:
        a = rest.numerator // rest.denominator
        p2, q2 = a * p1 + p0, a * q1 + q0
        if p2 >= 2**53:
            break
        (p0, q0), (p1, q1) = (p1, q1), (p2, q2)
        if rest == a:
            break
        rest = 1 / (rest - a)
    k = max(1, (2**53 - 1) // p1) if p1 else 1
    return math.ldexp(float(p1 * k or 2**52), e)


def powers_in_range(rng: Any, n: int) -> tuple[Array, Array]:
    """Any base with an exponent that leaves the power finite."""
    (x,) = sizes(-1074, 1024, negative=False)(rng, n)
    with np.errstate(all="ignore"):
        y = rng.uniform(-1075.0, 1024.0, n) / np.log2(x)
    return x, y


def powers_near_one(rng: Any, n: int) -> tuple[Array, Array]:
    """Bases next to 1 with exponents that are as large as they can be."""
    (d,) = sizes(-52, -2)(rng, n)
    x = 1.0 + d
    with np.errstate(all="ignore"):
        return x, rng.uniform(-1.0, 1.0, n) * 744.0 / np.log(x)


def whole_powers(rng: Any, n: int) -> tuple[Array, Array]:
    """Bases of both signs with whole exponents, and the halves of whole numbers for positive ones."""
    y = rng.integers(-60, 61, n).astype(float)
    x = rng.uniform(-40.0, 40.0, n)
    return x, np.where(x > 0.0, 0.5 * y, y)


# --- the functions

PI = math.pi
TINY, HUGE = 2.0**-1022, 1.7976931348623157e308
ALL_SIZES = sizes(-1074, 1024)
EXP = (
    between(-745.2, 709.79),
    between(-2, 2),
    sizes(-60, 10),
    near(0.0, 709.782712893384, -708.3964185322641, -745.133219101941),
    anything,
)
LOG = (
    between(0.4, 2.5),
    sizes(-1074, 1024, False),
    near(1.0, 2.0, 0.5, math.sqrt(0.5), math.sqrt(2.0), TINY),
    anything,
)
ANGLES = (
    between(-10, 10),
    between(-1e6, 1e6),
    ALL_SIZES,
    sizes(60, 1024),
    near(*(k * PI / 4 for k in range(1, 17)), 2.0**20, 1e22),
    lambda rng, n: (rng.integers(1, 10**7, n) * (PI / 2),),
    lambda rng, n: (rng.choice(np.asarray(nearest_to_quarter_turns()), n),),
    these(6381956970095103.0 * 2.0**797, 5319372648326541.0 * 2.0**-49, 1e22, 2.0**1023, 355.0, HUGE),
    anything,
)
UNIT = (between(-1, 1), sizes(-60, 0), near(1.0, -1.0, 0.5, -0.5, math.sqrt(0.5)), sizes(-1074, 0))
PLANE = (
    both(between(-1, 1), between(-1, 1)),
    both(ALL_SIZES, ALL_SIZES),
    alike(2.0),
    alike(60.0),
    both(sizes(-1074, -900), sizes(-1074, -900)),
    both(anything, anything),
)
HYPERBOLIC = (between(-710.4, 710.4), between(-2, 2), sizes(-60, 10), near(0.0, 22.0, 1.0, 709.0, 710.4), anything)
WHOLE = tuple(float(k) for k in range(-12, 25) if k)
LGAMMA_ZEROS = (-2.4570247382208006, -2.7476826467274127, -3.1435808883499799, -3.9552942848585979, -4.0392953681290213)
DIGAMMA_ZEROS = (1.4616321449683623, -0.5040830082644554, -1.5734984731623904, -2.6107208684441447, -3.6352933664369011)


class Trial(NamedTuple):
    """`bound` is in units in the last place."""

    exact: Callable[..., Any]
    draws: tuple[Draw, ...]
    bound: float = 1.0
    near_zeros: float = 0.0
    """An absolute error that is allowed where the function crosses zero."""


TRIALS: dict[str, Trial] = {
    "sqrt": Trial(mpmath.sqrt, (between(0, 10), sizes(-1074, 1024, False), near(1.0, TINY), anything)),
    "exp": Trial(
        mpmath.exp, (*EXP, these(float.fromhex("0x1.9e9cbbfd6080bp-31"), float.fromhex("-0x1.5c7d6c4fdc5e2p+8")))
    ),
    "exp2": Trial(
        lambda x: mpmath.mpf(2) ** x,
        (between(-1075, 1024), between(-2, 2), sizes(-60, 11), near(0.0, 0.5, 1024.0, -1022.0), anything),
    ),
    "expm1": Trial(mpmath.expm1, (*EXP, between(-40, 40), near(-50.0, 50.0, -37.0, 0.3466, -0.3466))),
    "log": Trial(mpmath.log, LOG),
    "log2": Trial(lambda x: mpmath.log(x, 2), LOG),
    "log10": Trial(mpmath.log10, (*LOG, near(10.0, 100.0, 0.1))),
    "log1p": Trial(
        mpmath.log1p,
        (between(-1, 2), sizes(-60, 1024, False), sizes(-60, 0), near(-1.0, -0.5, 0.41421356, 1.0), anything),
    ),
    "sin": Trial(mpmath.sin, ANGLES),
    "cos": Trial(mpmath.cos, ANGLES),
    "tan": Trial(mpmath.tan, ANGLES),
    "asin": Trial(mpmath.asin, UNIT),
    "acos": Trial(mpmath.acos, UNIT),
    "atan": Trial(
        mpmath.atan, (between(-5, 5), ALL_SIZES, near(1.0, 0.125, 0.375, 0.625, 0.875, 8.0, 2.0**60), anything)
    ),
    "atan2": Trial(mpmath.atan2, PLANE),
    "sinh": Trial(mpmath.sinh, HYPERBOLIC),
    "cosh": Trial(mpmath.cosh, HYPERBOLIC),
    "tanh": Trial(mpmath.tanh, HYPERBOLIC),
    "asinh": Trial(
        mpmath.asinh, (between(-2, 2), ALL_SIZES, sizes(-30, 30), near(0.0, 1.0, 2.0**28, 2.0**-28), anything)
    ),
    "acosh": Trial(mpmath.acosh, (between(1, 3), sizes(0, 1024, False), near(1.0, 2.0, 2.0**28), anything)),
    "atanh": Trial(mpmath.atanh, UNIT),
    "cbrt": Trial(
        lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
        (between(-30, 30), ALL_SIZES, near(*(float(k**3) for k in range(1, 30)), TINY), anything),
    ),
    "hypot": Trial(mpmath.hypot, PLANE),
    "pow": Trial(
        mpmath.power,
        (
            powers_in_range,
            powers_near_one,
            whole_powers,
            both(sizes(-4, 4, False), between(-200, 200)),
            both(anything, anything),
        ),
    ),
    "erf": Trial(mpmath.erf, (between(-6, 6), between(-1, 1), ALL_SIZES, near(0.0, 0.75, 0.5, 5.9)), 2.0),
    "erfc": Trial(
        mpmath.erfc, (between(-6, 27.2), between(-1, 1), sizes(-60, 5), near(0.5, 0.75, -0.75, 26.54, 27.22)), 2.0
    ),
    "sigmoid": Trial(
        lambda x: 1 / (1 + mpmath.exp(-x)),
        (between(-745, 40), between(-2, 2), sizes(-60, 10), near(0.0, -709.0, 37.0), anything),
        2.0,
    ),
    "softplus": Trial(
        lambda x: mpmath.log1p(mpmath.exp(x)),
        (between(-745, 40), between(-2, 2), sizes(-60, 1024), near(0.0, -37.0, 37.0), anything),
        2.0,
    ),
    "gamma": Trial(
        mpmath.gamma,
        (between(-184, 171.62), between(-12, 24), between(0, 4), sizes(-1022, 7), near(*WHOLE, 171.62)),
        8.0,
    ),
    "lgamma": Trial(
        lambda x: mpmath.re(mpmath.loggamma(x)),
        (between(-20, 20), between(0, 200), ALL_SIZES, near(*WHOLE, 0.5, 1.5), near(*LGAMMA_ZEROS), sizes(-60, 1018)),
        8.0,
        1e-15,
    ),
    "digamma": Trial(
        mpmath.digamma,
        (between(-20, 20), between(0, 200), ALL_SIZES, near(*WHOLE, 0.5, 1.5), near(*DIGAMMA_ZEROS), sizes(-60, 1018)),
        8.0,
        1e-15,
    ),
}
"""Every function of the public list that is not exact, and what is promised of it."""


def points(name: str, rng: Any, n: int) -> tuple[Array, ...]:
    """About `n` argument tuples for a function, one array an argument."""
    draws = TRIALS[name].draws
    parts = [draw(rng, -(-n // len(draws))) for draw in draws]
    return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))
