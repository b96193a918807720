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
    monkeypatch.setattr(collector._full, "_due", 0)
    monkeypatch.setattr(collector._Full, "SHARE", 0)
    monkeypatch.setattr(collector._Full, "LEAST", 0)

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


def test_garbage_is_at_most_a_share_of_what_lives(monkeypatch) -> None:
    """A rule of seconds let 100,000 functions that nobody keeps take 6 GB, after as many that were kept."""
    alive, collected = 1_000_000, list[int]()
    full = collector._Full()
    monkeypatch.setattr(collector, "_full", full)
    monkeypatch.setattr(collector.gc, "collect", lambda: collected.append(made))
    monkeypatch.setattr(collector.gc, "get_objects", lambda: [None] * alive)
    kept = list[object]()
    for made in range(0, 1_000_000, 20_000):
        with collector.paused():
            kept += [[] for _ in range(20_000)]
    assert collected == [220_000, 740_000]  # at LEAST, and then at SHARE of what is alive


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
