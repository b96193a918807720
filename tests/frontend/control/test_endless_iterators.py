"""Loops over iterators without an end, which a staged `if` leaves: refused at once; what has an end is staged."""

import itertools

import pytest

import rosejit as rose


def iterates(x):
    y = x
    while True:
        yield y
        y = 0.5 * (y + x / y)


ENDLESS = {
    "count": lambda x: itertools.count(),
    "cycle": lambda x: itertools.cycle([1.0, 2.0]),
    "repeat": lambda x: itertools.repeat(x),
    "generator": iterates,
    "enumerate": lambda x: (v for _, v in enumerate(itertools.count())),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_without_an_end(kind):
    items = ENDLESS[kind]

    def f(x):
        y = x
        for _ in items(x):
            y = 0.5 * (y + x / y)
            if abs(y * y - x) < 1e-12:
                break
        return y

    with pytest.raises(rose.StagingTypeError, match="only running tells, and what it goes through may have no end"):
        rose.jit(f)(2.0)


def test_with_an_end():
    def repeated(x):
        y = x
        for _ in itertools.repeat(None, 6):
            y = 0.5 * (y + x / y)
            if abs(y * y - x) < 1e-3:
                break
        return y

    def zipped(x):
        for k, v in zip(itertools.count(), [1.0, 2.0, 3.0]):
            x = x + k * v
            if x > 3.0:
                break
        return x

    def known(x):
        for k in itertools.count():
            if k == 5:
                break
            x = 2.0 * x
        return x

    for f in (repeated, zipped, known):
        assert rose.jit(f)(2.0) == f(2.0)
