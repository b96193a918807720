"""Special functions: error functions, gamma and its relatives, and two that neural networks use."""

# Rules are generic: they run on numbers and on staged values.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

import math
from typing import Any

from rosejit.ir.primitive import Kernel, Primitive
from rosejit.ir.types import INT, REAL
from rosejit.ops.elementary import exp, function, sech
from rosejit.ops.integer import wadd
from rosejit.ops.kernels import DEFINITIONS

TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)

erf = function("erf", "The error function.", lambda x, r: (TWO_OVER_ROOT_PI * exp(-(x * x)),))
erfc = function("erfc", "1 - erf(x), accurate for large x.", lambda x, r: (-TWO_OVER_ROOT_PI * exp(-(x * x)),))
gamma = function("gamma", "The gamma function; inf at 0, NaN at negative integers.", lambda x, r: (r * digamma(x),))
lgamma = function("lgamma", "The logarithm of |gamma(x)|; inf at 0 and negative integers.", lambda x, r: (digamma(x),))
digamma = function(
    "digamma", "The derivative of log(gamma(x)); NaN at negative integers.", lambda x, r: (polygamma(1, x),)
)
polygamma = Primitive(
    name="polygamma",
    params=(INT, REAL),
    result=REAL,
    doc="The derivative of digamma whose order, at least 0, is the first argument.",
    evaluate=DEFINITIONS["polygamma"].evaluate,
    partials=lambda n, x, r: (None, polygamma(wadd(n, 1), x)),
    wasm=Kernel("polygamma"),
)
sigmoid = function("sigmoid", "1 / (1 + exp(-x)).", lambda x, r: (_bell(sech(0.5 * x)),))
softplus = function("softplus", "log(1 + exp(x)), without overflow.", lambda x, r: (sigmoid(x),))


def _bell(s: Any) -> Any:
    """The slope of sigmoid, whose own slope near 0 would be a difference of equal numbers if written with sigmoid."""
    return 0.25 * (s * s)


ALL = (erf, erfc, gamma, lgamma, digamma, polygamma, sigmoid, softplus)
