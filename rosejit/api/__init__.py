"""What users call: the one place where transforms and code generation meet."""

from rosejit.api.checkpoints import checkpoint
from rosejit.api.checks import check_grads
from rosejit.api.function import Function, clear_caches, disable_jit
from rosejit.api.gradients import grad, hessian, hvp, jacfwd, jacobian, jacrev, value_and_grad
from rosejit.api.inside import make_ir
from rosejit.api.lowered import Cost, Ir, Lowered
from rosejit.api.modes import jvp, linearize, vjp
from rosejit.api.source import jit, opaque
from rosejit.api.versions import show_versions, versions
from rosejit.api.vmap import vmap

__all__ = [
    "Cost",
    "Function",
    "Ir",
    "Lowered",
    "check_grads",
    "checkpoint",
    "clear_caches",
    "disable_jit",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "linearize",
    "make_ir",
    "opaque",
    "show_versions",
    "value_and_grad",
    "versions",
    "vjp",
    "vmap",
]
