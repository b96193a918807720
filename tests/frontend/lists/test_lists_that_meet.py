"""One name for either of two lists, of which one grows in a staged loop: kinds x what the other is x where they meet.

Beside CPython, with derivatives beside differences.
"""

import math

import pytest

import rosejit as rose
from tests.frontend.oracle import define
from tests.tables import part

# pyright: basic

KINDS = {
    "list": ("[]", "{}.append(x * k)", "for i, v in enumerate({0}):\n        t += (i + 1.3) * v"),
    "deque": ("deque()", "{}.append(x * k)", "for i, v in enumerate({0}):\n        t += (i + 1.3) * v"),
    "dict": ("{}", "{}[k % 4] = x * k", "for i, v in {0}.items():\n        t += (i + 1.3) * v"),
    "set": ("set()", "{}.add(k % 4)", "t += sum(sorted({0})) * x"),
}
OTHERS = {
    "list": {
        "empty": "[]",
        "some": "[x, 2.0]",
        "ints": "[3, 4]",
        "list of a range": "list(range(3))",
        "comprehension": "[x * j for j in range(3)]",
        "filtered": "[x * j for j in range(n) if j % 2]",
        "repeated": "[x] * n",
        "of a helper": "grown(x, n)",
    },
    "deque": {"empty": "deque()", "some": "deque([x, 2.0])", "of a helper": "grown(x, n)"},
    "dict": {
        "empty": "{}",
        "some": "{7: x}",
        "comprehension": "{j: x for j in range(3)}",
        "of a helper": "grown(x, n)",
    },
    "set": {"empty": "set()", "some": "{7}", "of a list": "set([1, 9])", "of a helper": "grown(x, n)"},
}
WAYS = {
    "returned": "b = early(x, n)",
    "one side": "a = grown(x, n)\nif x > 1.0:\n    a = {other}\nb = a",
    "other side": "a = grown(x, n)\nb = {other}\nif x > 1.0:\n    b = a",
    "expression": "a = grown(x, n)\nb = a if x > 1.0 else {other}",
    "carried": "a, b = {empty}, {other}\nfor k in range(n):\n    {adds_a}\n    if k % 2:\n        b = copy.copy(a)",
    "exchanged": "a, b = {empty}, {other}\nfor k in range(n):\n    a, b = b, a\n    {adds_a}",
    "each time": "b = {other}\nfor k in range(n):\n    b = {other}\n    {adds_b}\n    {adds_b}",
    "grows after": "b = {empty}\nif x > 1.0:\n    b = {other}\nfor k in range(n):\n    {adds_b}",
    "or none": "b = None\nfor k in range(n):\n    if k == 2:\n        b = grown(x, k)\nif b is None:\n    b = {other}",
    "attribute": "o = Box({empty})\nif x > 1.0:\n    o.held = {other}\nfor k in range(n):\n    {adds_o}\nb = o.held",
}
TEXT = """
import copy
from collections import deque
from dataclasses import dataclass

@dataclass
class Box:
    held: object

def grown(x, n):
    a = {empty}
    for k in range(n):
        {adds_a}
    return a

def early(x, n):
    if x > 1.0:
        return {other}
    a = {empty}
    for k in range(n):
        {adds_a}
    return a

def f(x: float, n: int) -> float:
    {way}
    t = 0.0
    {use}
    return t + 10.0 * len(b)
"""
ROWS = [(kind, other, way) for kind in KINDS for other in OTHERS[kind] for way in WAYS]
REFUSED = {
    *[(kind, "empty", way) for kind in ("deque", "set") for way in ("grows after", "attribute")],  # no item tells
    *[("dict", other, "exchanged") for other in ("some", "comprehension")],  # one of two in each iteration
}


@pytest.mark.parametrize(("kind", "other", "way"), part(ROWS, 5))
def test_either_of_two_lists(kind: str, other: str, way: str) -> None:
    empty, adds, use = KINDS[kind]
    names = {f"adds_{name}": adds.format("o.held" if name == "o" else name) for name in "abo"}
    names |= {"empty": empty, "other": OTHERS[kind][other]}
    body = WAYS[way].format(**names).replace("\n", "\n    ")
    f = define(TEXT.format(**names, way=body, use=use.format("b")))
    compiled, slope = rose.jit(f), rose.grad(rose.jit(f))
    if (kind, other, way) in REFUSED:
        with pytest.raises(rose.RoseError):
            compiled(2.0, 5)
        return
    for x in (0.5, 2.0):
        for n in (0, 1, 5, 300):
            wanted, step = f(x, n), 1e-6
            assert math.isclose(compiled(x, n), wanted, rel_tol=1e-12), (x, n)
            difference = (f(x + step, n) - f(x - step, n)) / (2 * step)
            assert math.isclose(slope(x, n), difference, rel_tol=1e-4, abs_tol=1e-4), (x, n)
