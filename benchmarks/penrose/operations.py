"""What the operations of a graph are: of numbers that the host knows, and in staged code."""

import math
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

import rosejit as rose

# Staged values are of no type that a checker knows.
# pyright: basic

UNARY = (
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh exp expm1 floor log log10 log1p log2 sin sinh tan tanh trunc"
)


@rose.jit
def root(x: float) -> float:
    """The square root, with a derivative that is finite at 0."""
    return math.sqrt(x)


@root.jvp
def _(x: rose.Dual) -> rose.Dual:
    y = root(x.re)
    return rose.Dual(y, x.du * (0.5 / max(1e-5, y)))


@rose.jit
def magnitude(x: float) -> float:
    """The absolute value, with a derivative of 1 at 0 and of -1 at -0."""
    return abs(x)


@magnitude.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(magnitude(x.re), x.du * math.copysign(1.0, x.re))


def larger(a, b):
    """`a > b ? a : b`: Python's `max` gives the first of equals, and the first where one is nan."""
    return max(b, a)


def smaller(a, b):
    return min(b, a)


def squared(x):
    return x * x


def inverse(x):
    return 1.0 / x


def sign(x):
    return math.copysign(1.0, x)


def negation(p):
    return p ^ True


def total(*items):
    return sum(items[1:], items[0])


def largest(*items):
    return reduce(larger, items)


def smallest(*items):
    return reduce(smaller, items)


STAGED: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name, getattr(rose, name)) for name in UNARY.split()},
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "gt": operator.gt, "lt": operator.lt, "ge": operator.ge, "le": operator.le, "eq": operator.eq,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "not": negation,
    "squared": squared, "inverse": inverse, "sqrt": root, "sqrt_raw": math.sqrt, "abs": magnitude, "sign": sign,
    "max": larger, "min": smaller, "addN": total, "maxN": largest, "minN": smallest, "select": np.where,
    "atan2": math.atan2, "pow": rose.pow, "ceil": rose.ceil, "floor": rose.floor, "trunc": rose.trunc,
}  # fmt: skip

KNOWN: dict[str, Callable[..., Any]] = {
    **STAGED,
    **{name: getattr(rose, name) for name in (*UNARY.split(), "abs", "atan2", "pow", "sqrt")},
    "div": lambda a, b: float(np.float64(a) / b),
    "inverse": lambda a: float(np.float64(1.0) / a),
    "sqrt_raw": rose.sqrt,
    "not": operator.not_,
    "select": lambda p, a, b: a if p else b,
}
"""The same of numbers: as IEEE has it, where Python raises."""
