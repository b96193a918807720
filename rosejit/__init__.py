"""Typed Python functions, differentiated to any order and compiled to WebAssembly."""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

from rosejit.api import (
    Cost,
    Function,
    Ir,
    Lowered,
    check_grads,
    checkpoint,
    clear_caches,
    disable_jit,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    linearize,
    make_ir,
    opaque,
    show_versions,
    value_and_grad,
    vjp,
    vmap,
)
from rosejit.api.elementary import FUNCTIONS as _FUNCTIONS
from rosejit.api.elementary import logsumexp, softmax, stop_gradient
from rosejit.api.hints import Array, Mat, Vec
from rosejit.errors import (
    CacheError,
    NotDifferentiable,
    ParseError,
    RoseAssertionError,
    RoseAttributeError,
    RoseError,
    RoseFloatingPointError,
    RoseIndexError,
    RoseMemoryError,
    RoseOverflowError,
    RoseRecursionError,
    RoseValueError,
    RoseZeroDivisionError,
    ShapeError,
    StagingTypeError,
    UnboundStagedName,
    UnrollLimit,
    UnsupportedSyntax,
    WasmTrap,
)
from rosejit.export import export
from rosejit.frontend.annotations import Bool, Dual, Int, Real, ShapeOf, Static
from rosejit.frontend.functions import range, unroll
from rosejit.interop.sparse import sparse_hessian, sparse_jacobian

if _TYPE_CHECKING:
    from rosejit import optim as optim

abs = _FUNCTIONS["abs"]
acos = _FUNCTIONS["acos"]
acosh = _FUNCTIONS["acosh"]
asin = _FUNCTIONS["asin"]
asinh = _FUNCTIONS["asinh"]
atan = _FUNCTIONS["atan"]
atan2 = _FUNCTIONS["atan2"]
atanh = _FUNCTIONS["atanh"]
cbrt = _FUNCTIONS["cbrt"]
ceil = _FUNCTIONS["ceil"]
copysign = _FUNCTIONS["copysign"]
cos = _FUNCTIONS["cos"]
cosh = _FUNCTIONS["cosh"]
digamma = _FUNCTIONS["digamma"]
erf = _FUNCTIONS["erf"]
erfc = _FUNCTIONS["erfc"]
exp = _FUNCTIONS["exp"]
exp2 = _FUNCTIONS["exp2"]
expm1 = _FUNCTIONS["expm1"]
floor = _FUNCTIONS["floor"]
fma = _FUNCTIONS["fma"]
fmod = _FUNCTIONS["fmod"]
gamma = _FUNCTIONS["gamma"]
hypot = _FUNCTIONS["hypot"]
isfinite = _FUNCTIONS["isfinite"]
isinf = _FUNCTIONS["isinf"]
isnan = _FUNCTIONS["isnan"]
lgamma = _FUNCTIONS["lgamma"]
log = _FUNCTIONS["log"]
log10 = _FUNCTIONS["log10"]
log1p = _FUNCTIONS["log1p"]
log2 = _FUNCTIONS["log2"]
max = _FUNCTIONS["max"]
min = _FUNCTIONS["min"]
pow = _FUNCTIONS["pow"]
round = _FUNCTIONS["round"]
sigmoid = _FUNCTIONS["sigmoid"]
sign = _FUNCTIONS["sign"]
sin = _FUNCTIONS["sin"]
sinh = _FUNCTIONS["sinh"]
softplus = _FUNCTIONS["softplus"]
sqrt = _FUNCTIONS["sqrt"]
tan = _FUNCTIONS["tan"]
tanh = _FUNCTIONS["tanh"]
trunc = _FUNCTIONS["trunc"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """`rose.optim`, imported when it is first asked for."""
    if name == "optim":
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Array",
    "Bool",
    "CacheError",
    "Cost",
    "Dual",
    "Function",
    "Int",
    "Ir",
    "Lowered",
    "Mat",
    "NotDifferentiable",
    "ParseError",
    "Real",
    "RoseAssertionError",
    "RoseAttributeError",
    "RoseError",
    "RoseFloatingPointError",
    "RoseIndexError",
    "RoseMemoryError",
    "RoseOverflowError",
    "RoseRecursionError",
    "RoseValueError",
    "RoseZeroDivisionError",
    "ShapeError",
    "ShapeOf",
    "StagingTypeError",
    "Static",
    "UnboundStagedName",
    "UnrollLimit",
    "UnsupportedSyntax",
    "Vec",
    "WasmTrap",
    "__version__",
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
    "check_grads",
    "checkpoint",
    "clear_caches",
    "copysign",
    "cos",
    "cosh",
    "digamma",
    "disable_jit",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "export",
    "floor",
    "fma",
    "fmod",
    "gamma",
    "grad",
    "hessian",
    "hvp",
    "hypot",
    "isfinite",
    "isinf",
    "isnan",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "lgamma",
    "linearize",
    "log",
    "log1p",
    "log2",
    "log10",
    "logsumexp",
    "make_ir",
    "max",
    "min",
    "opaque",
    "pow",
    "range",
    "round",
    "show_versions",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "softmax",
    "softplus",
    "sparse_hessian",
    "sparse_jacobian",
    "sqrt",
    "stop_gradient",
    "tan",
    "tanh",
    "trunc",
    "unroll",
    "value_and_grad",
    "vjp",
    "vmap",
]
