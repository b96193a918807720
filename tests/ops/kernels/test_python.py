"""IR functions as Python functions."""

import pytest

from rosejit import interp
from rosejit.ir.syntax import Index, Lit, MakeArray
from rosejit.ir.types import INT, REAL, Array
from rosejit.ops import arith, integer
from rosejit.ops.kernels.definition import Definition
from rosejit.ops.kernels.python import python_function
from rosejit.ops.traced_value import Value, branch, define, repeat


def same(body, params, *points):
    f = define("f", params, body)
    for args in points:
        expected = interp.run(f, args)
        assert python_function(f)(*args) == (expected[0] if len(expected) == 1 else expected)


def test_straight_lines():
    same(lambda x, y: -(x + y) * x / (y - 2.0), (REAL, REAL), (1.5, 3.0), (1.5, 2.0), (-1.0, 2.0))
    same(lambda i: ((i << 3) ^ i, i > 4), (INT,), (5,), (-(2**62),))


def test_branches_and_loops():
    def body(n, x):
        def turn(i, s):
            return branch(s > 10.0, lambda: s / 2.0, lambda: s + integer.to_real(i) * x)

        return repeat(n, turn, x), n

    same(body, (INT, REAL), (0, 1.0), (20, 3.0))


def test_calls():
    twice = Definition(lambda x: (x + x, x * x), REAL, name="twice")
    same(lambda x: twice(x)[0] + twice(3.0 * x)[1], (REAL,), (1.5,))


def test_arrays():
    def body(i):
        table = i.builder.bind(MakeArray(tuple(Lit(n * n, INT) for n in range(5))), Array(5, INT))
        return Value(i.builder, i.builder.bind(Index(table, (i.atom,), checked=False), INT))

    same(body, (INT,), (0,), (4,))


def test_special_literals():
    same(lambda x: arith.select(x > 0.0, float("inf"), -float("inf")) - x * -1e300, (REAL,), (1.0,), (-1.0,))


def test_it_is_made_once():
    f = define("f", (REAL,), lambda x: x + 1.0)
    assert python_function(f) is python_function(f)


def test_other_forms_are_refused():
    f = define("f", (REAL,), lambda x: x + 1.0)
    f.body.lets[0].expr = MakeArray(())
    f.body.lets[0].expr = object()
    with pytest.raises(AssertionError, match="a kernel has no object"):
        python_function(f)
