"""Programs with lists that grow on some paths only, and with lists of lists of which running tells the one that grows."""

import bisect
import collections
import copy
import dataclasses
import functools
import heapq
import itertools
import math
import statistics
from pathlib import Path

import numpy as np
import pytest

import rosejit as rose
from tests import tables
from tests.frontend.oracle import define


@dataclasses.dataclass
class P:
    x: float


@dataclasses.dataclass
class B:
    items: list


def g2(o):
    s = 0.0
    for v in o:
        s = s * 0.5 + v
    return s


@rose.jit
def g3(o):
    return sum(o)


def gen(o):
    for v in o:
        yield v * 2


A1, A2 = [1.0, 2.0], [3.0]
GROWN = """
out = []
for v in xs:
    if v <= t:
        out.append(v)
"""
SCOPE = {
    "P": P, "B": B, "g2": g2, "g3": g3, "gen": gen, "A1": A1, "A2": A2, "bisect": bisect, "collections": collections,
    "copy": copy, "dataclasses": dataclasses, "functools": functools, "heapq": heapq, "itertools": itertools,
    "math": math, "np": np, "rose": rose, "statistics": statistics,
}  # fmt: skip
CALLS = [
    ([0.53, 1.07, 1.5], 1.2), ([0.53, 0.3, 0.71], 1.2), ([1.5, 2.9, 1.7], 1.2), ([2.9, 0.3, 1.1], 1.2),
    ([1.07, 3.0, 0.4], 1.1), ([-0.5, -1.0, -2.0], 1.1),
]  # fmt: skip


def programs(kind, before=""):
    """Those of a section, by their titles."""
    sections = (Path(__file__).parent / "grown_programs.txt").read_text().split("## ")
    text = next(each for each in sections if each.startswith(kind + "\n")).split("\n", 1)[1]
    found = dict(each.split("\n", 1) for each in text.strip().removeprefix("# ").split("\n# "))
    lines = {title: (before + body).strip().splitlines() for title, body in found.items()}
    return {title: "\n    ".join(["def f(xs: list[float], t: float):", *body]) for title, body in lines.items()}


RIGHT = programs("what is read from `out`", GROWN) | programs("whole programs")
REFUSED = programs("refused: what is read from `out`", GROWN) | programs("refused: whole programs")


def outcome(run, args):
    try:
        return run(list(args[0]), args[1])
    except (IndexError, ValueError, UnboundLocalError) as error:
        return type(error).__name__
    except (StopIteration, RuntimeError):
        return "StopIteration"


@pytest.mark.parametrize("title", tables.part([*RIGHT], 3))
def test_it_is_as_in_cpython(title):
    plain = define(RIGHT[title], **SCOPE)
    staged = rose.jit(plain)
    for args in CALLS:
        expected = outcome(plain, args)
        assert outcome(staged, args) == (expected if isinstance(expected, str) else pytest.approx(expected, rel=1e-12))


@pytest.mark.parametrize("title", tables.part([*RIGHT], 5))
def test_its_derivative_is_that_of_the_path(title):
    plain = define(RIGHT[title], **SCOPE)
    slope, (xs, t) = rose.grad(rose.jit(plain)), CALLS[0]
    if not isinstance(outcome(plain, CALLS[0]), float):
        return
    for k, found in enumerate(slope(list(xs), t)):
        up, down = list(xs), list(xs)
        up[k] += 1e-6
        down[k] -= 1e-6
        assert found == pytest.approx((plain(up, t) - plain(down, t)) / 2e-6, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("title", tables.part([*REFUSED], 2))
def test_what_is_refused_has_a_place(title):
    staged = rose.jit(define(REFUSED[title], **SCOPE))
    with pytest.raises((rose.UnsupportedSyntax, rose.StagingTypeError)) as caught:
        staged(*CALLS[0])
    assert caught.value.span is not None
    assert caught.value.help


WALKS = {
    "the list": "v in out", "enumerate": "k, v in enumerate(out)", "unused": "_, _ in enumerate(out)",
    "zip": "v, _ in zip(out, range(9))", "reversed": "v in reversed(out)", "iter": "v in iter(out)",
    "map": "v in map(abs, out)", "generator": "v in (q * 2 for q in out)", "filter": "v in filter(None, out)",
    "zip of enumerate": "(_, v), _ in zip(enumerate(out), 'abcdefgh')", "a slice": "v in out[:]",
}  # fmt: skip
CHANGES = (
    "out.append(1.5)", "out.pop()", "out.insert(0, 1.5)", "out.clear()", "out += [1.5, t]", "del out[-1]", "pass",
    "out.extend([t])", "out[0] = 2.5", "out = out + [1.5]", "out.reverse()",
)  # fmt: skip


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_list_that_changes_while_a_loop_goes_through_it(walk, change):
    plain = define(
        f"def f(xs: list[float], t: float):\n    out, n = [xs[0], xs[1] + 1.0, 3.0, 4.0], 0\n    for {WALKS[walk]}:\n"
        f"        n += 1\n        if t > 1.1 and n < 4:\n            {change}\n    return n + sum(out) + 10 * len(out)"
    )
    staged = rose.jit(plain)
    for args in CALLS[:1] + CALLS[-1:]:
        try:
            assert staged(*args) == pytest.approx(plain(*args), rel=1e-12)
        except rose.RoseError:
            assert change != "pass" or walk == "filter"
