"""Brent's method: the root of a function of one number between two where its signs differ."""

import math

from rosejit.solvers.fitting.linear_least_squares import EPSILON


def brent(f, a, b, tolerance, limit):
    """The root, the status (`roots.MESSAGES`), the iterations and the evaluations (Brent 1973, chapter 4).

    `b` is the best guess, `c` has the other sign; steps are by interpolation where that converges, else to the middle.
    Where the function at the end is no smaller than at both ends of the bracket, it jumps there or has a pole.
    """
    fa, fb = f(a), f(b)
    most = max(abs(fa), abs(fb))
    c, fc = a, fa
    step = last = b - a
    status, nit, nfev = 2, 0, 2
    if not (abs(fa) < math.inf and abs(fb) < math.inf):
        status = 4
    elif fa == 0.0:
        b, fb, status = a, fa, 1
    elif fb == 0.0:
        status = 1
    elif (fa > 0.0) == (fb > 0.0):
        status = 6
    while status == 2 and nit < limit:
        nit += 1
        if (fb > 0.0) == (fc > 0.0):
            c, fc = a, fa
            step = last = b - a
        if abs(fc) < abs(fb):
            a, b, c = b, c, b
            fa, fb, fc = fb, fc, fb
        near = 2.0 * EPSILON * abs(b) + 0.5 * tolerance * max(abs(b), tolerance)
        middle = 0.5 * (c - b)
        if abs(middle) <= near or fb == 0.0:
            status = 7 if abs(fb) >= most else 1
        else:
            step, last = next_step(a, b, c, fa, fb, fc, step, last, near, middle)
            a, fa = b, fb
            b = b + (step if abs(step) > near else math.copysign(near, middle))
            fb = f(b)
            nfev += 1
            if not (abs(fb) < math.inf):
                status = 4
    return b, status, nit, nfev


def next_step(a, b, c, fa, fb, fc, step, last, near, middle):
    """The step from `b`, and the one that the step after the next must be shorter than half of."""
    if abs(last) < near or abs(fa) <= abs(fb):
        return middle, middle
    s = fb / fa
    if a == c:
        p, q = 2.0 * middle * s, 1.0 - s
    else:
        q, r = fa / fc, fb / fc
        p = s * (2.0 * middle * q * (q - r) - (b - a) * (r - 1.0))
        q = (q - 1.0) * (r - 1.0) * (s - 1.0)
    if p > 0.0:
        q = -q
    else:
        p = -p
    if 2.0 * p < min(3.0 * middle * q - abs(near * q), abs(last * q)):
        return p / q, step
    return middle, middle
