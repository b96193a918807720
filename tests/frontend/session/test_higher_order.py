"""Functions of the library that call what they are given: the function is staged, wherever it stands, and all else stays
what it is, also what can be called besides."""

import functools
import heapq
import itertools
import operator
import re

import pytest

import rosejit as rose


class Vec:
    """Goes through its parts, and can be called."""

    def __init__(self, *parts):
        self.parts = list(parts)

    def __iter__(self):
        return iter(self.parts)

    def __call__(self, f):
        return Vec(*map(f, self))


def clipped(a):
    return a if a > 0.5 else 0.25 * a


def larger(a, b):
    return a if a > b else b + 0.5


def first(k):
    return k[0]


CALLS = {
    "map": lambda x: sum(map(clipped, Vec(x, 2.0, -x))),
    "map of two": lambda x: sum(map(operator.mul, Vec(x, 2.0), Vec(1.0, x))),
    "map by an object": lambda x: sum([v.parts[0] for v in map(Vec, Vec(x, 2.0))]),
    "called": lambda x: sum(Vec(x, 2.0)(clipped)),
    "filter": lambda x: sum(filter(lambda k: k > 1, Vec(1, 2, 3))) * x,
    "reduce": lambda x: functools.reduce(larger, Vec(x, 2.0, -x)),
    "reduce from": lambda x: functools.reduce(operator.add, Vec(x, 2.0), 3.0),
    "accumulate": lambda x: sum(itertools.accumulate(Vec(x, 2.0, -x))),
    "accumulate by": lambda x: sum(itertools.accumulate(Vec(x, 2.0, -x), larger)),
    "accumulate by name": lambda x: sum(itertools.accumulate(Vec(x, 2.0, -x), func=larger)),
    "starmap": lambda x: sum(itertools.starmap(larger, Vec((x, 1.0), (2.0, x)))),
    "takewhile": lambda x: x * sum(itertools.takewhile(lambda k: k < 3, Vec(1, 2, 3))),
    "groupby": lambda x: x * len([*itertools.groupby(Vec((1, 2), (1, 3), (2, 4)), first)]),
    "sorted": lambda x: sorted(Vec(x, 2.0, -x), key=clipped)[1],
    "largest": lambda x: sum(heapq.nlargest(2, Vec(x, 2.0, -x))),
    "largest by": lambda x: x * heapq.nlargest(1, Vec((1, 2), (3, 1)), first)[0][1],
    "sub": lambda x: x * len(re.sub("a", lambda found: "bb", "banana")),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_is_called_is_staged(name):
    plain = CALLS[name]
    compiled = rose.jit(plain)
    for x in (1.5, 0.25, -0.75):
        assert compiled(x) == plain(x)
    steps = (plain(0.8 + 1e-6) - plain(0.8 - 1e-6)) / 2e-6
    assert rose.grad(compiled)(0.8) == pytest.approx(steps, rel=1e-6, abs=1e-6)
