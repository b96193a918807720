"""Zeros of numbers that are ints on some paths have the signs that Python gives: 26 ways to join x 17 uses."""

import math

import numpy as np
import pytest

import rosejit as rose
from tests import tables
from tests.frontend.oracle import define

PRELUDE = """
def added(v, x):
    t = 0
    for i in rose.range(3):
        if v[i] > x: t = t + v[i]
    return t
def repeated(x, n):
    t, k = 0, 0
    while k < n:
        t, k = t + x, k + 1
    return t
def returned(x, n):
    if x > 0: return 0
    if n > 2: return n - 3
    return x
def nested(v, x, n):
    t = 0
    for i in rose.range(2):
        for j in rose.range(n):
            if v[j % 3] > x: t += v[j % 3]
            else: t += 0
    return t
class Held:
    def __init__(self): self.t = 0
def of_object(x, n):
    held = Held()
    if x > 0: held.t = x * n
    return held.t
def of_cell(x, n):
    t = 0
    def add(v):
        nonlocal t
        t = t + v
    for i in rose.range(n):
        if i > 0: add(x)
    return t
"""
WAYS = (
    "sum(v[i] for i in rose.range(3) if v[i] > x)",
    "sum(x for i in range(n))",
    "sum(x for i in range(n) if i > 1)",
    "sum((v[i] for i in rose.range(3) if v[i] > x), n)",
    "sum((v[i] for i in rose.range(3) if v[i] > x), 0.0)",
    "sum([0 if v[i] > x else v[i] for i in range(3)])",
    "max(0, x)",
    "min(x, 0)",
    "max(n, x)",
    "max((v[i] for i in rose.range(3) if v[i] > x), default=0)",
    "math.prod(n for i in rose.range(3) if v[i] > x)",
    "math.prod(v[i] for i in rose.range(3) if v[i] > x)",
    "(0 if x > 0 else x)",
    "(n if x > 0 else y)",
    "(0.0 if x > 0 else n)",
    "(x or 0)",
    "(n and x)",
    "(n if x > 0 else y) * (n if y > 0 else x)",
    "added(v, x)",
    "repeated(x, n)",
    "returned(x, n)",
    "nested(v, x, n)",
    "of_object(x, n)",
    "of_cell(x, n)",
    "float(n if x > 0 else y)",
    "float(n)",
)
USES = (
    "-({0})",
    "-({0}) * 1.0",
    "-(-({0})) * 1.0",
    "math.copysign(1.0, -({0}))",
    "math.atan2(-({0}), -1.0)",
    "({0}) * -1",
    "({0}) * -1.0",
    "({0}) * n * 1.0",
    "({0}) * 2 * -1 * 1.0",
    "({0}) // -3 * 1.0",
    "({0}) % -3 * 1.0",
    "0 - ({0}) - 0.0",
    "-(({0}) + 0) * 1.0",
    "-(({0}) + 0.0)",
    "-(({0}) / 2)",
    "({0}) * 1.0",
    "-max({0}, -7) * 1.0",
)
V = np.array([0.5, 2.0, -1.0])
GIVEN = (
    (1.0, 2.0, 3, V),
    (5.0, 0.0, 0, V),
    (-0.0, -0.0, 1, np.array([0.0, -0.0, 0.0])),
    (0.0, -0.0, 2, np.array([1.0, -0.0, -1.0])),
    (-1.0, 0.0, -2, np.full(3, -0.0)),
    (0.5, -1.5, 0, np.zeros(3)),
)


@pytest.mark.parametrize(("way", "use"), tables.crossed(WAYS, USES, 4))
def test_zeros_of_ints_and_floats(way, use):
    f = define(
        PRELUDE + f"def f(x: float, y: float, n: int, v: rose.Vec['m']):\n    return {use.format(way)}\n",
        rose=rose,
        np=np,
        math=math,
    )
    g = rose.jit(f)
    for given in GIVEN:
        found, wanted = float(g(*given)), float(f(*given))
        assert (found, math.copysign(1.0, found)) == (wanted, math.copysign(1.0, wanted)), given
    x, step = 1.3, 1e-6
    slope = (f(x + step, 2.0, 3, V) - f(x - step, 2.0, 3, V)) / (2 * step)
    assert rose.grad(g)(x, 2.0, 3, V) == pytest.approx(slope, abs=1e-6)
