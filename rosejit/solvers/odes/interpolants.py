"""The solution between the steps of a differential equation: polynomials, and the function that they make together.

In a step from `y` of length h, at the part θ of it, with rows F₀, F₁, ... of a method:
y + θ (F₀ + (1 - θ) (F₁ + θ (F₂ + (1 - θ) (F₃ + ...)))).
"""

import functools
import math
from dataclasses import dataclass
from typing import Any

from rosejit.api import sessions
from rosejit.api.decorators import as_function
from rosejit.frontend.values.pytree import parts, staged_leaf, with_parts
from rosejit.frontend.values.rose_functions import range as iterations
from rosejit.numeric import np


def within(y: Any, rows: Any, part: Any) -> Any:
    """The solution at a part of the step that began at `y`."""
    total = 0.0 * y
    for k in reversed(range(len(rows))):
        total = (total + rows[k]) * (1.0 - part if k % 2 else part)
    return y + total


@dataclass(frozen=True, eq=False)
class OdeSolution:
    """A solution as a function of time, `sol(t)`: of a number, or of an array, whose times are the last axis then."""

    ts: Any
    """Where the steps begin, and where the last one ends."""
    widths: Any
    starts: Any
    rows: Any
    steps: Any
    like: Any
    """The state where it began."""

    def __call__(self, t: Any) -> Any:
        """The state at `t`, structured as that at the beginning; outside the interval the nearest polynomial's."""
        at, given = sessions.current(), (self.ts, self.widths, self.starts, self.rows, self.steps, self.like, t)
        made = evaluation()
        return made(*given) if at is None else made.__rose_stage__(at, given, {})


@functools.cache
def evaluation() -> Any:
    """`evaluated`, decorated when it is first used."""
    return as_function(evaluated)


def evaluated(ts, widths, starts, rows, steps, like, t):
    """The solution at the times `t`."""
    wanted = 1.0 * t
    if not getattr(wanted, "ndim", 0):
        return over_time(like, inside(ts, widths, starts, rows, steps, wanted).reshape(1, starts.shape[1]), 0)
    table = np.zeros((len(wanted), starts.shape[1]))
    for i in iterations(len(wanted)):
        table[i] = inside(ts, widths, starts, rows, steps, wanted[i])
    return over_time(like, table)


def inside(ts, widths, starts, rows, steps, t):
    """The solution at one time, by the step in which that lies."""
    low, high = 0, max(steps - 1, 0)
    while low < high:
        middle = (low + high + 1) // 2
        if (t - ts[middle]) * widths[middle] >= 0.0:
            low = middle
        else:
            high = middle - 1
    part = (t - ts[low]) / widths[low] if widths[low] != 0.0 else 0.0
    return within(starts[low], rows[low], part)


def over_time(like: Any, found: Any, axis: int = -1) -> Any:
    """`found`, a row for each time, as the structure `like`: the times are the last axis of each number and array.

    They are the first with `axis=1`, and with `axis=0` there is one only, which is no axis.
    """
    return _columns(like, found, 0, axis)[0]


def _columns(like: Any, table: Any, first: int, axis: int) -> tuple[Any, int]:
    """The structure with its numbers from the columns of `table` from `first` on, and where they end."""
    inner = parts(like)
    if inner is not None:
        made = []
        for part in inner:
            value, first = _columns(part, table, first, axis)
            made.append(value)
        names = tuple(getattr(like, "__dataclass_fields__", getattr(like, "_fields", ())))
        return (dict(zip(names, made, strict=True)) if names else with_parts(like, made)), first
    leaf = staged_leaf(like)
    if leaf is None or "real" not in (leaf.kind, leaf.element if leaf.kind == "array" else ""):
        return like, first
    shape = leaf.shape if leaf.kind == "array" else ()
    end = first + math.prod(shape)
    return _placed(table[:, first:end], shape, axis), end


def _placed(columns: Any, shape: tuple[int, ...], axis: int) -> Any:
    """The numbers of one part of the state at all times."""
    if axis == 0:
        return columns[0].reshape(shape) if shape else columns[0, 0]
    if not shape:
        return columns[:, 0]
    return columns.T.reshape((*shape, len(columns))) if axis == -1 else columns.reshape((len(columns), *shape))
