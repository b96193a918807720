"""Many structures that are alike: one wrong or odd number among many is told as among few."""

import dataclasses
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import rosejit as rose
from rosejit.errors import RoseError


class Ours(float):
    """A float that is none of Python's own."""


@dataclasses.dataclass
class Body:
    x: object
    m: object


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


def bodies(count, last, place):
    made = [Body(float(k), 2.0) for k in range(count)]
    setattr(made[-1], place, last)
    return made


ODD = [
    3, True, Ours(2.5), np.float64(2.5), np.int64(3), np.array(2.0), 2**70, 10**400,
    Decimal("1.5"), Fraction(1, 2), "gggggggg", None, [1.0], b"ggggggggg",
]  # fmt: skip
MAKERS = {
    "x": (energy, lambda count, last: bodies(count, last, "x")),
    "m": (energy, lambda count, last: bodies(count, last, "m")),
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
