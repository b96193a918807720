"""Structures as arguments and results, as users write them: lists of dataclasses of every make, dicts of arrays, nested
ones. Beside each call what Python alone takes to read the numbers of the arguments (`read`) and to make such a result
of numbers that it has (`made`): no call can take less than the two."""

import dataclasses
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import rosejit as rose
from benchmarks.measure import Table, options, per_call


@dataclasses.dataclass
class Body:
    x: float
    y: float
    m: float


@dataclasses.dataclass(frozen=True)
class FrozenBody:
    x: float
    y: float
    m: float


@dataclasses.dataclass(slots=True)
class SlotsBody:
    x: float
    y: float
    m: float


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenSlotsBody:
    x: float
    y: float
    m: float


class TupleBody(NamedTuple):
    x: float
    y: float
    m: float


@dataclasses.dataclass
class Wheel:
    at: TupleBody
    spin: float


@dataclasses.dataclass
class Car:
    body: Body
    wheels: list[Wheel]


def energy(bodies):
    total = 0.0
    for b in bodies:
        total = total + b.m * (b.x * b.x + b.y * b.y)
    return total


def driven(car: Car):
    return energy([car.body, *[wheel.at for wheel in car.wheels]]) + sum([w.spin * w.spin for w in car.wheels])


def loss(weights):
    return sum([w @ w for w in weights.values()])


def numbers(bodies: Any) -> list[tuple[float, float, float]]:
    return [(b.x, b.y, b.m) for b in bodies]


def bodies(table: Table) -> None:
    for cls in (Body, FrozenBody, SlotsBody, FrozenSlotsBody, TupleBody):
        value, gradient = rose.jit(energy), rose.grad(energy)
        for count in (10, 100, 1000):
            given = [cls(float(k), 1.0, 2.0) for k in range(count)]
            known = numbers(given)
            row(table, f"list of {count:,} {cls.__name__}", value, gradient, given, known, cls)


def row(table: Table, what: str, value: Any, gradient: Any, given: Any, known: Any, cls: Any) -> None:
    table.add(
        what=what,
        value_us=micro(lambda: value(given)),
        grad_us=micro(lambda: gradient(given)),
        read_us=micro(lambda: numbers(given)),
        made_us=micro(lambda: [cls(x, y, m) for x, y, m in known]),
    )


def micro(f: Callable[[], Any]) -> float:
    return 1e6 * per_call(f)


def others(table: Table) -> None:
    given: dict[str, tuple[Any, Any]] = {
        "deque of 1,000 numbers": (lambda q: sum([x * x for x in q]), deque(map(float, range(1000)))),
        "dict of 100 numbers": (lambda d: sum([x * x for x in d.values()]), {f"p{k}": float(k) for k in range(100)}),
        "dict of 3 arrays of 30": (loss, {name: np.ones(30) for name in "abc"}),
        "dict of 30 arrays of 30": (loss, {f"w{k}": np.ones(30) for k in range(30)}),
        "nested, 15 numbers": (driven, Car(Body(1.0, 2.0, 3.0), [Wheel(TupleBody(1.0, 2.0, 3.0), 4.0)] * 3)),
    }
    for what, (f, argument) in given.items():
        value, gradient = rose.jit(f), rose.grad(f)
        table.add(
            what=what,
            value_us=micro(lambda value=value, a=argument: value(a)),
            grad_us=micro(lambda gradient=gradient, a=argument: gradient(a)),
        )


def main() -> None:
    given = options(__doc__ or "")
    keys = ("value_us", "grad_us", "read_us", "made_us")
    table = Table("structures", "microseconds of CPU a call", {"what": "", **dict.fromkeys(keys, ",.1f")})
    bodies(table)
    others(table)
    table.finish(given.json)


if __name__ == "__main__":
    main()
