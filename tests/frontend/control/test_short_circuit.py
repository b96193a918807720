"""`and`, `or`, `not`, chained comparisons, conditional expressions, truth."""

import numpy as np

from rosejit.api.public_hints import Vec
from rosejit.errors import ShapeError, StagingTypeError
from rosejit.frontend.values import rose_functions as rose
from rosejit.ir.syntax import If
from rosejit.ir.traversal import lets
from tests.frontend.oracle import agrees, fault, says, stage

POINTS = [(0.0, 0.0), (1.0, -1.0), (-1.0, 1.0), (2.0, 3.0), (3.0, 2.0)]


def test_logic():
    def f(x: float, y: float):
        a = x > 0 and y > 0
        b = x > 0 or y > 0
        c = (not x > 0 and (y > 0 or x == y)) or x > 2
        return a, b, c, not a

    agrees(f, *POINTS)
    assert not [let for let in lets(stage(f, 1.0, 1.0).function.body) if isinstance(let.expr, If)]


def test_the_right_side_runs_only_if_it_decides():
    def f(x: Vec["n"], i: int):
        return i < len(x) and x[i] > 0, i >= len(x) or x[i] > 0

    agrees(f, ([1.0, -2.0], 0), ([1.0, -2.0], 1), ([1.0, -2.0], 2), ([1.0, -2.0], 5))


def test_values_of_and_and_or():
    def f(x: float, y: float):
        return x and y, x or y, (x or 1.0) * 2, x > 0 or False, x > 0 and True, None or x

    agrees(f, *POINTS)


def test_two_kinds_are_good_for_a_condition():
    def f(x: float, n: int):
        if x and n > 2:
            return 1.0
        return 2.0 if n or x > 1 else 3.0

    def g(x: float):
        return (x and x > 2) + 1  # two kinds

    agrees(f, (0.0, 3), (1.0, 3), (1.0, 2), (0.5, 0))
    error = fault(g, 1.0)
    assert isinstance(error, StagingTypeError)
    says(error, "`and` or `or`", line="return (x and x > 2) + 1  # two kinds")


def test_chains():
    def f(x: float, y: float):
        return 0 < x < y, 0 <= x <= y <= 3, x < y > 1 != 2, not 0 < x < 2

    agrees(f, *POINTS)


def test_the_middle_of_a_chain_is_evaluated_once():
    seen = []

    def middle(x):
        seen.append(None)
        return x

    def f(x: float):
        return 0 < middle(x) < 2

    stage(f, 1.0)
    assert len(seen) == 1


def test_conditional_expressions():
    def f(x: float, y: float):
        a = x if x > y else y
        b = 0 if x > y else x
        c = (x if x > 0 else -x) if y > 0 else (1.0 if y == 0 else 2.0)
        d = (x, y) if x > y else (y, x)
        return a, b, c, d

    agrees(f, *POINTS)


def test_binding_on_the_right():
    def f(x: float, y: float):
        z = 0.0
        if x > 0 and (z := x * y) > 1:
            return z
        if x < 0 or (w := y * 2) > 0:
            return z - 1
        return z + w

    agrees(f, *POINTS)


def test_truth_of_numbers_and_arrays():
    def f(x: float, n: int, a: Vec[1]):
        return (1 if x else 2) + (10 if n else 20) + (100 if a else 200) + (1000 if not a else 2000)

    agrees(f, (0.0, 0, np.array([0.0])), (float("nan"), 3, np.array([2.0])))


def test_truth_of_a_longer_array():
    def f(x: Vec["n"]):
        return 1.0 if x > 0 else 2.0  # ambiguous

    error = fault(f, [1.0, 2.0])
    assert isinstance(error, ShapeError)
    says(error, "(2,)", "ambiguous", line="return 1.0 if x > 0 else 2.0  # ambiguous", at="x > 0", help="np.all")


def test_membership():
    def f(x: float, n: int):
        return n in (1, 2, 3), n not in [1, 5], 2 in (n, 3), x in [], 3 in (1, 3)

    agrees(f, (1.0, 2), (1.0, 5), (2.0, 9))


def test_loops_in_operands():
    def f(x: Vec["n"]):
        return any(v > 2 for v in x) and all(x[i] < 9 for i in rose.range(len(x)))

    agrees(f, ([1.0, 2.0],), ([1.0, 3.0],), ([1.0, 30.0],))
