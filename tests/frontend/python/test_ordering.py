"""What compares sequences and orders items, against CPython: functions x kinds of items x values with ties and nan."""

import heapq
import math
import operator
from dataclasses import dataclass, field
from typing import Any

import pytest

import rosejit as rose
from rosejit.errors import RoseError, StagingTypeError
from tests.frontend.oracle import define

ITEMS = {
    "numbers": ("[a, b, c, a, 1.0]", "p", "p"),
    "ints": ("[k, 2, k + 1, 3 - k, k]", "p", "p"),
    "tuples": ("[(a, 1.0), (b, 2.0), (a, 0.5), (c, 4.0), (b, 2.0)]", "p[0]", "p[0] + 10.0 * p[1]"),
    "lists": ("[[a, b], [b, a], [c, 1.0], [a, b]]", "p[0]", "p[0] + 10.0 * len(p)"),
    "points": ("[P(a, 1.0), P(b, 2.0), P(c, 3.0), P(a, 4.0)]", "p.x", "p.x + 10.0 * p.y"),
    "known": ("[3.0, 1.0, 2.0, 1.0]", "p * a", "p"),
    "objects": ("[W(a, 1.0), W(b, 2.0), W(c, 3.0), W(a, 4.0)]", "p.x", "p.x + 10.0 * p.y"),
}
SHOW = "sum([show(p) * 3.0 ** k for k, p in enumerate({0})])"
USES = {
    "min": "return show(min(q))",
    "max": "return show(max(q))",
    "min as they come": "return show(min(p for p in q))",
    "max as they come": "return show(max(p for p in q[1:]))",
    "min by key": "return show(min(q, key=by))",
    "max by key": "return show(max(q, key=lambda p: -by(p)))",
    "min of several": "return show(min(q[1], q[0], q[2], key=by))",
    "max of some": "return show(max(p for p in q if by(p) > 1.0))",
    "min of some or": "return show(min((p for p in q if by(p) > 1.5), default=q[2]))",
    "max of some by key": "return show(max((p for p in q if by(p) > 0.5), key=lambda p: -by(p)))",
    "max of some by key or": "return show(max((p for p in q if by(p) > 2.5), key=by, default=q[1]))",
    "min of a staged loop or": "return min((by(q[0]) - i for i in rose.range(k) if i > 1), key=abs, default=0.5)",
    "product": "return math.prod(by(p) for p in q if by(p) > 1.0)",
    "index of the least": "return 1.0 * min(range(len(q)), key=lambda i: by(q[i]))",
    "sorted": f"return {SHOW.format('sorted(q)')}",
    "sorted by key": f"return {SHOW.format('sorted(q, key=by)')}",
    "sorted by tuples": f"return {SHOW.format('sorted(q, key=lambda p: (by(p) > 1.0, -by(p)))')}",
    "sorted backwards": f"return {SHOW.format('sorted(q, key=by, reverse=True)')}",
    "sort": f"q.sort(key=by)\n    return {SHOW.format('q')}",
    "index": "return 1.0 * q.index(q[2]) + q.index(q[0])",
    "count": "return 1.0 * q.count(q[1])",
    "remove": f"q.remove(q[-1])\n    return {SHOW.format('q')} + len(q)",
    "in": "return 1.0 if q[0] in q[1:] else 2.0",
    "not in": "return 1.0 if q[0] not in (q[1], q[2]) else 2.0",
    "==": "return 1.0 if q[0] == q[2] else 2.0",
    "!=": "return 1.0 if q[:2] != q[2:4] else 2.0",
    "<": "return 1.0 if (q[0], a) < (q[2], b) else 2.0",
    "<=": "return 1.0 if q[:2] <= q[2:4] else 2.0",
    ">": "return 1.0 if (q[0], q[1]) > (q[2], q[1]) else 2.0",
    ">=": "return 1.0 if q >= q[1:] else 2.0",
    "heap": f"heapq.heapify(q)\n    heapq.heappush(q, q[-1])\n    r = [heapq.heappop(q), heapq.heappop(q)]\n    return {SHOW.format('q + r')}",
    "replaced": f"heapq.heapify(q)\n    r = [heapq.heapreplace(q, q[2]), heapq.heappushpop(q, q[1])]\n    return {SHOW.format('q + r')}",
    "nsmallest": f"return {SHOW.format('heapq.nsmallest(2, q, key=by)')}",
    "nlargest": f"return {SHOW.format('heapq.nlargest(3, q, key=by)')}",
    "dict ==": "return 1.0 if {'u': q[0], 'v': 1} == {'v': 1, 'u': q[2]} else 2.0",
}
CALLS = ((1.0, 2.0, 3.0, 1), (3.0, 2.0, 1.0, 2), (1.0, 1.0, 1.0, 0), (2.0, 1.0, 2.0, 5), (-0.0, 0.0, 1.0, -1))
HEAD = """
class P(NamedTuple):
    x: float
    y: float

class W:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __lt__(self, other):
        return self.x < other.x

"""


def program(items: str, use: str) -> Any:
    """A function of three numbers and an integer."""
    made, key, shown = ITEMS[items]
    inner = f"    def by(p):\n        return {key}\n    def show(p):\n        return {shown}\n"
    text = f"{HEAD}def f(a: float, b: float, c: float, k: int) -> float:\n{inner}    q = {made}\n    {USES[use]}\n"
    from typing import NamedTuple

    return define(text, heapq=heapq, math=math, rose=rose, NamedTuple=NamedTuple, __name__="test_ordering")


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("items", ITEMS)
def test_what_compares_decides_as_cpython_does(items: str, use: str) -> None:
    f = program(items, use)
    staged = rose.jit(f)
    for call in CALLS:
        assert outcome(staged, call) == outcome(f, call), call


def outcome(f: Any, call: Any) -> Any:
    try:
        return f(*call)
    except (ValueError, TypeError) as error:  # of nothing there is no greatest; not all that has an order has `<=`
        return type(error)


def test_a_heap_with_nan_is_what_cpython_makes() -> None:
    f = program("numbers", "heap")
    call = (math.nan, 2.0, 1.0, 0)
    assert str(rose.jit(f)(*call)) == str(f(*call))


@pytest.mark.parametrize("use", ["sorted by key", "nsmallest"])
def test_an_order_with_nan_is_refused(use: str) -> None:
    with pytest.raises(ValueError, match="nan has no place in an order"):
        rose.jit(program("tuples", use))(math.nan, 2.0, 1.0, 0)


def test_what_is_not_found_is_told_when_the_code_runs() -> None:
    f = define("def f(x: float) -> float:\n    return 1.0 * [x, 2.0].index(3.0)\n")
    assert rose.jit(f)(3.0) == 0.0
    with pytest.raises(ValueError, match="x not in list"):
        rose.jit(f)(1.0)


def test_more_than_a_network_can_order_is_refused() -> None:
    f = define("def f(x: float) -> float:\n    return sorted([x * k for k in range(80)], key=lambda p: -p)[0]\n")
    with pytest.raises(StagingTypeError, match="at most 64"):
        rose.jit(f)(3.0)


def test_a_chosen_text_is_a_key() -> None:
    f = define("def f(x: float) -> float:\n    d = {'a': x, 'b': 1.0}\n    return d[min(d, key=d.get)]\n")
    for x in (0.5, 3.0):
        assert rose.jit(f)(x) == f(x)
        assert rose.grad(f)(x) == float(x < 1.0)


def test_a_chosen_text_is_told_by_its_function() -> None:
    f = define("def f(x: float) -> float:\n    d = {'a': x, 'b': 1.0}\n    return min(d, key=d.get) + x\n")
    with pytest.raises(RoseError, match="what `min` chooses is 'b' or 'a'"):
        rose.jit(f)(3.0)


MEMBERS = {
    "a set": ("k in {0, 1}", "k not in {2, 5}"),
    "a frozenset": ("k in frozenset((0, 3))", "x in frozenset((1.0, 2.0))"),
    "a dict": ("k in {0: 'a', 'b': 2}", "x in {1: 2}.values()"),
    "a range": ("k in range(5)", "k in range(4, -3, -2)", "x in range(3)", "k in range(1, 9, 3)"),
    "a staged range": ("k in range(m)", "k not in range(1, m, 2)", "x in range(m)", "m in range(k, m + 1)"),
    "a list": ("x in [1.0, k]", "k in ['a', 1, None]", "(k, m) in [(1, 3), (2, 3)]"),
}


@pytest.mark.parametrize("test", [test for tests in MEMBERS.values() for test in tests])
def test_members(test: str) -> None:
    f = define(f"def f(x: float, k: int, m: int) -> float:\n    return 1.0 if {test} else 2.0\n")
    staged = rose.jit(f)
    for x in (-1.0, 0.0, 1.0, 1.5, 2.0, math.nan, math.inf):
        for k, m in ((0, 3), (1, 0), (2, 3), (5, 8), (-2, 7)):
            assert staged(x, k, m) == f(x, k, m), (x, k, m)


@pytest.mark.parametrize("items", ["[3.0, 1.0, 2.0]", "[3.0, x, 2.0]"])
def test_a_list_is_empty_while_it_is_sorted(items):
    f = define(f"def f(x):\n    q = {items}\n    q.sort(key=lambda p: p * len(q))\n    return q[0]\n")
    assert rose.jit(f)(1.0) == f(1.0) == 3.0


def test_a_list_that_its_key_changes():
    f = define("def f(x):\n    q = [3.0, 1.0]\n    q.sort(key=lambda p: q.append(p) or p)\n    return x * q[0]\n")
    for each in f, rose.jit(f):
        with pytest.raises(ValueError, match="list modified during sort"):
            each(1.0)


@dataclass(order=True)
class Ranked:
    """A record with an order; its name has no part in it."""

    cost: float
    time: float
    name: str = field(default="a", compare=False)


@dataclass
class Holding:
    """A record with containers in it."""

    a: float
    b: list
    c: dict
    d: tuple = ()


RECORDS = {
    "less": "Ranked(x, 1.0) < Ranked(2.0, x)",
    "less or equal": "Ranked(x, 1.0, 'b') <= Ranked(2.0, x)",
    "greater": "Ranked(x, x) > Ranked(2.0, 1.0)",
    "greater or equal": "Ranked(2.0, x) >= Ranked(2.0, 1.0)",
    "chained": "Ranked(0.0, x) < Ranked(x, 1.0) < Ranked(3.0, x)",
    "the largest": "max(Ranked(x, 1.0), Ranked(2.0, x)).time",
    "the least by a generator": "min(Ranked(abs(x - k), k) for k in range(3)).time",
    "sorted": "sorted([Ranked(x, 1.0), Ranked(0.5, x), Ranked(2.0, 0.0)])[1].cost",
    "equal with a list": "Holding(x, [x], {}) == Holding(x, [1.0], {})",
    "unequal with a dict": "Holding(x, [], {'a': x}) != Holding(1.0, [], {'a': 1.0})",
    "equal with a tuple": "Holding(1.0, [], {}, (x, 2.0)) == Holding(1.0, [], {}, (1.0, x))",
    "in a list": "Holding(x, [x], {}) in [Holding(0.0, [], {}), Holding(2.0, [2.0], {})]",
    "operators of tuples": "operator.lt((x, 1.0), (2.0, x)) or operator.eq([x], [3.0])",
}


@pytest.mark.parametrize("text", RECORDS)
def test_records_are_compared_by_their_fields(text: str) -> None:
    names = {"Ranked": Ranked, "Holding": Holding, "operator": operator}
    f = define(f"def f(x: float):\n    return {RECORDS[text]}\n", **names)
    staged = rose.jit(f)
    for x in (-1.0, 0.0, 0.75, 1.0, 2.0, 2.5, 3.0):
        assert staged(x) == f(x), x


FIRSTS = {
    "an element": "next((v for v in xs if v > 1.0), 0.0)",
    "a value": "next((v * v for v in xs if v > 1.0), xs[0])",
    "its index": "next((k for k, v in enumerate(xs) if v > 1.0), -1)",
    "by a range": "next((k * xs[k] for k in range(len(xs)) if xs[k] > 1.0), -1.0)",
    "by a staged range": "next((k * xs[k] for k in rose.range(len(xs)) if xs[k] > 1.0), -1.0)",
    "of two conditions": "next((v for v in xs if v > 1.0 if v < 2.9), 5.0)",
    "of two loops": "next((v * w for v in xs for w in xs if v * w > 2.0), 5.0)",
    "without a condition": "next((v * 2.0 for v in xs), 5.0)",
    "of nothing": "next((v for v in xs[:0] if v > 1.0), 5.0)",
    "of a pair": "next(((v, k) for k, v in enumerate(xs) if v > 1.0), (0.0, -1))[0]",
    "or None": "7.0 if next((v for v in xs if v > 1.0), None) is None else xs[1]",
}


@pytest.mark.parametrize("text", FIRSTS)
def test_the_first_of_a_generator(text: str) -> None:
    f = define(f"def f(xs: list[float]):\n    return {FIRSTS[text]}\n", rose=rose)
    staged = rose.jit(f)
    for xs in ([1.0, -2.0, 3.0], [2.0, 1.5, 0.0], [0.0, 0.5, 0.2], [0.0, 1.25, 4.0]):
        assert staged(xs) == f(xs), xs


def test_a_generator_that_was_left_is_not_gone_through_again() -> None:
    f = define("def f(xs):\n    g = (v for v in xs if v > 1.0)\n    return next(g, 0.0) + next(g, 0.0)\n")
    with pytest.raises(RoseError, match="how far is not known"):
        rose.jit(f)([2.0, 3.0])
