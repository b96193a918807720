"""A point, a direction and a function to a point further on that satisfies the Wolfe conditions."""

import math

ENOUGH = 1e-4
"""The decrease that is asked for, as a part of what the slope promises."""
FLAT = 0.9
"""How much of the slope may be left."""
MOST_TRIALS = 40


def wolfe(evaluate, x, value, slope, direction, first):
    """Point, value and slope there, and how many evaluations it took; `first` is the length that is tried first.

    The interval between the best point that is too near and one that is too far shrinks by cubic interpolation. Where
    nothing is found that is lower, the point is `x` itself.
    """
    promised = slope @ direction
    near, value_near, slope_near = 0.0, value, promised
    far, value_far, slope_far = math.inf, value, promised
    length = first
    at, value_at, gradient_at = x, value, slope
    trials = 0
    while trials < MOST_TRIALS:
        tried = x + length * direction
        found, gradient = evaluate(tried)
        along = gradient @ direction
        trials += 1
        if not found <= value + ENOUGH * length * promised:
            far, value_far, slope_far = length, found, along
        else:
            at, value_at, gradient_at = tried, found, gradient
            if abs(along) <= -FLAT * promised:
                break
            if along < 0:
                near, value_near, slope_near = length, found, along
            else:
                far, value_far, slope_far = length, found, along
        if far == math.inf:
            length = 2.0 * length
        else:
            length = between(near, value_near, slope_near, far, value_far, slope_far)
            if far - near <= 1e-15 * far:
                break
    return at, value_at, gradient_at, trials


def between(a, value_a, slope_a, b, value_b, slope_b):
    """Where the cubic with these values and slopes has its minimum, not too near to either end; else the middle."""
    middle = 0.5 * (a + b)
    bend = slope_a + slope_b - 3.0 * (value_a - value_b) / (a - b)
    under = bend * bend - slope_a * slope_b
    if not under >= 0.0:
        return middle
    root = math.sqrt(under)
    lowest = b - (b - a) * (slope_b + root - bend) / (slope_b - slope_a + 2.0 * root)
    margin = 0.1 * (b - a)
    if not (a + margin <= lowest <= b - margin):
        return middle
    return lowest
