"""A point, a direction and a function to a point further on that satisfies the Wolfe conditions.

With `p < 0` the slope along the direction: the value has fallen by `ENOUGH * length * |p|` at least, and of the slope
no more than `FLAT * |p|` is left, on either side: the strong conditions. Where the objective is smooth and bounded
below there are such points (Nocedal and Wright, Numerical Optimization, 2006, lemma 3.1). Where a crease lies across,
the slope may jump from one side to the other. There still are points where it is not too negative, the weak
conditions, and those suffice for quasi-Newton methods to follow creases (Lewis and Overton, Nonsmooth optimization via
quasi-Newton methods, 2013). So strong conditions are asked for while the interval is wide, weak ones when it has
shrunk to `NARROW`.
"""

import math

from rosejit.numeric import np
from rosejit.optim.box import inside

ENOUGH = 1e-4
"""The decrease that is asked for, as a part of what the slope promises."""
FLAT = 0.9
"""How much of the slope may be left."""
NARROW = 0.1
"""So wide, as a part of its far end, may an interval be from which a point of the weak conditions is taken."""
MOST_TRIALS = 40


def wolfe(evaluate, x, value, slope, direction, first, box=None):
    """Point, value and slope there, how many evaluations it took, and whether it satisfies the conditions.

    `first` is the length that is tried first. The interval between a point that is too near and one that is too far
    shrinks by cubic interpolation. Where nothing is found that is lower, the point is `x` itself. In a box the way is
    bent: what meets a bound stays there, and has no part in the slope.
    """
    promised = slope @ direction
    near, value_near, slope_near = 0.0, value, promised
    far, value_far, slope_far = math.inf, value, promised
    length = first
    at, value_at, gradient_at, accepted = x, value, slope, False
    trials = 0
    while trials < MOST_TRIALS:
        tried, change, rest = reached(x, slope, length, direction, promised, box)
        found, gradient = evaluate(tried)
        along = gradient @ rest
        trials += 1
        if not (found <= value + ENOUGH * change and along == along):
            far, value_far, slope_far = length, found, along
        elif abs(along) <= -FLAT * promised:
            at, value_at, gradient_at, accepted = tried, found, gradient, True
            break
        elif along > 0:
            far, value_far, slope_far = length, found, along
            if not accepted or found <= value_at:
                at, value_at, gradient_at, accepted = tried, found, gradient, True
        else:
            near, value_near, slope_near = length, found, along
            if not accepted:
                at, value_at, gradient_at = tried, found, gradient
        if far == math.inf:
            length = 2.0 * length
        else:
            if far - near <= (NARROW if accepted else 1e-15) * far:
                break
            length = between(near, value_near, slope_near, far, value_far, slope_far)
    return at, value_at, gradient_at, trials, accepted


def reached(x, slope, length, direction, promised, box):
    """The point so far along, by how much the value would change on its slope, and what is left of the direction."""
    if box is None:
        return x + length * direction, length * promised, direction
    tried = inside(x + length * direction, box)
    lower, upper = box
    stopped = ((tried <= lower) & (direction < 0.0)) | ((tried >= upper) & (direction > 0.0))
    return tried, slope @ (tried - x), np.where(stopped, 0.0, direction)


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
