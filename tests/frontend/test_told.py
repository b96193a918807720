"""Values that differ between paths in a way that cannot be staged: whoever asks what they are is told, in time."""

import math
import operator
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec
from rosejit.errors import RoseError
from tests.frontend.oracle import define


@dataclass
class Held:
    value: object


def helper(value):
    return 1.0 if value is None else 2.0


WORLD = {"rose": rose, "np": np, "math": math, "operator": operator, "Held": Held, "helper": helper}
MADE = {
    "a number": "q = None\n    if x > 1: q = x",
    "an array": "q = None\n    if x > 1: q = np.zeros(2)",
    "a list": "q = None\n    if x > 1: q = [x]",
    "a text": "q = 'a'\n    if x > 1: q = None",
    "a function": "q = None\n    if x > 1: q = abs",
    "later": "q = None\n    for i in rose.range(3):\n        if i * x > 1: q = x",
}
ASKED = [
    "q is None", "q is not None", "None is q", "q == None", "isinstance(q, float)", "type(q) is type(None)",
    "q.__class__ is type(None)", "callable(q)", "id(q) == id(None)", "hasattr(q, '__len__')", "q in (None,)",
    "None in [1.0, q]", "[q].count(None)", "(q, 1) == (None, 1)", "helper(q) > 1", "Held(q).value is None", "repr(q)",
    "f'{q}'", "q or 7.0", "not q", "np.isscalar(q)", "np.ndim(q)", "{None: 1.0}.get(q, 2.0)", "(lambda *z: z[0] is None)(q)",
    "all(z is None for z in [q])", "getattr(q, 'real', None)", "getattr(1.0, 'k', q)",
    "operator.is_(1.0, q)", "np.shape(a=q)", "issubclass(type(q), float)",
]  # fmt: skip
PATTERNS = ["None", "[a]", "[a, *b]", "{'k': a}", "float()", "Held(value=1.0)", "int() | float()", "str()", "'a'"]


def as_python_or_refused(source):
    """Whether what Python does is done, on both paths; else it is refused in words."""
    plain = define(source, **WORLD)
    staged, refused = rose.jit(define(source, **WORLD)), 0
    for x in (0.5, 1.5):
        try:
            found = staged(x)
        except RoseError:
            refused += 1
            continue
        assert found == plain(x)
    return refused != 2  # a path may raise


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
@pytest.mark.parametrize("asked", ASKED)
def test_what_asks_is_told_or_refused(asked, made):
    is_staged = as_python_or_refused(f"def f(x):\n    {made}\n    return 1.0 if {asked} else 2.0")
    if asked in ("q is None", "q is not None", "None is q", "helper(q) > 1"):
        assert is_staged


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_are_told_or_refused(pattern, made):
    text = f"    match q:\n        case {pattern}:\n            return 1.0\n        case _:\n            return 2.0"
    is_staged = as_python_or_refused(f"def f(x):\n    {made}\n{text}")
    if pattern == "None":
        assert is_staged


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
@pytest.mark.parametrize("kept", ["r = q", "r = [q]", "r = Held(q)", "setattr(h, 'value', q)", "r = dict(a=q)", "pass"])
def test_what_keeps_is_not(kept, made):
    f = rose.jit(define(f"def f(x: float) -> float:\n    {made}\n    h = Held(1.0)\n    {kept}\n    return x", **WORLD))
    assert f(0.5) == 0.5


def test_nothing_on_both_sides_is_nothing():
    @rose.jit
    def f(x: float, n: int) -> float:
        def last(k):
            for i in rose.range(n):
                if i * k > 2:
                    return None
            return None

        return x if last(x) is None else 2.0 * x

    assert f(1.5, 4) == 1.5


def test_a_function_of_nothing_may_end_early_in_a_staged_loop():
    @rose.jit
    def f(x: Vec["n"]) -> None:
        for i in rose.range(len(x)):
            for j in rose.range(2):
                if x[i] > j:
                    return
        return None

    assert f(np.zeros(3)) is None
    assert f(np.ones(3)) is None


class Base:
    def made(self, value):
        return self.__class__(value)

    def __init__(self, value):
        self.value = value


class Below(Base):
    pass


def test_the_class_of_a_value_is_that_of_python():
    @rose.jit
    def f(x: float, n: int, v: Vec[2]) -> float:
        kinds = (x.__class__, (x > 1.0).__class__, n.__class__, v.__class__, (2.5).__class__)
        if kinds != (float, bool, int, np.ndarray, float) or Below(x).made(n).__class__ is not Below:
            return 0.0
        return x.__class__(n) + Below(x).__class__.__name__.count("B")

    assert f(0.5, 3, np.zeros(2)) == 4.0
