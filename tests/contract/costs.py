"""Counts what the interpreter does for a function, its derivatives included: never the clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import rosejit as rose
from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import reachable, size
from tests import random_ir
from tests.backends import staged


@dataclass(frozen=True)
class Cost:
    """What one run does and holds."""

    operations: int
    copied: int
    zeroed: int
    stacked: int

    @property
    def all(self) -> int:
        return self.operations + self.copied + self.zeroed + self.stacked


def cost(f: ir.Function, args: Sequence[Any]) -> Cost:
    counters = interp.Counters()
    interp.run(f, args, counters)
    return Cost(counters.operations, counters.copied, counters.zeroed, counters.stacked)


def costs(f: rose.Function, args: Sequence[Any], order: int) -> list[Cost]:
    """Of `f`, or of its derivatives of the given order: forward and reverse on each other in every way."""
    samples = [staged(f, args)]
    for _ in range(order):
        samples = [derivative for function, given in samples for derivative in random_ir.derived(function, given, 0)]
    return [cost(function, given) for function, given in samples]


def assert_linear(small: Sequence[Cost], large: Sequence[Cost], factor: float) -> None:
    """`large` is of an input `factor` times the size: nothing has grown by much more."""
    for one, other in zip(small, large, strict=True):
        assert other.all <= 1.05 * factor * one.all, f"{one} has become {other}"


def ops(f: Any, *args: Any) -> int:
    """The operations of a function and all it calls, each counted once."""
    return sum(size(g) for g in reachable(rose.make_ir(f)(*args).function))
