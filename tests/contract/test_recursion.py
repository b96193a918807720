"""Functions that call themselves on staged values: the papers' tree, depth, cost, state, and what is refused."""

import gc
import math
import threading
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, Vec
from tests.contract.anatomy import fault
from tests.contract.costs import costs

Ints = Array["n", int]

# --- paper 001: TREE


class Node(NamedTuple):
    value: float
    left: "Node | None" = None
    right: "Node | None" = None


@rose.jit
def fold_objects(tree: rose.Static, x: float) -> float:
    if tree is None:
        return x
    return fold_objects(tree.left, x) * fold_objects(tree.right, x) * tree.value


@rose.jit
def fold_indices(i: int, left: Ints, right: Ints, value: Vec["n"], x: float) -> float:
    if i < 0:
        return x
    return fold_indices(left[i], left, right, value, x) * fold_indices(right[i], left, right, value, x) * value[i]


TREE = Node(2.0, Node(3.0), Node(5.0))
LEFT, RIGHT, VALUES = np.array([1, -1, -1]), np.array([2, -1, -1]), np.array([2.0, 3.0, 5.0])


@pytest.mark.parametrize(
    "fold",
    [lambda x: fold_objects(TREE, x), lambda x: fold_indices(0, LEFT, RIGHT, VALUES, x)],
    ids=["by host recursion", "by value recursion"],
)
def test_the_tree_of_paper_001(fold):
    """30 x**4, at 2."""
    gradient = rose.grad(fold)
    assert fold(2.0) == 480.0
    assert gradient(2.0) == 960.0
    assert rose.grad(gradient)(2.0) == 1440.0
    assert rose.jvp(gradient, (2.0,), (1.0,)) == (960.0, 1440.0)
    assert rose.grad(rose.grad(gradient))(2.0) == 1440.0


def test_an_empty_tree():
    assert fold_objects(None, 2.0) == 2.0
    assert fold_indices(-1, LEFT, RIGHT, VALUES, 2.0) == 2.0
    assert rose.grad(fold_indices, argnums=4)(-1, LEFT, RIGHT, VALUES, 2.0) == 1.0
    assert rose.grad(fold_indices, argnums=3)(0, LEFT, RIGHT, VALUES, 2.0).tolist() == [240.0, 160.0, 96.0]


# --- depth


@rose.jit
def deep(x: float, n: int) -> float:  # deep
    if n == 0:
        return x
    return math.sin(deep(x, n - 1)) + x


def test_depth():
    y = 0.5
    for _ in range(10_000):
        y = math.sin(y) + 0.5
    assert deep(0.5, 10_000) == pytest.approx(y, rel=1e-12)
    assert rose.grad(deep)(0.5, 10_000) == pytest.approx(rose.jvp(deep, (0.5, 10_000), (1.0, None))[1], rel=1e-9)


@pytest.mark.parametrize(
    "function", [deep, rose.grad(deep), rose.grad(rose.grad(deep))], ids=["value", "gradient", "second"]
)
def test_too_deep(function):
    for _ in range(2):
        with fault(rose.RoseRecursionError, "`deep`", "stack", line="def deep(x", help="loop"):
            function(0.5, 10**7)
        assert math.isfinite(function(0.5, 100))


def test_a_pullback_in_a_thread_with_little_stack():
    """The forward pass has gone deeper than this thread can go back."""
    value, pullback = rose.vjp(deep, 0.5, 20_000)
    found = []

    def work():
        for n in (10, 20_000):
            try:
                found.append(rose.vjp(deep, 0.5, n)[1](1.0)[0] if n == 10 else pullback(1.0)[0])
            except rose.RoseRecursionError as error:
                found.append(type(error))

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert found[0] == pytest.approx(rose.grad(deep)(0.5, 10))
    assert found[1] is rose.RoseRecursionError
    assert pullback(1.0)[0] == pytest.approx(rose.grad(deep)(0.5, 20_000))
    del pullback
    gc.collect()
    assert math.isfinite(value)


# --- cost


@rose.jit
def along(x: Vec["n"], i: int, v: float) -> float:
    if i == len(x):
        return v
    a = x[i]
    return along(x, i + 1, a * v) * a


def test_arrays_as_arguments_cost_nothing():
    for order in (0, 1, 2):
        small, large, larger = ([c.all for c in costs(along, (np.full(n, 1.01), 0, 1.0), order)] for n in (16, 32, 64))
        for a, b, c in zip(small, large, larger, strict=True):
            assert c - b <= 2.2 * (b - a)
        copied = [c.copied for c in costs(along, (np.full(64, 1.01), 0, 1.0), order)]
        assert max(copied) <= 64 * 2 * order


def test_one_function_each():
    def ir_of(f, *args):
        return str(rose.make_ir(f)(*args))

    assert ir_of(deep, 0.5, 3).count("def ") == 1
    assert ir_of(rose.grad(deep), 0.5, 3).count("def ") == 3
    first, second, third = (len(ir_of(f, 0.5, 3)) for f in (deep, rose.grad(deep), rose.grad(rose.grad(deep))))
    assert second <= 8 * first
    assert third <= 8 * second


# --- what the result is


@rose.jit
def hinted_by_nothing(x, n):
    if n > 0:
        return hinted_by_nothing(x, n - 1) * x
    return 1


def test_results_without_hints():
    assert hinted_by_nothing(2, 3) == 8
    assert isinstance(hinted_by_nothing(2, 3), int)
    assert rose.grad(hinted_by_nothing)(2.0, 3) == 12.0

    @rose.jit
    def halves(n):
        return thirds(n - 1) / 2 if n > 0 else 1

    @rose.jit
    def thirds(n):
        if n > 0:
            return halves(n - 1)
        return 3

    assert (halves(3), thirds(3)) == (0.75, 0.5)

    @rose.jit
    def divides_by_three(n):
        return n == 0 or (n > 2 and divides_by_three(n - 3))

    assert [divides_by_three(n) for n in range(5)] == [True, False, False, True, False]

    @rose.jit
    def pair(n):
        if n == 0:
            return {"last": 1.0, "all": np.zeros(2)}
        found = pair(n - 1)
        return {"last": found["last"] * 2, "all": found["all"] + found["last"]}

    assert pair(3)["last"] == 8.0
    assert pair(3)["all"].tolist() == [7.0, 7.0]


def test_nothing_as_result(capsys):
    @rose.jit
    def hanoi(n: int, a: int, b: int, c: int):
        if n > 0:
            hanoi(n - 1, a, c, b)
            print(a, c)
            hanoi(n - 1, b, a, c)

    assert hanoi(2, 0, 1, 2) is None
    assert capsys.readouterr().out == "0 1\n0 2\n1 2\n"


def test_a_result_that_cannot_be_guessed():
    @rose.jit
    def rows(x, n):
        if n > 0:
            return rows(x, n - 1)[0] + x  # the first element
        return x

    with fault(rose.StagingTypeError, "`rows`", "number", line="return rows(x, n - 1)[0]", help="`-> float`"):
        rows(np.ones(2), 3)

    @rose.jit
    def one_or_two(n):
        if n > 5:
            return 1.0
        return one_or_two(n + 1), 2.0  # two

    with fault(rose.StagingTypeError, "tuple"):
        one_or_two(1)

    @rose.jit
    def whole(n: int) -> int:
        return part(n)  # of a part

    @rose.jit
    def part(n):
        return whole(n - 1) if n > 0 else 0.5

    with fault(rose.StagingTypeError, "`whole`", "an Int", "a Real", line="def whole(n: int)"):
        part(3)


# --- its own derivative


def test_its_own_derivative():
    @rose.jit
    def own(x: float, n: int) -> float:
        if n == 0:
            return x * x
        return rose.grad(own)(x, n - 1)  # in itself

    with fault(
        rose.NotDifferentiable,
        "`own`",
        line="return rose.grad(own)(x, n - 1)",
        at="rose.grad(own)(x, n - 1)",
        help="Static",
    ):
        own(1.0, 3)

    @rose.jit
    def derivative(x: float, n: rose.Static[int]) -> float:
        return x**4 if n == 0 else rose.grad(derivative)(x, n - 1)

    assert [derivative(2.0, n) for n in range(5)] == [16.0, 32.0, 48.0, 48.0, 24.0]


# --- state

FACTOR = 2.0


@rose.jit
def ping(x: float, n: int) -> float:
    return x if n == 0 else pong(x, n - 1)


@rose.jit
def pong(x: float, n: int) -> float:
    return x if n == 0 else FACTOR * ping(x, n - 1)


def test_a_cycle_is_staged_again_when_a_global_changes(monkeypatch):
    assert (ping(1.0, 4), pong(1.0, 4)) == (4.0, 4.0)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert (ping(1.0, 4), pong(1.0, 4), rose.grad(ping)(1.0, 4)) == (9.0, 9.0, 9.0)


def test_one_staging_serves_the_cycle():
    @rose.jit
    def one(x: float, n: int) -> float:
        return x if n == 0 else other(x, n - 1)

    @rose.jit
    def other(x: float, n: int) -> float:
        return x if n == 0 else 2 * one(x, n - 1)

    assert [one(1.0, n) for n in range(4)] == [1.0, 1.0, 2.0, 2.0]
    assert other(1.0, 3) == 4.0
    assert (one.cache_info().misses, other.cache_info().misses) == (1, 1)


def test_a_cycle_that_fails_leaves_nothing():
    text = "x"

    @rose.jit
    def one(x: float, n: int) -> float:
        return x if n == 0 else other(x, n - 1)

    @rose.jit
    def other(x: float, n: int) -> float:
        return (x if n == 0 else 2 * one(x, n - 1)) + text  # and a text

    for _ in range(2):
        with fault(rose.StagingTypeError, "str", line="return (x if n == 0 else 2 * one"):
            one(1.0, 2)
    assert (one.cache_info().size, other.cache_info().size) == (0, 0)
    text = 1.0
    assert one(1.0, 2) == 3.0


def test_threads_that_enter_a_cycle_at_two_places():
    @rose.jit
    def one(x: float, n: int) -> float:
        return x if n == 0 else other(x, n - 1)

    @rose.jit
    def other(x: float, n: int) -> float:
        return x if n == 0 else 2 * one(x, n - 1)

    found = []
    threads = [threading.Thread(target=lambda f=f: found.append(f(1.0, 4))) for f in (one, other) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [4.0] * 8


WEIGHTS = np.ones(3)


@rose.jit
def total(i: int) -> float:
    return 0.0 if i == len(WEIGHTS) else WEIGHTS[i] + total(i + 1)


def test_captured_arrays_are_read_at_each_call(monkeypatch):
    assert total(0) == 3.0
    WEIGHTS[1] = 5.0
    assert total(0) == 7.0
    monkeypatch.setitem(globals(), "WEIGHTS", np.full(4, 2.0))
    assert total(0) == 8.0


def test_the_disk_cache_keeps_recursion():
    before = [f(0.5, 50) for f in (deep, rose.grad(deep))]
    rose.clear_caches()
    assert [f(0.5, 50) for f in (deep, rose.grad(deep))] == before


def test_pullbacks_keep_their_records():
    value, pullback = rose.vjp(deep, 0.5, 30)
    deep(0.9, 40)
    other_value, other = rose.vjp(deep, 0.9, 30)
    assert value != other_value
    assert other(1.0)[0] == pytest.approx(rose.grad(deep)(0.9, 30))
    assert pullback(1.0)[0] == pullback(1.0)[0] == pytest.approx(rose.grad(deep)(0.5, 30))
