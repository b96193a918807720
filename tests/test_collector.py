"""Python's own limits while we compile."""

import gc
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator

import pytest

import rosejit as rose
from rosejit import collector
from rosejit.collector import DEEPEST, deep_recursion


@pytest.fixture
def thawed() -> Iterator[None]:
    """Nothing is frozen, as where no tests run."""
    gc.unfreeze()
    yield
    gc.freeze()


def test_the_last_thread_puts_the_limit_back() -> None:
    before = sys.getrecursionlimit()
    one, other = deep_recursion(), deep_recursion()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert sys.getrecursionlimit() >= DEEPEST
    other.__exit__(None, None, None)
    assert sys.getrecursionlimit() == before


def test_functions_go_that_nobody_calls_any_more(monkeypatch, thawed) -> None:
    """They are cycles, with their programs. What compiling made was moved where the collector never looked again."""
    monkeypatch.setattr(collector._Full, "SHARE", 0)

    def made(k: float) -> "weakref.ref[rose.Function]":
        @rose.jit(cache=False)
        def f(x: float) -> float:
            return x * k

        assert rose.grad(f)(2.0) == k
        return weakref.ref(f)

    def stay() -> int:
        known = [made(float(k)) for k in range(5)]
        return sum(f() is not None for f in known)

    for _ in range(40):  # a thread that still compiles for an earlier test has switched the collector off meanwhile
        if gc.isenabled() and stay() < 3:
            break
        time.sleep(0.5)
    else:
        raise AssertionError("functions stay for ever")
    gc.disable()
    try:
        known = [made(float(k)) for k in range(5)]
        assert all(f() is not None for f in known)  # who has disabled it will see to that
    finally:
        gc.enable()


def test_what_users_have_frozen_stays_so_and_is_not_counted_at_each_pause(monkeypatch) -> None:
    """To count it is to walk through it: 5 ms a million objects, at every function that is decorated."""
    asked: list[int] = []
    monkeypatch.setattr(collector.gc, "get_freeze_count", lambda: asked.append(1) or 10**6)
    monkeypatch.setattr(collector.gc, "freeze", lambda: asked.append(-1))
    monkeypatch.setattr(collector, "_promote", collector._Promotion())
    monkeypatch.setattr(collector._Promotion, "SHARE", 10**9)
    for _ in range(5):
        with collector.paused():
            pass
    assert asked == [1]


def test_the_next_collection_does_not_wait_longer_for_what_went(monkeypatch) -> None:
    """Else there is more garbage each time, and more time is taken for it, without an end."""
    now = [0.0]

    def collect() -> int:
        now[0] += 10.0
        return 9_900

    monkeypatch.setattr(collector.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(collector.gc, "collect", collect)
    monkeypatch.setattr(collector.gc, "get_objects", lambda: [None] * 100)
    full = collector._Full()
    full.pending = 1e9
    full.when_due()
    full.pending = 1.0
    full.when_due()
    assert now == [10.0]  # 0.1 s for what stayed: the next one is due after 2 s
    full.pending = 2.1
    full.when_due()
    assert now == [20.0]


def test_what_was_made_in_a_pause_is_old_after_it() -> None:
    """Python 3.12 has objects frozen of its own: these are no user's."""
    code = """
import gc
from rosejit import collector
with collector.paused():
    made = [[] for _ in range(5_000)]
young = {id(each) for each in gc.get_objects(generation=0)}
assert gc.isenabled() and not any(id(each) in young for each in made)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
