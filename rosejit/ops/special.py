"""Special functions: error functions, gamma and its relatives, and two that neural networks use."""

# Rules are generic: they run on numbers and on staged values.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

import math

from rosejit.ir.primitive import Kernel, Primitive
from rosejit.ir.types import INT, REAL
from rosejit.ops.arith import select
from rosejit.ops.elementary import exp, function, tanh
from rosejit.ops.integer import wadd
from rosejit.ops.kernels import DEFINITIONS

TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)

erf = function("erf", "The error function.", lambda x, r: (TWO_OVER_ROOT_PI * exp(-(x * x)),), rose="erf", math="erf")
erfc = function(
    "erfc",
    "1 - erf(x), accurate for large x.",
    lambda x, r: (-TWO_OVER_ROOT_PI * exp(-(x * x)),),
    rose="erfc",
    math="erfc",
)
gamma = function(
    "gamma",
    "The gamma function; inf at 0, NaN at negative integers.",
    lambda x, r: (r * digamma(x),),
    rose="gamma",
    math="gamma",
)
lgamma = function(
    "lgamma",
    "The logarithm of |gamma(x)|; inf at 0 and negative integers.",
    lambda x, r: (digamma(x),),
    rose="lgamma",
    math="lgamma",
)
digamma = function(
    "digamma",
    "The derivative of log(gamma(x)); NaN at negative integers.",
    lambda x, r: (polygamma(1, x),),
    rose="digamma",
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
sigmoid = function("sigmoid", "1 / (1 + exp(-x)).", lambda x, r: (bell(x),), rose="sigmoid")
bell = function(
    "bell",
    "The slope of sigmoid.",
    lambda x, r: (-(r * tanh(0.5 * x)),),
    sharing=("sigmoid", "bell_by"),
)
bell_by = function(
    "bell_by",
    "The slope of sigmoid from x and sigmoid(x).",
    lambda x, y, r: (select(x < 3.0, 0.0, -(r * tanh(0.5 * x))), select(x < 3.0, 1.0 - 2.0 * y, 0.0)),
    operands=2,
    even=True,
)
softplus = function("softplus", "log(1 + exp(x)), without overflow.", lambda x, r: (sigmoid(x),), rose="softplus")

ALL = (erf, erfc, gamma, lgamma, digamma, polygamma, sigmoid, bell, bell_by, softplus)
