"""Events of a differential equation: zeros of functions of time and state, found inside the steps."""

import math
from collections.abc import Callable
from typing import Any

from rosejit.api.derivation.gradients import grad
from rosejit.api.math_functions import stop_gradient
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.solvers.brent import brent
from rosejit.solvers.fitting.linear_least_squares import EPSILON
from rosejit.solvers.implicit import still
from rosejit.solvers.odes.interpolants import within


@dataclass(frozen=True)
class Occasions:
    """The events of a problem, as functions of time and of the state as a vector."""

    functions: tuple[Callable[..., Any], ...]
    directions: tuple[float, ...]
    """Only where a value grows (1.0), falls (-1.0), or both (0.0)."""
    limits: tuple[int, ...]
    """The occurrence that ends the integration; 0 if none does."""
    most: int
    """How many of each are kept."""

    def values(self, t: Any, y: Any) -> Any:
        """The value of each event."""
        return np.array([1.0 * g(t, y) for g in self.functions]) if self.functions else np.zeros(0)

    def empty(self, n: int) -> Any:
        """Times, states and counts of each event, before the first."""
        count, most = len(self.functions), self.most if self.functions else 0
        return np.full((count, most), np.nan), np.full((count, most, n), np.nan), np.zeros(count, dtype=int)

    def recorded(self, found: Any, active: Any, t: Any, y: Any, h: Any, rows: Any, end: Any, forward: Any) -> Any:
        """`found` with the events of a step, where it ends because of them, and whether it does: NaN where the value of
        an event on the way is no number."""
        times, states, counts = found
        roots = [self.occurrence(k, active[k] > 0.0, t, y, h, rows) for k in range(len(self.functions))]
        until, terminal = end, False
        for k, root in enumerate(roots):
            ends = self.limits[k] > 0 and active[k] > 0.0 and counts[k] + 1 >= self.limits[k]
            if root != root or (ends and forward * (root - until) <= 0.0):
                until, terminal = root, True
        for k, root in enumerate(roots):
            if active[k] > 0.0 and forward * (root - until) <= 0.0:
                if counts[k] < self.most:
                    times[k, counts[k]] = root
                    states[k, counts[k]] = within(y, rows, (root - t) / h)
                counts[k] += 1
        return (times, states, counts), until, terminal

    def active(self, before: Any, after: Any) -> Any:
        """1.0 for each event that happened between these values, else 0.0."""
        found = np.zeros(len(self.functions))
        for k, direction in enumerate(self.directions):
            up = before[k] <= 0.0 and after[k] >= 0.0
            down = before[k] >= 0.0 and after[k] <= 0.0
            if (up and direction >= 0.0) or (down and direction <= 0.0):
                found[k] = 1.0
        return found

    def occurrence(self, k: int, active: Any, t: Any, y: Any, h: Any, rows: Any) -> Any:
        """When event `k` happens in a step, if it does; else where the step ends.

        The time is searched for as a constant; two steps of Newton's, which are too short to change it, give it the
        derivatives of the root, to order three.
        """
        g = self.functions[k]

        def at(time):
            return 1.0 * g(time, within(y, rows, (time - t) / h))

        root = stop_gradient(t + h)
        if active:
            root, status, _, _ = brent(still(at, root), stop_gradient(t), root, 4.0 * EPSILON, 100)
            root = root if status != 4 else math.nan
            steep = grad(at)
            for _ in range(2):
                slope = steep(root)
                if slope != 0.0 and abs(slope) < math.inf:
                    change = at(root) / slope
                    root = root - (change - stop_gradient(change))
        return root
