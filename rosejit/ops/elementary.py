"""Elementary functions: powers, exponentials, logarithms, trigonometric and hyperbolic functions."""

# Rules are generic: they run on numbers and on staged values.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

import math
from typing import Any

from rosejit.ir.primitive import Kernel, Primitive, Rule
from rosejit.ir.types import REAL
from rosejit.ops.arith import abs_, select, sqrt
from rosejit.ops.kernels import DEFINITIONS

POW = "(x, y) => (x === 1 || (x === -1 && (y === Infinity || y === -Infinity)) ? 1 : Math.pow(x, y))"
"""In C, as here, 1 to the power of anything is 1."""
LN2 = math.log(2.0)
LOG2_E = math.log2(math.e)
LOG10_E = math.log10(math.e)


def function(
    name: str,
    doc: str,
    partials: Rule,
    operands: int = 1,
    sharing: tuple[str, str] = ("", ""),
    even: bool = False,
    everywhere: bool = False,
    rose: str | None = None,
    numpy: str | None = None,
    math: str | None = None,
    js: str | None = None,
) -> Primitive:
    """The record of a function of Reals that is computed by the kernel of the same name. With `everywhere` it is known
    by its name to users, NumPy, Python and JavaScript, unless they have another."""
    own = name if everywhere else ""
    return Primitive(
        name=name,
        params=(REAL,) * operands,
        result=REAL,
        doc=doc,
        evaluate=DEFINITIONS[name].evaluate,
        partials=partials,
        wasm=Kernel(name, even),
        sharing=sharing,
        rose=own if rose is None else rose,
        numpy=own if numpy is None else numpy,
        math=own if math is None else math,
        js=(f"Math.{name}" if everywhere else "") if js is None else js,
    )


# --- exponentials and logarithms

exp = function("exp", "e to the power of the argument.", lambda x, r: (r,), everywhere=True)
exp2 = function("exp2", "2 to the power of the argument.", lambda x, r: (r * LN2,), everywhere=True, js="(x) => 2 ** x")
expm1 = function("expm1", "exp(x) - 1, accurate near 0.", lambda x, r: (exp(x),), everywhere=True)
log = function("log", "The natural logarithm; -inf at 0, NaN below.", lambda x, r: (1.0 / x,), everywhere=True, math="")
log2 = function("log2", "The logarithm to base 2, exact for powers of 2.", lambda x, r: (LOG2_E / x,), everywhere=True)
log10 = function(
    "log10", "The logarithm to base 10, exact for powers of 10.", lambda x, r: (LOG10_E / x,), everywhere=True
)
log1p = function("log1p", "log(1 + x), accurate near 0.", lambda x, r: (1.0 / (1.0 + x),), everywhere=True)


# --- powers


def _power_partials(x: Any, y: Any, r: Any) -> tuple[Any, Any]:
    """`x ** 0` is constant; `0 ** y` too, for y > 0, and at y = 0 the derivative to y is 0 as in JAX.

    The operands are replaced, not only the results, so that the untaken side has finite derivatives of its own. Where
    1 / x and log(x) are finite nothing is: the derivative to x changes with y, also at y = 0.
    """
    varies = (y != 0.0) | ((x >= 2.0**-1022) & (x < math.inf))
    exponent = select(varies, y, 1.0)
    to_x = select(varies, exponent * pow_(x, exponent - 1.0), 0.0)
    base = select((x == 0.0) & (y >= 0.0), 1.0, x)
    return to_x, r * log(base)


pow_ = function(
    "pow",
    "The first to the power of the second, as C99; `0 ** 0` is 1. The derivative to the exponent is NaN at a negative "
    "base, and 0 at base 0 with an exponent that is not negative; `x ** 0` has derivative 0 to x everywhere.",
    _power_partials,
    2,
    rose="pow",
    js=POW,
)
cbrt = function("cbrt", "The cube root, of negative numbers too.", lambda x, r: (1.0 / (3.0 * r * r),), everywhere=True)
hypot = function(
    "hypot",
    "The length of (x, y), without overflow on the way; its derivative at the origin is 0.",
    lambda x, y, r: (unit(x, y), unit(y, x)),
    2,
    everywhere=True,
    math="",
)
unit = function(
    "unit",
    "x / hypot(x, y), the cosine of the direction of (x, y); 0 at the origin.",
    lambda x, y, r: _unit_partials(x, y, r),
    2,
)


def _unit_partials(x: Any, y: Any, r: Any) -> tuple[Any, Any]:
    """Products, where differentiating the quotient would subtract nearly equal numbers."""
    across = unit(y, x) / hypot(x, y)
    return unit(y, x) * across, -r * across


# --- trigonometric functions

sin = function("sin", "The sine of an angle in radians.", lambda x, r: (cos(x),), everywhere=True)
cos = function("cos", "The cosine of an angle in radians.", lambda x, r: (-sin(x),), everywhere=True)
tan = function("tan", "The tangent of an angle in radians.", lambda x, r: (1.0 + r * r,), everywhere=True)
asin = function(
    "asin",
    "The angle from -π/2 to π/2 with that sine; NaN outside [-1, 1].",
    lambda x, r: (1.0 / sqrt(one_minus_square(x)),),
    everywhere=True,
    numpy="arcsin asin",
)
acos = function(
    "acos",
    "The angle from 0 to π with that cosine; NaN outside [-1, 1].",
    lambda x, r: (-1.0 / sqrt(one_minus_square(x)),),
    everywhere=True,
    numpy="arccos acos",
)
atan = function(
    "atan",
    "The angle from -π/2 to π/2 with that tangent.",
    lambda x, r: (1.0 / (1.0 + x * x),),
    everywhere=True,
    numpy="arctan atan",
)
atan2 = function(
    "atan2",
    "The angle from -π to π of the point with the second argument along, the first across.",
    lambda y, x, r: (unit(x, y) / hypot(x, y), -unit(y, x) / hypot(x, y)),
    2,
    everywhere=True,
    numpy="arctan2 atan2",
)
one_minus_square = function(
    "one_minus_square",
    "1 - x², accurate near -1 and 1.",
    lambda x, r: (-2.0 * x,),
)

# --- hyperbolic functions

sinh = function("sinh", "The hyperbolic sine.", lambda x, r: (cosh(x),), everywhere=True)
cosh = function("cosh", "The hyperbolic cosine.", lambda x, r: (sinh(x),), everywhere=True)
tanh = function("tanh", "The hyperbolic tangent.", lambda x, r: (sech2(x),), everywhere=True)
sech2 = function(
    "sech2",
    "1 / cosh(x)², the slope of tanh.",
    lambda x, r: (-2.0 * (r * tanh(x)),),
    sharing=("tanh", "sech2_by"),
)
sech2_by = function(
    "sech2_by",
    "1 / cosh(x)² from x and tanh(x).",
    lambda x, y, r: (select(abs_(x) < 2.0, 0.0, -2.0 * (r * tanh(x))), select(abs_(x) < 2.0, -2.0 * y, 0.0)),
    operands=2,
    even=True,
)
asinh = function(
    "asinh", "The inverse of sinh.", lambda x, r: (1.0 / hypot(1.0, x),), everywhere=True, numpy="arcsinh asinh"
)
acosh = function(
    "acosh",
    "The inverse of cosh on [1, inf); NaN below 1.",
    lambda x, r: (1.0 / (sqrt(x - 1.0) * sqrt(x + 1.0)),),
    everywhere=True,
    numpy="arccosh acosh",
)
atanh = function(
    "atanh",
    "The inverse of tanh; NaN outside [-1, 1].",
    lambda x, r: (1.0 / one_minus_square(x),),
    everywhere=True,
    numpy="arctanh atanh",
)

# --- by repeated multiplication


def power(x: Any, k: int) -> Any:
    """`x` to the power of a Python int: square and multiply; `1 / x**-k` for a negative one. 1.0 for 0."""
    if k < 0:
        return 1.0 / power(x, -k)
    if k == 0:
        return 1.0
    half = x if k < 4 else power(x, k // 2)
    square = half if k == 1 else half * half
    return square * x if k % 2 and k > 1 else square


ALL = (
    *(exp, exp2, expm1, log, log2, log10, log1p, pow_, cbrt, hypot, unit),
    *(sin, cos, tan, asin, acos, atan, atan2, one_minus_square),
    *(sinh, cosh, tanh, sech2, sech2_by, asinh, acosh, atanh),
)
