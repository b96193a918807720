"""Taylor mode beside forward mode in itself: what derivatives along a line cost, by their order.

`python -m benchmarks.taylor`: microseconds a call and seconds to the first one, up to order 32 and 8.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import Table, options, per_call
from benchmarks.plot import exponent, loglog


def scalar(x: float) -> float:
    """A few functions of one number."""
    return math.exp(math.sin(x)) / (1.0 + x * x) + math.sqrt(x) * math.log(x)


def chain(x: Any) -> Any:
    """A loop over an array."""
    total = 0.0
    for i in rose.range(len(x) - 1):
        total += math.tanh(x[i] * x[i + 1]) / (1.0 + x[i] * x[i])
    return total


def nested(f: Callable[[Any], Any], v: Any, order: int) -> Callable[[Any], Any]:
    """The derivative of that order along `v`, by `jvp` of `jvp`."""
    for _ in range(order):
        f = (lambda g: lambda x: rose.jvp(g, (x,), (v,))[1])(f)
    return f


def main() -> None:
    """Print the table, write JSON and the plot."""
    given = options(__doc__ or "")
    columns = {"program": "", "order": "", "taylor us": ".2f", "taylor first s": ".2f"}
    columns |= {"nested us": ".2f", "nested first s": ".2f"}
    table = Table("taylor", "derivatives along a line", columns)
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, f, x, v in (
        ("scalar", scalar, 0.7, 1.0),
        ("loop of 100", chain, np.linspace(0.1, 1.0, 100), np.ones(100)),
    ):
        base = rose.jit(f)
        for order in (1, 2, 4, 8, 16, 32):
            start = time.process_time()
            rose.taylor(base, x, v, order)
            first = time.process_time() - start
            call = per_call(lambda base=base, x=x, v=v, order=order: rose.taylor(base, x, v, order)) * 1e6
            row: dict[str, Any] = {"program": name, "order": order, "taylor us": call, "taylor first s": first}
            lines.setdefault(f"taylor, {name}", []).append((order, call))
            if order <= 8:
                made = rose.jit(nested(base, v, order))
                start = time.process_time()
                assert math.isclose(made(x), rose.taylor(base, x, v, order)[-1], rel_tol=1e-6)
                row["nested first s"] = time.process_time() - start
                row["nested us"] = per_call(lambda made=made, x=x: made(x)) * 1e6
                lines.setdefault(f"jvp in itself, {name}", []).append((order, row["nested us"]))
            table.add(**row)
    fits = [f"{name} {exponent([p for p in points if p[0] >= 4]):.2f}" for name, points in lines.items()]
    table.title = f"{table.title}; exponent in the order, from 4 on: {', '.join(fits)}"
    loglog(table.name, "Derivatives along a line", "order", "us a call", lines)
    table.finish(given.json)


if __name__ == "__main__":
    main()
