"""Roots and fixed points: results that are differentiable by all that the function reads."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rosejit.api.decorators import as_function
from rosejit.api.derivation.gradients import jacobian
from rosejit.api.math_functions import stop_gradient
from rosejit.api.public_entry import public
from rosejit.api.vectors import flat, in_order_of, unflat
from rosejit.errors import RoseValueError, ShapeError, StagingTypeError
from rosejit.numeric import np
from rosejit.solvers.brent import brent
from rosejit.solvers.fitting.dogleg import broyden, dogleg, line_search, marquardt
from rosejit.solvers.implicit import solution, still
from rosejit.solvers.programs import amount, checked, count, option, real, several, solve, state, vector
from rosejit.solvers.scipy_keywords import takes_scipy_keywords

MESSAGES = {
    1: "the solution converged",
    2: "the limit of iterations was reached",
    3: "no step makes the function smaller: it has no root nearby, or rounding is all that is left",
    4: "the function, or its derivative, is infinite or no number",
    5: "the derivative is singular where the search ended",
    6: "the function has the same sign at both ends of the bracket",
    7: "the function changes its sign where it has no root: it jumps, or has a pole",
}


@dataclass(frozen=True)
class RootResult:
    """Where a search for a root ended."""

    x: Any
    """The solution, structured as the first guess."""
    fun: Any
    """The function there."""
    success: Any
    status: Any
    nit: Any
    nfev: Any

    @property
    def message(self) -> str:
        """`status` in words."""
        return MESSAGES[int(self.status)]


METHODS = {"hybr": dogleg, "newton": line_search, "broyden1": broyden, "lm": marquardt}
UNKNOWN = ("broyden2", "anderson", "linearmixing", "diagbroyden", "excitingmixing", "krylov", "df-sane")


@public
@takes_scipy_keywords
def root(
    f: Callable[..., Any],
    x0: Any = None,
    args: tuple[Any, ...] = (),
    *,
    bracket: tuple[Any, Any] | None = None,
    method: str | None = None,
    tol: float = 1e-12,
    maxiter: int = 200,
    raise_on_failure: bool = False,
) -> RootResult:
    """Where `f(x, *args)` is zero, searched from `x0`: a number, an array, or a structure of them, like the result.

    With a `bracket`, two numbers between which `f` changes its sign, by Brent's method ("brentq"). Else by Powell's
    dogleg steps ("hybr"), Newton's steps with a line search ("newton"), Broyden's, which need few Jacobians
    ("broyden1"), or Levenberg's and Marquardt's ("lm"); Jacobians are exact. `tol` bounds the last step, relative to x.
    The derivatives of `x`, of any order, are those of the root by everything that `f` reads.

    >>> import rosejit as rose
    >>> round(rose.root(lambda x: x * x - 2.0, 1.0).x, 12)
    1.414213562373
    >>> round(rose.grad(lambda a: rose.root(lambda x: x * x - a, 1.0).x)(4.0), 12)
    0.25
    """
    limit, tolerance = count(root, "maxiter", maxiter), amount(root, "tol", tol)
    if bracket is not None:
        option(root, "method", method or "brentq", ("brentq",))

        def build_bracketed(base):
            def bracketed(a, b, args, tolerance, limit):
                return _bracketed(base, real(a), real(b), args, tolerance, limit)

            return bracketed

        a, b = bracket
        found = solve(root, f, build_bracketed, (a, b, several(args), tolerance, limit), "brentq")
        return checked(root, found, raise_on_failure)
    if x0 is None:
        raise StagingTypeError("`rose.root` needs `x0`, where it begins, or a `bracket`")
    if method in UNKNOWN:
        raise RoseValueError(
            f"rosejit has no method {method!r}", help='there is "broyden1", and "hybr", which has exact Jacobians'
        )
    chosen = option(root, "method", method or "hybr", tuple(METHODS))
    search = METHODS[chosen]

    def build(base):
        def searched(x0, args, tolerance, limit):
            return _searched(base, search, state(base, x0), args, tolerance, limit)

        return searched

    found = solve(root, f, build, (x0, several(args), tolerance, limit), chosen)
    return checked(root, found, raise_on_failure)


def _searched(base, search, x0, args, tolerance, limit):
    """The root of a function of a structure, by one of `METHODS`."""

    def residual(v):
        return vector(base(unflat(x0, v), *args))

    start = stop_gradient(flat(x0))
    function = still(residual, start)
    if len(function(start)) != len(start):
        raise ShapeError(
            f"a root needs as many equations as unknowns, given {len(function(start))} for {len(start)}",
            help="`rose.least_squares` takes any number of equations",
        )
    v, status, nit, nfev = search(function, jacobian(function), start, tolerance, limit)
    return _found(base, args, unflat(x0, solution(residual, v)), v, status, nit, nfev)


def _found(base, args, x, v, status, nit, nfev):
    """The result; a root is a number, and so is the function there."""
    y = base(x, *args)
    status = 4 if status == 1 and not (abs(v).max() + abs(vector(y)).max() < math.inf) else status
    return RootResult(x, y, status == 1, status, nit, nfev)


def _bracketed(base, a, b, args, tolerance, limit):
    """The root of a function of a number that lies between two."""

    def function(x):
        return 1.0 * base(x, *args)

    def residual(v):
        return vector(base(v[0], *args))

    a, b = stop_gradient(a), stop_gradient(b)
    x, status, nit, nfev = brent(still(function, a), a, b, tolerance, limit)
    x = x if status == 1 else math.nan
    return _found(base, args, solution(residual, vector(x))[0], vector(x), status, nit, nfev)


@public
@takes_scipy_keywords
def fixed_point(
    f: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str = "iteration",
    tol: float = 1e-12,
    maxiter: int = 500,
    raise_on_failure: bool = False,
) -> RootResult:
    """Where `f(x, *args)` is `x`: `f` again and again from `x0` ("iteration"; "del2" also extrapolates: Steffensen),
    or the root of `f(x) - x` ("hybr").

    It ends where `f` changes no number by more than `tol`, relative to the largest. Derivatives are those of `root`.

    >>> import math
    >>> import rosejit as rose
    >>> round(rose.fixed_point(lambda x: math.cos(x), 1.0).x, 9)
    0.739085133
    """
    limit, tolerance = count(fixed_point, "maxiter", maxiter), amount(fixed_point, "tol", tol)
    chosen = option(fixed_point, "method", method, (*ITERATIONS, *METHODS))

    def build(base):
        def searched(x0, args, tolerance, limit):
            return _fixed(base, chosen, state(base, x0), args, tolerance, limit)

        return searched

    found = solve(fixed_point, f, build, (x0, several(args), tolerance, limit), chosen)
    return checked(fixed_point, found, raise_on_failure)


def _fixed(base, method, x0, args, tolerance, limit):
    """The fixed point of a function of a structure."""

    def residual(v):
        return vector(in_order_of(x0, base(unflat(x0, v), *args))) - v

    start = stop_gradient(flat(x0))
    function = still(residual, start)
    if method in ITERATIONS:
        step = extrapolated(function) if method == "del2" else function
        v, status, nit = iterate(step, start, tolerance, limit)
        nfev = ITERATIONS[method] * nit
    else:
        v, status, nit, nfev = METHODS[method](function, jacobian(function), start, tolerance, limit)
    return _found(base, args, unflat(x0, solution(residual, v)), v, status, nit, nfev)


def extrapolated(residual):
    """The step to what three iterates tell of each number, by Aitken's process (Steffensen's method)."""

    def step(x):
        first = residual(x)
        second = residual(x + first)
        bend = second - first
        return np.where(bend == 0.0, first + second, -first * first / np.where(bend == 0.0, 1.0, bend))

    return step


def iterate(step, x, tolerance, limit):
    """x + step(x) again and again; status and iterations."""
    status, nit = 2, 0
    while nit < limit and status == 2:
        change = step(x)
        x = x + change
        nit += 1
        size, moved = abs(x).max(), abs(change).max()
        if not (size + moved < math.inf):
            status = 4
        elif moved <= tolerance * max(size, tolerance):
            status = 1
    return x, status, nit


ITERATIONS = {"iteration": 1, "del2": 2}
"""How often an iteration of each kind asks the function."""


@public
def implicit(residual: Callable[..., Any], solver: Callable[..., Any]) -> Callable[..., Any]:
    """`solver(x0, *args)`, which finds the x where `residual(x, *args)` is zero, with the derivatives of that x.

    How the solver finds it does not matter: it is not differentiated. `x` and the residual have the same structure.

    >>> import rosejit as rose
    >>> def halley(x, a):
    ...     for _ in range(5):
    ...         x = x * (x * x + 3 * a) / (3 * x * x + a)
    ...     return x
    >>> root = rose.implicit(lambda x, a: x * x - a, halley)
    >>> round(root(1.0, 4.0), 12), round(rose.grad(root, 1)(1.0, 4.0), 12)
    (2.0, 0.25)
    """
    equation, search = as_function(residual), as_function(solver)

    def implicit_solver(x0, *args):
        found = search(*stop_gradient((x0, *args)))

        def at(v):
            return vector(equation(unflat(found, v), *args))

        return unflat(found, solution(at, flat(found)))

    return as_function(implicit_solver)
