"""Arrays of the host inside of structures from outside, where a name is bound to such a structure on one path, and to
one that staged code makes on another: kinds of structures x ways to join. Values are CPython's, slopes differences."""

import copy
import dataclasses
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define

A, B = np.array([0.0, 1.0]), np.array([3.0, 4.0])


@dataclass
class Record:
    mu: Any
    k: int = 1


class Named(NamedTuple):
    mu: Any
    k: int = 1


class Plain:
    def __init__(self, mu, k=1):
        self.mu, self.k = mu, k


def mu(m):
    return m.mu


KINDS = {
    "record": (Record, mu),
    "named": (Named, mu),
    "plain": (Plain, mu),
    "nested": (lambda a: Record(Record(a)), lambda m: m.mu.mu),
    "nested plain": (lambda a: Plain(Plain(Plain(a))), lambda m: m.mu.mu.mu),
    "tuple": (lambda a: (a, 0.5), lambda m: m[0]),
    "list": (lambda a: [a, 0.5], lambda m: m[0]),
    "dict": (lambda a: {"mu": a}, lambda m: m["mu"]),
    "in a dict": (lambda a: {"m": Record(a)}, lambda m: m["m"].mu),
}
WAYS = """
plain range;     m = S|for _ in range(70):|    m = make(get(m) * 0.9 + x)
staged range;    m = S|for _ in rose.range(5):|    m = make(get(m) * 0.9 + x)
none;            m = S|for _ in rose.range(int(x)):|    m = make(get(m) * 0.9 + x)
while;           m, n = S, 0|while get(m)[1] < 5 and n < 9:|    m = make(get(m) * 0.9 + x)|    n += 1
another of them; m = S|for i in rose.range(5):|    m = T if i > x else S
back;            m = make(A * x)|for i in rose.range(5):|    if i > 2:|        m = T
an if;           m = S|if x > 0:|    m = make(get(S) * x)
both sides;      if x > 0:|    m = make(get(S) * x)|else:|    m = S
two of them;     m = S if x > 0 else T
conditional;     m = make(get(S) * x) if x > 0 else S
return;          m = one(x)
match;           m = S|match x > 0:|    case True:|        m = make(get(T) * x)
try;             m = S|try:|    m = make(get(T) * math.sqrt(x))|except ValueError:|    pass
"""
WAYS = dict(tuple(map(str.strip, line.split(";", 1))) for line in WAYS.strip().splitlines())


def made(kind, way):
    make, get = KINDS[kind]
    scope = {"math": math, "np": np, "rose": rose, "A": A, "make": make, "get": get, "S": make(A), "T": make(B)}
    lines = WAYS[way].split("|")
    text = "def one(x):\n    if x > 0:\n        return make(A * x)\n    return T\n"
    text += "def f(x):\n    " + "\n    ".join(lines) + "\n    return get(m)[1] * x + get(m).sum()\n"
    return define(text, **scope)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_structures_join(kind, way):
    f = made(kind, way)
    staged, slope, h = rose.jit(f), rose.grad(f), 1e-6
    for x in (0.6, -0.6):
        assert staged(x) == pytest.approx(f(x), rel=1e-15)
        assert slope(x) == pytest.approx((f(x + h) - f(x - h)) / (2 * h), rel=1e-7, abs=1e-7)


def replaced(x):
    m = dataclasses.replace(START, k=2)
    for _ in rose.range(70):
        m.mu = m.mu * 0.9 + x
    return m.mu[1] * m.k


def copied(x):
    m, n = copy.copy(START), 0
    while m.mu[1] < 5 and n < 100:
        m.mu = m.mu * 0.9 + x
        n += 1
    return m.mu[1]


def one_side(x):
    m = copy.copy(PLAIN)
    if x > 0:
        m.mu = m.mu * x
    return m.mu.sum()


def unpacked(x):
    w, b = PAIR
    for _ in range(100):
        w, b = w * 0.9 + x, b + x
    return w.sum() * b


START, PLAIN, PAIR = Record(A), Plain(A), (A, 0.5)


@pytest.mark.parametrize("f", [replaced, copied, one_side, unpacked])
def test_attributes_and_parts(f):
    assert rose.jit(f)(0.6) == f(0.6)
    assert rose.grad(f)(0.6) == pytest.approx((f(0.6 + 1e-6) - f(0.6 - 1e-6)) / 2e-6, rel=1e-8)


def test_what_the_structure_holds_is_read_again():
    start = Record(A.copy())

    @rose.jit
    def f(x: float) -> float:
        m = start
        for _ in rose.range(3):
            m = Record(m.mu + x)
        return m.mu.sum()

    assert f(1.0) == 7.0
    start.mu[0] = 10.0
    assert f(1.0) == 17.0
    start.mu = np.array([1.0, 2.0, 3.0])
    assert f(1.0) == 15.0


@pytest.mark.parametrize("first", [np.arange(2), np.array([True, False])])
def test_elements_of_another_kind(first):
    @rose.jit
    def f(x: float) -> float:
        a = first
        for _ in rose.range(3):
            a = a * 0.9 + x
        return a.sum()

    with pytest.raises(rose.StagingTypeError, match="of (ints|bools) before the loop and .* of floats after"):
        f(1.0)
    first = first + 0.0
    assert f(1.0) > 0
