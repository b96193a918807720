"""What a `while` does in its first iteration, which is staged for the host and then forgotten, beside CPython."""

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define

HEADS = {
    "a test that is known": ("err = 1.0", "err > 0.1", "err = err * x"),
    "always": ("k, err = 0, 1.0", "True", "err = err * x\n        if err < 0.1:\n            break"),
    "a test by a list": ("todo = [1.0]", "todo[0] > 0.1", "todo[0] = todo[0] * x"),
    "a test that is staged": ("err = x + 1.0", "err > 0.1", "err = err * x"),
}
WRITES = {
    "element": ("h = np.zeros(3)", "h[0] += 1", "h"),
    "assigned": ("h = np.zeros(3)\n    k = 0", "h[k] = k + 1.0\n        k = min(k + 1, 2)", "h"),
    "slice": ("h = np.ones(4)", "h[1:3] = h[:2] * 2.0", "h"),
    "ints": ("h = np.zeros(3, int)", "h[1] += 2", "h"),
    "matrix": ("h = np.zeros((2, 2))", "h[0, 1] += 1.0", "h"),
    "view": ("h = np.zeros((2, 2))\n    row = h[1]", "row[0] += 1.0", "h"),
    "sort": ("h = np.array([3.0, 1.0, 2.0])", "h[0] += 5.0\n        h.sort()", "h"),
    "fill": ("h = np.zeros(3)", "h.fill(h[0] + 1.0)", "h"),
    "in place": ("h = np.zeros(3)", "h += 1.0", "h"),
    "attribute": ("b = Box(np.zeros(3))", "b.h[2] += 1.0", "b.h"),
    "helper": ("h = np.zeros(3)", "bump(h)", "h"),
    "two": ("h = np.zeros(3)\n    g = np.zeros(3)", "h[0] += 1.0\n        g[1] += h[0]", "h + g"),
    "list": ("h = [0.0, 0.0]", "h[0] += 1.0", "np.array(h)"),
    "dict": ("h = {'a': 0.0}", "h['a'] += 1.0", "np.array([h['a']])"),
}


class Box:
    def __init__(self, h):
        self.h = h


def bump(h):
    h[1] += 1.0


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("head", HEADS)
def test_the_first_iteration_is_done_once(head, write):
    (before, test, after), (made, body, result) = HEADS[head], WRITES[write]
    text = f"def f(x: float):\n    {before}\n    {made}\n    while {test}:\n        {body}\n        {after}\n    return {result}"
    f = define(text, np=np, Box=Box, bump=bump)
    for x in (0.5, 0.05, 0.9):
        np.testing.assert_array_equal(rose.jit(f)(x), f(x))
