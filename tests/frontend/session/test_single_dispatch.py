"""`functools.singledispatch` chooses by what `type(x)` says of a staged value, as CPython chooses by the value."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose


@functools.singledispatch
def kind(x):
    return -1.0


@kind.register
def _(x: bool):
    return 1.0


@kind.register
def _(x: int):
    return x * 2.0


@kind.register
def _(x: float):
    return x * 3.0 if x > 0.0 else 0.5


@kind.register
def _(x: np.ndarray):
    return x[0] * 5.0


@kind.register
def _(x: list):
    return x[0] * 7.0


@dataclass
class Point:
    x: float


@kind.register
def _(x: Point, more: float = 2.0):
    return x.x * more


CASES = [1.5, -1.5, 3, True, np.array([2.0, 3.0]), [4.0, 1.0], Point(2.5)]


@pytest.mark.parametrize("value", CASES, ids=repr)
@pytest.mark.parametrize("place", ["outside", "branch", "loop"])
def test_the_function_of_the_class_is_called(value, place):
    def outside(v):
        return kind(v)

    def branch(v):
        return kind(v) if kind(v) > 0.0 else kind(v) * 2.0

    def loop(v):
        t = 0.0
        for _ in rose.range(3):
            t += kind(v)
        return t

    f = locals()[place]
    assert rose.jit(f)(value) == f(value)


def test_in_a_gradient():
    assert rose.grad(lambda x: kind(x) * x)(2.0) == 12.0


def test_more_arguments():
    assert rose.jit(lambda x: kind(Point(x), more=x))(3.0) == 9.0
