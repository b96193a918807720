"""A fault leaves nothing behind."""

import collections
import heapq
import math
import operator
import pickle
import sys
import traceback
import warnings
import weakref

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec
from rosejit.api.calling import specialisation_cache
from rosejit.text import parse


@rose.jit
def at(x: Vec["n"], i: int) -> float:
    return x[i] * 2.0


def test_the_same_call_gives_the_same_error():
    @rose.jit
    def wrong(x: float) -> float:
        return x + "1"

    texts = set()
    for _ in range(3):
        with pytest.raises(rose.StagingTypeError) as caught:
            wrong(1.0)
        texts.add(str(caught.value))
    assert len(texts) == 1
    assert wrong.cache_info().size == 0


def test_a_corrected_redefinition_works():
    for wrong in (True, False):
        if wrong:

            @rose.jit
            def f(x: float) -> float:
                return x + "1"

            with pytest.raises(rose.StagingTypeError):
                f(1.0)
        else:

            @rose.jit
            def f(x: float) -> float:
                return x + 1.0

            assert f(1.0) == 2.0


def test_one_wrong_specialisation_leaves_the_others():
    @rose.jit
    def first(x):
        return x[0] * 2.0

    assert first([3.0]) == 6.0
    with pytest.raises((rose.StagingTypeError, TypeError)):
        first(3.0)
    assert first(np.array([3.0])) == 6.0


def test_a_helper_that_failed_once_is_not_half_known():
    state = {"wrong": True}

    def helper(v):
        return v + "1" if state["wrong"] else v + 1.0

    @rose.jit
    def f(x: float) -> float:
        return helper(x)

    with pytest.raises(rose.StagingTypeError):
        f(1.0)
    state["wrong"] = False
    assert f(1.0) == 2.0


def test_errors_can_be_caught_as_python_errors():
    with pytest.raises(IndexError):
        at([1.0], 3)
    with pytest.raises(TypeError):
        at(3.0, 3)


def test_the_full_traceback_on_demand(monkeypatch):
    monkeypatch.setenv("ROSE_FULL_TRACEBACK", "1")
    with pytest.raises(rose.StagingTypeError) as caught:
        at("x", 3)
    assert any("rosejit" in frame.filename for frame in traceback.extract_tb(caught.value.__traceback__))


def test_errors_pickle():
    with pytest.raises(rose.RoseIndexError) as caught:
        at([1.0], 3)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is rose.RoseIndexError
    assert str(again) == str(caught.value)


def test_text_that_is_no_ir():
    for text in (
        "",
        "def f(x: Real): Real = y",
        "def f(x Real): Real = x",
        "def f(x: Real): Real = let y: Real = x + in y",
    ):
        with pytest.raises(rose.ParseError):
            parse(text)


def test_no_warnings_are_given():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f = rose.jit(lambda x: 1.0 / x)
        assert f(0.0) == math.inf
        assert rose.grad(f)(0.0) == -math.inf


def test_recursion_limit_is_left_alone():
    before = sys.getrecursionlimit()
    rose.grad(at)([1.0], 0)
    assert sys.getrecursionlimit() == before


class Thing:
    total = 0.0

    def __init__(self):
        self.size = 1.0
        self.history = [1.0]


THING = Thing()
ITEMS = [1.0, 2.0]
TABLE = {"a": 1.0}
COUNTS = collections.defaultdict(float)
ORDERED = collections.OrderedDict(a=1.0, b=2.0)
HEAP: list[float] = []
QUEUE = collections.deque([1.0])
TAGS = {"a"}


def remembered(x, known={}):
    if "x" not in known:
        known["x"] = x * 2
    return known["x"]


def spoil_an_object(x):
    THING.size = x


def spoil_a_new_attribute(x):
    THING.colour = x


def spoil_by_a_method(x):
    THING.history.append(x)


def spoil_a_class(x):
    Thing.total = x


def spoil_a_list(x):
    ITEMS[0] = x
    ITEMS.extend([x, 2.0])


def spoil_a_list_in_its_order(x):
    ITEMS.reverse()
    return x.nothing


def spoil_a_dict(x):
    TABLE["b"] = x
    TABLE.pop("a")


def spoil_counts(x):
    COUNTS["a"] += x


def spoil_an_order(x):
    ORDERED.move_to_end("a")
    ORDERED["c"] = x


def spoil_a_heap(x):
    heapq.heappush(HEAP, x)


def spoil_by_a_function(x):
    operator.setitem(ITEMS, 0, x)


def spoil_a_queue(x):
    QUEUE.appendleft(x)


def spoil_a_set(x):
    TAGS.add("b")
    return x.nothing


def spoil_and_raise(x):
    ITEMS.append(3.0)
    raise ValueError("no")


def spoil_a_default(x):
    return remembered(x)


SPOILING = [value for name, value in list(globals().items()) if name.startswith("spoil")]


def held():
    return (
        vars(THING).copy(),
        [*THING.history],
        Thing.total,
        [*ITEMS],
        {**TABLE},
        {**COUNTS},
        [*ORDERED.items()],
        [*HEAP],
        [*QUEUE],
        {*TAGS},
    )


@pytest.mark.parametrize("change", SPOILING)
def test_a_refused_call_leaves_what_is_outside_as_it_was(change):
    @rose.jit
    def f(x: float) -> float:
        change(x)
        return x

    before = held()
    texts = set()
    for call in (f, f, rose.grad(f)):
        with pytest.raises((rose.UnsupportedSyntax, AttributeError, ValueError)) as caught:
            call(2.0)
        texts.add(str(caught.value))
        assert held() == before
        assert remembered.__defaults__ == ({},)
    assert len(texts) == 1


def test_a_list_from_around_that_would_hold_a_staged_value():
    kept = []

    @rose.jit
    def f(x: float) -> float:
        kept.append(x)
        return sum(kept)

    with pytest.raises(rose.UnsupportedSyntax, match="`kept`, which is from outside, would hold a value"):
        f(2.0)
    assert kept == []


def test_what_is_done_to_the_host_stays_where_the_call_is_good():
    kept = []

    @rose.jit
    def f(x: float) -> float:
        kept.append(len(kept))
        return x

    assert f(2.0) == 2.0
    assert kept == [0]


def test_of_many_shapes_the_oldest_is_forgotten(monkeypatch):
    """Each takes memory, and mappings of it, of which a process gets so many and no more."""
    monkeypatch.setattr(specialisation_cache, "MOST", 20)

    @rose.jit(cache=False)
    def f(x: Vec["n"]) -> float:
        return (x * x).sum()

    slope = rose.grad(f)
    for n in range(60):
        assert slope(np.ones(n)).sum() == 2 * n
        assert rose.vjp(f, np.ones(n))[0] == n
    assert slope.cache_info().size <= 20
    assert [slope(np.ones(n)).sum() for n in (3, 59, 4)] == [6, 118, 8]
    calls = [rose.jit(lambda x, k=k: x * k) for k in range(60)]
    assert [f(2.0) for f in calls] == [f(2.0) for f in calls]
    known = [f.cache_info().misses for f in calls]
    assert known == [1] * 60  # the latest of each function stays


class _Behind(list):
    """What weak proxies stand for below: a list with attributes."""


def test_what_was_changed_through_a_weak_proxy_is_put_back():
    held = _Behind([1.0])
    held.k = 2.0
    proxy = weakref.proxy(held)

    def f(x):
        proxy.append(x)
        proxy.k = 3.0
        proxy.new = 4.0
        raise_outside()
        return x

    with pytest.raises(NameError):
        rose.jit(f)(1.0)
    assert (list(held), vars(held)) == ([1.0], {"k": 2.0})
