"""`functools.cached_property` in staged code: computed once, wherever it is asked for first."""

import functools

import pytest

import rosejit as rose
from tests.frontend.oracle import agrees


class Scaled:
    def __init__(self, factor):
        self.factor, self.asked = factor, 0

    @functools.cached_property
    def twice(self):
        self.asked += 1
        return self.factor * 2


def changed_between(x: float, n: int):
    c = Scaled(x)
    first = c.twice
    c.factor = 5.0
    return first + c.twice, c.asked


def first_in_a_loop(x: float, n: int):
    c, total = Scaled(x), 0.0
    for _ in range(n):
        c.factor = c.factor + 1.0
        total += c.twice
    return total, c.asked, c.twice


def before_a_loop(x: float, n: int):
    c = Scaled(x)
    total = c.twice
    for _ in range(n):
        c.factor = c.factor + 1.0
        total += c.twice
    return total, c.asked


def in_a_while(x: float, n: int):
    c, total, k = Scaled(x), 0.0, 0
    while k < n:
        c.factor = c.factor * x
        total += c.twice
        k += 1
    return total, c.asked


def made_in_a_loop(x: float, n: int):
    total = 0.0
    for i in range(n):
        c = Scaled(x + i)
        total += c.twice
        c.factor = 1.0
        total += c.twice
    return total


def on_one_side(x: float, n: int):
    c, total = Scaled(x), 0.0
    if x > 0.0:
        total = c.twice
    c.factor = 7.0
    return total + c.twice, c.asked


def on_both_sides(x: float, n: int):
    c = Scaled(x)
    total = c.twice if x > 0.0 else c.twice * 3
    c.factor = 7.0
    return total + c.twice, c.asked


def twice_on_one_side(x: float, n: int):
    c, total = Scaled(x), 0.0
    if x > 0.0:
        total = c.twice
    if n > 1:
        c.factor = x * 3
        total += c.twice
    return total + c.twice, c.asked


def deleted(x: float, n: int):
    c = Scaled(x)
    total = c.twice
    c.factor = 4.0
    del c.twice
    return total + c.twice, c.asked


def assigned(x: float, n: int):
    c = Scaled(x)
    c.twice = 10.0 * x
    return c.twice, c.asked


def asked_by_name(x: float, n: int):
    c = Scaled(x)
    if x > 0.0:
        c.twice  # noqa: B018
    c.factor = 3.0
    return getattr(c, "twice"), getattr(c, "twice", 1.0), hasattr(c, "twice"), c.asked  # noqa: B009


PROGRAMS = [
    changed_between, first_in_a_loop, before_a_loop, in_a_while, made_in_a_loop, on_one_side, on_both_sides,
    twice_on_one_side, deleted, assigned, asked_by_name,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_it_is_computed_once(program):
    agrees(program, (1.5, 2), (-1.5, 2), (1.5, 0), (-1.5, 1), (0.5, 3))


@pytest.mark.parametrize("x", [1.5, -1.5])
def test_its_derivative_is_of_what_was_computed(x):
    def value(x):
        return first_in_a_loop(x, 3)[0] + on_one_side(x, 3)[0]

    h = 1e-4
    assert rose.grad(value)(x) == pytest.approx((value(x + h) - value(x - h)) / (2 * h))


HELD = Scaled(3.0)


def test_an_object_from_outside_keeps_it():
    def program(x: float):
        return HELD.twice * x

    staged = rose.jit(program)
    assert staged(1.0) == 6.0
    HELD.factor = 100.0
    assert (staged(1.0), program(1.0), HELD.asked) == (6.0, 6.0, 1)
