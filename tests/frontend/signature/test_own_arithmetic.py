"""Numbers of classes derived from Python's, and of few bits, at the border of a function."""

import enum

import numpy as np
import pytest

import rosejit as rose


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mark(enum.IntFlag):
    A = 1
    B = 2


class Euros(float):
    def __add__(self, other):
        return Euros(round(float(self) + float(other), 2))


class Clock(int):
    def __mul__(self, other):
        return Clock((int(self) * other) % 12)


class Label(int):
    """Computes as an int does."""


MEMBERS = {"int": Level.HIGH, "flag": Mark.A | Mark.B}
PLACES = {
    "result": lambda m, x: m,
    "tuple": lambda m, x: (m, x),
    "list": lambda m, x: [m, x],
    "dict": lambda m, x: {"m": m, "x": x},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("member", MEMBERS)
def test_members_are_returned_as_they_are(place, member):
    put, m = PLACES[place], MEMBERS[member]
    wanted = put(m, 2.0)
    found = rose.jit(lambda x: put(m, x))(2.0)
    assert found == wanted
    first = next(iter(found.values() if place == "dict" else found)) if place != "result" else found
    assert first is m


GIVEN = {
    "parameter": lambda v: (lambda x: x + x, (v,)),
    "list": lambda v: (lambda xs: xs[0] * 2, ([v],)),
    "dict": lambda v: (lambda d: d["v"] + 1, ({"v": v},)),
    "star": lambda v: (lambda *xs: xs[0] + 1, (v,)),
}


@pytest.mark.parametrize("place", GIVEN)
@pytest.mark.parametrize("value", [Euros(1.25), Clock(7)])
def test_own_operators_are_not_passed_over(place, value):
    f, args = GIVEN[place](value)
    with pytest.raises(rose.StagingTypeError, match="computes as Python's do"):
        rose.jit(f)(*args)


@pytest.mark.parametrize("place", GIVEN)
def test_numbers_without_operators_of_their_own(place):
    f, args = GIVEN[place](Label(7))
    assert rose.jit(f)(*args) == f(*args)


def test_hints_say_that_the_number_is_meant():
    @rose.jit
    def doubled(x: float) -> float:
        return x + x

    assert doubled(Euros(1.25)) == 2.5


def of_mean(x: np.ndarray) -> float:
    return (x * x).mean()


def of_first(x: np.ndarray) -> int:
    return x.astype(np.int32)[0]


def of_pair(x: np.ndarray) -> tuple[float, float]:
    return x.max(), 2.0


def of_list(x: np.ndarray) -> list[float]:
    return [x[0], x[1]]


def of_some(x: np.ndarray) -> float | None:
    return x.sum()


def widened(x: np.ndarray) -> float:
    return x.astype(np.uint8)[0]


@pytest.mark.parametrize("function", [of_mean, of_first, of_pair, of_list, of_some, widened])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_of_few_bits_are_pythons_by_their_hints(function, dtype):
    x = np.array([2.0, 3.0], dtype)
    found, wanted = rose.jit(function)(x), function(x)
    assert found == pytest.approx(wanted, rel=1e-6)
    numbers = found if isinstance(found, (list, tuple)) else [found]
    assert {type(number) for number in numbers} == {int if function is of_first else float}


def test_slopes_of_results_of_few_bits():
    slope = rose.grad(of_mean)(np.array([2.0, 3.0], np.float32))
    assert slope.dtype == np.float32
    np.testing.assert_allclose(slope, [2.0, 3.0])


def test_inner_functions_take_them():
    inner = rose.jit(lambda x: 2.0 * x)

    @rose.jit
    def half(x: float) -> float:
        return 0.5 * x

    assert rose.jit(lambda a: half(a[0]) + inner(1.0))(np.array([4.0], np.float32)) == 4.0
