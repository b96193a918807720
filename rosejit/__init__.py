"""Typed Python functions, differentiated to any order and compiled to WebAssembly.

Each public name is imported when it is first asked for (PEP 562): `import rosejit` costs little, and a program loads
what it uses. The block under `TYPE_CHECKING` says to type checkers what `_HOMES` says to Python.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from rosejit.api import scalar_functions as _scalar_functions
from rosejit.export import export  # at once: a function has the name of its package

if TYPE_CHECKING:
    from rosejit import optim as optim
    from rosejit.api.batching.vmap import vmap
    from rosejit.api.checking.check import check
    from rosejit.api.checking.gradient_checks import check_grads
    from rosejit.api.decorators import jit, make_ir, opaque
    from rosejit.api.derivation.checkpoints import checkpoint
    from rosejit.api.derivation.gradients import grad, hessian, hvp, jacfwd, jacobian, jacrev, value_and_grad
    from rosejit.api.derivation.modes import jvp, linearize, vjp
    from rosejit.api.derivation.taylor_series import taylor
    from rosejit.api.function import Function, clear_caches, disable_jit
    from rosejit.api.math_functions import logsumexp, softmax, stop_gradient
    from rosejit.api.programs.compiled import Compiled, load
    from rosejit.api.programs.lowered import Cost, Ir, Lowered
    from rosejit.api.programs.shown import show
    from rosejit.api.public_hints import Array, Bool, Int, Mat, Real, Static, Vec
    from rosejit.api.scalar_functions import *  # noqa: F403 - written from the records of the operations
    from rosejit.api.versions import show_versions
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
        StagingWarning,
        UnboundStagedName,
        UnrollLimit,
        UnrollWarning,
        UnsupportedSyntax,
        WasmTrap,
    )
    from rosejit.frontend.hints.hints import Dual, ShapeOf
    from rosejit.frontend.values.rose_functions import pure, range, unroll
    from rosejit.interop.sparse import sparse_hessian, sparse_jacobian
    from rosejit.solvers.fitting.fits import curve_fit, least_squares
    from rosejit.solvers.fitting.row_sums import sum_over
    from rosejit.solvers.odes.ivp import odeint, solve_ivp
    from rosejit.solvers.quadrature import quad
    from rosejit.solvers.roots import fixed_point, implicit, root

__version__ = "0.1.0"

__all__ = [
    "Array",
    "Bool",
    "CacheError",
    "Compiled",
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
    "StagingWarning",
    "Static",
    "UnboundStagedName",
    "UnrollLimit",
    "UnrollWarning",
    "UnsupportedSyntax",
    "Vec",
    "WasmTrap",
    "__version__",
    "check",
    "check_grads",
    "checkpoint",
    "clear_caches",
    "curve_fit",
    "disable_jit",
    "export",
    "fixed_point",
    "grad",
    "hessian",
    "hvp",
    "implicit",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "least_squares",
    "linearize",
    "load",
    "logsumexp",
    "make_ir",
    "odeint",
    "opaque",
    "pure",
    "quad",
    "range",
    "root",
    "show",
    "show_versions",
    "softmax",
    "solve_ivp",
    "sparse_hessian",
    "sparse_jacobian",
    "stop_gradient",
    "sum_over",
    "taylor",
    "unroll",
    "value_and_grad",
    "vjp",
    "vmap",
]
__all__ += _scalar_functions.__all__

_HOMES = {
    "rosejit.api.checking.check": "check",
    "rosejit.api.derivation.checkpoints": "checkpoint",
    "rosejit.api.programs.compiled": "Compiled load",
    "rosejit.api.decorators": "jit make_ir opaque",
    "rosejit.api.function": "Function clear_caches disable_jit",
    "rosejit.api.checking.gradient_checks": "check_grads",
    "rosejit.api.derivation.gradients": "grad hessian hvp jacfwd jacobian jacrev value_and_grad",
    "rosejit.api.programs.lowered": "Cost Ir Lowered",
    "rosejit.api.programs.shown": "show",
    "rosejit.api.public_hints": "Array Bool Int Mat Real Static Vec",
    "rosejit.api.math_functions": "logsumexp softmax stop_gradient",
    "rosejit.api.derivation.modes": "jvp linearize vjp",
    "rosejit.api.derivation.taylor_series": "taylor",
    "rosejit.api.versions": "show_versions",
    "rosejit.api.batching.vmap": "vmap",
    "rosejit.errors": """
        CacheError NotDifferentiable ParseError RoseAssertionError RoseAttributeError RoseError
        RoseFloatingPointError RoseIndexError RoseMemoryError RoseOverflowError RoseRecursionError RoseValueError
        RoseZeroDivisionError ShapeError StagingTypeError StagingWarning UnboundStagedName UnrollLimit UnrollWarning
        UnsupportedSyntax WasmTrap
    """,
    "rosejit.frontend.hints.hints": "Dual ShapeOf",
    "rosejit.frontend.values.rose_functions": "pure range unroll",
    "rosejit.interop.sparse": "sparse_hessian sparse_jacobian",
    "rosejit.solvers.fitting.fits": "curve_fit least_squares",
    "rosejit.solvers.odes.ivp": "odeint solve_ivp",
    "rosejit.solvers.quadrature": "quad",
    "rosejit.solvers.roots": "fixed_point implicit root",
    "rosejit.solvers.fitting.row_sums": "sum_over",
}
"""Where the names are defined, but for the functions of numbers: they are all in one table."""

_HOME = {
    **dict.fromkeys(__all__, "rosejit.api.math_functions:FUNCTIONS"),
    **{name: home for home, names in _HOMES.items() for name in names.split()},
}


def _find(name: str) -> object:
    """The public object `name`, which is an attribute of the package from then on."""
    if name != "optim" and name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, _, table = _HOME.get(name, "rosejit.optim").partition(":")
    with _import_module(
        "rosejit.collector"
    ).paused():  # of all that modules make the collector would find nothing to collect, a hundred times
        module = _import_module(home)
    if name == "optim":
        return module
    found = getattr(module, table)[name] if table else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "optim"})


if not TYPE_CHECKING:  # a checker would take every name for known
    __getattr__ = _find
