"""`if`, `for` and `while`, on the host and staged."""

import numpy as np
import pytest

from rosejit import text
from rosejit.errors import StagingTypeError, UnboundStagedName
from rosejit.frontend.hints.hints import Vec
from rosejit.frontend.values import rose_functions as rose
from rosejit.ir.syntax import If, Loop, While
from rosejit.ir.traversal import lets
from tests.frontend.oracle import agrees, define, evaluate, fault, says, stage


def forms(f, *args):
    """The names of the structured forms in the staged program."""
    body = stage(f, *args).function.body
    return [type(let.expr).__name__ for let in lets(body) if isinstance(let.expr, (If, Loop, While))]


# --- if


def test_a_staged_branch():
    def f(x: float, y: float):
        if x > y:
            z = x
        elif x == y:
            z = 0.0
        else:
            z = -y
        return z

    agrees(f, (2.0, 1.0), (1.0, 1.0), (0.0, 5.0))
    assert forms(f, 1.0, 2.0) == ["If", "If"]


def test_a_branch_that_python_decides_leaves_no_trace():
    def f(x: float, flags: list):
        total = x
        if len(flags) > 1:
            total = total * 2
        return total

    assert "if" not in text.show(stage(f, 1.0, [True, False]).function)
    agrees(f, (1.0, []), (1.0, [True, False]))


def test_an_int_widens_at_a_join():
    def f(x: float):
        y = 0
        if x > 0:
            y = x
        return y

    agrees(f, (2.5,), (-1.0,))
    assert stage(f, 1.0).result.kind == "real"


def test_a_side_may_bind_nothing():
    def f(x: float):
        if x > 0:
            pass
        else:
            x = -x
        return x

    agrees(f, (2.0,), (-2.0,))


def test_a_name_of_one_side_only():
    def f(x: float):
        if x > 0:
            y = x
        return y

    agrees(f, (2.0,), (-2.0,))


def test_a_name_of_no_side():
    def f(x: float):
        if x > 0:
            pass
        return y

    def g(x: float):
        if False:
            y = x
        return y  # unset

    with pytest.raises(NameError):
        evaluate(f, 1.0)
    error = fault(g, 1.0)
    assert isinstance(error, UnboundStagedName)
    says(error, "`y`", line="return y  # unset", at="y", help="bind `y` on every path")


def test_mixed_kinds_are_harmless_until_they_are_read():
    def unread(x: float):
        if x > 0:
            note = "positive"
        else:
            note = x
        return x

    def read(x: float):
        if x > 0:
            note = "positive"
        else:
            note = x
        return note * 2.0  # mixed

    agrees(unread, (1.0,), (-1.0,))
    error = fault(read, 1.0)
    assert isinstance(error, StagingTypeError)
    says(
        error,
        "'positive'",
        "a staged Real",
        line="return note * 2.0  # mixed",
        at="note * 2.0",
        help="same kind of value",
    )


# --- for


def test_loops_of_the_host_are_unrolled_and_others_stay():
    def unrolled(x: float):
        for k in range(3):
            x = x * k + 1
        return x

    def kept(x: float):
        for k in rose.range(3):
            x = x * k + 1
        return x

    def counted(x: float, n: int):
        for k in range(n):
            x = x * k + 1
        return x

    agrees(unrolled, (2.0,))
    agrees(kept, (2.0,))
    agrees(counted, (2.0, 0), (2.0, 5), (2.0, -3))
    assert (forms(unrolled, 1.0), forms(kept, 1.0), forms(counted, 1.0, 2)) == ([], ["Loop"], ["Loop"])


@pytest.mark.parametrize(
    ("start", "stop", "step"), [(0, 5, 1), (2, 9, 3), (9, 2, -3), (4, -1, -1), (3, 3, 1), (5, 2, 1), (-4, 5, 2)]
)
def test_ranges(start, stop, step):
    def f(a: int, b: int):
        total = 0
        for i in rose.range(a, b, step):
            total = total * 10 + i
        return total

    def constant(a: int):
        total = 0
        for i in rose.range(start, stop, step):
            total = total * 10 + i
        return total

    def staged_step(a: int, b: int, c: int):
        total = 0
        for i in rose.range(a, b, c):
            total = total * 10 + i
        return total

    agrees(f, (start, stop))
    agrees(constant, (0,))
    agrees(staged_step, (start, stop, step))


def test_what_a_loop_carries():
    def fibonacci(n: int):
        a, b = 0, 1
        for _ in rose.range(n):
            a, b = b, a + b
        return a

    def mean(x: Vec["n"]):
        total, count = 0, 0
        for i in rose.range(len(x)):
            total += x[i]
            count += 1
        return total / count

    agrees(fibonacci, (0,), (1,), (10,))
    agrees(mean, ([1.0, 2.0, 6.0],))


def test_temporaries_are_not_carried():
    def f(x: Vec["n"]):
        total = 0.0
        for i in rose.range(len(x)):
            square = x[i] * x[i]
            total += square
        return total

    (loop,) = [let.expr for let in lets(stage(f, [1.0, 2.0]).function.body) if isinstance(let.expr, Loop)]
    assert len(loop.carries) == 1


def test_names_bound_in_a_loop_and_read_after_it():
    def f(n: int):
        for i in rose.range(n):
            last = i * 2
        return last, i

    agrees(f, (3,), (0,))


def test_tuples_are_carried_part_by_part():
    def f(n: int, x: float):
        state = (x, (0, x))
        for _ in rose.range(n):
            a, (k, b) = state
            state = (a + b, (k + 1, b * 0.5))
        return state

    agrees(f, (0, 1.5), (4, 1.5))


def test_a_host_value_cannot_change_in_a_staged_loop():
    def f(n: int, x: float):
        mode = "up"
        for _ in rose.range(n):
            x = x + 1 if mode == "up" else x - 1
            mode = 2.0  # changes
        return x

    error = fault(f, 3, 1.0)
    assert isinstance(error, StagingTypeError)
    says(error, "`mode`", "'up'", "2.0", line="mode = 2.0  # changes", help="same kind of value")


def test_a_text_may_be_another_in_a_staged_loop():
    def f(n: int, x: float):
        mode = "up"
        for _ in rose.range(n):
            x = x + 1 if mode == "up" else x - 1
            mode = "down"
        return x

    agrees(f, (0, 1.0), (1, 1.0), (3, 1.0))


def test_a_real_that_was_an_int_cannot_index():
    def f(x: Vec["n"]):
        k = 0
        for i in rose.range(len(x)):
            y = x[k]  # index
            k = k + y
        return k

    error = fault(f, [0.0, 0.0])
    assert isinstance(error, StagingTypeError)
    says(error, "an index is an Int", line="y = x[k]  # index", help="0.0")


def test_an_int_that_widens_is_read_in_a_loop_that_only_reads_it():
    def f(y: float, n: int):
        x = n
        while x > 2:
            for _ in rose.range(2):
                y = y * 0.5 + x / 2
            x = y * 0.5
        return x, y

    agrees(f, (1.0, 2), (3.5, 7))


def test_ints_widen_through_nested_loops():
    def f(n: int, x: float):
        total = 0
        for i in rose.range(n):
            for j in rose.range(i):
                total = total + j // 2 - j % 2 + (total > 3)
            total += x
        return total * 2 // 1

    agrees(f, (0, 0.5), (4, 0.25))


# --- while


def test_while_on_the_host_and_staged():
    def host(x: float):
        k, items = 0, [x, x * 2, x * 3]
        while items:
            k += 1
            x = x + items.pop()
        return x, k

    def staged(x: float):
        steps = 0
        while x > 1.0:
            x = x / 2
            steps += 1
        return x, steps

    def both(x: float):
        k = 0
        while k < 3 or x < 50.0:
            x = x * 1.5 + 1
            k += 1
        return x, k

    agrees(host, (1.0,))
    agrees(staged, (0.5,), (40.0,), (1e9,))
    agrees(both, (1.0,), (100.0,))
    assert forms(host, 1.0) == []
    assert forms(staged, 1.0) == ["While"]


def test_while_true_with_a_staged_way_out():
    def f(x: float):
        n = 0
        while True:
            x = x * 1.5
            if x > 50:
                break
            n += 1
        return n, x

    agrees(f, (1.0,), (60.0,))


def test_else_of_loops():
    def f(n: int, limit: int):
        for i in rose.range(n):
            if i == limit:
                break
        else:
            return -1
        while n > limit:
            n -= 2
        else:
            n = n * 10
        return n

    agrees(f, (5, 3), (5, 9), (0, 0), (8, 2))


def test_a_test_that_changes_what_the_loop_uses():
    def halved(x: float):
        while (x := x * 0.5) > 1.0:
            pass
        return x

    def both(x: float, n: int):
        k = 0
        while k < n and (y := x * k) < 10.0 or k == 0:
            y = x
            k += 1
        return y, k

    def left_early(x: float):
        while (y := x * x) > 1.0:
            if y > 1e6:
                break
            x = y if y > 9.0 else x / 3
        else:
            y = y + 1
        return x, y

    def emptied(x: float):
        a = np.zeros(2)

        def step():
            a[0] += x
            a[1] += 1.0
            return a[0]

        while step() < 10.0 and a[1] < 50.0:
            a[0] *= 1.5
        return a[0], a[1]

    def counted(n: int):
        calls = 0

        def more():
            nonlocal calls
            calls += 1
            return calls < n

        k = 0
        while more():
            k += calls
        return k, calls

    agrees(halved, (9.0,), (0.5,), (1e9,))
    agrees(both, (2.0, 3), (2.0, 0), (20.0, 7))
    agrees(left_early, (0.5,), (2.0,), (4.0,), (1.5,))
    agrees(emptied, (0.1,), (3.0,), (20.0,))
    agrees(counted, (5,), (0,))


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_loops_without_a_test_are_staged_once(depth):
    """Each level adds what it says, and does not say again what is inside."""
    lines = ["def f(x: float):"]
    for level in range(depth):
        lines += ["    " * (level + 1) + "while True:", "    " * (level + 2) + "x = x * 0.5"]
    lines += ["    " * (level + 1) + f"if x < {level}.5: break" for level in range(depth, 0, -1)]
    f = define("\n".join([*lines, "    return x"]))
    assert sum(1 for _ in lets(stage(f, 1.0).function.body)) == 4 * depth
    agrees(f, (100.0,), (0.1,))


def test_a_loop_that_is_left_makes_no_more_iterations():
    def up(x: float, n: int):
        for i in rose.range(n):
            x = x * 0.75
            if x < 1.0:
                break
        else:
            x = x + 100.0
            i = -1
        return x, i

    def down(x: Vec["n"], limit: float):
        for i in rose.range(len(x) - 1, -1, -1):
            if x[i] > limit:
                return x[i], i
            limit = limit + x[i]
        return limit, -1

    def strided(x: float, first: int, last: int):
        s = 0.0
        for i in rose.range(first, last, -3):
            for j in rose.range(i, 1_000, 7):
                s += x * j
                if s > 100.0 * i:
                    break
            else:
                continue
            if s > 1e6:
                return s, i, j
        return s, first, last

    agrees(up, (10.0, 10**12), (10.0, 3), (10.0, 1))
    assert forms(up, 10.0, 5)[0] == "While"
    agrees(
        down, (np.linspace(0.0, 1.0, 100), 5.0), (np.linspace(0.0, 1.0, 100), 1e9), (np.linspace(2.0, 1.0, 100), 1.5)
    )
    agrees(strided, (1.0, 20, -30), (1e-3, 5, 0), (3.0, 0, 0))

    def short(x: float):
        for _ in rose.range(5):
            x = x * 0.5
            if x < 1.0:
                break
        return x

    agrees(short, (10.0,), (1e3,))
    assert forms(short, 10.0)[0] == "Loop"


def test_loops_that_begin_as_if_the_host_decided_them():
    def flag(x: float):
        done, turns = False, 0
        while not done:
            x = x / 2
            turns += 1
            done = x < 1.0
        return x, turns

    def host(x: float):
        k, found = 0, []
        while True:
            found.append(k * x)
            k += 1
            if k == 3:
                break
        return found[0] + found[1] + found[2]

    def first_and_rest(x: float):
        first = True
        s = 0.0
        while True:
            if first:
                s = s + 100.0
                first = False
            s += x
            if s > 105.0:
                return s
            x = x * 2

    def bound_inside(x: float):
        while True:
            y = np.array([x, x * 2])
            x = x * 0.5
            if x < 1.0:
                break
        return y[0] + y[1]

    def rows(a: Vec[3], x: float):
        b = a.copy()
        while True:
            b[0] += x
            row = b * 2
            if b[0] > 5.0:
                continue_with = row
                break
            b[1] = row[0]
        return b, continue_with

    def twice(x: float, n: int):
        s = 0.0
        while True:
            n -= 1
            t = x
            while True:
                t = t * 0.5
                s += t
                if t < 1.0:
                    break
            if n < 1:
                break
        return s, t

    agrees(flag, (10.0,), (0.5,))
    agrees(host, (2.0,))
    agrees(first_and_rest, (1.0,), (7.0,))
    agrees(bound_inside, (10.0,), (0.5,))
    agrees(rows, (np.array([1.0, 2.0, 3.0]), 1.5))
    agrees(twice, (10.0, 3), (0.5, 1))


def test_names_that_only_an_iteration_of_while_binds():
    def f(n: int, x: Vec[2]):
        k = 0
        while k < n:
            k += 1
            last, pair, row = k * 2, (k, x[0] * k), x * k
            m = 0
            while m < k:
                m += 1
                inner = m + k
        return last, pair, row, inner

    agrees(f, (1, np.array([1.0, 2.0])), (3, np.array([1.0, 2.0])), (0, np.array([1.0, 2.0])))


def test_a_result_that_every_iteration_of_while_returns():
    def f(n: int, x: float):
        while n > 0:
            n += 1
            if x.__class__ is not str:
                return n, x
        return 0, -x

    agrees(f, (1, 2.0), (0, 2.0))


# --- leaving early


def test_returns():
    def f(n: int, x: float):
        if n == 0:
            return 1.0
        if n < 0:
            return -x
        for i in rose.range(n):
            if x > 100:
                return x
            x = x * 2
        return x + 1

    agrees(f, (0, 3.0), (-1, 3.0), (3, 3.0), (20, 3.0))


def test_a_guard_is_an_else():
    def f(x: float):
        if x < 0:
            return 0.0
        return x * 2

    assert forms(f, 1.0) == ["If"]


def test_break_and_continue():
    def f(n: int):
        total = 0
        for i in rose.range(n):
            if i == 2:
                continue
            if i == 6:
                break
            for j in range(3):
                if j == i:
                    break
                total += j
            total += i
        return total

    agrees(f, (0,), (2,), (5,), (12,))


def test_structures_and_arrays_on_the_way_out():
    def f(n: int, x: Vec["n"]):
        for i in rose.range(n):
            if x[i] < 0:
                return x, i
        return x * 2, -1

    agrees(f, (3, np.array([1.0, -2.0, 3.0])), (3, np.array([1.0, 2.0, 3.0])))


def test_a_path_without_a_value():
    def f(x: float):
        if x > 0:
            return x

    agrees(f, (1.0,))
    agrees(f, (-1.0,))


LOOPS = {
    "and": "while i < n and (r := y - x) > y - 3: i, x = i + 1, x + 1",
    "or": "while i < 2 or (r := y - x) > y: i, x = i + 1, x + 1",
    "nested": "while i < n and (r := y) > x:\n        i += 1\n        while x < 1 and (q := x) < y: x += 0.5",
    "bound before": "r = 1.0\n    while i < n and (r := y - x) > y - 3: i, x = i + 1, x + 1",
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_names_that_only_the_test_of_a_while_binds(loop):
    f = define(f"def f(x: float, y: float, n: int):\n    i = 0\n    {loop}\n    return x * 1.0, i")
    agrees(f, (-1.0, 2.0, 3), (0.5, 0.25, 0), (2.0, 1.0, 5))


def test_walrus_of_a_variable_that_an_inner_function_rebinds():
    def f(x: float, n: int):
        def turn():
            nonlocal s
            s = s * 0.5 + 1.0

        s = x
        for _ in rose.range(n):
            turn()
            if (s := s - 0.25) > 1.0:
                s += 1.0
        return s, (s := s + 1.0) * s

    agrees(f, (2.0, 3), (-1.0, 0))


def test_none_before_a_loop_that_may_find_something():
    def f(x: float, n: int):
        found = None
        for i in rose.range(n):
            if x > i:
                found = x - i
        return 0.0 if found is None else found

    agrees(f, (2.5, 3))
    agrees(f, (-2.5, 3))
    agrees(f, (2.5, 0))


MOST = 2**63 - 1


def test_ranges_with_steps_as_large_as_ints():
    def last(a: int, b: int, step: int):
        count = found = 0
        for i in rose.range(a, b, step):
            count += 1
            found = i
        return count, found

    steps = [(0, 5, MOST), (5, 0, -MOST - 1), (1, 0, -MOST - 1), (0, MOST, 2**62), (MOST - 3, MOST, 2), (0, 0, MOST)]
    ends = [(-MOST, -MOST - 1, -1), (2 - MOST, -MOST - 1, -2), (0, 7, 3), (7, 0, -3), (0, -5, 3), (0, 5, -3)]
    agrees(last, *steps, *ends)


def test_a_range_with_a_large_constant_step():
    def few(n: int):
        found = 0
        for i in rose.range(0, n, MOST):
            found += i + 1
        for i in rose.range(n, -1, -(2**63)):
            found += i + 1
        return found

    agrees(few, (5,), (0,), (-3,))


def test_a_range_without_a_step_says_what_python_says():
    def f(a: int, step: int):
        found = 0
        for i in rose.range(0, a, step):
            found = i
        return found

    with pytest.raises(ValueError, match="arg 3 must not be zero"):
        evaluate(f, 3, 0)
