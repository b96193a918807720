"""Lists of structures that staged loops make: what comes out of functions, and what is refused."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec


@dataclass
class Spot:
    at: Vec[2]
    weight: float
    name: str = "spot"


@dataclass
class Point:
    x: float
    y: float


@rose.jit
def spots(x: float) -> list[Spot]:
    return [Spot(np.array([x, x * i]), i) for i in rose.range(3)]


@rose.jit
def empty(x: float):
    return [Spot(np.array([x, x * i]), x) for i in rose.range(0)]


def test_the_caller_gets_a_list_of_the_class():
    found = spots(2.0)
    assert [(s.at.tolist(), s.weight, s.name) for s in found] == [([2.0, 2.0 * i], float(i), "spot") for i in range(3)]
    assert type(found) is list
    assert isinstance(found[1].weight, float)
    assert empty(1.0) == []


def test_derivatives_of_lists():
    value, pullback = rose.vjp(spots, 2.0)
    (slope,) = pullback(value)
    assert slope == sum(2.0 + 2.0 * i * i for i in range(3))
    _, tangents = rose.jvp(spots, (2.0,), (1.0,))
    assert [t.at.tolist() for t in tangents] == [[1.0, float(i)] for i in range(3)]


def test_a_batch_of_lists():
    found = rose.vmap(spots)(np.array([1.0, 2.0]))
    assert [s.at.tolist() for s in found] == [[[1.0, 1.0 * i], [2.0, 2.0 * i]] for i in range(3)]


def test_the_gradient_to_a_list_in_staged_code():
    @rose.jit
    def slopes(x: float) -> float:
        made = [Spot(np.array([x, x * i]), x) for i in rose.range(3)]
        gradient = rose.grad(lambda s: sum(s[i].at[1] ** 2 * s[i].weight for i in rose.range(3)))(made)
        return gradient[2].weight + gradient[1].at[1]

    assert slopes(2.0) == 16.0 + 8.0


REFUSED = {
    "made.append(made[0])": "`.append` of a list",
    "made[0].colour = x": "no `colour`",
    "made[0].name = 'other'": "'other' is assigned",
    "made[1] = (x, x)": "a tuple is assigned",
    "best = made[0]\n    for i in rose.range(2):\n        best = made[i] if x > best.weight else best\n    return best.weight": (
        "let the loop carry its index"
    ),
    "spot = Spot(np.zeros(2), x)\n    made[0] = spot\n    spot.weight = 2.0": "held by a list",
    "made[0].at = x": "and a Real is assigned",
    "made[0].weight = np.zeros(2)": "an attribute is a Real in all elements of this list, and an array of Reals",
    "made[0].at = np.zeros(3)": "of shape (2,) in all elements of this list, and an array of Reals of shape (3,)",
    "made[0].weight = True": "and a Bool is assigned",
    "made[0].weight = None": "and a NoneType is assigned",
    "made = [Spot(np.zeros(2), i) for i in rose.range(3)]\n    made[0].weight = x": "an Int in all elements of this list",
    "made[0].at = made[1].at": "one array is given to two elements",
}


@pytest.mark.parametrize("statements", REFUSED)
def test_what_is_refused(statements):
    from tests.frontend.oracle import define, fault

    text = f"""
def f(x: float):
    made = [Spot(np.array([x, x * i]), x) for i in rose.range(3)]
    {statements}
    return x
"""
    error = fault(define(text, Spot=Spot, np=np, rose=rose), 1.0)
    assert REFUSED[statements] in str(error)
    assert "Columns" not in str(error)


def test_copies_are_of_their_own():
    @rose.jit
    def f(x: float) -> float:
        made = [Spot(np.array([x, x]), x) for i in rose.range(3)]
        kept = copy.copy(made[0])
        made[0].weight = 5.0
        return kept.weight * 10 + made[0].weight

    assert f(2.0) == 25.0


def test_elements_are_equal_by_their_values():
    @rose.jit(cache=False)
    def f(x: float) -> tuple[bool, bool]:
        made = [Point(x, x * i) for i in rose.range(3)]
        return made[1] == made[1], made[1] == made[2]

    assert f(2.0) == (True, False)


IDENTITY = {
    "made[0], made[1] = made[1], made[0]": "before another took its place",
    "p = made[0]\n    made[i] = Point(x, x)\n    x = p.x": "before another took its place",
    "p = made[0]\n    if x > 1.0:\n        made[i] = Point(x, x)\n    x = p.x": "before another took its place",
    "p = made[0]\n    for k in rose.range(2):\n        x += p.x\n        made[k] = Point(x, x)": "uses one taken before",
    "made[1] = made[0]\n    made[i].x = 4.0": "one of these is in two places",
    "for k in rose.range(2):\n        made[k].x = x\n        made[k + 1] = made[k]": "one of these is in two places",
    "one = Point(x, x)\n    same = [one for _ in rose.range(3)]\n    same[0].x = 4.0": "one of these is in two places",
    "turned = [made[2 - k] for k in rose.range(3)]\n    turned[0].x = 4.0": "one of these is in two places",
    "turned = [(made[2 - k], x) for k in rose.range(3)]\n    made[0].x = 4.0": "one of these is in two places",
    "part = made[1:]\n    part[0] = Point(x, x)": "which is another list",
    "part = made[1:]\n    made[1] = Point(x, x)\n    x = part[0].x": "before another took its place",
}


@pytest.mark.parametrize("statements", IDENTITY)
def test_objects_that_would_have_to_be_two_or_one_are_refused(statements):
    from tests.frontend.oracle import define, fault

    text = f"""
def f(x: float, i: int):
    made = [Point(x, x * k) for k in rose.range(3)]
    {statements}
    return x
"""
    error = fault(define(text, Point=Point, rose=rose), 2.0, 0)
    assert IDENTITY[statements] in str(error)


@dataclass(frozen=True)
class Fixed:
    x: float


KEPT = {
    "made[0], made[1] = copy.copy(made[1]), copy.copy(made[0])": "Point",
    "p = made[i]\n    made[i + 1] = Point(x, x)\n    p.x += 4.0": "Point",
    "p = made[i]\n    if x > 3.0:\n        made[i] = Point(x, x)\n    else:\n        p.x += 4.0": "Point",
    "for k in rose.range(2):\n        p = made[k]\n        made[k] = Point(p.x + 1.0, x)": "Point",
    "for k in rose.range(2):\n        made[k] = made[k + 1]": "Point",
    "turned = [made[2 - k] for k in rose.range(3)]\n    x = turned[i].x": "Point",
    "part = made[1:]\n    part[0].x = 4.0\n    made[2].x = 5.0\n    x = part[0].x + part[1].x": "Point",
    "made[0], made[1] = made[1], made[0]": "Fixed",
    "part = made[1:]\n    part[0] = Fixed(9.0)\n    x = part[0].x": "Fixed",
}


@pytest.mark.parametrize("statements", KEPT)
def test_objects_keep_their_identity(statements):
    from tests.frontend.oracle import agrees, define

    parts = "x * k, x" if KEPT[statements] == "Point" else "x * k"
    text = f"""
def f(x: float, i: int):
    made = [{KEPT[statements]}({parts}) for k in rose.range(3)]
    {statements}
    return x, made[0].x, made[1].x, made[2].x
"""
    agrees(define(text, Point=Point, Fixed=Fixed, copy=copy, rose=rose), (2.0, 0), (4.0, 1))
