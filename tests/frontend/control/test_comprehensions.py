"""Comprehensions and reductions over staged ranges, over arrays and over lists of the host."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from rosejit import text
from rosejit.api.public_hints import Mat, Vec
from rosejit.errors import StagingTypeError, UnsupportedSyntax
from rosejit.frontend.values import rose_functions as rose
from rosejit.ir.syntax import Loop
from rosejit.ir.traversal import lets
from tests.frontend.oracle import agrees, define, evaluate, fault, says, stage

X = np.array([1.0, -2.0, 3.0])


class Point(NamedTuple):
    x: float
    y: float


@dataclass
class Box:
    low: float
    high: float


def test_arrays():
    def f(x: Vec["n"]):
        squares = [x[i] * x[i] for i in rose.range(len(x))]
        table = [[x[i] * x[j] + i for j in rose.range(2)] for i in rose.range(len(x))]
        mixed = [[x[i], 1.0] for i in rose.range(len(x))]
        whole = [i for i in rose.range(3)]
        none = [x[0] for i in rose.range(0)]
        return squares, table, mixed, whole, len(none), np.array([i * 0.5 for i in rose.range(2)]) * 2

    agrees(f, (X,))
    loops = [let.expr for let in lets(stage(f, X).function.body) if isinstance(let.expr, Loop)]
    assert not any(loop.carries for loop in loops)


def test_a_list_over_the_host_is_a_list():
    def f(x: Vec["n"]):
        made = [v * k for k, v in enumerate(x) if k != 1]
        made.append(x[0])
        return made, {k: x[k] for k in range(2)}, sorted({k % 2 for k in range(5)}), [a + b for a in x for b in (1, 2)]

    agrees(f, (X,))


def test_lists_of_structures():
    def f(x: Vec["n"]):
        pairs = [(x[i], i) for i in rose.range(len(x))]
        points = [Point(x[i], x[i] * 2) for i in rose.range(len(x))]
        boxes = [Box(x[i], x[i] + 1) for i in rose.range(len(x))]
        rows = [{"v": x * i} for i in rose.range(2)]
        total = 0.0
        for i in rose.range(len(pairs)):
            v, k = pairs[i]
            total += v * k + points[i].y + boxes[-1].high + rows[1]["v"][i]
        return total, pairs[0], points[-1], [b.low for b in boxes]

    agrees(f, (X,))


def test_the_variables_are_the_comprehensions_own():
    def f(x: Vec["n"]):
        i = 10.0
        made = [i * x[i] for i in rose.range(len(x))]
        more = [i for i in range(2)]
        return i, made, more

    agrees(f, (X,))


def test_sums():
    def f(x: Vec["n"], a: Mat["n", "n"]):
        return (
            sum(x[i] for i in rose.range(len(x))),
            sum(a[i, j] * x[j] for i in rose.range(len(x)) for j in rose.range(len(x))),
            sum(x[i] for i in rose.range(len(x)) if x[i] > 0),
            sum((x[i] for i in rose.range(len(x))), 10.0),
            sum(v for v in x),
            sum(x),
            sum(i for i in rose.range(4)),
            sum([x[i] for i in rose.range(len(x))]),
            sum(x[i] * k for k in range(2) for i in rose.range(len(x))),
        )

    agrees(f, (X, np.arange(9.0).reshape(3, 3)))


def test_a_sum_of_a_length_that_only_running_tells():
    def f(x: Vec["n"], k: int):
        return sum(x[i] for i in rose.range(k)), max(x[i] for i in rose.range(k))

    agrees(f, (X, 2), (X, 3), (X, 0))


def test_extremes():
    def f(x: Vec["n"], n: int):
        return (
            max(x[i] for i in rose.range(len(x))),
            min(x[i] * 2 for i in rose.range(len(x))),
            max(i * n for i in rose.range(3)),
            max(x), min(x), max(x[0], x[1]), min(x[0], 2, n), max(n, 1), max([x[0], x[1]]),
            min(v for v in x),
            max((x[0] for i in rose.range(0)), default=7.0),
        )  # fmt: skip

    agrees(f, (X, 2), (X, -2))


def test_nan_as_in_python():
    def f(x: float, y: float):
        return max(x, y), min(x, y)

    agrees(f, (1.0, float("nan")), (float("nan"), 1.0), (0.0, -0.0))


def test_quantifiers():
    def f(x: Vec["n"]):
        return (
            any(x[i] > 2 for i in rose.range(len(x))), all(x[i] > -9 for i in rose.range(len(x))),
            any(v > 5 for v in x), all(v > 5 for v in x), any([]), all([]), any(k > 1 for k in range(3)),
        )  # fmt: skip

    agrees(f, (X,), (X * 10,), (X * 0,))


def test_walrus_binds_outside():
    def f(x: Vec["n"]):
        made = [last := v * 2 for v in x]
        return made, last

    agrees(f, (X,))


REFUSED = {
    "[i * j for i in rose.range(2) for j in rose.range(2)]": "flat list",
    "[v * i for v in x for i in rose.range(2)]": "flat list",
    "[x[i] for i in rose.range(k)]": "length of this list",
    "[x[i] for i in rose.range(3) if x[i] > 0]": "staged `if`",
    "[(t := x[i]) for i in rose.range(3)]": "`:=`",
}


@pytest.mark.parametrize("made", REFUSED)
def test_what_is_refused(made):
    f = define(f"def f(x: Vec['n'], k: int):\n    return {made}  # refused", rose=rose, Vec=Vec)
    error = fault(f, X, 2)
    assert isinstance(error, UnsupportedSyntax)
    says(error, REFUSED[made], line=f"return {made}  # refused")
    assert error.help


def test_elements_of_two_kinds():
    def f(x: Vec["n"]):
        return [(x[i], i > 1)[i] for i in rose.range(2)]  # kinds

    assert isinstance(fault(f, X), StagingTypeError)


def test_a_captured_row_is_not_copied():
    def f(a: Mat["n", "m"]):
        return [sum(a[i, j] for j in rose.range(a.shape[1])) for i in rose.range(a.shape[0])]

    assert "copy" not in text.show(stage(f, np.ones((2, 3))).function)
    assert evaluate(f, np.ones((2, 3))).tolist() == [3.0, 3.0]


def test_lists_of_the_host_around_staged_ones():
    """What a staged comprehension inside has given is its own list's, and no other's."""

    def f(x):
        rows = [[x * i for i in rose.range(3)] for _ in (1, 2)]
        return [[x + k for i in rose.range(2)][0] + len(row) + row[1] for k, row in enumerate(rows)]

    agrees(f, (2.0,))
    agrees(lambda x: [sum(x for _ in rose.range(k)) for k in [1, 2] if k > 1], (2.0,))


def test_long_lists_of_the_host():
    agrees(lambda x: [x * k for k in [*range(1500)]][-1], (0.5,))


@pytest.mark.parametrize("made", ["[*G]", "[v for v in G]", "', '.join(G)"])
def test_a_staged_range_is_no_iterator(made):
    f = define(f"def f(x):\n    return {made.replace('G', '(x * i for i in rose.range(3))')}\n", rose=rose)
    says(fault(f, 2.0), "what is made over a staged range is a list", line="return")
