"""Methods that need nothing but gradients: gradient descent and Adam."""

import math

from rosejit.frontend.values.rose_functions import range as iterations
from rosejit.numeric import np
from rosejit.optim.box import inside, left


def descend(evaluate, objective, x, report, history, box, rate, momentum, steps, tolerance):
    """x - rate * gradient, again and again."""
    value, slope = evaluate(x)
    values = np.full(steps + 1, np.nan) if history else None
    speed = np.zeros_like(x)
    step = 0
    while step < steps and largest(left(x, slope, box)) > tolerance and value > -math.inf:
        note(step, value, left(x, slope, box), report, values)
        speed = momentum * speed - rate * slope
        x = inside(x + speed, box)
        value, slope = evaluate(x)
        step += 1
    note(step, value, left(x, slope, box), report, values)
    return x, value, slope, step, step + 1, converged(value, left(x, slope, box), tolerance), values


def adapt(evaluate, objective, x, report, history, box, rate, decay, decay2, epsilon, steps, tolerance):
    """Adam: steps of about one length, scaled by how much each entry of the gradient varies."""
    value, slope = evaluate(x)
    values = np.full(steps + 1, np.nan) if history else None
    mean, square = np.zeros_like(x), np.zeros_like(x)
    weight, weight2 = 1.0, 1.0
    step = 0
    while step < steps and largest(left(x, slope, box)) > tolerance and value > -math.inf:
        note(step, value, left(x, slope, box), report, values)
        mean = decay * mean + (1 - decay) * slope
        square = decay2 * square + (1 - decay2) * slope * slope
        weight = weight * decay
        weight2 = weight2 * decay2
        move = rate / (1 - weight) * mean / (np.sqrt(square / (1 - weight2)) + epsilon)
        x = inside(x - move, box)
        value, slope = evaluate(x)
        step += 1
    note(step, value, left(x, slope, box), report, values)
    return x, value, slope, step, step + 1, converged(value, left(x, slope, box), tolerance), values


def largest(x):
    """The largest magnitude in a vector; NaN if one is."""
    found = 0.0
    for i in iterations(len(x)):
        size = abs(x[i])
        if size > found or size != size:
            found = size
    return found


def converged(value, slope, tolerance):
    """Whether there is a value, and no entry of the gradient exceeds the tolerance."""
    return largest(slope) <= tolerance and value == value


def note(step, value, slope, report, values):
    """Tell how far it has come, whoever wants to know."""
    if values is not None:
        values[step] = value
    if report is not None:
        report(step, value, largest(slope))
