"""What begins to run in a thread is told, whoever calls it."""

import sys
import threading

import pytest

from rosejit.frontend.runs import MONITORING, Monitored, Profiled, runs

KINDS = [Profiled, *([Monitored] if MONITORING is not None else [])]
each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def unwatched():
    """Nobody watches the tests (a debugger, coverage) meanwhile."""
    trace = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(trace)


def key(x):
    return -x


def key_of_another(x):
    return -x


class Odd:
    def __getattr__(self, name):
        raise AttributeError(name)


def generator():
    yield 1
    yield 2


@each_kind
def test_code_is_told_until_it_is_known(kind):
    told = []

    def tell(code, caller):
        told.append((code, caller))
        return code is key.__code__

    watch = kind(tell)
    assert watch.begin()
    sorted([1, 2], key=key)
    hasattr(Odd(), "name")
    hasattr(Odd(), "name")
    assert watch.end()
    sorted([1, 2], key=key)
    here = sys._getframe().f_code
    assert [caller for code, caller in told if code is key.__code__] == [here]
    assert [caller for code, caller in told if code is Odd.__getattr__.__code__] == [here, here]


@each_kind
def test_what_is_known_once_is_told_by_the_next_watch(kind):
    for _ in range(2):
        told = []
        watch = kind(lambda code, caller, told=told: told.append(code) or True)
        assert watch.begin()
        sorted([1, 2], key=key)
        assert watch.end()
        assert told.count(key.__code__) == 1


@each_kind
def test_generators_that_go_on_are_told(kind):
    given = generator()
    assert next(given) == 1
    told = []
    watch = kind(lambda code, caller: told.append(code) or True)
    assert watch.begin()
    assert next(given) == 2
    assert watch.end()
    assert generator.__code__ in told


@each_kind
def test_other_threads_are_their_own(kind):
    told = []
    watch = kind(lambda code, caller: told.append(code) or True)
    assert watch.begin()
    thread = threading.Thread(target=lambda: [sorted([1, 2], key=key), sorted([1, 2], key=key_of_another)])
    thread.start()
    thread.join()
    sorted([1, 2], key=key)
    assert watch.end()
    assert told.count(key.__code__) == 1
    assert key_of_another.__code__ not in told


@each_kind
def test_nobody_else_may_watch(kind):
    def other(frame, event, argument):
        pass

    watch = kind(lambda code, caller: True)
    for put in (sys.setprofile, sys.settrace):
        put(other)
        try:
            assert not watch.begin()
            assert not watch.end()
        finally:
            put(None)
    assert watch.begin()
    assert not kind(lambda code, caller: True).begin()
    assert watch.end()


@each_kind
def test_a_watch_that_was_put_away_is_noticed(kind):
    watch = kind(lambda code, caller: True)
    assert watch.begin()
    if kind is Profiled:
        sys.setprofile(None)
    else:
        MONITORING.set_events(4, 0)
    assert not watch.end()


@pytest.mark.skipif(MONITORING is None, reason="new in Python 3.12")
def test_what_another_tool_is_told_may_be_anything():
    MONITORING.use_tool_id(3, "other")
    try:
        assert not runs(lambda code, caller: True).begin()
    finally:
        MONITORING.free_tool_id(3)
