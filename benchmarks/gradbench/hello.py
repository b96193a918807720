"""`hello`: a square and its derivative."""

import rosejit as rose
from benchmarks.gradbench.task import Task


@rose.jit
def square(x: float) -> float:
    return x * x


def arguments(given: float) -> tuple[float]:
    return (given,)


FUNCTIONS = {"square": Task(square, arguments), "double": Task(rose.grad(square), arguments)}
