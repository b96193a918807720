"""Declarations: exact types, documentation, optional parameters."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import rosejit as rose
from rosejit import Array, Mat, Vec


class Point(NamedTuple):
    x: float
    y: float


@dataclass
class Ball:
    at: Point
    spin: Mat[2, 2]


@rose.opaque
def measured(p: Point, k: int) -> Vec[2]:
    return np.ones(2)


@rose.jit
def everything(
    x: float,
    new: Vec[3],
    balls: list[Ball],
    pair: tuple[int, bool],
    k: Array[2, 2, int],
    on: Array[2, bool],
    nothing: None,
    mode: rose.Static[str] = "fast",
    scale: float = 2.0,
    *,
    rest: dict[str, float],
):
    """All kinds of arguments. */ ends no comment.

    Two lines of it.
    """
    shifted = measured(balls[0].at, pair[0])
    print(x)
    return {"balls": balls, "mode": mode, "on": on, "k": k, "not a name": shifted}, pair, [x, scale], nothing


def with_rest(x, new, balls, pair, k, on, nothing, rest, mode="fast", scale: float = 2.0):
    """All kinds of arguments. */ ends no comment.

    Two lines of it.
    """
    return everything(x, new, balls, pair, k, on, nothing, mode, scale, rest=rest)


def test_all_kinds_of_types(tmp_path, golden):
    balls = [Ball(Point(0.0, 1.0), np.eye(2)), Ball(Point(0.0, 1.0), np.eye(2))]
    given = (1.0, np.ones(3), balls, (3, True), np.ones((2, 2), int), np.ones(2, bool), None)
    entries = {"everything": (with_rest, *given, {"a": 1.0}), "simple": (lambda x: x * x, 2.0)}
    golden(rose.export(entries, path=tmp_path)[2].read_text())
