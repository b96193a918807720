"""The method of Levenberg and Marquardt, projected into bounds."""

import math

from rosejit.numeric import np
from rosejit.solvers.fitting.linear_least_squares import EPSILON, norm


def levenberg(residual, model, rho, outlier, x, lower, upper, ftol, xtol, gtol, limit):
    """Where the sum of losses is least: the vector, the status (`fits.MESSAGES`), the iterations, the evaluations, and
    which numbers a bound holds.

    A variable at a bound that the gradient pushes against stays there for that step; a step that leaves the bounds ends
    at them. `model` is one of `linear_models`. The damping falls with how well it predicted the cost (Nielsen 1999).
    """
    slope = model.slope(residual)
    x = within(x, lower, upper)
    r = residual(x)
    cost = total(rho, r, outlier)
    weighted, matrix, scale = robust(model, rho, r, slope(x), outlier)
    held = lower >= upper
    damping, growth, status, nit, nfev, ended = 1e-3, 2.0, 0, 0, 1, False
    while not ended:
        gradient = model.gradient(matrix, weighted)
        held = ((x <= lower) & (gradient > 0.0)) | ((x >= upper) & (gradient < 0.0))
        steepest = abs(np.where(held, 0.0, gradient)).max()
        if not (cost < math.inf and steepest < math.inf):
            status, ended = -1, True
        elif steepest <= gtol:
            status, ended = 1, True
        elif nfev >= limit:
            ended = True
        else:
            nit, step = nit + 1, model.step(matrix, weighted, held, math.sqrt(damping) * scale)
            trial = within(x + step, lower, upper)
            step = trial - x
            found, nfev = residual(trial), nfev + 1
            lower_cost = total(rho, found, outlier)
            moved = model.times(matrix, step)
            fall, promised = cost - lower_cost, -(gradient @ step) - 0.5 * (moved @ moved)
            short = norm(step) <= xtol * (xtol + norm(x))
            if fall > 1e-4 * promised and promised > 0.0:
                flat = fall <= ftol * cost and fall >= 0.25 * promised and damping <= 1.0
                x, r, cost = trial, found, lower_cost
                weighted, matrix, lengths = robust(model, rho, r, slope(x), outlier)
                scale = np.maximum(scale, lengths)
                damping, growth = max(damping * lessened(fall / promised), EPSILON), 2.0
                if flat or short:
                    status, ended = 2 if flat else 3, True
            elif short or damping > 1e300:
                status, ended = 3, True
            else:
                damping, growth = damping * growth, growth * 2.0
    return x, status, nit, nfev, held


def within(x, lower, upper):
    """The nearest vector inside the bounds."""
    return np.minimum(np.maximum(x, lower), upper)


def lessened(ratio):
    """What the damping is multiplied by where the cost fell `ratio` times as far as the linear model promised."""
    return max(0.1, 1.0 - (2.0 * ratio - 1.0) ** 3)


def total(rho, r, outlier):
    """Half the sum of the losses."""
    z = r / outlier
    return 0.5 * outlier * outlier * rho(z * z)[0].sum()


def robust(model, rho, r, matrix, outlier):
    """Residuals and Jacobian whose squares have the losses' gradient, and their curvature as far as it is positive; the
    lengths of the columns as they were: where all is outliers, next to nothing is left of the curvature."""
    z = r / outlier
    _, first, second = rho(z * z)
    weight = np.sqrt(np.maximum(first + 2.0 * second * z * z, EPSILON))
    return r * first / weight, model.weighted(matrix, weight), model.lengths(matrix)
