"""Elements of lists and dicts that staged branches and loops assign, against CPython: kinds x places x ways."""

import copy
import math
import random
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define, fault

KINDS = {
    "list": ("b = [1.0, 2.0, 3.0]", ("b[0]", "b[1]", "b[-1]")),
    "dict": ("b = {'p': 1.0, 'q': 2.0, 3: 3.0}", ("b['p']", "b['q']", "b[3]")),
    "nested": ("b = [[1.0, 2.0], {'k': 3.0}]", ("b[0][0]", "b[0][1]", "b[1]['k']")),
    "built": ("b = [0.5] * 2 + list((2.5,))", ("b[0]", "b[1]", "b[2]")),
    "comprehension": ("b = [k + 0.5 for k in range(3)]", ("b[0]", "b[1]", "b[2]")),
    "alias": ("b = [1.0, 2.0, 3.0]\n    c = b", ("b[0]", "c[0]", "b[2]")),
    "object": ("b = Held()", ("b.items[0]", "b.items[1]", "b.named['k']")),
    "helper": ("b = [1.0, 2.0, 3.0]", ("at(b)[0]", "at(b)[1]", "at(b)[2]")),
}
PLACES = {
    "one side": "if x > y:\n    {0}",
    "both sides": "if x > y:\n    {0}\nelse:\n    {1}",
    "three sides": "if x > 1.0:\n    {0}\nelif y > 1.0:\n    {1}\nelse:\n    {2}",
    "nested": "if x > 0.0:\n    {0}\n    if y > 0.0:\n        {1}\n{2}",
    "for": "for k in rose.range(n):\n    {0}\n    {1}",
    "for over items": "for k in range(3):\n    if x > k - 1.0:\n        {0}",
    "while": "j = 0\nwhile j < n:\n    {0}\n    j += 1\n    {1}",
    "if in for": "for k in rose.range(n):\n    if x * k > y:\n        {0}\n    else:\n        {1}\n    {2}",
    "for in if": "if x > y:\n    for k in rose.range(n):\n        {0}\n    {1}",
    "for in for": "for k in rose.range(n):\n    {0}\n    for j in rose.range(k):\n        {1}\n    {2}",
    "break": "for k in rose.range(n):\n    {0}\n    if x * k > 1.0:\n        break\n    {1}",
    "continue": "for k in rose.range(n):\n    if x * k > 1.0:\n        continue\n    {0}\n    {1}",
    "return": "if x > y:\n    {0}\n    return {a} * 3.0\n{1}",
    "while true": "j = 0\nwhile True:\n    {0}\n    j += 1\n    if j >= n:\n        break\n    {1}",
}
WAYS = (
    "{a}, {b} = {b}, {a}",
    "{a} = x * {b}",
    "{b} += y",
    "{a} *= {c} - x",
    "{c} = {a}",
    "{b} = 2.0",
)
HEAD = """
class Held:
    def __init__(self):
        self.items = [1.0, 2.0]
        self.named = {"k": 3.0}

def at(items):
    return items

"""
CALLS = ((0.55, 0.25, 3), (-0.5, 1.5, 2), (1.25, 2.0, 0), (0.75, 0.75, 4))


def written(kind: str, place: str, ways: tuple[str, ...]) -> str:
    """A program with three statements in a place."""
    made, elements = KINDS[kind]
    names = dict(zip("abc", elements, strict=True))
    lines = PLACES[place].format(*(way.format(**names) for way in ways), **names).split("\n")
    last = "return {a} + 10.0 * {b} + 100.0 * {c} + x * len(b.items if isinstance(b, Held) else b)".format(**names)
    body = "\n    ".join([made, *lines, last])
    return f"{HEAD}def f(x: float, y: float, n: int) -> float:\n    {body}\n"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_blocks_assign_is_joined_as_names_are(kind: str, place: str) -> None:
    draw = random.Random(f"{kind} {place}")
    for _ in range(2):
        f: Any = define(written(kind, place, tuple(draw.choice(WAYS) for _ in range(3))), rose=rose)
        staged = rose.jit(f)
        for call in CALLS:
            assert staged(*call) == pytest.approx(f(*call), rel=1e-13)
        x, y, n = CALLS[0]
        slope = (f(x + 1e-6, y, n) - f(x - 1e-6, y, n)) / 2e-6
        assert rose.grad(f)(x, y, n) == pytest.approx(slope, rel=1e-5, abs=1e-6)


class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b


_HELD = {
    "a name": ("h = [y, 1.0]", "h[1] = 5.0 * x", "h = [9.0, x + y]", "h[0] + 10 * h[1]"),
    "an attribute": ("p = Pair(x, [y, 1.0])", "p.b[1] = 5.0 * x", "p.b = [9.0, x + y]", "p.b[0] + 10 * p.b[1]"),
    "an element": ("l = [[y, 1.0]]", "l[0][1] = 5.0 * x", "l[0] = [9.0, x + y]", "l[0][0] + 10 * l[0][1]"),
    "a value": ("d = {1: [y, 1.0]}", "d[1][1] = 5.0 * x", "d[1] = [9.0, x + y]", "d[1][0] + 10 * d[1][1]"),
    "a tuple": ("t = ([y, 1.0],)", "t[0][1] = 5.0 * x", "t = ([9.0, x + y],)", "t[0][0] + 10 * t[0][1]"),
    "an object": ("p = Pair(y, 1.0)", "p.b = 5.0 * x", "p = Pair(9.0, x + y)", "p.a + 10 * p.b"),
    "a dict": ("d = {1: y, 2: 1.0}", "d[2] = 5.0 * x", "d = {1: 9.0, 2: x + y}", "d[1] + 10 * d[2]"),
    "two": ("h, g = [y, 1.0], [x, x]", "h[1] = 5.0 * x; h, g = g, h", "g[0] = 3.0 * y", "h[0] + 10 * h[1] + g[0] - g[1]"),
    "one side": ("h = [y, 1.0]; k = [x, x]", "h[1] = 5.0 * x; k = h", "pass", "h[1] + 10 * k[1]"),
    "an alias": ("h = [y, 1.0]; g = h", "h[1] = 5.0 * x", "g = [9.0, x + y]", "h[0] + 10 * h[1] + g[0] - g[1]"),
}  # fmt: skip
_WAYS = {
    "if": "if x > 0.0:\n        {0}\n    else:\n        {1}",
    "else": "if x <= 0.0:\n        {1}\n    else:\n        {0}",
    "nested": "if x > 0.0:\n        if y > 0.0:\n            {0}\n    else:\n        {1}",
    "handler": "try:\n        z = math.sqrt(x)\n        {0}\n    except ValueError:\n        {1}",
}


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("held", _HELD)
def test_one_side_changes_what_the_other_binds_anew(held, way):
    made, changed, bound, read = _HELD[held]
    body = f"    {made}\n    {_WAYS[way].format(changed, bound)}\n    return {read}\n"
    f = define(f"def f(x: float, y: float) -> float:\n{body}", Pair=Pair, math=math)
    staged = rose.jit(f)
    for x, y in ((2.0, 3.0), (-2.0, 1.5), (1.5, 2.0)):
        assert staged(x, y) == f(x, y)
        slope = (f(x + 1e-6, y) - f(x - 1e-6, y)) / 2e-6
        assert rose.grad(staged)(x, y) == pytest.approx(slope, abs=1e-6)


_NAMED = {
    "branch": "if x > 0.0:\n        k = h\n    else:\n        k = h",
    "one side": "if x > 0.0:\n        k = h",
    "one side, changed": "if x > 0.0:\n        k = h\n        h[1] = 3.0 * x",
    "a try": "try:\n        z = math.sqrt(x)\n        k = h\n    except ValueError:\n        return h[0]",
    "for": "for i in rose.range(2):\n        k = h\n        h[1] += x",
    "for, behind": "for i in rose.range(2):\n        h[1] += x\n        k = h",
    "for, bound before": "k = [0.0, 0.0]\n    for i in rose.range(2):\n        h[1] += x\n        k = h",
    "while": "n = 0\n    while n < 3:\n        n += 1\n        k = h\n        h[1] += x",
}
_CHANGED = {"nothing": "pass", "an element": "h[1] = 2.0 * y", "under the name": "k[0] = 7.0 * y"}


@pytest.mark.parametrize("changed", _CHANGED)
@pytest.mark.parametrize("named", _NAMED)
def test_an_object_that_a_block_names_is_that_object(named, changed):
    text = f"def f(x: float, y: float) -> float:\n    h = [x, y]\n    {_NAMED[named]}\n    if x > 0.0:\n"
    f = define(
        text
        + f"        {_CHANGED[changed]}\n        return k[0] + 10 * k[1] + 100 * h[0] + 1000 * h[1]\n    return h[1]",
        math=math,
        rose=rose,
    )
    staged = rose.jit(f)
    try:
        assert staged(2.0, 3.0) == f(2.0, 3.0)
    except rose.UnsupportedSyntax as error:
        words = ("may be one of two", "from outside of a staged", "whether this is one with another that was changed")
        assert any(word in str(error) for word in words)
        assert changed != "nothing"
        return
    assert [staged(x, 1.5) for x in (0.5, -2.0)] == [f(x, 1.5) for x in (0.5, -2.0)]


class Held:
    def __init__(self, x):
        self.x = x
        self.items = [x, 1.0]


@pytest.mark.parametrize("value", ["x", "[x, y]", "np.array([x, y])", "x > 0.0"])
@pytest.mark.parametrize("copied", ["copy.copy(a)", "copy.deepcopy(a)"])
def test_copies_of_objects(value, copied):
    text = f"def f(x: float, y: float):\n    a = Held({value})\n    b = {copied}\n    a.items[1] = 7.0 * y\n    a.x = None\n"
    f = define(text + "    return b.x, b.items[1]", Held=Held, np=np, copy=copy)
    for got, expected in zip(rose.jit(f)(2.0, 3.0), f(2.0, 3.0), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_structures_that_differ_are_told_apart_in_words():
    def turned(x: float):
        s = {"a": 1.0, "b": 2.0}
        if x > 0:
            s = {"b": x, "a": 2.0}
        return s

    error = fault(turned, 1.0)
    assert "a dict with the keys 'b', 'a' on one side of the `if` and one with 'a', 'b' (in this order)" in str(error)


def extended_by_both(x):
    out = [1.0]
    if x > 0.3:
        out.extend([x, 2.0])
    else:
        out.extend((3.0, x * x))
    return sum(out) + out[1]


def extended_by_itself(x):
    out = [x]
    if x > 0.3:
        out.extend(out)
        out.append(2.0)
    else:
        out.append(1.0)
        out.extend([x, 4.0][:1])
    return out[0] + 10 * out[1] + 100 * out[2]


def extended_inside(x):
    if x > 0.3:
        items = [x]
        items.extend([2.0 * x])
        x = items[0] * items[1]
    return x


@pytest.mark.parametrize("plain", [extended_by_both, extended_by_itself, extended_inside])
def test_extend_appends_one_by_one(plain):
    compiled = rose.jit(plain)
    for x in (0.5, 0.1, -2.0):
        assert compiled(x) == plain(x)
        steps = (plain(x + 1e-6) - plain(x - 1e-6)) / 2e-6
        assert rose.grad(compiled)(x) == pytest.approx(steps, rel=1e-6)


def test_a_dict_gets_a_key_on_one_side_alone():
    def f(x):
        out = {}
        if x > 0.3:
            out["a"] = x
        return sum(out.values())

    compiled = rose.jit(f)
    for x in (1.0, 0.2):
        assert compiled(x) == f(x)
        assert rose.grad(compiled)(x) == float(x > 0.3)
