"""Roots of systems: Powell's dogleg steps, Newton's and Broyden's steps with a line search, Marquardt's steps.

Each takes function, Jacobian, start, tolerance and limit, and gives the vector, the status (`roots.MESSAGES`), the
iterations and the evaluations of the function. All end: every iteration counts.
"""

import math

from rosejit.numeric import np
from rosejit.solvers.fitting.levenberg import levenberg
from rosejit.solvers.fitting.linear_least_squares import EPSILON, columns, eliminated, norm
from rosejit.solvers.fitting.linear_models import Dense
from rosejit.solvers.fitting.losses import linear


def dogleg(f, slope, x, tolerance, limit):
    """Newton's step where it stays inside the region that is trusted, else one bent towards the steepest descent."""
    y = f(x)
    size = norm(y)
    matrix = slope(x)
    scale = columns(matrix)
    radius = 100.0 * max(norm(scale * x), 1.0)
    status, nit, nfev = 2, 0, 1
    if not (size < math.inf):
        status = 4
    while status == 2 and nit < limit:
        nit += 1
        newton, regular = eliminated(matrix, -y)
        gradient = matrix.T @ y
        steepest = abs(gradient).max()
        if size == 0.0 or (regular and norm(newton) <= tolerance * max(norm(x), tolerance)):
            x, status = x + newton, 1
        elif not (steepest < math.inf):
            status = 4
        elif not regular and steepest == 0.0:
            status = 5
        else:
            step = bent(matrix, newton, regular, gradient, scale, radius)
            trial = f(x + step)
            nfev += 1
            found, expected = norm(trial), norm(y + matrix @ step)
            gain = (1.0 - (found / size) ** 2) / max(1.0 - (expected / size) ** 2, EPSILON)
            length = norm(scale * step)
            radius = max(radius, 2.0 * length) if gain >= 0.25 else 0.25 * length
            if gain > 1e-4:
                x = x + step
                y, size = trial, found
                matrix = slope(x)
                scale = np.maximum(scale, columns(matrix))
            elif radius <= EPSILON * norm(scale * x) or radius < 1e-300:
                status = stuck(matrix, x, newton, regular, size, tolerance)
    return x, status, nit, nfev


def bent(matrix, newton, regular, gradient, scale, radius):
    """The step of a dogleg: within `radius`, in the units of `scale`."""
    descent = -gradient / (scale * scale)
    slope = norm(gradient / scale)
    cauchy = (slope / norm(matrix @ descent)) ** 2 * descent
    length = norm(scale * cauchy)
    step = cauchy
    if regular and norm(scale * newton) <= radius:
        step = newton
    elif not (length < radius):
        step = radius / slope * descent
    elif regular:
        a, b = scale * cauchy, scale * (newton - cauchy)
        square, along = b @ b, a @ b
        rest = radius * radius - a @ a
        turn = math.sqrt(along * along + square * rest)
        part = rest / (along + turn) if along > 0.0 else (turn - along) / square
        step = cauchy + part * (newton - cauchy)
    return step


def line_search(f, slope, x, tolerance, limit):
    """Newton's step, halved until the function is smaller."""
    return halved(f, slope, x, tolerance, limit, True)


def broyden(f, slope, x, tolerance, limit):
    """As `line_search`, with a Jacobian that is corrected by what each step shows (Broyden 1965), and computed again
    where no step helps or where all seems done."""
    return halved(f, slope, x, tolerance, limit, False)


def halved(f, slope, x, tolerance, limit, exact):
    """Steps with exact Jacobians, or with those that follow from the steps."""
    y = f(x)
    size = norm(y)
    matrix, fresh = slope(x), True
    status, nit, nfev = 2, 0, 1
    if not (size < math.inf):
        status = 4
    while status == 2 and nit < limit:
        nit += 1
        step, regular = eliminated(matrix, -y)
        near = regular and norm(step) <= tolerance * max(norm(x), tolerance)
        if size == 0.0 or (near and fresh):
            x, status = x + step if regular else x, 1
        elif not regular and fresh:
            status = 5
        elif near or not regular:
            matrix, fresh = slope(x), True
        else:
            length, trials = 1.0, 0
            trial = f(x + step)
            found = norm(trial)
            while not (found <= (1.0 - 1e-4 * length) * size) and trials < (60 if fresh else 4):
                length *= 0.5
                trials += 1
                trial = f(x + length * step)
                found = norm(trial)
            nfev += 1 + trials
            if found < size:
                move, change = length * step, trial - y
                x, y, size = x + move, trial, found
                fresh = exact
                matrix = slope(x) if exact else matrix + np.outer(change - matrix @ move, move) / (move @ move)
            elif fresh:
                status = stuck(matrix, x, step, regular, size, tolerance)
            else:
                matrix, fresh = slope(x), True
    return x, status, nit, nfev


def marquardt(f, slope, x, tolerance, limit):
    """The least squares of the function by Levenberg's and Marquardt's steps, if they are zero."""
    bound = np.full(len(x), math.inf)
    x, ended, nit, nfev, _ = levenberg(f, Dense(), linear, 1.0, x, -bound, bound, 0.0, tolerance, 0.0, limit)
    status = 4 if ended < 0 else 2
    if ended > 0:  # where the sum no longer falls, Newton's steps end the search, or say that there is no root
        x, status, more, evaluations = line_search(f, slope, x, tolerance, limit)
        nit, nfev = nit + more, nfev + evaluations
    return x, status, nit, nfev


def stuck(matrix, x, step, regular, size, tolerance):
    """The status where no step makes the function smaller: converged if rounding alone is to blame."""
    status = 5
    if regular:
        near = norm(step) <= math.sqrt(tolerance) * max(norm(x), tolerance)
        status = 1 if near and size <= 100.0 * EPSILON * norm(columns(matrix) * x) else 3
    return status
