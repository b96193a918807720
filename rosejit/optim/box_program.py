"""Quadratic programs of small dense matrices, with constraints that are paid for where they cannot be met."""

import math

from rosejit.api.decorators import jit
from rosejit.frontend.values.rose_functions import range as iterations
from rosejit.numeric import np
from rosejit.optim.curvature import factored, forward, transposed
from rosejit.solvers.fitting.linear_least_squares import EPSILON


@jit
def quadratic_program(factor, slope, matrix, right, least, most, start):
    """The step d that minimises `slope @ d + |factor.T d|² / 2` and the price of all rows of `matrix d + right` that
    are not what they should be; the multipliers of the rows, and whether they are the best.

    `factor` is lower triangular. A row with the limits 0 and p in `least` and `most` should not be negative, one with
    the limits -p and p should be zero, and what is missing costs p times as much: a finite price, and there is always a
    solution; an infinite one, and the row is held (a step that meets all such rows must exist). The multipliers
    minimise |w - V λ|² / 2 + right @ λ within their limits, the dual program. That is done by an active set, from
    `start`; a little proximal regularisation makes rows that depend on each other harmless (Wright 1998).
    """
    n = len(slope)
    w = forward(factor, slope, n)
    rows = len(right)
    v = np.zeros((rows, n))
    for i in iterations(rows):
        v[i] = forward(factor, matrix[i], n)
    multipliers = np.minimum(np.maximum(start, least), most)
    free = (multipliers > least) & (multipliers < most)
    optimal, turn = False, 0
    while not optimal and turn < 20 + 10 * rows:
        turn += 1
        move, blocked = subspace_step(v, v.T @ multipliers - w, right, free, multipliers, least, most)
        multipliers = multipliers + move
        if blocked >= 0:
            down = move[blocked] < 0.0
            multipliers[blocked] = least[blocked] if down else most[blocked]
            free[blocked] = False
        else:
            released = most_wrong(v, v.T @ multipliers - w, right, free, multipliers, most)
            optimal = released < 0
            if released >= 0:
                free[released] = True
    return transposed(factor, v.T @ multipliers - w, n), multipliers, optimal


def subspace_step(v, inner, right, free, multipliers, least, most):
    """The step of the free multipliers to the minimum in their subspace, or to where the first one meets a limit, and
    which one that is, or -1."""
    rows = len(right)
    chosen, count = np.zeros(rows, dtype=int), 0
    for i in iterations(rows):
        if free[i]:
            chosen[count] = i
            count += 1
    gram, lower, slope = np.zeros((rows, rows)), np.zeros((rows, rows)), np.zeros(rows)
    for i in iterations(count):
        slope[i] = v[chosen[i]] @ inner + right[chosen[i]]
        for j in iterations(i + 1):
            gram[i, j] = v[chosen[i]] @ v[chosen[j]]
    regularised(gram, lower, count)
    step = -transposed(lower, forward(lower, slope, count), count)
    length, blocked = 1.0, -1
    for k in iterations(count):
        i = chosen[k]
        room = (least[i] if step[k] < 0.0 else most[i]) - multipliers[i]
        if abs(room) < length * abs(step[k]):
            length, blocked = abs(room / step[k]), i
    move = np.zeros(rows)
    for k in iterations(count):
        move[chosen[k]] = length * step[k]
    return move, blocked


def regularised(gram, lower, count):
    """Put the Cholesky factor of a matrix of products, with a little on the diagonal, into `lower`."""
    largest = 0.0
    for i in iterations(count):
        largest = max(largest, gram[i, i])
    shift = 1e-13 * largest + 1e-300
    while not factored(gram, shift, lower, count) and shift < math.inf:
        shift = 10.0 * shift


def most_wrong(v, inner, right, free, multipliers, most):
    """The row whose multiplier stands at a limit on the wrong side, by more than rounding; -1 if there is none."""
    found, worst = -1, 0.0
    size = math.sqrt(inner @ inner)
    for i in iterations(len(right)):
        if not free[i] and right[i] < math.inf:
            value = v[i] @ inner + right[i]
            noise = 8.0 * EPSILON * (abs(right[i]) + math.sqrt(v[i] @ v[i]) * size)
            wrong = value if multipliers[i] >= most[i] else -value
            if wrong > noise and wrong > worst:
                found, worst = i, wrong
    return found
