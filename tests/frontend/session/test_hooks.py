"""Containers of the host, `try`, `assert`, `raise`, generators, cells: what staged branches and loops may do to the host."""

import numpy as np
import pytest

from rosejit import vmap
from rosejit.errors import RoseAssertionError, StagingTypeError, UnsupportedSyntax
from rosejit.frontend.hints.hints import Vec
from rosejit.frontend.values import rose_functions as rose
from tests.frontend.oracle import agrees, define, evaluate, fault, says

CHANGES = {
    "items.append(x)": "a list",
    "items += [x]": "a list",
    "items.sort()": "a list",
    "table['k'] = x": "a dict",
    "table.update(a=1)": "a dict",
    "seen.add(1)": "a set",
    "thing.table['k'] = x": "a dict",
    "del items[0]": "a list",
    "helper(items, x)": "a list",
}


APPENDS = ("items.append(x)", "items += [x]", "helper(items, x)")
BLOCKS = ["if x > 0:", "for k in rose.range(3):", "while x > 1:"]


@pytest.mark.parametrize("change", APPENDS)
def test_a_list_grows_in_a_branch(change):
    source = f"""
        def helper(a, b): a.append(b)
        def f(x: float):
            items = [1.0]
            if x > 0:
                {change}
            return len(items) + items[-1]
    """
    agrees(define(source), (4.0,), (-4.0,))


@pytest.mark.parametrize(
    ("block", "change"), [(b, c) for b in BLOCKS for c in CHANGES if not (b.startswith("if") and c in APPENDS)]
)
def test_changes_of_the_host_in_staged_blocks(change, block):
    source = f"""
        class Thing: table = {{}}
        def helper(a, b): a.append(b)  # change
        def f(x: float):
            items, table, seen, thing = [1.0], {{}}, set(), Thing()
            {block}
                x = x * 0.5
                {change}  # change
            return x
    """
    error = fault(define(source, rose=rose), 4.0)
    assert isinstance(error, UnsupportedSyntax)
    place = "def helper" if change.startswith("helper") else change
    says(error, CHANGES[change], "outside", line=place, help="np.zeros")


@pytest.mark.parametrize("change", CHANGES)
def test_the_same_changes_outside_of_staged_blocks(change):
    source = f"""
        class Thing: table = {{}}
        def helper(a, b): a.append(b)
        def f(x: float):
            items, table, seen, thing = [1.0], {{}}, set(), Thing()
            for k in range(2):
                if k == 1:
                    {change}
            return x, items
    """
    agrees(define(source), (4.0,))


def test_containers_of_the_block_itself():
    def f(x: Vec["n"]):
        total = 0.0
        for i in rose.range(len(x)):
            parts = []
            for k in range(3):
                parts.append(x[i] * k)
            table = {"a": parts[1]}
            table["b"] = parts[2]
            if x[i] > 0:
                pair = [x[i], 1.0]
                pair.append(2.0)
                total += sum(pair)
            total += table["a"] * table["b"]
        return total

    agrees(f, (np.array([1.0, -2.0, 3.0]),))


def test_lists_that_differ_between_sides():
    def f(x: float):
        if x > 0:
            pair = [x, 1.0]
        else:
            pair = [0.0, x]
        return pair[0] + pair[1] * 2, pair

    def g(x: float):
        pair = [x, 1.0]
        if x > 0:
            pair = [0.0, x]
        pair.append(1.0)
        return pair

    def h(x: float):
        pair = [x, 1.0]
        other = pair
        if x > 0:
            pair = [0.0, x]
        pair.append(1.0)
        return other[0]  # given up

    agrees(f, (1.0,), (-2.0,))
    agrees(g, (1.0,), (-2.0,))
    error = fault(h, 1.0)
    assert isinstance(error, UnsupportedSyntax)
    says(error, "only running tells whether this is one with another", line="return other[0]  # given up")


# --- cells


def test_nonlocal_variables():
    def f(x: Vec["n"]):
        total, count = 0, 0

        def add(v):
            nonlocal total, count
            total += v
            if v > 0:
                count += 1
            return total

        for i in rose.range(len(x)):
            add(x[i])
        if x[0] > 0:
            add(100.0)
        while count > 2:
            count -= 1
        return total, count, add(0.5)

    agrees(f, (np.array([1.0, -2.0, 3.0]),), (np.array([-1.0, 2.0, 3.0]),))


def test_a_cell_that_one_path_fills():
    def f(x: float):
        def fill():
            nonlocal y  # pyright: ignore  # one path fills it
            y = x

        if x > 0:
            fill()
        return y
        y = 0

    agrees(f, (1.0,), (-1.0,))


# --- assert and raise


def test_assertions():
    def f(x: float, n: int):
        assert n < 10
        assert x > 0, "not positive"
        if n > 2:
            assert x < 5, f"{x} is too large for {n}"
        return x

    agrees(f, (1.0, 3), (1.0, 11), (-1.0, 1), (9.0, 1), (9.0, 3))
    error = fault(f, 9.0, 3)
    assert isinstance(error, RoseAssertionError)
    assert str(error).startswith("9.0 is too large for 3")


def test_raising():
    class Refused(ValueError):
        pass

    def f(x: float, n: int):
        if x < 0:
            raise Refused("negative")
        for i in rose.range(n):
            if i > 3:
                raise IndexError(f"turn {i}")
            x = x + i
        return x if n < 9 else x * 2

    agrees(f, (1.0, 2), (-1.0, 2), (1.0, 9))
    with pytest.raises(Refused, match="^negative$"):
        evaluate(f, -1.0, 2)
    with pytest.raises(IndexError, match="^turn 4$"):
        evaluate(f, 1.0, 9)


def test_raising_that_python_decides():
    def f(x: float, strict: bool):
        if x is None:
            raise ValueError("nothing")
        return x

    def g(x: float):
        raise KeyError("always")

    agrees(f, (1.0, True))
    with pytest.raises(KeyError, match="always"):
        evaluate(g, 1.0)


LINES = {"f": 'return len(f"{x:.2f}")  # text', "g": 'return {f"{x}": x}["1.0"]  # text'}


def test_text_of_staged_values():
    def f(x: float):
        return len(f"{x:.2f}")  # text

    def g(x: float):
        return {f"{x}": x}["1.0"]  # text

    for made in (f, g):
        error = fault(made, 1.0)
        assert isinstance(error, StagingTypeError)
        says(error, "text", line=LINES[made.__name__], help="print")


# --- try


def test_try_around_host_code():
    def f(x: float, n: int):
        table = {"a": 2.0}
        total = 0.0
        for key in ("a", "b"):
            try:
                total += table[key] * x
            except KeyError:
                total += n
            else:
                total += 1
            finally:
                total *= 2
        return total

    agrees(f, (1.5, 3))


def test_what_can_fail_at_run_time_in_a_try():
    for use in ("x[np.array([n, 0])][0]", "m[np.array([n, 0])].sum()"):
        source = f"""
            def f(x: Vec["n"], n: int):
                m = x * 2
                try:
                    y = {use}  # fails
                except Exception:
                    y = 0
                return y
        """
        error = fault(define(source, Vec=Vec, np=np), [1.0, 2.0], 1)
        assert isinstance(error, UnsupportedSyntax), use
        says(error, "`try`", line=f"y = {use}  # fails", help="`try`")


def test_an_exception_that_leaves_a_staged_block():
    def f(x: float):
        try:
            if x > 0:
                x = x * {}["missing"]
        except KeyError:
            x = 0.0
        return x

    error = fault(f, 1.0)
    assert isinstance(error, UnsupportedSyntax)
    assert "KeyError" in str(error)


# --- generators


def test_generators():
    def evens(items):
        for k, v in enumerate(items):
            if k % 2 == 0:
                yield v

    def f(x: Vec["n"]):
        return sum(evens(x)), [v * 2 for v in evens(x)]

    agrees(f, (np.array([1.0, 2.0, 3.0]),))


def test_yield_in_a_staged_block():
    def numbers(x):
        if x > 0:
            yield x  # in a branch

    def f(x: float):
        return sum(numbers(x))

    error = fault(f, 1.0)
    assert isinstance(error, UnsupportedSyntax)
    says(error, "`yield`", line="yield x  # in a branch")


def test_a_function_that_was_made_gets_attributes_in_a_batch():
    def scaled(x, y):
        def event(t):
            return t * y

        event.direction = -1
        return event(x) * event.direction

    assert vmap(scaled, (0, None))(np.array([1.0, 2.0]), 3.0) == pytest.approx([-3.0, -6.0])
