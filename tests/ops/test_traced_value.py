"""Values: Python's operators append to a block."""

import pytest

from rosejit import interp
from rosejit.ir.builder import Builder
from rosejit.ir.syntax import Apply, Lit, Loop, Var
from rosejit.ir.types import BOOL, INT, REAL, TAN
from rosejit.ir.verify import verify_program
from rosejit.ops import arith, elementary, linear
from rosejit.ops.traced_value import Value, apply, branch, call, define, literal, repeat


def run(body, params, *args):
    f = define("f", params, body)
    verify_program(f)
    results = interp.run(f, args)
    return results[0] if len(results) == 1 else results


@pytest.mark.parametrize(
    "body",
    [
        lambda x, y: x + y,
        lambda x, y: 2 * x - y / 3,
        lambda x, y: 1.0 - x,
        lambda x, y: 1 / x + (-y),
        lambda x, y: abs(x - 10) * 2,
        lambda x, y: elementary.sin(x) * elementary.exp(y) + arith.sqrt(4.0),
        lambda x, y: arith.select(x < y, x, 0.5),
        lambda x, y: arith.select((x < y) & (y != 3.0) | (x >= 1), x, y),
    ],
)
def test_rules_are_the_same_code_for_numbers_and_values(body):
    assert run(body, (REAL, REAL), 1.25, 2.5) == body(1.25, 2.5)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (lambda i, j: i + 2 * j - 1, 16),
        (lambda i, j: (i & 3) | (j << 4) ^ 1, 83),
        (lambda i, j: -i >> 1, -4),
        (lambda i, j: ~i, -8),
        (lambda i, j: abs(0 - i), 7),
        (lambda i, j: i + 2**63 - 1, -(2**63) + 6),
    ],
)
def test_ints_wrap(body, expected):
    assert run(body, (INT, INT), 7, 5) == expected


def test_tangents_take_the_linear_operations():
    b = Builder()
    c, t = Value(b, Var(REAL)), Value(b, Var(TAN))
    for made in (c * t, t * c, t / c, t + t, t - t, -t, 2.0 * t, t * 2.0, t / 2.0, linear.tselect(c < 1.0, t, 0.0)):
        assert made.type is TAN
    ops = [let.expr.op.name for let in b.lets if isinstance(let.expr, Apply)]
    assert ops == "scale scale tdiv tadd tsub tneg scale scale tdiv lt tselect".split()
    with pytest.raises(KeyError):
        t * t


def test_literals_take_the_type_of_their_place():
    assert literal(1, REAL) == Lit(1.0, REAL)
    assert literal(0.0, TAN) == Lit(0.0, TAN)
    assert literal(True, BOOL) == Lit(True, BOOL)
    b = Builder()
    _ = Value(b, Var(REAL)) * 3
    assert b.lets[0].expr.args[1] == Lit(3.0, REAL)


def test_apply_computes_numbers():
    assert apply(arith.add, 1.0, 2.0) == 3.0


def test_a_branch_runs_one_side():
    def body(x):
        return branch(x > 0.0, lambda: (elementary.log(x), 1), lambda: (0.0, 2))

    assert run(body, (REAL,), 1.0) == (0.0, 1)
    assert run(body, (REAL,), -1.0) == (0.0, 2)
    assert body(1.0) == (0.0, 1)


def test_a_loop_carries():
    def body(n, x):
        return repeat(n, lambda i, s, p: (s + p, p * x), 0.0, 1.0)

    assert run(body, (INT, REAL), 4, 2.0) == (15.0, 16.0)


def test_loops_and_branches_nest():
    def collatz(n):
        def turn(_, n, count):
            done = n == 1
            halved = branch((n & 1) == 0, lambda: n >> 1, lambda: 3 * n + 1)
            return branch(done, lambda: (n, count), lambda: (halved, count + 1))

        return repeat(200, turn, n, 0)[1]

    assert run(collatz, (INT,), 27) == 111


def test_calls_stay_calls():
    square = define("square", (REAL,), lambda x: x * x)
    assert run(lambda x: call(square, x) + call(square, 3.0 * x), (REAL,), 2.0) == 40.0


def test_what_nothing_reads_is_left_out():
    def body(x):
        _ = x * x
        total, _ = repeat(3, lambda i, s, t: (s + x, t), 0.0, x * 2.0)
        return total

    f = define("f", (REAL,), body)
    assert sum(isinstance(let.expr, Apply) for let in f.body.lets) == 1  # what the second carry starts from
    assert any(isinstance(let.expr, Loop) for let in f.body.lets)
    assert interp.run(f, [2.0]) == (6.0,)


def test_values_are_not_hashable_because_equality_is_staged():
    with pytest.raises(TypeError):
        hash(Value(Builder(), Var(REAL)))
