"""Bounds of variables: as SciPy writes them, as vectors, and what they leave of a gradient."""

import math
from dataclasses import dataclass
from typing import Any

from rosejit.errors import StagingTypeError
from rosejit.solvers.fitting.fits import limits
from rosejit.solvers.fitting.levenberg import within

Box = tuple[Any, Any]
"""Lower and upper bounds: two vectors, or None where there are none."""


@dataclass(frozen=True)
class Bounds:
    """`lb <= x <= ub`, as SciPy's `Bounds`: numbers for all of x, or structured as x."""

    lb: Any = -math.inf
    ub: Any = math.inf


def sides(bounds: Any) -> Box | None:
    """Lower and upper bounds of what SciPy takes: something with `lb` and `ub`, or a pair (min, max) for each number,
    `None` where there is no bound. One pair of numbers is that of all.
    """
    if bounds is None:
        return None
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        return bounds.lb, bounds.ub
    if getattr(bounds, "ndim", 0) == 2 and bounds.shape[1] == 2:
        return bounds[:, 0], bounds[:, 1]
    if isinstance(bounds, (list, tuple)):
        if len(bounds) == 2 and not any(_is_pair(each) for each in bounds):
            bounds = (bounds,)
        if all(_is_pair(each) for each in bounds):
            low = [-math.inf if each[0] is None else each[0] for each in bounds]
            high = [math.inf if each[1] is None else each[1] for each in bounds]
            return low, high
    raise StagingTypeError(
        f"`bounds` are pairs (min, max), one for each number, given {bounds!r}",
        help="`rose.optim.Bounds(lb, ub)` takes structures",
    )


def _is_pair(each: Any) -> bool:
    return (isinstance(each, (list, tuple)) or getattr(each, "ndim", 0) == 1) and len(each) == 2


def box_of(given: Box | None, like: Any) -> Box | None:
    """The bounds of the structure `like`, as vectors."""
    return None if given is None else (limits(given[0], like), limits(given[1], like))


def inside(x: Any, box: Box | None) -> Any:
    """The nearest vector in the box."""
    return x if box is None else within(x, *box)


def held(x: Any, slope: Any, box: Box) -> Any:
    """Which numbers are at a bound that minus the slope pushes against."""
    lower, upper = box
    return ((x <= lower) & (slope > 0.0)) | ((x >= upper) & (slope < 0.0))


def left(x: Any, slope: Any, box: Box | None) -> Any:
    """What a box leaves of a gradient: how far a step along it would move x. Zero at a minimum, SciPy's `pgtol`."""
    return slope if box is None else x - within(x - slope, *box)
