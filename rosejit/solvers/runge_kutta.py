"""The method of Dormand and Prince (1980), of order five with an error estimate of order four, and step control."""

import math

from rosejit.api.math_functions import stop_gradient
from rosejit.numeric import np
from rosejit.solvers.linear_least_squares import EPSILON

_NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0)
_STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
_WEIGHTS = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
_ERRORS = (-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40)
# The interpolant of order four: for each slope its coefficients of θ, θ², θ³, θ⁴ (Shampine 1986).
_BETWEEN = (
    (1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432),
    (0.0, 0.0, 0.0, 0.0),
    (0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
    (0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
    (0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
    (0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
    (0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
)


def integrate(f, start, end, y, times, rtol, atol, most):
    """The solution at `times`, a row each, the status (`ivp.MESSAGES`), the steps that were tried, the evaluations.

    The length of a step is a constant to derivatives, except for that of the last one, which ends at `end`.
    """
    table = np.full((len(times), len(y)), np.nan)
    forward = 1.0 if end >= start else -1.0
    t, slope = start, f(start, y)
    length = stop_gradient(first_length(f, start, end, forward, y, slope, rtol, atol))
    status, tried, nfev = 0, 0, 2
    done, row = start == end, 0
    while row < len(times) and forward * (times[row] - start) <= 0.0:
        table[row] = y + (times[row] - start) * slope
        row += 1
    if not (length < math.inf):
        status = -2
    rejected = False
    while not done and status == 0:
        least = 10.0 * EPSILON * max(abs(t), abs(end) * EPSILON)
        length = max(length, least)
        last = forward * (t + forward * length - end) >= 0.0
        h = end - t if last else forward * length
        slopes = stages(f, t, y, slope, h)
        then = y + h * weighted(_WEIGHTS, slopes)
        slopes.append(f(t + h, then))
        error = stop_gradient(rms(h * weighted(_ERRORS, slopes), y, then, rtol, atol))
        tried += 1
        nfev += 6
        if error < 1.0:
            while row < len(times) and (last or forward * (times[row] - t - h) <= 0.0):
                table[row] = between(y, h, slopes, (times[row] - t) / h)
                row += 1
            grown = 10.0 if error == 0.0 else min(10.0, 0.9 * error**-0.2)
            length = stop_gradient(abs(h)) * (min(grown, 1.0) if rejected else grown)
            t, y, slope = t + h, then, slopes[6]
            rejected, done = False, last
        else:
            length = stop_gradient(abs(h)) * (max(0.2, 0.9 * error**-0.2) if error < math.inf else 0.2)
            rejected = True
            if not (length > least):
                status = -1
        if not done and status == 0 and tried >= most:
            status = -3
    return table, status, tried, nfev


def stages(f, t, y, slope, h):
    """The slopes of the six stages of a step."""
    slopes = [slope]
    for node, row in zip(_NODES[1:], _STAGES[1:], strict=True):
        slopes.append(f(t + node * h, y + h * weighted(row, slopes)))
    return slopes


def weighted(weights, slopes):
    """A sum of slopes, without those of weight zero."""
    total = None
    for weight, slope in zip(weights, slopes, strict=True):
        if weight != 0.0:
            total = weight * slope if total is None else total + weight * slope
    return total


def between(y, h, slopes, part):
    """The solution inside a step, at a part of it."""
    total = y
    for row, slope in zip(_BETWEEN, slopes, strict=True):
        if row[1] != 0.0:
            total = total + h * part * (row[0] + part * (row[1] + part * (row[2] + part * row[3]))) * slope
    return total


def rms(error, y, then, rtol, atol):
    """The root mean square of an error, in units of what is tolerated."""
    ratio = error / (atol + rtol * np.maximum(abs(y), abs(then)))
    return math.sqrt((ratio @ ratio) / len(y))


def first_length(f, t, end, forward, y, slope, rtol, atol):
    """The length of the first step (Hairer, Nørsett and Wanner 1993, II.4)."""
    zero = np.zeros(len(y))
    size, steep = rms(y, y, zero, rtol, atol), rms(slope, y, zero, rtol, atol)
    length = min(1e-6 if size < 1e-5 or steep < 1e-5 else 0.01 * size / steep, abs(end - t))
    ahead = f(t + forward * length, y + forward * length * slope)
    bend = rms(ahead - slope, y, zero, rtol, atol) / length if length > 0.0 else 0.0
    top = max(steep, bend) if bend == bend else math.inf * 0.0
    second = max(1e-6, length * 1e-3) if top <= 1e-15 else (0.01 / top) ** 0.2
    return min(100.0 * length, second, abs(end - t)) if top < math.inf else math.inf
