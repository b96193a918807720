"""The public functions of numbers, for type checkers. Written by `docs/generate_ops.py` from the records."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # Python finds them in the table when they are first asked for: `rosejit.__getattr__`
    from rosejit.api.calling.call_types import OfNumber, OfNumbers

    abs: OfNumber
    acos: OfNumber
    acosh: OfNumber
    asin: OfNumber
    asinh: OfNumber
    atan: OfNumber
    atan2: OfNumbers[float]
    atanh: OfNumber
    cbrt: OfNumber
    ceil: OfNumber
    copysign: OfNumbers[float]
    cos: OfNumber
    cosh: OfNumber
    digamma: OfNumber
    erf: OfNumber
    erfc: OfNumber
    exp: OfNumber
    exp2: OfNumber
    expm1: OfNumber
    floor: OfNumber
    fma: OfNumbers[float]
    fmod: OfNumbers[float]
    gamma: OfNumber
    hypot: OfNumbers[float]
    isfinite: OfNumbers[bool]
    isinf: OfNumbers[bool]
    isnan: OfNumbers[bool]
    lgamma: OfNumber
    log: OfNumber
    log1p: OfNumber
    log2: OfNumber
    log10: OfNumber
    max: OfNumbers[float]
    min: OfNumbers[float]
    pow: OfNumbers[float]
    round: OfNumber
    sigmoid: OfNumber
    sign: OfNumber
    sin: OfNumber
    sinh: OfNumber
    softplus: OfNumber
    sqrt: OfNumber
    tan: OfNumber
    tanh: OfNumber
    trunc: OfNumber

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
