"""Newton's method: the Hessian itself, made positive where it is not."""

import math

from rosejit.api.derivation.gradients import hessian
from rosejit.frontend.values.rose_functions import range as iterations
from rosejit.numeric import np
from rosejit.optim.box import held, left
from rosejit.optim.descent import converged, largest, note
from rosejit.optim.search import wolfe
from rosejit.solvers.fitting.linear_least_squares import backward


def solve_curvature(evaluate, objective, x, report, history, box, steps, tolerance):
    """Steps to the minimum of the quadratic approximation, shortened by a line search."""
    value, slope = evaluate(x)
    values = np.full(steps + 1, np.nan) if history else None
    step, evaluations = 0, 1
    moving, careful = True, False
    while moving and step < steps and largest(left(x, slope, box)) > tolerance and value > -math.inf:
        note(step, value, left(x, slope, box), report, values)
        free = np.ones_like(x) if box is None else np.where(held(x, slope, box), 0.0, 1.0)
        direction, first = -free * slope, min(1.0, 1.0 / np.sum(np.abs(slope)))
        if not careful:
            direction, first = -solved(among(free, hessian(objective)(x)), free * slope), 1.0
        x, value, slope, trials, accepted = wolfe(evaluate, x, value, slope, direction, first, box)
        evaluations += trials
        moving = accepted or not careful
        careful = not accepted  # where the approximation misleads, the slope may lead on
        step += 1
    note(step, value, left(x, slope, box), report, values)
    return x, value, slope, step, evaluations, converged(value, left(x, slope, box), tolerance), values


def among(free, matrix):
    """A symmetric matrix in whose rows and columns of numbers that are not free nothing but a 1 on the diagonal is."""
    n = len(free)
    for i in iterations(n):
        for j in iterations(n):
            if free[i] * free[j] == 0.0:
                matrix[i, j] = 1.0 if i == j else 0.0
    return matrix


def solved(matrix, right):
    """The solution for a symmetric matrix, to whose diagonal is added what makes it positive."""
    n = len(right)
    size = 0.0
    for i in iterations(n):
        size = max(size, abs(matrix[i, i]))
    shift = 0.0
    factor = np.zeros((n, n))
    while not factored(matrix, shift, factor, n) and shift < math.inf:
        shift = max(4.0 * shift, 1e-3 * size, 1e-8)
    return transposed(factor, forward(factor, right, n), n)


def forward(lower, b, n):
    """The solution x of `lower @ x = b`, of the first n rows."""
    x = np.zeros(len(b))
    for i in iterations(n):
        total = b[i]
        for j in iterations(i):
            total -= lower[i, j] * x[j]
        x[i] = total / lower[i, i]
    return x


def transposed(lower, b, n):
    """The solution x of `lower.T @ x = b`, of the first n rows."""
    return backward(lambda i, j: lower[j, i], b, n)


def factored(matrix, shift, factor, n):
    """Put the Cholesky factor of the first n rows of `matrix + shift` into `factor`; whether there is one.

    Each pivot is compared with its own entry of the diagonal, from which it is what rounding left: so nothing depends
    on the units of the variables.
    """
    for i in iterations(n):
        for j in iterations(i + 1):
            total = matrix[i, j] + (shift if i == j else 0.0)
            for k in iterations(j):
                total -= factor[i, k] * factor[j, k]
            if i != j:
                factor[i, j] = total / factor[j, j]
            elif total > 1e-12 * abs(matrix[i, i] + shift):
                factor[i, i] = math.sqrt(total)
            else:
                return False
    return True
