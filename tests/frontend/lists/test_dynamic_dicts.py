"""Dicts and sets that get keys which only running tells: ways to put them there x kinds of keys x uses, beside CPython."""

import heapq
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.lists.test_dynamic_lists import ARGUMENTS, close
from tests.frontend.oracle import define
from tests.tables import part

# pyright: basic

HEAD = """
from collections import Counter, defaultdict
import rosejit as rose
"""

WAYS = {
    "while": """
def f(x: float, n: int) -> float:
    d = {start}
    k = 0
    while k < n:
        {put}
        k += 1
    {use}
""",
    "while, some": """
def f(x: float, n: int) -> float:
    d = {start}
    k = 0
    while k < n:
        if x * k < 1.5:
            {put}
        k += 1
    {use}
""",
    "attribute": """
class Box:
    def __init__(self, x):
        self.d = {start}
    def put(self, k, x):
        d = self.d
        {put}

def f(x: float, n: int) -> float:
    box = Box(x)
    k = 0
    while k < n:
        box.put(k, x)
        k += 1
    d = box.d
    {use}
""",
    "data": """
def f(x: float, n: int) -> float:
    d = {start}
    for k in (n, n + 1, n, 2, n * n):
        {put}
    {use}
""",
    "helper": """
def put(d, k, x):
    {put}

def f(x: float, n: int) -> float:
    d = {start}
    for k in rose.range(n):
        put(d, k, x)
    {use}
""",
}
DICTS = {
    "set": ("{{}}", "d[k % 5] = x * k"),
    "count": ("{{}}", "d[k * k % 7] = d.get(k * k % 7, 0) + 1"),
    "started": ("{{3: x, 1: 2.0}}", "d[k % 5] = x * k"),
    "tuple": ("{{(0, 1): x}}", "d[k % 3, k % 2] = x + k"),
    "if in": ("{{}}", "if k % 4 not in d: d[k % 4] = x * k"),
    "default": ("defaultdict(float)", "d[k % 4] += x * k"),
    "counter": ("Counter()", "d[k % 4] += 1"),
    "setdefault": ("{{}}", "d.setdefault(k % 4, x * k)"),
    "pairs": ("{{}}", "d[k % 4] = (x, k)"),
    "dict()": ("dict()", "d[k % 4] = x"),
}
SETS = {
    "add": ("set()", "d.add(k * k % 7)"),
    "tuple add": ("{{(1, 2)}}", "d.add((k % 3, k % 2))"),
    "started set": ("{{3, 4}}", "d.add(k % 5)"),
    "if not in": ("set()", "if k % 3 not in d: d.add(k % 3)"),
}
USES = {
    "len": "return float(len(d))",
    "values": "return 1.0 * sum(d.values())",
    "max values": "return 1.0 * max(d.values())",
    "items": "t = 0.0\n    for i, (k, v) in enumerate(d.items()):\n        t += i * v\n    return t",
    "keys": "t = 0.0\n    for v in [d[k] for k in d]:\n        t = 0.5 * t + v\n    return t",
    "sorted": "t = 0.0\n    for k in sorted(d):\n        t = 0.5 * t + d[k]\n    return t",
    "max key": "return 1.0 * d[max(d, key=d.get)]",
    "in": "return (1.0 if n in d else 0.0) + (2.0 if 2 in d else 0.0)",
    "get": "return 1.0 * d.get(n, -1.0) + d.get(3, 0.25)",
    "read": "return 1.0 * d[n]",
    "pop": "v = d.pop(2, 0.5)\n    return 1.0 * v + len(d) + sum(d.values())",
    "pop error": "v = d.pop(2)\n    return 1.0 * v + len(d) + sum(d.values())",
    "del": "del d[2]\n    d[n] = 1.0\n    t = 0.0\n    for v in d.values():\n        t = 0.5 * t + v\n    return t",
    "comprehension": "e = [k for k, v in d.items() if v > 0.5]\n    return float(len(e))",
    "truth": "return 1.0 if d else 0.0",
    "clear": "d.clear()\n    return float(len(d))",
    "sorted items": "e = sorted(d.items(), key=lambda p: -p[1])\n    return 1.0 * e[0][1] + len(e)",
    "isinstance": "return 1.0 if isinstance(d, dict) else 0.0",
}
SUSES = {
    "len": "return float(len(d))",
    "in": "return (1.0 if n in d else 0.0) + (2.0 if 2 in d else 0.0)",
    "max": "return float(len(d)) + (1.0 if max(d) == min(d) else 0.0)",
    "sorted": "t = 0.0\n    for i, k in enumerate(sorted(d)):\n        t += i\n    return t",
    "discard": "d.discard(2)\n    d.discard(3)\n    return float(len(d))",
    "remove": "d.remove(2)\n    return float(len(d))",
    "not in": "return 1.0 if n not in d else 2.0",
    "truth": "return 1.0 if d else 0.0",
    "clear": "d.clear()\n    d.add(n)\n    return float(len(d))",
    "any": "return 1.0 if any(k == 2 for k in sorted(d)) else 0.0",
}

_OF_NUMBERS = {"values", "max values", "items", "keys", "sorted", "max key", "get", "read", "pop", "pop error", "del"}
_OF_NUMBERS |= {"comprehension", "sorted items"}
"""What is done with values that are numbers."""
_OF_INTS = {"read", "in", "get", "pop", "pop error", "del", "discard", "remove", "not in", "clear", "any"}
"""What is done with keys that are numbers."""


def _rows() -> list[tuple[str, str, str, str]]:
    found = []
    for way in WAYS.values():
        for kinds, uses in ((DICTS, USES), (SETS, SUSES)):
            for kind, (start, put) in kinds.items():
                for use, text in uses.items():
                    if (kind == "pairs" and use in _OF_NUMBERS) or ("tuple" in kind and use in _OF_INTS):
                        continue
                    found.append((way, start.format(), put, text))
    return found


def outcome(f: Any, args: Any) -> Any:
    try:
        return f(*args)
    except (KeyError, ValueError, IndexError) as error:
        return type(error), str(error)


@pytest.mark.parametrize(("way", "start", "put", "use"), part(_rows(), 13))
def test_a_dict_gets_keys_as_in_python(way: str, start: str, put: str, use: str) -> None:
    f = define(HEAD + way.format(start=start, put=put, use=use))
    compiled, slope = rose.jit(f), rose.grad(rose.jit(f))
    for x, n in ARGUMENTS:
        wanted, found = outcome(f, (x, n)), outcome(compiled, (x, n))
        assert close(found, wanted), (x, n)
        if not isinstance(wanted, tuple):
            step = 1e-6
            difference = (f(x + step, n) - f(x - step, n)) / (2 * step)
            assert close(slope(x, n), difference, 1e-4 * (1 + abs(difference)))


def counts(n: int) -> dict[int, int]:
    found = {}
    x = n
    for _ in range(n):
        x = (x * 5 + 3) % 1009
        found[x] = found.get(x, 0) + 1
    return found


@pytest.mark.parametrize("n", [0, 1, 40, 900])
def test_a_dict_is_returned_with_its_keys_in_order(n: int) -> None:
    found, wanted = rose.jit(counts)(n), counts(n)
    assert found == wanted
    assert list(found) == list(wanted)


def cheapest(grid: np.ndarray, goal: tuple[int, int]) -> tuple[float, list[tuple[int, int]]]:
    """A* on a grid, with its dicts of places."""
    rows, columns = grid.shape
    start, came = (0, 0), {}
    cost, heap = {start: 0.0}, [(0.0, start)]
    while heap:
        _, here = heapq.heappop(heap)
        if here == goal:
            break
        for down, right in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            r, c = here[0] + down, here[1] + right
            if 0 <= r < rows and 0 <= c < columns:
                longer, there = cost[here] + 1.0 + grid[r, c], (r, c)
                if there not in cost or longer < cost[there]:
                    cost[there], came[there] = longer, here
                    heapq.heappush(heap, (longer + abs(goal[0] - r) + abs(goal[1] - c), there))
    path, here = [], goal
    while here != start:
        path.append(here)
        here = came[here]
    return cost[goal], path[::-1]


def test_a_star_and_its_gradient() -> None:
    grid = np.random.default_rng(3).uniform(0.0, 6.0, (6, 7))
    found, wanted = rose.jit(cheapest)(grid, (5, 6)), cheapest(grid, (5, 6))
    assert found == wanted
    passed = np.zeros_like(grid)
    passed[tuple(np.transpose(wanted[1]))] = 1.0
    gradient = rose.grad(lambda grid: cheapest(grid, (5, 6))[0])(grid)
    np.testing.assert_array_equal(gradient, passed)
