"""The functions in many digits, where they are tried, and how far the kernels may be off."""

import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
from mpmath import mpf

from rosejit.ops import PRIMITIVES

Draw = Callable[[random.Random], tuple[Any, ...]]


class Reference(NamedTuple):
    """`bound` is in units in the last place."""

    exact: Callable[..., Any]
    draws: tuple[Draw, ...]
    bound: float


def between(a: float, b: float) -> Draw:
    """Evenly."""
    return lambda rng: (rng.uniform(a, b),)


def sizes(a: int, b: int, signs: tuple[float, ...] = (1.0, -1.0), center: float = 0.0) -> Draw:
    """`center` and a number from 2**a to 2**b, all binades alike."""
    return lambda rng: (center + rng.choice(signs) * math.ldexp(1.0 + rng.random(), rng.randint(a, b - 1)),)


def both(first: Draw, second: Draw) -> Draw:
    return lambda rng: (*first(rng), *second(rng))


def with_its(name: str, draw: Draw) -> Draw:
    """A number and what a function gives for it."""

    def drawn(rng: random.Random) -> tuple[float, ...]:
        (x,) = draw(rng)
        return x, PRIMITIVES[name].evaluate(x)

    return drawn


def near_multiples(rng: random.Random) -> tuple[float]:
    """Doubles next to multiples of π/2."""
    return (rng.randint(1, 10**6) * math.pi / 2,)


UP = (1.0,)
EXP = (between(-2, 2), sizes(-60, 9))
LOG = (between(0.5, 2), sizes(-1074, 1023, UP), sizes(-52, -2, center=1.0))
ANGLES = (between(-10, 10), sizes(-40, 20), sizes(20, 1023), near_multiples)
UNIT = (between(-1, 1), sizes(-40, -1), sizes(-52, -1, (-1.0,), 1.0), sizes(-52, -1, UP, -1.0))
PLANE = (
    both(between(-1, 1), between(-1, 1)),
    both(sizes(-1000, 1000), sizes(-1000, 1000)),
    both(sizes(-1074, -900), sizes(-1074, -900)),
    both(sizes(0, 28), between(-1, 1)),
)

REFERENCES = {
    "exp": Reference(mpmath.exp, (*EXP, between(-745, 709.7)), 0.9),
    "exp2": Reference(lambda x: mpf(2) ** x, (*EXP, between(-1074, 1023.9)), 0.9),
    "expm1": Reference(mpmath.expm1, (*EXP, between(-40, 709.7)), 0.65),
    "log": Reference(mpmath.log, LOG, 0.95),
    "log2": Reference(lambda x: mpmath.log(x, 2), LOG, 0.85),
    "log10": Reference(mpmath.log10, LOG, 0.75),
    "log1p": Reference(mpmath.log1p, (between(-1, 2), sizes(-60, 1023, UP), sizes(-60, -1)), 0.95),
    "pow": Reference(
        mpmath.power,
        (
            both(sizes(-3, 3, UP), between(-100, 100)),
            both(sizes(-1074, 1023, UP), between(-1, 1)),
            both(sizes(-40, -2, center=1.0), sizes(0, 45)),
            both(between(0, 2), between(-1000, 1000)),
        ),
        0.8,
    ),
    "cbrt": Reference(lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), (between(-8, 8), sizes(-1074, 1023)), 0.55),
    "hypot": Reference(mpmath.hypot, PLANE, 1.0),
    "unit": Reference(lambda x, y: x / mpmath.hypot(x, y), PLANE[:2], 1.6),
    "sin": Reference(mpmath.sin, ANGLES, 0.8),
    "cos": Reference(mpmath.cos, ANGLES, 0.8),
    "tan": Reference(mpmath.tan, ANGLES, 0.95),
    "asin": Reference(mpmath.asin, UNIT, 0.95),
    "acos": Reference(mpmath.acos, UNIT, 0.95),
    "atan": Reference(mpmath.atan, (between(-5, 5), sizes(-40, 70)), 0.85),
    "atan2": Reference(mpmath.atan2, PLANE, 1.0),
    "one_minus_square": Reference(lambda x: 1 - x * x, UNIT, 1.6),
    "sinh": Reference(mpmath.sinh, (*EXP, between(-710.4, 710.4)), 0.75),
    "cosh": Reference(mpmath.cosh, (*EXP, between(-710.4, 710.4)), 0.7),
    "tanh": Reference(mpmath.tanh, (*EXP, between(-22, 22)), 0.6),
    "sech2": Reference(lambda x: mpmath.sech(x) ** 2, (*EXP, between(-354, 354)), 20.0),
    "sech2_by": Reference(lambda x, y: mpmath.sech(x) ** 2, (with_its("tanh", between(-354, 354)),), 20.0),
    "asinh": Reference(mpmath.asinh, (between(-2, 2), sizes(-60, 1023), sizes(-4, 30)), 0.6),
    "acosh": Reference(mpmath.acosh, (between(1, 2), sizes(0, 1023, UP), sizes(-52, 3, UP, 1.0)), 0.6),
    "atanh": Reference(mpmath.atanh, UNIT, 0.6),
    "erf": Reference(mpmath.erf, (between(-1, 1), between(-6, 6), sizes(-60, 3)), 0.95),
    "erfc": Reference(mpmath.erfc, (between(-1, 1), between(-6, 26.5), sizes(-60, 3)), 1.3),
    "gamma": Reference(mpmath.gamma, (between(-170, 171.6), between(-20, 24), between(-3, 3), sizes(-60, 3)), 1.2),
    "lgamma": Reference(
        mpmath.loggamma,
        (between(0, 12), sizes(-1000, 1000, UP), sizes(-50, -2, center=1.0), sizes(-50, -2, center=2.0)),
        2.0,
    ),
    "digamma": Reference(
        mpmath.digamma, (between(0, 12), sizes(-1000, 1000, UP), sizes(-50, -2, center=1.4616321449683623)), 4.0
    ),
    "polygamma": Reference(
        lambda n, x: mpmath.polygamma(int(n), x),
        (both(lambda rng: (rng.randint(1, 6),), between(0, 30)), both(lambda rng: (1,), sizes(-100, 300, UP))),
        16.0,
    ),
    "sigmoid": Reference(lambda x: 1 / (1 + mpmath.exp(-x)), (*EXP, between(-710, 40)), 2.0),
    "bell": Reference(lambda x: mpmath.sech(x / 2) ** 2 / 4, (*EXP, between(-708, 708)), 25.0),
    "bell_by": Reference(lambda x, y: mpmath.sech(x / 2) ** 2 / 4, (with_its("sigmoid", between(-708, 708)),), 25.0),
    "softplus": Reference(lambda x: mpmath.log1p(mpmath.exp(x)), (*EXP, between(-710, 40)), 1.0),
}


def ulps(got: float, exact: Any) -> float:
    """How far `got` is from `exact`, in units in the last place of the double next to `exact`."""
    if isinstance(exact, mpmath.mpc) or mpmath.isnan(exact):
        return 0.0 if got != got else math.inf
    nearest = float(exact)
    if math.isinf(nearest) or not math.isfinite(got):
        return 0.0 if got == nearest else math.inf
    return float(abs(mpf(got) - exact) / mpf(math.ulp(nearest)))
