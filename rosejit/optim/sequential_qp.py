"""Sequential quadratic programming: minima under equalities and inequalities, of small dense problems.

Each step minimises a quadratic model of the Lagrangian and the price of what the linearised constraints lack (Fletcher
1985), so there is always a step; the price rises where that makes them lack less (Byrd, Nocedal and Waltz 2008). It is
followed as far as the objective and the price of what the constraints lack fall, where needed after some steps back to
the constraints (second-order corrections). Where it is cut short, the next models are damped, which bends steps in
place of cutting them.

The model's curvature is the Lagrangian's Hessian. That needs to be positive only along the constraints that hold, so
their squares are added where it is not, which changes no solution (the augmented Lagrangian, Hestenes 1969); where it
is not positive even so, the unit matrix is.
"""

import math

from rosejit.frontend.values.rose_functions import range as iterations
from rosejit.numeric import np
from rosejit.optim.box import inside
from rosejit.optim.box_program import quadratic_program
from rosejit.optim.curvature import factored
from rosejit.optim.descent import largest
from rosejit.solvers.fitting.linear_least_squares import EPSILON

HIGHEST = 1e7
"""The price, as a multiple of the gradient, from which on constraints are taken for incompatible."""
CORRECTIONS = 6
"""How often a point is moved back to the constraints, at most, before it is given up."""
MOST_DAMPED = 1e10
"""How far the damping of a model is raised, as a multiple of the least that makes a difference."""


def sequential(values, slopes, curved, x, box, equal, tolerance, limit):
    """The vector, the multipliers of constraints, then of lower and of upper bounds, the status
    (`constrained.MESSAGES`), the iterations, and the evaluations of `values` and of `slopes`.

    `values(x)` is the objective and then the constraints: those that `equal` marks are zero, the others not negative.
    `slopes` is its Jacobian, and `curved(x, weights)` the Hessian of `values(x) @ weights`; where that is None, the
    curvature is what the steps show of it (BFGS).
    """
    y, table = values(x), slopes(x)
    model, damping, price = np.eye(len(x)), 0.0, max(1.0, largest(table[0]))
    multipliers = np.zeros(len(y) - 1 + (0 if box is None else 2 * len(x)))
    status, nit, nfev, njev = 1, 0, 1, 1
    while status == 1 and nit < limit:
        lack = largest(missing(equal, y[1:]))
        if not (abs(y[0]) + lack + abs(table).sum() < math.inf):
            status = 3
            break
        nit += 1
        if curved is not None:
            model = curved(x, np.concatenate([np.ones(1), -multipliers[: len(y) - 1]]))
            model = np.where(abs(model) < math.inf, model, 0.0)  # at a kink; values and slopes judge each step
        rows = rows_of(x, y[1:], table, box)
        factor, slope, least = convex(model, table[0], rows, multipliers, damping, x)
        step, multipliers, price = priced(factor, slope, table[0], rows, equal, multipliers, price, tolerance)
        error = unbalanced(table[0], rows, multipliers) / max(1.0, largest(table[0]))
        if lack <= tolerance and error <= tolerance:
            status = 0
        elif lack > tolerance and is_stuck(step, x, rows, equal, tolerance):
            status = 1 if price < highest(table[0]) else 4
            price = min(100.0 * price, highest(table[0]))
        else:
            at, found, trials, length = followed(values, x, y, step, factor, table[0], rows, equal, price, box)
            nfev += trials
            if length > 0.0:
                after = slopes(at)
                if curved is None:
                    change = lagrangian(after, multipliers) - lagrangian(table, multipliers)
                    model = updated(model, at - x, change, njev == 1)
                x, y, table, njev = at, found, after, njev + 1
            elif damping > MOST_DAMPED * least:
                status = 4 if lack > tolerance else 0 if error <= math.sqrt(tolerance) else 2
            damping = damped(damping, least, length)
    return x, multipliers, status, nit, nfev, njev


def damped(damping, least, length):
    """The damping of the next model: more, where so much of a step was no good; else less, and in the end none."""
    if length < 0.9:
        return max((4.0 if length > 0.0 else 10.0) * damping, least)
    return 0.5 * damping if damping > least else 0.0


def convex(model, slope, rows, multipliers, damping, x):
    """The Cholesky factor of a model made positive, the slope that goes with it, and the least damping that makes a
    difference.

    Added are `damping`, then the squares of the rows that hold (those with multipliers), then more damping.
    """
    matrix, right = rows
    n = len(slope)
    squares, pull, size = np.zeros((n, n)), np.zeros(n), abs(model).max()
    for i in iterations(len(right)):
        square = matrix[i] @ matrix[i]
        if multipliers[i] != 0.0 and square > 0.0:
            squares += np.outer(matrix[i], matrix[i]) / square
            pull += right[i] / square * matrix[i]
    least = 1e-3 * max(size, largest(slope) / max(1.0, largest(x)), 1e-100)
    factor = np.zeros((n, n))
    weight, shift, positive = 0.0, damping, factored(model, damping, factor, n)
    while not positive and shift < math.inf:
        if weight < 1e3 * size:
            weight = max(10.0 * weight, 10.0 * size)
        else:
            shift = max(4.0 * shift, least)
        positive = factored(model + weight * squares, shift, factor, n)
    return factor, slope + weight * pull, least


def highest(slope):
    """The highest price."""
    return HIGHEST * max(1.0, largest(slope))


def missing(equal, c):
    """What each constraint lacks of being met."""
    return np.where(equal, abs(c), np.maximum(-c, 0.0))


def lagrangian(table, multipliers):
    """The gradient of the Lagrangian, less the multipliers of bounds."""
    return table[0] - table[1:].T @ multipliers[: len(table) - 1]


def unbalanced(slope, rows, multipliers):
    """How far the gradient of the Lagrangian is from zero, or a constraint with a multiplier from holding, weighed with
    that."""
    matrix, right = rows
    found = largest(slope - matrix.T @ multipliers)
    for i in iterations(len(right)):
        if multipliers[i] != 0.0:
            found = max(found, abs(multipliers[i] * right[i]))
    return found


def rows_of(x, c, table, box):
    """The linear constraints of a step, and those of the bounds: a matrix, and what is added to its product."""
    if box is None:
        return table[1:], c
    lower, upper = box
    unit = np.eye(len(x))
    return np.concatenate([table[1:], unit, -unit]), np.concatenate([c, x - lower, upper - x])


def limits(equal, price, rows):
    """The least and the most of the multipliers of constraints, then of bounds, which no price pays for."""
    bounds = np.zeros(rows - len(equal))
    return np.concatenate([np.where(equal, -price, 0.0), bounds]), np.concatenate(
        [price + np.zeros(len(equal)), math.inf + bounds]
    )


def priced(factor, bent, slope, rows, equal, multipliers, price, tolerance):
    """The step, its multipliers, and the price.

    That is above the multipliers, and rises as long as the linear constraints then lack less, up to where the step
    makes the sum of objective and price of what is missing smaller.
    """
    matrix, right = rows
    m = len(equal)
    paid, most = largest(multipliers[:m]), highest(slope)
    price = max(min(max(2.0 * paid, largest(slope)), most), 0.25 * price + 0.5 * paid)
    step, found, _ = quadratic_program(factor, bent, matrix, right, *limits(equal, price, len(right)), multipliers)
    before, lack = missing(equal, right[:m]).sum(), missing(equal, right[:m] + matrix[:m] @ step).sum()
    enough = 0.01 * tolerance + 0.1 * before
    rising = lack > enough
    while rising and price < most:
        more = 10.0 * price
        tried, other, _ = quadratic_program(factor, bent, matrix, right, *limits(equal, more, len(right)), found)
        less = missing(equal, right[:m] + matrix[:m] @ tried).sum()
        rising = less < 0.9 * lack
        if rising:
            step, found, price, lack = tried, other, more, less
            rising = lack > enough
    if lack < before:
        price = max(price, min(2.0 * (slope @ step) / (before - lack), most))
    return step, found, price


def is_stuck(step, x, rows, equal, tolerance):
    """Whether a step hardly moves, and leaves what the constraints lack."""
    matrix, right = rows
    m = len(equal)
    rest = largest(missing(equal, right[:m] + matrix[:m] @ step))
    return rest > 0.5 * largest(missing(equal, right[:m])) and largest(step) <= tolerance * max(1.0, largest(x))


def followed(values, x, y, step, factor, slope, rows, equal, price, box):
    """The point along a step where objective and price have fallen, the values there, how many points were tried, and
    how much of the step was taken: nothing where there is no such point."""
    matrix, m = rows[0], len(equal)
    lack = missing(equal, y[1:]).sum()
    start = y[0] + price * lack
    rest = missing(equal, y[1:] + matrix[:m] @ step).sum()
    promised = price * (lack - rest) - slope @ step
    noise = 8.0 * EPSILON * (abs(y[0]) + price * lack)
    correctable = rest <= 0.1 * lack + noise
    length, trials, accepted = 1.0, 0, False
    at, found = x, y
    while not accepted and trials < 40 and promised > 0.0:
        at = touching(x + length * step, box)
        found = values(at)
        trials += 1
        enough = start - 1e-4 * length * promised + noise
        merit = found[0] + price * missing(equal, found[1:]).sum()
        accepted, left = merit <= enough, CORRECTIONS if correctable and abs(merit) < math.inf else 0
        while not accepted and left > 0:
            before = missing(equal, found[1:]).sum()
            at = touching(at + corrected(factor, matrix, found, equal, price, at, box), box)
            found = values(at)
            trials += 1
            after = missing(equal, found[1:]).sum()
            accepted, left = found[0] + price * after <= enough, left - 1 if after < 0.5 * before else 0
        if not accepted:
            length *= shortened(merit - start, length * promised)
    return at, found, trials, length if accepted else 0.0


def corrected(factor, matrix, y, equal, price, x, box):
    """The least step from x to where the linearised constraints lack nothing, with the slopes of another point, and
    the length that a model has."""
    m, n = len(equal), len(x)
    rows = rows_of(x, y[1:], np.concatenate([np.zeros((1, n)), matrix[:m]]), box)
    least, most = limits(equal, price, len(rows[1]))
    step, _, _ = quadratic_program(factor, np.zeros(n), *rows, least, most, np.zeros(len(least)))
    return step


def touching(x, box):
    """The nearest vector in the box; what is at a bound but for rounding is there."""
    if box is None:
        return x
    lower, upper = box
    x, near = inside(x, box), 4.0 * EPSILON * np.maximum(1.0, abs(x))
    return np.where(x - lower <= near, lower, np.where(upper - x <= near, upper, x))


def shortened(rise, promised):
    """What a length is multiplied by: to the minimum of a parabola, between a quarter and a half."""
    if not rise < math.inf:
        return 0.25
    return max(0.25, min(0.5, 0.5 * promised / (rise + promised)))


def updated(b, move, change, is_first):
    """The curvature as a step shows it: BFGS, damped so that it stays positive (Powell 1978)."""
    along = move @ change
    if is_first and along > 0.0:
        b = (change @ change / along) * b
    product = b @ move
    square = move @ product
    if not (0.0 < square < math.inf):
        return b
    weight = 1.0 if along >= 0.2 * square else 0.8 * square / (square - along)
    mixed = weight * change + (1.0 - weight) * product
    return b - np.outer(product, product) / square + np.outer(mixed, mixed) / (move @ mixed)
