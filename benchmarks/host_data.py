"""What a call pays for the data that host code reads: programs built from lists, dicts and objects, as users do it.

Nothing in the data changes between the calls, but a call has to see that. `alone` is what `f.lower(...).compile()`
gives, which does not look; `frozen` is the same program from tuples, in which nobody can change anything; `equal` is
what CPython takes to compare the data with a copy, `data == copy`, in C.
"""

import copy
import json
from collections.abc import Callable
from typing import Any

import rosejit as rose
from benchmarks.measure import Table, options, per_call_each

LEAVES = 7


def graph(nodes: int) -> Any:
    """A graph of operations, as it comes out of a file."""
    made = [[("add", "mul", "sub")[k % 3], k % LEAVES, k * 3 % LEAVES] for k in range(nodes)]
    return json.loads(json.dumps({"name": "graph", "nodes": made}))


def energy(data: Any) -> rose.Function:
    """The energy of a graph."""

    @rose.jit
    def energy(x: float) -> float:
        values = [x, 2.0 * x, x + 1.0, x * x, x - 1.0, 0.5 * x, x + 3.0]
        total = 0.0
        for op, a, b in data["nodes"]:
            if op == "add":
                total += values[a] + values[b]
            elif op == "mul":
                total += values[a] * values[b]
            else:
                total -= values[a]
        return total

    return energy


class Body:
    """A body as users write it."""

    def __init__(self, m: float) -> None:
        self.m = m
        self.k = [1.0, 2.0]


def sum_of(bodies: Any) -> rose.Function:
    """A sum over objects."""

    @rose.jit
    def moment(x: float) -> float:
        total = 0.0
        for body in bodies:
            total += body.m * x * body.k[1]
        return total

    return moment


def look_up(table: Any) -> rose.Function:
    """An element of a long list."""

    @rose.jit
    def pick(i: int) -> float:
        return table[i]

    return pick


def frozen(data: Any) -> Any:
    """The data as tuples, where they were lists."""
    if isinstance(data, dict):
        return {key: frozen(value) for key, value in data.items()}
    return tuple(map(frozen, data)) if isinstance(data, list) else data


def cases() -> list[tuple[str, int, Callable[..., Any], Any, Callable[..., Any] | None, Any]]:
    """Name, how many things are read, the function, its argument, the function of frozen data, and the data."""
    found: list[Any] = []
    for nodes in (100, 1000, 4000):
        data = graph(nodes)
        found.append((f"graph of {nodes:,} nodes", 4 * nodes, energy(data), 1.5, energy(frozen(data)), data))
    found.append(("200 objects", 1000, sum_of([Body(float(k)) for k in range(200)]), 1.5, None, None))
    table = [float(k) for k in range(1_000_000)]
    found.append(("a list of 1,000,000", 1_000_000, look_up(table), 3, None, table))
    return found


def main() -> None:
    """The table."""
    given = options(__doc__ or "")
    columns = {"program": "", "reads": ",.0f", "us": ".2f", "ns_each": ".1f"}
    columns |= dict.fromkeys(("frozen", "alone", "equal"), ".2f")
    table = Table("host_data", "one call (us of CPU)", columns)
    for name, reads, f, x, other, data in cases():
        copied = copy.deepcopy(data)
        compiled = f.lower(x).compile()
        calls = [lambda f=f, x=x: f(x), lambda c=compiled, x=x: c(x), lambda g=other or f, x=x: g(x)]
        calls.append(lambda d=data, c=copied: d == c)
        us, alone, of_tuples, equal = [1e6 * seconds for seconds in per_call_each(*calls)]
        frozen_us = {"frozen": of_tuples} if other else {}
        compared = {} if data is None else {"equal": equal}
        table.add(program=name, reads=reads, us=us, ns_each=1e3 * us / reads, alone=alone, **frozen_us, **compared)
    table.finish(given.json)


if __name__ == "__main__":
    main()
