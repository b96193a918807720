"""The implicit function theorem: derivatives of a solution, whatever found it."""

from collections.abc import Callable
from typing import Any

from rosejit.api.decorators import as_function, from_source
from rosejit.api.derivation.gradients import jacobian
from rosejit.api.math_functions import stop_gradient
from rosejit.api.options import Options
from rosejit.api.vectors import is_real
from rosejit.api.wrapping.closures import hoisted, pushed
from rosejit.frontend.hints.hints import Dual
from rosejit.numeric import np


def still(f: Callable[..., Any], x: Any) -> Any:
    """`f`, at points like `x`, as a constant of all that it closes over: what a search calls is not differentiated."""
    function, closed = hoisted(f, x)
    constants = stop_gradient(closed)

    def unvaried(v):
        return function(v, constants)

    return as_function(unvaried)


def solution(residual: Callable[..., Any], x: Any, inverse: Callable[..., Any] | None = None, known: Any = ()) -> Any:
    """The vector `x`, where `residual(x)` is a vector of zeros, with derivatives by all that `residual` closes over.

    Of f(x(θ), θ) = 0 follows ∂f/∂x dx = -∂f/∂θ dθ. That is the rule of the function below, in which x(θ) is a call of
    that function: so derivatives have derivatives. `inverse(f)` makes the function of `x`, what `residual` closes over,
    a vector and `known`, structures of whole numbers, that divides the vector by ∂f/∂x.
    """
    x = stop_gradient(x)
    f, closed = hoisted(residual, x)
    divided = (inverse or dense)(f)

    def solved(x, closed, known):
        return x

    def rule(x, closed, known):
        found = at_solution(x.re, closed.re, known)
        change = pushed(f, found, closed.re, closed.du)
        return Dual(found, None if change is None else -divided(found, closed.re, change, known))

    at_solution = from_source(solved, Options(), (), "solution", rule)
    return at_solution(x, closed, known) if any([is_real(value) for value in closed]) else x


def dense(f: Any) -> Callable[..., Any]:
    """The `inverse` of `solution` that takes the whole Jacobian."""
    slope = jacobian(f)

    def divided(x, closed, change, known):
        return np.linalg.inv(slope(x, closed)) @ change

    return divided
