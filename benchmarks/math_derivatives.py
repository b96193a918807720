"""How far first and second derivatives of the mathematical functions are off, relative to the exact ones.

`python -m benchmarks.math_derivatives --points 200 --functions sin,cos`: as users get them, by the transforms, against
differences of 700 bits. Results that are subnormal, infinite or NaN are not judged.
"""

import math
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import mpmath
import numpy as np
from mpmath import mpf

from benchmarks.math_points import TRIALS, points
from benchmarks.measure import Table, options
from rosejit import interp
from rosejit.ops import PRIMITIVES
from rosejit.ops.traced_value import define
from rosejit.transforms.autodiff.derivative_programs import pushforward

ENOUGH = 1e-13
BITS, STEP = 900, 200

Point = tuple[float, ...]


@cache
def forward(name: str, active: tuple[bool, ...]) -> tuple[Any, Any]:
    """The function that gives the value and a tangent to those arguments, and the one that does that to both."""
    op = PRIMITIVES[name]
    first = pushforward(define(name, op.params, op.__call__), active)
    return first, pushforward(first, active + (False,) * sum(active))


def ours(name: str, point: Point) -> Iterator[tuple[str, float]]:
    """All derivatives of order 1 and 2, by the names of the variables."""
    for along in ("x", "xx") if len(point) == 1 else ("x", "y", "xx", "xy", "yy"):
        active = tuple(a in along for a in "xy"[: len(point)])
        names = [a for a in "xy" if a in along]
        tangents = [[float(a == b) for b in names] for a in along]
        first, second = forward(name, active)
        if len(along) == 1:
            yield along, interp.run(first, [*point, *tangents[0]])[1]
        else:
            yield along, interp.run(second, [*point, *tangents[0], *tangents[1]])[3]


def exactly(name: str, point: Point, along: str) -> Any:
    """A derivative by differences, in as many digits as they cost; None where there is none."""
    bits = BITS + max(0, *(math.frexp(v)[1] for v in point))
    while True:
        with mpmath.workprec(bits):
            try:
                value, lost = _difference(TRIALS[name].exact, [mpf(v) for v in point], along)
            except (ValueError, ZeroDivisionError):  # a pole
                return None
            if not isinstance(value, mpf) or not mpmath.isfinite(value):
                return None
            if value == 0 or lost < abs(value) * mpf(2) ** -70 or bits > 1 << 14:
                return value
        bits *= 2


def _difference(f: Any, x: list[Any], along: str) -> tuple[Any, Any]:
    """The derivative, and what rounding does to it."""
    steps = [min(abs(v), 1) * mpf(2) ** -STEP for v in x]
    steps = dict(zip("xy", steps, strict=False))

    def at(**moved: int) -> Any:
        return f(*[v + moved.get(a, 0) * steps[a] for a, v in zip("xy", x, strict=False)])

    middle, a, b = at(), along[0], along[-1]
    lost = abs(middle) * mpmath.eps / (steps[a] * (steps[b] if len(along) == 2 else 1))
    if len(along) == 1:
        return (at(**{a: 1}) - at(**{a: -1})) / (2 * steps[a]), lost
    if a == b:
        return (at(**{a: 1}) - 2 * middle + at(**{a: -1})) / steps[a] ** 2, lost
    return (at(x=1, y=1) - at(x=1, y=-1) - at(x=-1, y=1) + at(x=-1, y=-1)) / (4 * steps["x"] * steps["y"]), lost


# --- where digits are lost


class Loss(NamedTuple):
    """A derivative that is not right to `ENOUGH` in a part of the domain."""

    functions: tuple[str, ...]
    reason: str
    where: Callable[[Point, str], bool]


def _power_overflows(point: Point, along: str) -> bool:
    x, y = point
    return any((y - k) * math.log2(abs(x)) > 1020.0 for k in range(3))


LOSSES = (
    Loss(
        ("atan",),
        "second derivative beyond 2^255: (1 + x²)² overflows, 0 for 2/x³ (below 1e-230)",
        lambda point, along: along == "xx" and abs(point[0]) > 2.0**255,
    ),
    Loss(
        ("atan2",),
        "second derivatives where both arguments are below 2^-500 or one is above 2^500: r² over- or underflows",
        lambda point, along: len(along) == 2 and not 2.0**-500 < max(map(abs, point)) < 2.0**500,
    ),
    Loss(
        ("hypot",),
        "second derivatives where the length is subnormal, which has few bits",
        lambda point, along: len(along) == 2 and max(map(abs, point)) < 2.0**-1000,
    ),
    Loss(
        ("pow",),
        "where x^y, x^(y-1) or x^(y-2) overflows and its factor (y, log x) would bring the product back",
        _power_overflows,
    ),
)


def excused(name: str, point: Point, along: str) -> bool:
    """Whether digits are known to be lost there."""
    return any(name in loss.functions and loss.where(point, along) for loss in LOSSES)


def errors(name: str, count: int) -> Iterator[tuple[str, Point, float, float]]:
    """The derivative, the point, the relative error, the exact value."""
    arrays = points(name, np.random.default_rng(0), count)
    for point in zip(*(a.tolist() for a in arrays), strict=True):
        if not all(math.isfinite(v) and v != 0.0 for v in point):
            continue
        for along, got in ours(name, point):
            want = exactly(name, point, along)
            if want is not None and 2.0**-1000 < abs(want) < 2.0**1000:
                yield along, point, float(abs(mpf(got) - want) / abs(want)), float(want)


def main() -> None:
    """The table, and the points that are off."""
    given = options(__doc__ or "", points=300, functions=",".join(TRIALS), show=4)
    columns = {"function": "", "d": "", "points": "d", "error": ".1e", "known": "d", "off": "d", "where": ""}
    table = Table("math_derivatives", f"relative errors of derivatives; off: more than {ENOUGH}", columns)
    for name in given.functions.split(","):
        found: dict[str, list[tuple[float, Point, float]]] = {}
        for along, point, error, want in errors(name, given.points):
            found.setdefault(along, []).append((error, point, want))
        for along, rows in found.items():
            rows.sort(key=lambda row: -row[0])
            known = [row for row in rows if excused(name, row[1], along)]
            rows = [row for row in rows if row not in known]
            off = [row for row in rows if not row[0] <= ENOUGH]
            where = "; ".join(f"{', '.join(f'{v:.17g}' for v in p)} ({w:.1e})" for _, p, w in off[: given.show])
            table.add(
                function=name, d=along, points=len(rows), error=rows[0][0], known=len(known), off=len(off), where=where
            )
    table.finish(given.json)
    for loss in LOSSES:
        print(f"known: {', '.join(loss.functions)}: {loss.reason}")
    sys.exit(any(row["off"] for row in table.rows))


if __name__ == "__main__":
    main()
