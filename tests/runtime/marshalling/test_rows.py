"""Many structures that are alike: one wrong or odd number among many is told as among few."""

import dataclasses
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import rosejit as rose
from rosejit.errors import RoseError


class Ours(float):
    """A float that is none of Python's own."""


@dataclasses.dataclass
class Body:
    x: Any
    m: Any


class Named(NamedTuple):
    x: Any
    m: Any


class Makes(Named):
    """Its values know who has made them."""

    @classmethod
    def _make(cls, iterable):
        made = tuple.__new__(cls, iterable)
        made.by = "_make"
        return made


def energy(bodies):
    total = 0.0
    for body in bodies:
        total = total + body.m * body.x * body.x
    return total


def of_numbers(numbers):
    total = 0.0
    for x in numbers:
        total = total + x * x
    return total


def bodies(count, last):
    return [*[Body(float(k), 2.0) for k in range(count - 1)], Body(1.0, last)]


ODD = [
    3, True, Ours(2.5), np.float64(2.5), np.int64(3), np.array(2.0), 2**70, 10**400,
    Decimal("1.5"), Fraction(1, 2), "gggggggg", None, [1.0], b"ggggggggg",
]  # fmt: skip


def named(count, last):
    return [*[Named(float(k), 2.0) for k in range(count - 1)], Named(last, 2.0)]


MAKERS = {
    "named": (energy, named),
    "body": (energy, bodies),
    "list": (of_numbers, lambda count, last: [*map(float, range(count - 1)), last]),
}


@pytest.mark.parametrize("made", MAKERS)
@pytest.mark.parametrize("odd", ODD, ids=lambda value: type(value).__name__)
def test_a_number_among_many_is_taken_as_among_few(odd, made):
    """300 are looked at by `marshal`, 5 one by one."""
    f, make = MAKERS[made]
    told = []
    for count in (5, 300):
        compiled = rose.jit(f)
        compiled(make(count, 1.0))
        given = make(count, odd)
        try:
            found, wanted = compiled(given), f(given)
            assert type(found) is float
            assert found == pytest.approx(float(wanted))
            told.append("right")
        except (RoseError, TypeError, OverflowError) as error:
            told.append((type(error), str(error).partition("\n")[0].replace(f"[{count - 1}]", "[k]")))
    assert told[0] == told[1]


@pytest.mark.parametrize("cls", [Body, Named, Makes])
@pytest.mark.parametrize("count", [5, 300])
def test_results_are_of_the_class_and_made_as_it_makes_them(cls, count):
    given = [cls(float(k), 2.0) for k in range(count)]
    found = rose.grad(energy)(given)
    assert [(each.x, each.m) for each in found] == [(4.0 * k, float(k * k)) for k in range(count)]
    assert {type(each) for each in found} == {cls}
    assert cls is not Makes or all(vars(each) == {"by": "_make"} for each in found)
