"""Least squares and curve fits: results that are differentiable by all that the residuals read."""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rosejit.api import sessions
from rosejit.api.derivation.gradients import grad
from rosejit.api.math_functions import stop_gradient
from rosejit.api.public_entry import public
from rosejit.api.vectors import flat, in_order_of, unflat
from rosejit.errors import ShapeError, StagingTypeError
from rosejit.numeric import np
from rosejit.solvers.fitting.levenberg import levenberg
from rosejit.solvers.fitting.linear_least_squares import eliminated
from rosejit.solvers.fitting.linear_models import Dense, Sparse
from rosejit.solvers.fitting.losses import LOSSES
from rosejit.solvers.implicit import solution, still
from rosejit.solvers.programs import amount, check, checked, count, numbers, option, several, solve, state, vector
from rosejit.solvers.scipy_keywords import takes_scipy_keywords
from rosejit.solvers.sparsity import found_structure, given_structure, matrix_of

MESSAGES = {
    -3: "a lower bound is above its upper bound, or no number",
    -2: "the derivatives have entries where `jac_sparsity` has none",
    -1: "a residual, or its derivative, is infinite or no number",
    0: "the limit of evaluations was reached",
    1: "no entry of the gradient is larger than `gtol`",
    2: "the cost no longer falls by more than `ftol`, relative to itself",
    3: "the steps are no longer than `xtol`, relative to x",
}


METHODS = ("trf", "dogbox", "lm")


@dataclass(frozen=True)
class LeastSquaresResult:
    """Where a least-squares fit ended."""

    x: Any
    """The solution, structured as the first guess."""
    cost: Any
    """Half the sum of the losses."""
    fun: Any
    """The residuals, as a vector."""
    jac: Any
    """Their derivatives by the numbers of x: a matrix, of `scipy.sparse` if they were found to be sparse. In compiled
    code that is given `jac_sparsity`, the numbers of its entries, row by row."""
    grad: Any
    """The gradient of the cost, as a vector."""
    optimality: Any
    """The largest entry of the gradient, of those that no bound holds."""
    success: Any
    status: Any
    nit: Any
    nfev: Any

    @property
    def message(self) -> str:
        """`status` in words."""
        return MESSAGES[int(self.status)]


@public
@takes_scipy_keywords
def least_squares(
    residuals: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    bounds: Any = (-math.inf, math.inf),
    method: str = "trf",
    loss: str = "linear",
    f_scale: float = 1.0,
    ftol: float | None = 1e-8,
    xtol: float | None = 1e-8,
    gtol: float | None = 1e-8,
    max_nfev: int = 500,
    jac_sparsity: Any = None,
    raise_on_failure: bool = False,
) -> LeastSquaresResult:
    """The x with the least sum of squares of `residuals(x, *args)`, near `x0`: a number, an array or a structure.

    By the method of Levenberg and Marquardt with exact Jacobians, projected into `bounds`, two of them,
    which are numbers or are structured as `x0`; this is done for all of SciPy's words for `method`, "trf", "dogbox"
    and "lm". `loss` is one of SciPy's: "linear", "soft_l1", "huber", "cauchy", "arctan"; `f_scale` is where
    residuals begin to be outliers; a tolerance may be None, which ends nothing. Derivatives of `x` are those of the
    minimum by everything that the residuals read.

    Outside compiled code it is found out, from 100 numbers on, which residual depends on which of them. Where few do
    on each, Jacobians take one forward sweep for each colour of their columns, and steps a sparse Cholesky factor of
    the normal equations (minimum degree; Davis 2006, "Direct Methods for Sparse Linear Systems"). `jac_sparsity`, a
    matrix as SciPy takes it, says so in compiled code too; with `"dense"` all is dense.

    >>> import rosejit as rose
    >>> fit = rose.least_squares(lambda p: [p[0] - 3.0, 2.0 * p[1] + 4.0], [1.0, 1.0])
    >>> fit.x.round(9).tolist(), fit.success
    ([3.0, -2.0], True)
    """
    args = several(args)
    option(least_squares, "method", method, METHODS)
    word = option(least_squares, "loss", loss, tuple(LOSSES))
    scale, most = amount(least_squares, "f_scale", f_scale), count(least_squares, "max_nfev", max_nfev)
    ends = (scale, _tolerance("ftol", ftol), _tolerance("xtol", xtol), _tolerance("gtol", gtol), most)
    sparse, is_given = None, jac_sparsity is not None
    if jac_sparsity is None:
        sparse = found_structure(residuals, x0, args) if sessions.current() is None else None
    elif not isinstance(jac_sparsity, str):
        sparse = given_structure(jac_sparsity)
    else:
        option(least_squares, "jac_sparsity", jac_sparsity, ("dense",))

    def build(base):
        def fitted(x0, args, bounds, sparse, ends):
            def function(x):
                return base(x, *args)

            model = Dense() if sparse is None else Sparse(sparse, is_given)
            return _fit(function, state(base, x0), bounds, model, word, *ends)

        return fitted

    found = solve(least_squares, residuals, build, (x0, args, _pair(bounds), sparse, ends), word, is_given)
    if sparse is not None and sessions.current() is None:
        found = replace(found, jac=matrix_of(sparse, found.jac))
    return checked(least_squares, found, raise_on_failure)


def _fit(function, x0, bounds, model, loss, scale, ftol, xtol, gtol, limit):
    """The fit of a function of a structure."""
    start = stop_gradient(flat(x0))
    low, high = (limits(bound, x0) for bound in bounds)
    lower, upper = stop_gradient(low), stop_gradient(high)
    rho = LOSSES[loss]

    def residual(v):
        return vector(function(unflat(x0, v)))

    def cost(v):
        r = vector(function(unflat(x0, v))) / scale
        return 0.5 * scale * scale * rho(r * r)[0].sum()

    searched, gradient = still(residual, start), grad(cost)
    model.check(start, searched(start))
    v, status, nit, nfev, held = levenberg(searched, model, rho, scale, start, lower, upper, ftol, xtol, gtol, limit)
    found = stop_gradient(v)
    status = status if model.agrees(searched, start) and model.agrees(searched, found) else -2
    status = status if (lower <= upper).all() else -3
    edge = np.where(found <= lower, low, high)

    def stationary(v):
        return np.where(held, v - edge, gradient(v))

    v = solution(stationary, found, *model.implicit(held))
    g = gradient(v)
    left = abs(np.where(held, 0.0, g)).max()
    x = unflat(x0, v)
    return LeastSquaresResult(x, cost(v), residual(v), model.slope(residual)(v), g, left, status > 0, status, nit, nfev)


def limits(bound, like, words="there are {} bounds for {} numbers"):
    """A bound of each number of the structure `like`."""
    like, v = flat(like), vector(in_order_of(like, bound))
    if len(v) not in (1, len(like)):
        raise ShapeError(words.format(len(v), len(like)), help="give one for all of them, or one for each")
    return v + np.zeros(len(like))


def _pair(bounds: Any) -> Any:
    """Lower and upper bounds, of a pair or of what has `lb` and `ub`."""
    return (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds


def _tolerance(name: str, given: float | None) -> float:
    return 0.0 if given is None else amount(least_squares, name, given)


def _inverse(normal):
    """The inverse of the matrix of normal equations; infinite where some parameters make no difference together."""
    _, regular = eliminated(stop_gradient(normal), np.zeros(len(normal)))
    return np.linalg.inv(normal) if regular else np.full(normal.shape, math.inf)


def _ones(f: Callable[..., Any]) -> tuple[float, ...]:
    """Where a fit begins if nobody says where: one for each parameter of `f` but the first."""
    parameters = list(inspect.signature(f).parameters.values())[1:]
    if any([each.kind not in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in parameters]):
        raise StagingTypeError(
            "`rose.curve_fit` cannot tell how many parameters there are", help="give `p0`, where the fit begins"
        )
    return (1.0,) * len(parameters)


def _are_numbers(data: Any) -> bool:
    """Whether `data` is a list or tuple of numbers, of which SciPy makes an array."""
    return isinstance(data, (list, tuple)) and all([isinstance(x, (int, float)) for x in data])


@public
@takes_scipy_keywords
def curve_fit(
    f: Callable[..., Any],
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    *,
    bounds: Any = (-math.inf, math.inf),
    method: str | None = None,
    max_nfev: int = 500,
    raise_on_failure: bool = False,
) -> tuple[Any, Any]:
    """The parameters for which `f(xdata, *parameters)` is nearest to `ydata`, and their covariances.

    `p0` is a sequence of numbers where the fit begins, ones if it is left out. There is one method, for all of SciPy's
    words for `method`. `sigma` are the standard deviations of `ydata`; their size
    counts with `absolute_sigma`, else only their proportions. The parameters and covariances are NaN where the fit did
    not converge, the covariances infinite where the data do not tell the parameters. Both are differentiable by the
    data, by `sigma` and by all that `f` reads.

    >>> import numpy as np
    >>> import rosejit as rose
    >>> x = np.arange(4.0)
    >>> p, covariances = rose.curve_fit(lambda x, a, b: a * x + b, x, 2.0 * x + 1.0, (1.0, 0.0))
    >>> bool(np.allclose(p, [2.0, 1.0]))
    True
    """
    option(curve_fit, "method", method or "trf", METHODS)
    limit = count(curve_fit, "max_nfev", max_nfev)
    known, start = bool(absolute_sigma), _ones(f) if p0 is None else tuple(p0)

    def build(base):
        def fitted(xdata, ydata, p0, sigma, bounds, limit):
            xdata = np.array(xdata) if _are_numbers(xdata) else xdata
            ydata = np.array(ydata) if _are_numbers(ydata) else ydata
            sigma = np.array(sigma) if _are_numbers(sigma) else sigma

            def residuals(p):
                return (numbers(base(xdata, *[p[k] for k in range(len(p0))])) - ydata) / sigma

            start = np.array([1.0 * p for p in p0])
            fit = _fit(residuals, start, bounds, Dense(), "linear", 1.0, 1e-12, 1e-12, 1e-12, limit)
            rows, columns = fit.jac.shape
            if rows < columns:
                raise ShapeError(f"there are {rows} data for {columns} parameters")
            spread = 1.0 if known else 2.0 * fit.cost / (rows - columns) if rows > columns else math.inf
            good = 1.0 if fit.success else math.nan
            return good * fit.x, good * spread * _inverse(fit.jac.T @ fit.jac), fit.status, fit.nfev

        return fitted

    deviations = 1.0 if sigma is None else sigma
    given = (xdata, ydata, start, deviations, _pair(bounds), limit)
    found, covariances, status, nfev = solve(curve_fit, f, build, given, known)
    if raise_on_failure:
        check(curve_fit, lambda: (status > 0, MESSAGES[int(status)], nfev))
    return found, covariances
