"""The mathematical functions, each under all its names: of `math`, NumPy and `rose`, of numbers and of arrays."""

import functools
import math
from typing import Any

import numpy as np

import rosejit as rose
from rosejit import Vec
from tests.programs.record import Call, Program

MODULES: dict[str, Any] = {"math": math, "np": np, "rose": rose}
of_names: Any = functools.partial(rose.jit, static_argnames=("module", "names"))


@of_names
def of_one(x: Vec["n"], module: str, names: tuple[str, ...]) -> Vec["k"]:
    functions = [getattr(MODULES[module], name) for name in names]
    return np.array([f(v) * 1.0 for f in functions for v in x])


@of_names
def of_two(x: Vec["n"], y: float, module: str, names: tuple[str, ...]) -> Vec["k"]:
    functions = [getattr(MODULES[module], name) for name in names]
    return np.array([f(v, y) for f in functions for v in x])


@of_names
def of_arrays(x: Vec["n"], module: str, names: tuple[str, ...]) -> Vec["n"]:
    """Element by element."""
    total = x * 0.0
    for name in names:
        total = total * 0.5 + getattr(MODULES[module], name)(x)
    return total


@of_names
def of_two_arrays(x: Vec["n"], y: Vec["n"], module: str, names: tuple[str, ...]) -> Vec["n"]:
    total = x * 0.0
    for name in names:
        f = getattr(MODULES[module], name)
        total = total * 0.5 + f(x, y) * f(x, y[0])
    return total


@functools.partial(rose.jit, static_argnames="module")
def asked(x: Vec["n"], module: str) -> float:
    """`isnan`, `isinf`, `isfinite`."""
    owner = MODULES[module]
    total = 0.0
    for v in x:
        total += 1.0 if owner.isnan(v) else 10.0 if owner.isinf(v) else v if owner.isfinite(v) else 100.0
    return total


@rose.jit
def asked_of_arrays(x: Vec["n"]) -> Vec["n"]:
    finite = np.where(np.isfinite(x) & rose.isfinite(x), x, 0.0)
    return finite + np.isnan(x) * 2.0 + rose.isinf(x) * 3.0


@rose.jit
def fused(x: float, y: float, z: float) -> float:
    return rose.fma(x, y, z) * rose.fma(x, 2.0, y)


@rose.jit
def largest(x: float, y: float, z: float) -> float:
    total = max(x, y, z) * min(x, y) + rose.max(x, y) * rose.min(y, z)
    return total + np.maximum(x, z) * np.minimum(y, z) + abs(x) * round(y * 3.0) + math.fabs(z)


@rose.jit
def logistic_curves(x: Vec["n"]) -> Vec["n"]:
    return rose.sigmoid(x) * rose.softplus(x) + rose.sigmoid(x[0]) - rose.softplus(x[1])


@rose.jit
def softened(x: Vec["n"]) -> Vec["n"]:
    rows = np.stack([x, x * x])
    ends = rose.softmax([x[0], 1.0, x[1]]) + rose.logsumexp([x[0], 2.0])
    along = rose.softmax(rows, axis=0)[1] * rose.logsumexp(rows, axis=0) + rose.logsumexp(rows, axis=1).sum()
    return rose.softmax(x) * rose.logsumexp(x * 2.0) + np.logaddexp(x, x[0]) * ends + along


ANY = np.array([-1.3, 0.4, 2.1])
UNIT = np.array([-0.7, 0.2, 0.6])
ABOVE = np.array([1.2, 2.5, 3.3])

EVERYWHERE = ("exp", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "erf", "erfc")
POSITIVE = ("sqrt", "log", "log2", "log10", "log1p", "acosh", "gamma", "lgamma")
IN_UNIT = ("asin", "acos", "atanh")
WHOLE = ("floor", "ceil", "trunc")
NEW = tuple(name for name in ("exp2", "cbrt") if hasattr(math, name))
BY_NUMPY = (
    ("exp", "expm1", "exp2", "sin", "cos", "tan", "arctan", "sinh", "cosh", "tanh", "arcsinh", "cbrt"),
    ("sqrt", "log", "log2", "log10", "log1p", "arccosh", "reciprocal", "square"),
    ("arcsin", "arccos", "arctanh"),
    ("floor", "ceil", "trunc", "round", "rint", "abs", "sign", "degrees", "radians", "sinc", "negative"),
)
BY_ROSE = (
    (*EVERYWHERE, "exp2", "cbrt", "sigmoid", "softplus"),
    (*POSITIVE, "digamma"),
    IN_UNIT,
    (*WHOLE, "round", "abs", "sign"),
)
POINTS = (ANY, ABOVE, UNIT, ANY)
PAIRS = ("atan2", "pow", "hypot", "copysign", "fmod")
NUMPY_PAIRS = ("arctan2", "power", "hypot", "copysign", "fmod", "maximum", "minimum", "fmax", "fmin")

ONE: list[Call] = [(ANY, "math", (*EVERYWHERE, *NEW)), (ABOVE, "math", POSITIVE), (UNIT, "math", IN_UNIT)]
ONE += [(ANY, "math", WHOLE)]
ONE += [(x, "np", names) for x, names in zip(POINTS, BY_NUMPY, strict=True)]
ONE += [(x, "rose", names) for x, names in zip(POINTS, BY_ROSE, strict=True)]
ARRAYS: list[Call] = [(x, "np", names) for x, names in zip(POINTS, BY_NUMPY, strict=True)]
ARRAYS += [(x, "rose", names) for x, names in zip(POINTS, BY_ROSE, strict=True)]
TWO = [("math", PAIRS), ("np", NUMPY_PAIRS), ("rose", (*PAIRS, "max", "min"))]

PROGRAMS = (
    Program(of_one, ONE, exact=False),
    Program(of_two, [(ABOVE, 1.7, module, names) for module, names in TWO], exact=False),
    Program(of_arrays, ARRAYS, exact=False),
    Program(of_two_arrays, [(ABOVE, ABOVE[::-1] * 0.9, *pair) for pair in TWO if pair[0] != "math"], exact=False),
    Program(
        asked,
        [(ANY, "math"), (ANY, "np"), (ANY, "rose")],
        kinks=[(np.array([math.nan, math.inf, 1.0]), module) for module in MODULES],
    ),
    Program(asked_of_arrays, [(ANY,)], kinks=[(np.array([math.nan, -math.inf, 1.0]),)]),
    Program(fused, [(1.5, -0.5, 2.0)], lambda x, y, z: (x * y + z) * (2 * x + y)),
    Program(largest, [(1.5, -0.4, 2.0), (-1.5, 0.6, -2.0)]),
    Program(logistic_curves, [(ANY,)], exact=False),
    Program(softened, [(ANY,)], exact=False),
)
