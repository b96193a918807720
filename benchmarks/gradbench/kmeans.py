"""`kmeans`: the cost of a clustering, and Newton's direction from its gradient and the diagonal of its Hessian."""

from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.gradbench.task import Task
from rosejit import Mat, Vec


@rose.jit
def squared_distance(a: Vec["d"], b: Vec["d"]) -> float:
    total = 0.0
    for j in rose.range(len(a)):
        total += (a[j] - b[j]) ** 2
    return total


@rose.jit
def cost(centroids: Mat["k", "d"], points: Mat["n", "d"]) -> float:
    total = 0.0
    for i in rose.range(len(points)):
        total += min(squared_distance(points[i], centroids[j]) for j in rose.range(len(centroids)))
    return total


@rose.jit
def direction(centroids: Mat["k", "d"], points: Mat["n", "d"]) -> Mat["k", "d"]:
    """The Hessian is diagonal, so its product with ones is its diagonal."""
    gradient, diagonal = rose.jvp(lambda c: rose.grad(cost)(c, points), (centroids,), (np.ones_like(centroids),))
    return gradient / diagonal


def arguments(given: dict[str, Any]) -> tuple[Any, ...]:
    return np.array(given["centroids"], float), np.array(given["points"], float)


FUNCTIONS = {"cost": Task(cost, arguments), "dir": Task(direction, arguments)}
