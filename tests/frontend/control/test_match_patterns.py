"""`match` on values that have parts, some of them staged: as CPython, whatever the parts turn out to be."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from rosejit.frontend.hints.hints import Vec
from rosejit.frontend.values import rose_functions as rose
from tests.frontend.oracle import agrees, define, fault, says


class Pair(NamedTuple):
    x: float
    y: float


@dataclass
class Circle:
    radius: float
    name: str = "c"


SCOPE = {"np": np, "rose": rose, "Pair": Pair, "Circle": Circle, "Vec": Vec}
ARGS = [(x, n, p) for x in (-1.5, 0.0, 2.0) for n in (0, 1, 2, 5) for p in (True, False)]

SUBJECTS = {
    "(n, p, x)": [
        "case (0, True, r) if r > 0: s = r",
        "case (0, _, r): s = r + 10",
        "case (1 | 2 as k, False, _): s = k * 1.0",
        "case (k, q, r) if q and k > 1: s = r * k",
        "case _: s = -1.0",
    ],
    "[x, [n, x + 1]]": [
        "case [a, (1, b)]: s = a * b",
        "case [a, [k, _]] if k > a: s = 2.0",
        "case [*_, [_, c]]: s = c",
    ],
    "(x, x + 1, x + 2, n)": ["case (a, *rest, 5): s = sum(rest) * a", "case (_, b, *_): s = b"],
    "Pair(x, x * 2)": ["case Pair(0.0, b): s = b", "case Pair(x=a, y=b) if a < b: s = b", "case (a, b): s = a - b"],
    "{'k': x, 'm': n, 'z': 1}": [
        "case {'k': r, 'm': 2}: s = r",
        "case {'m': 0, **rest}: s = rest['k'] + len(rest)",
        "case {'absent': r}: s = r",
        "case {}: s = 7.0",
    ],
    "Circle(x)": ["case Circle(r, 'd'): s = r", "case Circle(r) if r > 0: s = r", "case Circle(name='c'): s = 3.0"],
    "p": ["case True: s = 1.0", "case False: s = 2.0"],
    "(x, n)": ["case (int(), _): s = 1.0", "case (float(a), int(k)) if k: s = a * k", "case (float() as a, _): s = a"],
    "n": ["case 0 | 1: s = 0.5", "case bool(): s = 1.0", "case int(k) if k > 2: s = 1.0 * k", "case _: s = x"],
    "x": ["case str(): s = 1.0", "case [_]: s = 2.0", "case None: s = 3.0", "case 2.0: s = 4.0", "case _: s = x"],
    "'ab'": ["case [_, _]: s = 1.0", "case str(t): s = len(t) + x"],
    "np.array([x, x])": ["case [_, _]: s = 1.0", "case np.ndarray(): s = x"],
    "[x + i for i in range(n % 2 + 2)] if False else [x]": ["case [a, _]: s = a", "case [a]: s = a * 3"],
}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_parts(subject):
    cases = "".join(f"        {case}\n" for case in SUBJECTS[subject])
    f = define(
        f"def f(x: float, n: int, p: bool):\n    s = 0.0\n    match {subject}:\n{cases}    return s * 1.0", **SCOPE
    )
    agrees(f, *ARGS)


def test_returns_and_jumps():
    source = """
    def f(x: float, n: int, p: bool):
        s = x
        for i in rose.range(4):
            match (i, p, s):
                case (0, True, r) if r > 1.0:
                    return r
                case (k, False, _) if k == n:
                    break
                case (2, _, _):
                    continue
                case (_, _, r):
                    s = r + i
            s = s * 0.5
        return s * 2.0
    """
    agrees(define(source, **SCOPE), *ARGS)


def test_truth_values_are_themselves():
    source = """
    def f(x: float, n: int, p: bool):
        q = x > 0
        return p is True, p is not False, (x > 0) is p, n is True, q is not p
    """
    agrees(define(source, **SCOPE), *[args for args in ARGS if args[1] > 1])


def test_names_on_the_sides_of_an_or():
    f = define(
        "def f(x: float):\n    match (x, 0):\n        case (1.0, a) | (a, 1.0):\n            return a\n    return x",
        **SCOPE,
    )
    says(fault(f, 1.0), "|", line="match (x, 0):", help="one `case` for each side")


def test_an_or_that_binds_stays_with_the_host():
    f = define(
        "def f(x: float):\n    match [1, 2]:\n        case [a] | [a, _]:\n            return x * a\n    return x",
        **SCOPE,
    )
    agrees(f, (3.0,))


def test_errors_are_pythons():
    def f(x: float):
        match Pair(x, x):
            case Pair(a, b, c):  # pyright: ignore[reportGeneralTypeIssues]  # that is the error
                return a + b + c
        return x

    with pytest.raises(TypeError, match=r"accepts 2 positional sub-patterns \(3 given\)"):
        fault(f, 1.0)
