"""Newton's method: the Hessian itself, made positive where it is not."""

import math

from rosejit.api.derivation.gradients import hessian
from rosejit.frontend.values.rose_functions import range as iterations
from rosejit.numeric import np
from rosejit.optim.descent import converged, largest, note
from rosejit.optim.search import wolfe


def solve_curvature(evaluate, objective, x, report, history, steps, tolerance):
    """Steps to the minimum of the quadratic approximation, shortened by a line search."""
    value, slope = evaluate(x)
    values = np.full(steps + 1, np.nan) if history else None
    step, evaluations = 0, 1
    moving, careful = True, False
    while moving and step < steps and largest(slope) > tolerance and value == value:
        note(step, value, slope, report, values)
        direction, first = -slope, min(1.0, 1.0 / np.sum(np.abs(slope)))
        if not careful:
            direction, first = -solved(hessian(objective)(x), slope), 1.0
        x, value, slope, trials, accepted = wolfe(evaluate, x, value, slope, direction, first)
        evaluations += trials
        moving = accepted or not careful
        careful = not accepted  # where the approximation misleads, the slope may lead on
        step += 1
    note(step, value, slope, report, values)
    return x, value, slope, step, evaluations, converged(value, slope, tolerance), values


def solved(matrix, right):
    """The solution for a symmetric matrix, to whose diagonal is added what makes it positive."""
    n = len(right)
    size = 0.0
    for i in iterations(n):
        size = max(size, abs(matrix[i, i]))
    shift = 0.0
    factor = np.zeros((n, n))
    while not factored(matrix, shift, factor) and shift < math.inf:
        shift = max(4.0 * shift, 1e-3 * size, 1e-8)
    y = np.zeros(n)
    for i in iterations(n):
        total = right[i]
        for j in iterations(i):
            total -= factor[i, j] * y[j]
        y[i] = total / factor[i, i]
    for back in iterations(n):
        i = n - 1 - back
        total = y[i]
        for j in iterations(i + 1, n):
            total -= factor[j, i] * y[j]
        y[i] = total / factor[i, i]
    return y


def factored(matrix, shift, factor):
    """Put the Cholesky factor of `matrix + shift` into `factor`; whether there is one.

    Each pivot is compared with its own entry of the diagonal, from which it is what rounding left: so nothing depends
    on the units of the variables.
    """
    n = len(factor)
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
