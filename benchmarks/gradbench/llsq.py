"""`llsq`: least squares of a polynomial against the sign function, and their gradient."""

from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.gradbench.task import Task
from rosejit import Vec


@rose.jit
def primal(x: Vec["m"], n: int) -> float:
    total = 0.0
    for i in rose.range(n):
        t = -1.0 + i * 2.0 / (n - 1)
        rest, power = np.sign(t), 1.0
        for j in rose.range(len(x)):
            rest -= x[j] * power
            power *= t
        total += rest * rest
    return total / 2


def arguments(given: dict[str, Any]) -> tuple[Any, ...]:
    return np.array(given["x"], float), given["n"]


FUNCTIONS = {"primal": Task(primal, arguments), "gradient": Task(rose.grad(primal), arguments)}
