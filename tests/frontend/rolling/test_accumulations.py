"""Numbers that a rolled loop steps: what it goes through x what steps them x what they begin with x what the names of
its items were bound to before. The bits of the unrolled loop, and Python's."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from rosejit.frontend.rolling import abstract_run
from tests.frontend.oracle import agrees, run, stage
from tests.frontend.rolling.test_decide import COUNT, M, V, bits, function, reasons  # noqa: F401  # a fixture
from tests.tables import stride


@dataclass
class Body:
    m: float
    k: int


REALS = [0.25 * k - 3.0 for k in range(COUNT)]
PAIRS = [(0.5 * k, 3 - k) for k in range(COUNT)]
BODIES = [Body(0.5 * k, k % 7) for k in range(COUNT)]
LISTS = "REALS", "PAIRS", "BODIES"
UNROLLED = "for r in tuple(", "for i, r in enumerate(REALS)", "for (r, q), i in", "for i, b in zip("
HOST = np.linspace(0.5, 2.0, COUNT)

SOURCES = {
    f"for r in range({COUNT}):": ("r", "2 * r + 1"),
    f"for r in range({COUNT + 2}, 2, -1):": ("r", "r * 0.5"),
    "for r in v:": ("r", "math.sin(r)"),
    "for r in v[::-1]:": ("r", "r * r"),
    "for r in v * x:": ("r", "x * r"),
    "for r in reversed(v):": ("r", "x * r"),
    f"for r in reversed(range({COUNT})):": ("r", "x * r"),
    "for i, r in enumerate(v):": ("r", "i", "i * r"),
    "for i, r in enumerate(v, 3):": ("r", "i", "i * r"),
    f"for i, r in zip(range({COUNT}), v[:{COUNT}]):": ("r", "i", "r - i"),
    "for r, q in zip(v, v[::-1]):": ("r", "q", "r * q"),
    "for r in m:": ("r[0]", "r[1] * r[2]"),
    "for r, q, i in m:": ("r", "q * i"),
    "for r in HOST:": ("r", "math.sin(r)"),
    "for i, r in enumerate(HOST):": ("r", "i", "i * r"),
    f"for r, q in zip(HOST, v[:{COUNT}]):": ("r", "q", "r * q"),
    "for r in REALS:": ("r", "r * 0.3"),
    "for r in tuple(REALS):": ("r", "r + 1"),
    "for i, r in enumerate(REALS):": ("r", "i", "i * r"),
    "for r, q in PAIRS:": ("r", "q", "r * q"),
    f"for (r, q), i in zip(PAIRS, v[:{COUNT}]):": ("r", "q", "i", "r * i"),
    "for b in BODIES:": ("b.m", "b.k", "b.m * b.k"),
    f"for i, b in zip(range({COUNT}), BODIES):": ("b.m", "b.k + i", "i"),
}
STEPS = "t += {e}", "t = t * 0.9 + {e}", "t = {e}", "t -= {e} * 0.5", "t = {e} - t", "t += 0.1", "t *= 1.01"
STARTS = "0", "0.0", "1.5", "x"
BEFORE = "", "r = q = i = 2", "r = q = i = 0.5"
USES = "s = s * 0.5 + t * x", "s = s + t", "pass"
STRIDE = stride(11)
"""A prime that divides none of the counts: of any two columns all pairs are met."""


@pytest.mark.parametrize("source", SOURCES)
def test_accumulations(source, monkeypatch, reasons):  # noqa: F811
    scope = {"HOST": HOST, "REALS": REALS, "PAIRS": PAIRS, "BODIES": BODIES}
    cases = itertools.product(SOURCES[source], STEPS, STARTS, BEFORE, USES)
    rolled_ones = 0
    for number, (e, step, start, before, use) in enumerate(cases):
        if (number + len(source)) % STRIDE:
            continue
        first = before if "for b" not in source else before.replace("r = q = ", "")
        lines = [source, f"    {step.format(e=e)}", f"    {use}"]
        if any(name in source for name in LISTS):  # gone through inside of a rolled loop
            lines = ["for _ in range(5):", *(f"    {line}" for line in lines)]
        body = "\n".join([f"t = {start}", first or "pass", *lines, "s = s + t"])
        f = function(body, **scope)
        monkeypatch.setattr(abstract_run, "FEWEST", 4)
        begin = len(reasons)
        rolled = stage(f, 0.5, 3, V, M)
        rolled_ones += reasons[begin : begin + 1] == [""]
        monkeypatch.setattr(abstract_run, "FEWEST", 10**9)
        unrolled = stage(f, 0.5, 3, V, M)
        assert bits(run(rolled, f, 0.5, 3, V, M)) == bits(run(unrolled, f, 0.5, 3, V, M)), body
        if number % 4 == 0:
            monkeypatch.setattr(abstract_run, "FEWEST", 4)
            agrees(f, (-1.25, 0, V[::-1].copy(), M))
    assert rolled_ones > 5 or source.startswith(UNROLLED)
