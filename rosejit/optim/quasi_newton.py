"""Limited-memory BFGS: the curvature of the last steps in place of a Hessian."""

import math

from rosejit.frontend.values.rose_functions import range as iterations
from rosejit.numeric import np
from rosejit.optim.box import held, left
from rosejit.optim.descent import converged, largest, note
from rosejit.optim.search import wolfe

NOISE = 1e-10
"""What a step promises less than, of the value, is lost in the rounding of many an objective."""


def remember(evaluate, objective, x, report, history, box, memory, steps, tolerance):
    """Steps along what the last `memory` steps tell of the curvature, each as long as a line search finds."""
    value, slope = evaluate(x)
    values = np.full(steps + 1, np.nan) if history else None
    moves, changes = np.zeros((memory, len(x))), np.zeros((memory, len(x)))
    curvatures = np.zeros(memory)
    stored, step, evaluations = 0, 0, 1
    moving, gain = True, math.inf
    while moving and step < steps and largest(left(x, slope, box)) > tolerance and value > -math.inf:
        note(step, value, left(x, slope, box), report, values)
        if box is None:
            direction = quasi_newton(slope, moves, changes, curvatures, stored, memory)
        else:
            direction = among_free(slope, moves, changes, stored, memory, np.where(held(x, slope, box), 0.0, 1.0))
        if stored > 0:
            gain = -(slope @ direction)
        first = 1.0 if step > 0 else min(1.0, 1.0 / np.sum(np.abs(slope)))
        at, lower, next_slope, trials, accepted = wolfe(evaluate, x, value, slope, direction, first, box)
        evaluations += trials
        moving = accepted or stored > 0
        move, change = at - x, next_slope - slope
        curvature = move @ change
        if not accepted:
            stored = 0  # what is remembered may be of the other side of a crease: the slope itself may lead further
        elif curvature > 1e-10 * (change @ change):
            moves[stored % memory] = move
            changes[stored % memory] = change
            curvatures[stored % memory] = curvature
            stored += 1
        x, value, slope = at, lower, next_slope
        step += 1
    rest = left(x, slope, box)
    note(step, value, rest, report, values)
    done = converged(value, rest, tolerance) or (
        not moving and gain <= NOISE * max(1.0, abs(value)) and converged(value, rest, math.sqrt(tolerance))
    )
    return x, value, slope, step, evaluations, done, values


def quasi_newton(slope, moves, changes, curvatures, stored, memory):
    """Minus the slope, times the inverse of the Hessian as the steps that are remembered tell it."""
    q = -slope
    known = min(stored, memory)
    weights = np.zeros(memory)
    for i in iterations(known):
        k = (stored - 1 - i) % memory
        weights[k] = moves[k] @ q / curvatures[k]
        q = q - weights[k] * changes[k]
    if stored > 0:
        k = (stored - 1) % memory
        q = curvatures[k] / (changes[k] @ changes[k]) * q
    for i in iterations(known):
        k = (stored - known + i) % memory
        q = q + (weights[k] - changes[k] @ q / curvatures[k]) * moves[k]
    return q


def among_free(slope, moves, changes, stored, memory, free):
    """As `quasi_newton`, in the subspace of the numbers that no bound holds: `free` is 1 for these, else 0.

    Of each step and change only the free part counts, and those of which that part shows no positive curvature do not:
    so the direction descends (two-metric projection, Bertsekas 1982).
    """
    known = min(stored, memory)
    own_moves, own_changes, curvatures = np.zeros_like(moves), np.zeros_like(changes), np.zeros(memory)
    count = 0
    for i in iterations(known):
        k = (stored - known + i) % memory
        move, change = free * moves[k], free * changes[k]
        curvature = move @ change
        if curvature > 1e-10 * (change @ change):
            own_moves[count], own_changes[count], curvatures[count] = move, change, curvature
            count += 1
    return quasi_newton(free * slope, own_moves, own_changes, curvatures, count, memory)
