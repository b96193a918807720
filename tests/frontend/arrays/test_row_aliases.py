"""Arrays in lists that staged loops made: CPython shares them, so writes that both would have to show are refused."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec
from tests.frontend.oracle import agrees, define, fault


@dataclass
class Spot:
    weight: float
    at: Vec[2]


IN_THE_LIST = "known by another name, or are in it twice"
HELD = "an array that a list holds was changed"
SAME = "may be the same"
BY_LIST = "held by a list"

REFUSED = {
    "made = [Spot(x, v) for k in rose.range(3)]\n    made[i].at[0] = 5.0\n    x = v[0]": IN_THE_LIST,
    "made = [Spot(x, v) for k in rose.range(3)]\n    made[i].at += x\n    x = v[0]": IN_THE_LIST,
    "made = [Spot(x, v) for k in rose.range(3)]\n    v[0] = 5.0\n    x = made[i].at[0]": HELD,
    "made = [v for k in rose.range(3)]\n    made[i][0] = 5.0\n    x = v[0]": IN_THE_LIST,
    "made = [(x, v) for k in rose.range(3)]\n    made[i][1][0] = 5.0\n    x = v[0]": IN_THE_LIST,
    "made = [[v, w] for k in rose.range(3)]\n    made[i][1][0] = 5.0\n    x = w[0]": IN_THE_LIST,
    "made = [[v for _ in rose.range(2)] for k in rose.range(3)]\n    made[i][1][0] = 5.0\n    x = v[0]": IN_THE_LIST,
    "made = [Spot(x, argument) for k in rose.range(3)]\n    made[i].at[0] = 5.0": IN_THE_LIST,
    "made = [twice(x) for k in rose.range(3)]\n    made[i][0][0] = 5.0\n    x = made[i][1][0]": IN_THE_LIST,
    "u = v if x > 0.0 else w\n    made = [Spot(x, u) for k in rose.range(3)]\n    v[0] = x\n    x = made[i].at[0]": HELD,
    "made = [Spot(x, v) for k in rose.range(3)]\n    if i < 1:\n        v[0] = x\n    x = made[i].at[0]": HELD,
    "made = [Spot(x, v) for k in rose.range(3)]\n    for k in rose.range(2):\n        x += made[i].at[0]\n        v[0] += x": (
        HELD
    ),
    "made = [(x, np.zeros(2)) for k in rose.range(3)]\n    part = made[1:]\n    part[i][1][0] = x\n    x = made[1][1][0]": (
        HELD
    ),
    "made = new(3)\n    made[0].at = v\n    made[1].at = v\n    made[0].at[0] = 5.0": IN_THE_LIST,
    "made = new(3)\n    made[0] = Spot(x, v)\n    made[0].at[0] = 5.0\n    x = v[0]": HELD,
    "made = new(3)\n    made[0] = Spot(x, v)\n    v[0] = 5.0": BY_LIST,
    "made = new(3)\n    for k in rose.range(3):\n        v[0] += x\n        made[k] = Spot(x, v)": "in a loop that changes it",
    "made = new(3)\n    for k in rose.range(3):\n        made[k].at = v\n        v = v + 1.0\n    made[0].at[0] = 5.0": IN_THE_LIST,
    "made = [Spot(x, v), Spot(x, w)]\n    for k in rose.range(i):\n        made = new(2)\n    v[0] = 7.0\n    x = made[0].weight": BY_LIST,
    "if x > 0.0:\n        made = [Spot(x, v) for k in rose.range(2)]\n    v[0] = 5.0\n    x = made[i].at[0]": HELD,
    "if x > 0.0:\n        u = v.reshape(2, 1)\n    v[0] = 5.0\n    x = u[0, 0]": SAME,
    "if x > 0.0:\n        u = v if i < 3 else np.zeros(2)\n    v[0] = 5.0\n    x = u[0]": SAME,
    "if x > 0.0:\n        u = np.zeros(2)\n        row = u[:1]\n    u[0] = 5.0\n    x = row[0]": SAME,
    "if x > 0.0:\n        u = np.zeros(2)\n        grid = u.reshape(2, 1)\n    u[0] = 5.0\n    x = grid[0, 0]": SAME,
    """best = new(2)
    for k in rose.range(3):
        v[0] += x
        made = [Spot(x, v) for _ in rose.range(2)]
        if k == 1:
            best = made
    x = best[i].at[0]""": "under two names",
    """made = [Spot(x, v) for _ in rose.range(2)]
    for k in rose.range(3):
        v[0] += x
        x += made[i].at[0]
        v = np.zeros(2)""": "under two names",
}


def twice(x):
    both = np.array([x, x])
    return both, both


TEXT = """
def f(x: float, i: int, argument: Vec[2]):
    def new(count):
        return [Spot(x * k, np.array([x, k])) for k in rose.range(count)]
    v, w = np.zeros(2), np.ones(2)
    {}
    return x
"""
NAMES = {"Spot": Spot, "Vec": Vec, "np": np, "rose": rose, "twice": twice, "copy": copy}


@pytest.mark.parametrize("statements", REFUSED)
def test_what_would_have_to_show_twice_is_refused(statements):
    error = fault(define(TEXT.format(statements), **NAMES), 2.0, 0, np.ones(2))
    assert isinstance(error, rose.StagingTypeError)
    assert REFUSED[statements] in str(error)
    assert "copy" in str(error)


KEPT = [
    "if x > 0.0:\n        u = np.zeros(2)\n        r = u\n        p = (u, x)\n    if x > 0.0:\n        u[0] = x\n        x = r[0] + p[0][0]",
    "made = [Spot(x, v.copy()) for k in rose.range(3)]\n    made[i].at[0] = 5.0\n    x = v[0] + made[i + 1].at[0]",
    "made = [Spot(x, argument) for k in rose.range(3)]\n    made[i].at = v\n    x = made[i].at[0] + made[i + 1].at[0]",
    "made = [argument for k in rose.range(3)]\n    made[i] = 2 * made[i + 1]\n    x = made[i][0] + argument[0]",
    "made = [Spot(x, v) for k in rose.range(3)]\n    made[i].at = w\n    x = v[0] + made[i].at[0]",
    "made = np.array([v for k in rose.range(3)])\n    made[i, 0] = 5.0\n    x = v[0] + made[i + 1, 0]",
    "made = np.asarray([v for k in rose.range(3)])\n    made[i, 0] = 5.0\n    x = v[0] + made[i + 1, 0]",
    "made = new(3)\n    made[0].at = w\n    made[1].at = np.zeros(2)\n    x = w[0] + made[0].at[1]",
    "made = new(3)\n    made[0].at = np.array([x, x])\n    made[0].at[0] += 5.0\n    x = made[0].at[0] + made[1].at[0]",
    "made = new(3)\n    for k in rose.range(3):\n        made[k].at = v\n        v = v + 1.0\n    x = made[0].at[0] + made[2].at[0]",
    """made = new(3)
    for k in rose.range(3):
        u = np.array([x * k, x])
        made[k].at = u
    made[i].at[0] += 4.0
    x = made[i].at[0] + made[i + 1].at[0]""",
    """grid = np.ones((3, 2))
    for k in rose.range(4):
        made = [Spot(x, grid[j]) for j in rose.range(3)]
        grid[k % 3] = made[1].at + made[2].at
    x = grid[0, 0] + grid[2, 1]""",
]


@pytest.mark.parametrize("statements", KEPT)
def test_what_is_as_in_python(statements):
    agrees(define(TEXT.format(statements), **NAMES), (2.0, 0, np.ones(2)), (-1.0, 1, np.array([3.0, 4.0])))
