"""The implicit function theorem: derivatives of a solution, whatever found it."""

from collections.abc import Callable
from typing import Any

from rosejit.api.closures import hoisted, pushed
from rosejit.api.decorators import as_function, from_source
from rosejit.api.derivation.gradients import jacobian
from rosejit.api.math_functions import stop_gradient
from rosejit.api.options import Options
from rosejit.api.vectors import is_real
from rosejit.frontend.hints.hints import Dual
from rosejit.numeric import np


def still(f: Callable[..., Any], x: Any) -> Any:
    """`f`, at points like `x`, as a constant of all that it closes over: what a search calls is not differentiated."""
    function, closed = hoisted(f, x)
    constants = stop_gradient(closed)

    def unvaried(v):
        return function(v, constants)

    return as_function(unvaried)


def solution(residual: Callable[..., Any], x: Any) -> Any:
    """The vector `x`, where `residual(x)` is a vector of zeros, with derivatives by all that `residual` closes over.

    Of f(x(θ), θ) = 0 follows ∂f/∂x dx = -∂f/∂θ dθ. That is the rule of the function below, in which x(θ) is a call of
    that function: so derivatives have derivatives.
    """
    x = stop_gradient(x)
    f, closed = hoisted(residual, x)
    slope = jacobian(f)

    def solved(x, closed):
        return x

    def rule(x, closed):
        found = at_solution(x.re, closed.re)
        change = pushed(f, found, closed.re, closed.du)
        return Dual(found, None if change is None else -(np.linalg.inv(slope(found, closed.re)) @ change))

    at_solution = from_source(solved, Options(), (), "solution", rule)
    return at_solution(x, closed) if any([is_real(value) for value in closed]) else x
