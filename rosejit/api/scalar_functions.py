"""The public functions of numbers, for type checkers. Written by `docs/generate_ops.py` from the records."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # Python finds them in the table when they are first asked for: `rosejit.__getattr__`
    from rosejit.api.math_functions import FUNCTIONS

    abs = FUNCTIONS["abs"]
    acos = FUNCTIONS["acos"]
    acosh = FUNCTIONS["acosh"]
    asin = FUNCTIONS["asin"]
    asinh = FUNCTIONS["asinh"]
    atan = FUNCTIONS["atan"]
    atan2 = FUNCTIONS["atan2"]
    atanh = FUNCTIONS["atanh"]
    cbrt = FUNCTIONS["cbrt"]
    ceil = FUNCTIONS["ceil"]
    copysign = FUNCTIONS["copysign"]
    cos = FUNCTIONS["cos"]
    cosh = FUNCTIONS["cosh"]
    digamma = FUNCTIONS["digamma"]
    erf = FUNCTIONS["erf"]
    erfc = FUNCTIONS["erfc"]
    exp = FUNCTIONS["exp"]
    exp2 = FUNCTIONS["exp2"]
    expm1 = FUNCTIONS["expm1"]
    floor = FUNCTIONS["floor"]
    fma = FUNCTIONS["fma"]
    fmod = FUNCTIONS["fmod"]
    gamma = FUNCTIONS["gamma"]
    hypot = FUNCTIONS["hypot"]
    isfinite = FUNCTIONS["isfinite"]
    isinf = FUNCTIONS["isinf"]
    isnan = FUNCTIONS["isnan"]
    lgamma = FUNCTIONS["lgamma"]
    log = FUNCTIONS["log"]
    log1p = FUNCTIONS["log1p"]
    log2 = FUNCTIONS["log2"]
    log10 = FUNCTIONS["log10"]
    max = FUNCTIONS["max"]
    min = FUNCTIONS["min"]
    pow = FUNCTIONS["pow"]
    round = FUNCTIONS["round"]
    sigmoid = FUNCTIONS["sigmoid"]
    sign = FUNCTIONS["sign"]
    sin = FUNCTIONS["sin"]
    sinh = FUNCTIONS["sinh"]
    softplus = FUNCTIONS["softplus"]
    sqrt = FUNCTIONS["sqrt"]
    tan = FUNCTIONS["tan"]
    tanh = FUNCTIONS["tanh"]
    trunc = FUNCTIONS["trunc"]

__all__ = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "digamma",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "fma",
    "fmod",
    "gamma",
    "hypot",
    "isfinite",
    "isinf",
    "isnan",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "max",
    "min",
    "pow",
    "round",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "softplus",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]
