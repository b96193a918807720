"""Tangents and cotangents of every kind of number, in every structure, by every way of giving them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec


@dataclass
class Point:
    x: float
    v: Vec[3]


class Two(NamedTuple):
    a: float
    b: float


POINT = np.array([1.0, 2.0, 3.0])
NUMBERS = {
    "float": 1.0, "int": 1, "bool": True, "float32": np.float32(1.0), "float64": np.float64(1.0), "int64": np.int64(1),
    "int8": np.int8(1), "uint8": np.uint8(1), "numpy bool": np.True_, "0-d": np.array(1.0), "0-d int": np.array(1),
    "0-d bool": np.array(True), "0-d float32": np.array(1.0, np.float32),
}  # fmt: skip
DTYPES = ("float64", "float32", "float16", "int64", "int8", "uint8", "bool")
VECTORS = {
    **{dtype: np.array([1, 0, 1], dtype) for dtype in DTYPES},
    "list of floats": [1.0, 0.0, 1.0], "list of ints": [1, 0, 1], "list of bools": [True, False, True],
    "mixed list": [1, 0.0, True], "strided": np.array([1, 5, 0, 5, 1, 5])[::2],
}  # fmt: skip
UNIT = np.array([1.0, 0.0, 1.0])


def cube(x: float) -> float:
    return x * x * x


def cubes(x: Vec[3]) -> float:
    return (x * x * x).sum()


def squares(x: Vec[3]) -> Vec[3]:
    return x * x


def of_point(p: Point) -> float:
    return p.x * p.x + (p.v * p.v).sum()


def of_nested(d) -> float:
    return d["a"] * d["a"] + d["b"][0] * d["b"][1][0]


@pytest.mark.parametrize("way", ["outside", "staged", "known"])
@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers(kind, way):
    v = NUMBERS[kind]

    def forward(x, v):
        return rose.jvp(cube, (x,), (v,))[1]

    def backward(x, v):
        return rose.vjp(cube, x)[1](v)[0]

    def pushed(x, v):
        return rose.linearize(cube, x)[1](v)

    def twice(x, v):
        return rose.hvp(cube)(x, v)

    for call, expected in ((forward, 12.0), (backward, 12.0), (pushed, 12.0), (twice, 12.0)):
        if way == "known":
            found = rose.jit(lambda x, call=call: call(x, v))(2.0)
        else:
            found = (rose.jit(call) if way == "staged" else call)(2.0, v)
        assert (type(found), found) == (float, expected), call.__name__


@pytest.mark.parametrize("way", ["outside", "staged", "known"])
@pytest.mark.parametrize("kind", VECTORS)
def test_vectors(kind, way):
    v = VECTORS[kind]

    def forward(x, v):
        return rose.jvp(squares, (x,), (v,))[1]

    def backward(x, v):
        return rose.vjp(squares, x)[1](v)[0]

    def pushed(x, v):
        return rose.linearize(squares, x)[1](v)

    def twice(x, v):
        return rose.hvp(cubes)(x, v)

    two = 2.0 * POINT * UNIT
    for call, expected in ((forward, two), (backward, two), (pushed, two), (twice, 3.0 * two)):
        if way == "known":
            found = rose.jit(lambda x, call=call: call(x, v))(POINT)
        else:
            found = (rose.jit(call) if way == "staged" else call)(POINT, v)
        assert found.dtype == np.float64, call.__name__
        assert np.array_equal(found, expected), call.__name__


@pytest.mark.parametrize("number", ["float", "int", "bool", "float32", "numpy bool", "0-d int"])
@pytest.mark.parametrize("vector", ["float64", "float32", "int64", "list of ints"])
def test_structures(number, vector):
    n, v = NUMBERS[number], VECTORS[vector]
    p = Point(3.0, POINT)
    expected = 6.0 + 2.0 * POINT @ UNIT
    assert rose.jvp(of_point, (p,), (Point(n, v),))[1] == expected
    assert rose.linearize(of_point, p)[1](Point(n, v)) == expected
    again = rose.hvp(of_point)(p, Point(n, v))
    assert again.x == 2.0
    assert np.array_equal(again.v, 2.0 * UNIT)
    back = rose.vjp(lambda x: Point(x * x, x * POINT), 3.0)[1](Point(n, v))
    assert back == (6.0 + POINT @ UNIT,)
    d = {"a": 2.0, "b": [3.0, (5.0,)]}
    assert rose.jvp(of_nested, (d,), ({"a": n, "b": [n, (n,)]},))[1] == 4.0 + 5.0 + 3.0
    assert rose.linearize(of_nested, d)[1]({"a": n, "b": [n, (n,)]}) == 12.0
    assert rose.vjp(lambda x: Two(x, x * x), 3.0)[1](Two(n, n)) == (7.0,)


@pytest.mark.parametrize("wrong", ["x", 1j, np.array([1j] * 3), np.array(["a"] * 3), object()])
def test_what_is_no_number(wrong):
    for call in (
        lambda: rose.jvp(squares, (POINT,), (wrong,)),
        lambda: rose.vjp(squares, POINT)[1](wrong),
        lambda: rose.linearize(squares, POINT)[1](wrong),
        lambda: rose.hvp(cubes)(POINT, wrong),
    ):
        with pytest.raises((rose.StagingTypeError, rose.ShapeError)):
            call()
