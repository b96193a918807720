"""Steps of a differential equation: their lengths, what is wanted on the way, and what a derivative keeps of them.

Steps are taken in runs, each of which ends where something is wanted (a time, an event, every step of a dense output)
or after so many steps as the root of how many there may be. A derivative keeps where each run began, and takes its
steps once more when it comes back: so memory grows with the root of their number.
"""

import math
from typing import Any

from rosejit.api.derivation.checkpoints import checkpoint
from rosejit.api.math_functions import stop_gradient
from rosejit.frontend.values.rose_functions import range as iterations
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.solvers.fitting.linear_least_squares import EPSILON
from rosejit.solvers.odes.interpolants import within
from rosejit.solvers.odes.ode_events import Occasions


@dataclass(frozen=True)
class Control:
    """What does not change from step to step."""

    rtol: Any
    atol: Any
    first: Any
    longest: Any
    most: int
    dense: bool

    def tolerated(self, y: Any, then: Any) -> Any:
        """The error of each number that a step from `y` to `then` may make."""
        return self.atol + self.rtol * np.maximum(abs(y), abs(then))


def integrate(method: Any, f: Any, start: Any, end: Any, y0: Any, times: Any, occasions: Occasions, control: Control):
    """A table of the solution at `times`, where and with which status it ended, its work, its events and its steps.

    The length of a step is a constant to derivatives, except for that of the last one, which ends at `end`.
    """
    n, forward = len(y0), 1.0 if end >= start else -1.0
    table = np.full((len(times), n), np.nan)
    slope = f(start, y0)
    length = stop_gradient(first_length(method, f, start, end, forward, y0, slope, control))
    status = 0 if length + abs(y0).max() + abs(start) + abs(end) < math.inf else -2
    row = 0
    while row < len(times) and times[row] == start:
        table[row] = y0
        row += 1
    marks = occasions.values(start, y0)
    status = status if valid(marks) else -4
    status = -5 if len(times) > 0 and disordered(times, start, end, forward) else status
    rows, active = np.zeros((method.pieces, n)), np.zeros(len(marks))
    walk = (start, y0, slope, length, False, status, 0, 2, start, y0, 0.0, rows, marks, active, False)
    advance = checkpoint(run(method, f, end, forward, len(times) > 0, occasions, control))
    found, knots = occasions.empty(n), empty_knots(control, method, start, n)
    done, steps, terminal, t_end, y_end = start == end, 0, False, start, y0
    while not done and walk[5] == 0:
        walk = advance(walk, times[row] if row < len(times) else end)
        t_end, y_end, _, _, _, status, tried, _, before, y_before, h, rows, _, active, ready = walk
        if ready:
            if occasions.functions:
                found, t_end, terminal = occasions.recorded(found, active, before, y_before, h, rows, t_end, forward)
                y_end = within(y_before, rows, (t_end - before) / h) if terminal else y_end
            while row < len(times) and forward * (times[row] - t_end) <= 0.0:
                table[row] = within(y_before, rows, (times[row] - before) / h)
                row += 1
            if control.dense:
                knots = noted(knots, steps, t_end, h, y_before, rows)
                steps += 1
        done = terminal or t_end == end
        walk = (*walk[:5], exhausted(status, done, tried, found[2], occasions, control), *walk[6:])
    ended = -4 if t_end != t_end else 1 if terminal and walk[5] == 0 else walk[5]
    return table, t_end, y_end, ended, walk[6], walk[7], found, (*knots, steps)


def exhausted(status, done, tried, counts, occasions, control):
    """The status where there is no room for more events, or no step left."""
    if status == 0 and len(counts) > 0 and counts.max() > occasions.most:
        status = -6
    if status == 0 and not done and tried >= control.most:
        status = -3
    return status


def disordered(times: Any, start: Any, end: Any, forward: Any) -> Any:
    """Whether times are not in order, or not between `start` and `end`."""
    wrong, last = False, start
    for k in iterations(len(times)):
        wrong = wrong or not (forward * (times[k] - last) >= 0.0)
        last = times[k]
    return wrong or not (forward * (end - last) >= 0.0)


def run(method, f, end, forward, wanted, occasions, control):
    """The function that takes steps until one passes `target`, has an event, or is the last, or there were enough."""
    enough = math.isqrt(control.most)

    def advance(walk, target):
        t, y, slope, length, rejected, status, tried, nfev, t0, y0, h, rows, marks, active, _ = walk
        taken, ready, going = 0, False, True
        while going and status == 0 and taken < enough and tried < control.most:
            least = 10.0 * EPSILON * max(abs(t), abs(end) * EPSILON)
            length = max(min(length, control.longest), least)
            last = forward * (t + forward * length - end) >= 0.0
            h = end - t if last else forward * length
            then, next_slope, known, count = method.step(f, t, y, slope, h)
            error = stop_gradient(method.error(h, known, control.tolerated(y, then)))
            tried, taken, nfev = tried + 1, taken + 1, nfev + count
            if error < 1.0:
                length, rejected = grown(h, error, method.exponent, rejected), False
                at = end if last else t + h
                values = occasions.values(at, then)
                active, marks = occasions.active(marks, values), values
                status = status if valid(marks) else -4
                fired = len(active) > 0 and active.max() > 0.0
                ready = control.dense or fired or (wanted and forward * (target - at) <= 0.0)
                if ready:
                    rows, more = method.interpolant(f, t, y, then, known, h)
                    nfev += more
                t0, y0, t, y, slope = t, y, at, then, next_slope
                going = not (ready or last)
            else:
                length, rejected = shrunk(h, error, method.exponent), True
                status = status if length > least else -1
        return t, y, slope, length, rejected, status, tried, nfev, t0, y0, h, rows, marks, active, ready

    return advance


def grown(h, error, exponent, rejected):
    """The length after a step whose error is tolerated."""
    factor = 10.0 if error == 0.0 else min(10.0, 0.9 * error**exponent)
    return stop_gradient(abs(h)) * (min(factor, 1.0) if rejected else factor)


def shrunk(h, error, exponent):
    """The length after a step whose error is too large, or no number."""
    return stop_gradient(abs(h)) * (max(0.2, 0.9 * error**exponent) if error < math.inf else 0.2)


def valid(marks):
    """Whether every event has a value."""
    return len(marks) == 0 or abs(marks).max() < math.inf


def empty_knots(control, method, start, n):
    """Where steps are noted, if they are."""
    most = control.most if control.dense else 0
    ts = np.full(most + 1, start)
    return ts, np.zeros(most), np.zeros((most, n)), np.zeros((most, method.pieces, n))


def noted(knots, steps, t, h, y, rows):
    """`knots` with one more step, which ends at `t`."""
    ts, widths, starts, pieces = knots
    ts[steps + 1], widths[steps] = t, h
    starts[steps] = y
    pieces[steps] = rows
    return ts, widths, starts, pieces


def first_length(method, f, t, end, forward, y, slope, control):
    """The length of the first step (Hairer, Nørsett and Wanner 1993, II.4). Infinite where the function is."""
    whole, exponent = abs(end - t), -method.exponent
    tolerated = control.tolerated(y, y)
    size, steep = rms(y / tolerated), rms(slope / tolerated)
    length = min(1e-6 if size < 1e-5 or steep < 1e-5 else 0.01 * size / steep, whole)
    ahead = f(t + forward * length, y + forward * length * slope)
    bend = rms((ahead - slope) / tolerated) / length if length > 0.0 else 0.0
    top = max(steep, bend) if bend == bend else math.inf * 0.0
    second = max(1e-6, length * 1e-3) if top <= 1e-15 else (0.01 / top) ** exponent
    guess = min(100.0 * length, second, whole)
    if control.first is not None:
        guess = min(control.first, whole)
    return min(guess, control.longest) if top < math.inf else math.inf


def rms(v):
    """The root mean square."""
    return math.sqrt((v @ v) / len(v))
