"""Members of an `Enum` that are numbers (`IntEnum`), chosen by running: members and numbers at once, as in CPython.

Ways to be chosen x uses."""

import math
from enum import IntEnum
from itertools import product

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define
from tests.tables import part


class Level(IntEnum):
    LOW = 1
    HIGH = 2
    TOP = 3


TABLE, ITEMS = np.array([1.0, 2.0, 4.0, 8.0]), [1.0, 2.0, 4.0, 8.0]
CHOSEN = {
    'ifexp': 'l = Level.LOW if x > 0 else Level.HIGH',
    'if': 'l = Level.LOW\nif x > 0:\n    l = Level.TOP',
    'elif': 'if x > 0:\n    l = Level.LOW\nelif x > -1:\n    l = Level.HIGH\nelse:\n    l = Level.TOP',
    'loop': 'l = Level.LOW\nfor k in rose.range(4):\n    if x * k > 1.0:\n        l = Level.HIGH\n    elif x * k < -1:\n        l = Level.TOP',
    'machine': 'l = Level.LOW\nfor k in rose.range(5):\n    if l == Level.LOW:\n        l = Level.HIGH if x > 0 else Level.TOP\n    elif l == Level.HIGH:\n        l = Level.TOP\n    else:\n        l = Level.LOW',
    'list': 'ls = [Level.LOW, Level.HIGH, Level.TOP]\nl = ls[int(abs(x)) % 3]',
    'same': 'l = Level.LOW if x > 0 else Level.LOW',
    'max': 'l = max(Level.LOW, Level.HIGH if x > 0 else Level.TOP)',
    'plus': 'l = Level(1)\nif x > 0:\n    l = Level(2)',
}  # fmt: skip
USES = """
l + 1 ; l * x ; x * l ; l / 2 ; 2 ** l ; l ** 2 ; -l ; abs(l) ; l < Level.HIGH ; l >= 2 ; l == Level.TOP ; l != 1
ITEMS[l] ; TABLE[l] ; TABLE[l:].sum() ; np.sin(l) ; math.sqrt(l) ; float(l) ; int(l) ; round(l) ; l % 2 ; l // 2
l & 1 ; l | 4 ; l << 1 ; max(l, 2) ; min(l, x) ; sum([l, 1, l]) ; np.zeros(3)[l - 1]
{Level.LOW: 1.0, Level.HIGH: 2.0, Level.TOP: 3.0}[l] ; [1.0, 2.0, 3.0, 4.0][l] ; sum(k for k in range(l))
sum(1.0 for k in rose.range(l)) ; l if x > 1 else 5 ; (l, 1.0) ; l in (Level.LOW, Level.TOP) ; l in {Level.LOW}
bool(l) ; not l ; l and x ; divmod(l, 2) ; np.array([l, 2.0]).sum() ; TABLE[[0, l]].sum() ; np.full(3, l).sum()
np.where(l > 1, x, 2.0) ; l.value ; int(l.value * 2) ; sorted([l, Level.LOW])[0] ; pow(2, l) ; math.factorial(l)
1.0 * l + l ; (l + 1) * (l - 1) ; float(l == Level.LOW) ; np.exp(-l) ; x ** l ; TABLE @ (TABLE * l) ; l - Level.LOW
l > x ; type(l) is Level ; isinstance(l, int) ; f(l, x) ; g(l, x) ; h(l, x)
"""
HELPERS = """
@rose.jit
def f(l, x): return l * x
@rose.jit
def g(l: int, x: float) -> float: return l * x
@rose.jit
def h(l: Level, x: float): return x if l == Level.LOW else 2 * x
"""
SCOPE = {"Level": Level, "rose": rose, "np": np, "math": math, "TABLE": TABLE, "ITEMS": ITEMS}
CASES = [*product(CHOSEN, [use for line in USES.split("\n") for use in line.split(" ; ") if use])]
REFUSED = ("TABLE[l:].sum()", "bool(l)", "not l", "l and x", "(l, 1.0)", "math.factorial(l)", "l in {Level.LOW}")
BESIDE = "max(l, 2)"
"""A member or a number: ours is a number, which is equal to it."""


def python_says(f, x):
    try:
        return f(x)
    except rose.RoseError:
        raise
    except (TypeError, ValueError, IndexError, KeyError) as error:
        return type(error)


@pytest.mark.parametrize(("way", "use"), part(CASES, 6))
def test_a_chosen_member_is_a_member_and_a_number(way, use):
    lines = "".join(f"    {line}\n" for line in f"{CHOSEN[way]}\nreturn {use}".split("\n"))
    f = define(f"{HELPERS}\ndef q(x: float):\n{lines}", **SCOPE)
    for x in (0.7, -0.5, -2.0):
        wanted = python_says(f, x)
        try:
            found = python_says(rose.jit(f), x)
        except rose.RoseError:
            assert use in REFUSED
            continue
        if isinstance(wanted, (float, np.generic, np.ndarray)):
            assert found == pytest.approx(wanted)
        else:
            assert found == wanted if use == BESIDE else repr(found) == repr(wanted)


LOOPS = {
    "it becomes a number": "for k in rose.range(5):\n    l = l + 1",
    "another one, always": "for k in rose.range(5):\n    l = Level.HIGH",
    "a machine": "n = 0\nfor k in range(200):\n    if l is Level.LOW:\n        l = Level.HIGH if x > k * 0.01 else Level.TOP\n"
    "    elif l == Level.HIGH:\n        l = Level.LOW\n        n += l\n    else:\n        n += 2\nl = l, n",
    "while": "k = 0\nwhile k < 10 and l != Level.TOP:\n    if x * k > 2:\n        l = Level.TOP\n    k += 1",
    "a number on some paths": "for k in rose.range(3):\n    if x > k:\n        l = 5\nl = l + 0",
    "read": "t = 0.0\nfor k in rose.range(300):\n    if l == Level.LOW and x > 0.5:\n        l = Level.HIGH\n    t += l * x\nl = t",
    "in a list": "h = [l] * 4\nfor k in rose.range(4):\n    if x > k * 0.3:\n        h[k] = Level.HIGH\nl = h[0], sum(h), h[3] is l",
    "the greatest": "for k in rose.range(4):\n    l = max(l, Level.HIGH) if x > k * 0.3 else l",
    "in turns": "for k in range(100):\n    l = Level.HIGH if l == Level.LOW else Level.LOW",
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_carry_members(name):
    lines = "".join(f"    {line}\n" for line in f"l = Level.LOW\n{LOOPS[name]}\nreturn l".split("\n"))
    f = define(f"def q(x: float):\n{lines}", **SCOPE)
    for x in (0.7, -0.5, 2.0):
        assert repr(rose.jit(f)(x)) == repr(f(x))
