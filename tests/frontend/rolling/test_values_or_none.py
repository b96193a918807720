"""Rolled loops in which only running tells whether a value is None: the bits of unrolled ones, and their derivatives."""

import numpy as np
import pytest

import rosejit
from rosejit.frontend.rolling import abstract_run
from rosejit.ir.traversal import size
from tests.frontend.oracle import agrees, run, stage
from tests.frontend.rolling.test_decide import M, V, bits, function, reasons  # noqa: F401  # a fixture

CALLS = [(x, n, V, M) for x, n in ((0.5, 3), (-1.25, 0))]
HELPERS = """\
def root(a):
    if a < 0.0:
        return None
    return a + math.sqrt(a + 1.0)
def first(row, k):
    best = None
    for a in row:
        t = root(a * x + 0.1 * k)
        if t is not None and (best is None or t < best.a):
            best = Pair(t, a * 2)
    return best
def nearest(row):
    best = None
    for a in row:
        t = root(a)
        if t is None:
            continue
        if best is None or best[0] > t:
            best = (t, np.array([a, t * x, 1.0]), 3)
    return best
"""
ROLLED = {
    "a number": "for i in range(70):\n    t = root(v[i])\n    s += t if t is not None else x",
    "a record": "for i in range(70):\n    hit = first(m[i], i)\n    if hit is None:\n        s += 0.1\n    else:\n        s += hit.a * hit.b",
    "a tuple with an array": "for i in range(70):\n    hit = nearest(m[i])\n    if hit is not None:\n        t, n, k = hit\n        s += t * n[1] + n @ n * k",
    "two ranges": "for i in range(20):\n    for j in range(20):\n        hit = first(m[i + j], j)\n        s += 0.01 * s if hit is None else hit.b * 0.1",
    "the test of it": "for i in range(70):\n    hit = first(m[i], i)\n    if not hit:\n        s -= x\n    if hit:\n        s += hit.a",
    "from before": "best = root(x)\nfor i in range(70):\n    t = root(v[i] * x)\n    if t is not None and (best is None or t < best):\n        best = t\ns = 1.0 if best is None else best",
    "None before": "best = None\nfor i in range(70):\n    t = root(v[i] * x)\n    if t is not None and (best is None or t < best):\n        best = t\ns = 1.0 if best is None else best",
    "a record and None before": "best = None\nfor i in range(70):\n    t = v[i] * v[i] * x\n    if t > 0.2 and (best is None or t > best.a):\n        best = Pair(t, x - v[i])\ns = -1.0 if best is None else best.a * best.b",
    "the index of the best": "for i in range(70):\n    at = None\n    for j in range(3):\n        if m[i, j] * x > 0.1:\n            at = j\n    s += 0.5 if at is None else m[i, at] * (at + 1)",
    "stores": "y = np.zeros(70)\nfor i in range(70):\n    hit = first(m[i], i)\n    if hit is not None:\n        y[i] = hit.a\ns = y",
}  # fmt: skip


def made(body):
    return function(HELPERS + body)


@pytest.mark.parametrize("body", ROLLED.values(), ids=ROLLED)
def test_rolled(body, reasons, monkeypatch):  # noqa: F811  # the fixture
    f = made(body)
    rolled = stage(f, *CALLS[0])
    assert "" in reasons
    monkeypatch.setattr(abstract_run, "FEWEST", 10**9)
    unrolled = stage(f, *CALLS[0])
    assert size(unrolled.function) > 2 * size(rolled.function)
    for args in CALLS:
        assert bits(run(rolled, f, *args)) == bits(run(unrolled, f, *args))
    agrees(f, *CALLS)


@pytest.mark.parametrize("body", ROLLED.values(), ids=ROLLED)
def test_derivatives(body):
    inner = made(body)

    @rosejit.jit
    def f(x: float, v: rosejit.Vec[100]) -> float:
        return np.sum(inner(x, 3, v, M))

    rosejit.check_grads(f, (0.5, V + 0.003), order=1)


UNROLLED = {
    "the index decides": "best = None\nfor i in range(70):\n    if i % 9 == 4:\n        best = Pair(v[i], x)\n    if best is not None:\n        s += best.a * best.b",
    "the host knows it later": "for i in range(70):\n    hit = first(m[i], i)\n    s += 0.0 if hit is None else hit.a\n    hit = None if i < 69 else 2\ns = s * x ** hit",
    "a list": "for i in range(70):\n    p = None\n    if v[i] > x:\n        p = [v[i], x]\n    if p is not None:\n        s += p[0]",
}  # fmt: skip


@pytest.mark.parametrize("body", UNROLLED.values(), ids=UNROLLED)
def test_unrolled(body, reasons):  # noqa: F811  # the fixture
    f = made(body)
    stage(f, *CALLS[0])
    assert all(reasons)
    agrees(f, *CALLS)
