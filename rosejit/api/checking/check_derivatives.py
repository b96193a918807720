"""Derivatives of a plain Python function by differences: what `rose.check` holds those of compiled code against."""

# Arguments and results are whatever a user's function takes and gives.

import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rosejit.abi import Leaf, Node, Tree, leaves
from rosejit.api import sessions
from rosejit.api.calling.specialisation import is_real
from rosejit.errors import StagingTypeError
from rosejit.frontend.values.pytree import with_parts
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

STEPS = 8
"""So many steps, each half of the one before."""


def reals(tree: Tree, value: Any) -> Iterator[float]:
    """The real numbers of a value of the structure of `tree`, in order; none where it is None after all."""
    if value is None or not any(map(is_real, leaves(tree))):
        return
    if isinstance(tree, Leaf):
        yield from map(float, np.asarray(value, float).ravel())
    if not isinstance(tree, Node):
        return
    children, inside = tree.children, [value] if tree.kind == "optional" else _parts(tree, value)
    for child, part in zip(children[-len(inside) :], inside, strict=True):
        yield from reals(child, part)


def _parts(tree: Node, value: Any) -> list[Any]:
    value = getattr(tree.cls, "__rose_given__", lambda given: given)(value)
    try:
        return sessions.parts(tree, value)
    except StagingTypeError:
        return [getattr(value, key) for key in tree.keys]


def rebuilt(tree: Tree, value: Any, new: Callable[[float], float]) -> Any:
    """`value` with each real number changed, and all else as it is."""
    if isinstance(tree, Leaf):
        return _changed(value, new) if is_real(tree) else value
    if isinstance(tree, Node) and any(map(is_real, leaves(tree))):
        inside = [rebuilt(child, part, new) for child, part in zip(tree.children, _parts(tree, value), strict=True)]
        return dict(zip(tree.keys, inside, strict=True)) if tree.kind == "dict" else with_parts(value, inside)
    return value


def _changed(value: Any, new: Callable[[float], float]) -> Any:
    if isinstance(value, np.ndarray | list | tuple):
        flat = np.asarray(value, float)
        made = np.array([new(float(x)) for x in flat.ravel()]).reshape(flat.shape)
        return made if isinstance(value, np.ndarray) else made.tolist()
    return new(float(value))


def tangents(tree: Tree, value: Any, new: Callable[[float], float]) -> Any:
    """Tangents of `value`: what has none stays as it is."""
    if isinstance(tree, Leaf):
        return _changed(value, new) if is_real(tree) else value
    if isinstance(tree, Node) and any(map(is_real, leaves(tree))):
        inside = [tangents(child, part, new) for child, part in zip(tree.children, _parts(tree, value), strict=True)]
        return dict(zip(tree.keys, inside, strict=True)) if tree.kind == "dict" else with_parts(value, inside)
    return value


def direction(trees: Sequence[Tree], args: Sequence[Any], seed: int) -> list[float]:
    """A random direction: one number for each real one of the arguments."""
    rng = random.Random(seed)
    return [
        rng.choice((-1.0, 1.0)) * rng.uniform(0.5, 1.0) * max(abs(x), 1.0) if math.isfinite(x) else 0.0
        for tree, arg in zip(trees, args, strict=True)
        for x in reals(tree, arg)
    ]


def moved(trees: Sequence[Tree], args: Sequence[Any], along: Sequence[float], step: float) -> tuple[Any, ...]:
    """The arguments, moved along a direction."""
    given = iter(along)
    return tuple([rebuilt(tree, arg, lambda x: x + step * next(given)) for tree, arg in zip(trees, args, strict=True)])


# --- limits of differences


@dataclass(slots=True)
class Limit:
    """The limit of a difference quotient, and how far it is known."""

    value: float
    error: float


@dataclass(slots=True)
class Slopes:
    """The derivative along a direction: from both sides, from below and from above."""

    both: Limit
    below: Limit
    above: Limit

    @property
    def is_kink(self) -> bool:
        """Whether the sides disagree."""
        gap = abs(self.above.value - self.below.value)
        return not gap <= 1e-4 * max(abs(self.above.value), abs(self.below.value)) + 20 * (
            self.below.error + self.above.error
        )

    def verdict(self, given: float, scale: float) -> bool | None:
        """Whether `given` is the derivative; None where differences cannot tell."""
        for limit in (self.both, self.below, self.above):
            if (
                math.isfinite(limit.value)
                and abs(given - limit.value) <= 1e-6 * max(abs(given), scale) + 4 * limit.error
            ):
                return True
        size = max(abs(self.both.value), abs(given), scale)
        if self.is_kink or not (math.isfinite(self.both.value) and self.both.error <= 1e-3 * size):
            return None
        return False


Along = Callable[[float], tuple[list[float], int]]
"""The numbers at a distance along the direction, and which way the run there takes through the program."""


def slopes(along: Along) -> list[Slopes]:
    """The derivatives at 0 of the numbers that a function of one number gives. A step to where the program takes
    another way says nothing of the derivative, which is that of the way taken."""
    middle, path = along(0.0)
    sides: dict[float, list[tuple[float, list[float]]]] = {1.0: [], -1.0: []}
    for sign, points in sides.items():
        for k in range(STEPS):
            step = sign * 2.0 ** -(10 + 2 * k)
            numbers, other = along(step)
            if other == path:
                points.append((step, numbers))
    return [_slopes(k, y, sides[1.0], sides[-1.0]) for k, y in enumerate(middle)]


def _slopes(k: int, y: float, above: list[tuple[float, list[float]]], below: list[tuple[float, list[float]]]) -> Slopes:
    up = {abs(h): (numbers[k] - y) / h for h, numbers in above}
    down = {abs(h): (numbers[k] - y) / h for h, numbers in below}
    both = {h: (up[h] + down[h]) / 2 for h in up if h in down}
    return Slopes(_limit(both, 2, y), _limit(down, 1, y), _limit(up, 1, y))


def _limit(found: dict[float, float], order: int, y: float) -> Limit:
    """Richardson's extrapolation of quotients by step; the error is the gap between neighbours of the table."""
    best = Limit(math.nan, math.inf)
    quotients = [*found.values()]
    noise = [4e-16 * max(abs(y), 1e-300) / h for h in found]
    row = quotients[:1]
    for k in range(1, len(quotients)):
        new = [quotients[k]]
        for j in range(1, min(k, 4) + 1):
            factor = 4.0 ** (order * j)
            new.append(new[j - 1] + (new[j - 1] - row[j - 1]) / (factor - 1.0) if len(row) >= j else new[j - 1])
        for j in range(1, len(new)):
            gap = max(abs(new[j] - new[j - 1]), abs(new[j] - row[j - 1])) + noise[k]
            if gap < best.error:
                best = Limit(new[j], gap)
        row = new
    return best
