"""Sequential quadratic programming: minima under equalities and inequalities, of small dense problems.

Each step minimises a quadratic model of the Lagrangian and the price of what the linearised constraints lack (Fletcher
1985), so there is always a step; the price rises where that makes them lack less (Byrd, Nocedal and Waltz 2008). It is
followed as far as the objective and the price of what the constraints lack fall, with a second-order correction.
"""

import math

from rosejit.frontend.values.rose_functions import range as iterations
from rosejit.numeric import np
from rosejit.optim.box import inside
from rosejit.optim.box_program import quadratic_program
from rosejit.optim.curvature import factored
from rosejit.optim.descent import largest
from rosejit.solvers.linear_least_squares import EPSILON

HIGHEST = 1e7
"""The price, as a multiple of the gradient, from which on constraints are taken for incompatible."""


def sequential(values, slopes, x, box, equal, tolerance, limit):
    """The vector, the multipliers of constraints, then of lower and of upper bounds, the status
    (`constrained.MESSAGES`), the iterations, and the evaluations of `values` and of `slopes`.

    `values(x)` is the objective and then the constraints: those that `equal` marks are zero, the others not negative.
    `slopes` is its Jacobian.
    """
    y, table = values(x), slopes(x)
    b, factor, scaled = np.eye(len(x)), np.zeros((len(x), len(x))), False
    price = max(1.0, largest(table[0]))
    multipliers = np.zeros(len(y) - 1 + (0 if box is None else 2 * len(x)))
    status, nit, nfev, njev = 1, 0, 1, 1
    while status == 1 and nit < limit:
        lack, highest = largest(missing(equal, y[1:])), HIGHEST * max(1.0, largest(table[0]))
        if not (abs(y[0]) + lack + abs(table).sum() < math.inf):
            status = 3
        else:
            nit += 1
            b = positive(b, factor)
            rows = rows_of(x, y[1:], table, box)
            paid = largest(multipliers[: len(y) - 1])
            price = max(min(2.0 * paid, highest), 0.5 * (price + paid))
            step, multipliers, price = priced(factor, table[0], rows, equal, multipliers, price, tolerance)
            error = max(largest(b @ step), slackness(multipliers, rows[1])) / max(1.0, largest(table[0]))
            short = largest(step) <= tolerance * max(1.0, largest(x))
            if error <= tolerance and lack <= tolerance:
                status = 0
            elif short and lack > tolerance:
                status = 1 if price < highest else 4
                price = min(100.0 * price, highest)
            else:
                at, found, trials, accepted = followed(
                    values, x, y, step, factor, table[0], rows, equal, multipliers, price, box, b
                )
                nfev += trials
                if accepted:
                    after = slopes(at)
                    njev += 1
                    change = lagrangian(after, multipliers) - lagrangian(table, multipliers)
                    b, scaled = updated(b, at - x, change, scaled), True
                    x, y, table = at, found, after
                elif scaled:
                    b, scaled = np.eye(len(x)), False  # what is remembered of the curvature misleads
                else:
                    status = 4 if lack > tolerance else 0 if error <= math.sqrt(tolerance) else 2
    return x, multipliers, status, nit, nfev, njev


def positive(b, factor):
    """A matrix, or the unit matrix in place of one that is not positive; its Cholesky factor is put into `factor`."""
    if not factored(b, 0.0, factor, len(b)):
        b = np.eye(len(b))
        factored(b, 0.0, factor, len(b))
    return b


def missing(equal, c):
    """What each constraint lacks of being met."""
    return np.where(equal, abs(c), np.maximum(-c, 0.0))


def lagrangian(table, multipliers):
    """The gradient of the Lagrangian, less the multipliers of bounds."""
    return table[0] - table[1:].T @ multipliers[: len(table) - 1]


def slackness(multipliers, right):
    """The largest product of a multiplier and its row."""
    found = 0.0
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


def priced(factor, slope, rows, equal, multipliers, price, tolerance):
    """The step, its multipliers, and the price, which rises as long as the linear constraints then lack less."""
    matrix, right = rows
    m = len(equal)
    step, found, _ = quadratic_program(factor, slope, matrix, right, *limits(equal, price, len(right)), multipliers)
    lack = missing(equal, right[:m] + matrix[:m] @ step).sum()
    enough = 0.01 * tolerance + 1e-8 * missing(equal, right[:m]).sum()
    rising = lack > enough
    while rising and price < HIGHEST * max(1.0, largest(slope)):
        more = 10.0 * price
        tried, other, _ = quadratic_program(factor, slope, matrix, right, *limits(equal, more, len(right)), found)
        less = missing(equal, right[:m] + matrix[:m] @ tried).sum()
        rising = less < 0.9 * lack
        if rising:
            step, found, price, lack = tried, other, more, less
            rising = lack > enough
    return step, found, price


def followed(values, x, y, step, factor, slope, rows, equal, multipliers, price, box, b):
    """The point along a step where objective and price have fallen, the values there, how many points were tried, and
    whether there was one."""
    matrix, right = rows
    m = len(equal)
    lack = missing(equal, y[1:]).sum()
    start = y[0] + price * lack
    rest = missing(equal, y[1:] + matrix[:m] @ step).sum()
    promised = price * (lack - rest) - slope @ step - 0.5 * (step @ (b @ step))
    noise = 8.0 * EPSILON * (abs(y[0]) + price * lack)
    length, trials, accepted = 1.0, 0, False
    at, found = x, y
    while not accepted and trials < 40 and promised > 0.0:
        at = touching(x + length * step, box)
        found = values(at)
        merit = found[0] + price * missing(equal, found[1:]).sum()
        trials += 1
        accepted = merit <= start - 1e-4 * length * promised + noise
        if not accepted and trials == 1 and m > 0 and abs(merit) < math.inf:
            bent = np.concatenate([found[1:] - matrix[:m] @ step, right[m:]])
            other, _, _ = quadratic_program(factor, slope, matrix, bent, *limits(equal, price, len(right)), multipliers)
            at = touching(x + other, box)
            found = values(at)
            trials += 1
            accepted = found[0] + price * missing(equal, found[1:]).sum() <= start - 1e-4 * promised + noise
        if not accepted:
            length *= shortened(merit - start, length * promised)
    return at, found, trials, accepted


def touching(x, box):
    """The nearest vector in the box; what is at a bound but for rounding is there."""
    if box is None:
        return x
    lower, upper = box
    x, near = inside(x, box), 4.0 * EPSILON * np.maximum(1.0, abs(x))
    return np.where(x - lower <= near, lower, np.where(upper - x <= near, upper, x))


def shortened(rise, promised):
    """What a length is multiplied by: to the minimum of a parabola, between a tenth and a half."""
    if not rise < math.inf:
        return 0.25
    return max(0.1, min(0.5, 0.5 * promised / (rise + promised)))


def updated(b, move, change, scaled):
    """The curvature as a step shows it: BFGS, damped so that it stays positive (Powell 1978)."""
    along = move @ change
    if not scaled and along > 0.0:
        b = (change @ change / along) * b
    product = b @ move
    square = move @ product
    if not (0.0 < square < math.inf):
        return b
    weight = 1.0 if along >= 0.2 * square else 0.8 * square / (square - along)
    mixed = weight * change + (1.0 - weight) * product
    return b - np.outer(product, product) / square + np.outer(mixed, mixed) / (move @ mixed)
