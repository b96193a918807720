"""How much of a stack compiled code may take."""

import sys
import threading

from rosejit.runtime.residency import stack_limit as stacks
from rosejit.runtime.residency.stack_limit import LEAST, MOST, PYTHON, Stack, here


def in_a_thread(size, work):
    found = []
    before = threading.stack_size(size)
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    threading.stack_size(before)
    return found[0]


def test_the_share_is_about_half_of_the_stack():
    stack = Stack()
    for size, share in ((1 << 23, 1 << 22), ((1 << 23) - 4096, 1 << 22), (1 << 21, 1 << 20), (1 << 17, 1 << 16)):
        stack.low, stack.high = 1 << 40, (1 << 40) + size
        assert stack.share == share


def test_a_thread_has_a_stack_of_its_own():
    low, high = in_a_thread(1 << 24, lambda: (here.low, here.high))
    assert high - low >= 1 << 24
    assert high <= here.low or here.high <= low


def test_the_share_has_bounds():
    stack = Stack()
    stack.low, stack.high = 1 << 40, 1 << 47
    assert stack.share == MOST
    stack.low = stack.high - 4096
    assert stack.share == LEAST


def test_the_floor_leaves_room_for_a_call():
    def check():
        return here.floor - here.low == here.share + PYTHON and here.floor < here.high

    assert check()
    assert in_a_thread(1 << 21, check)


def test_a_system_that_does_not_tell():
    stack = Stack()
    stack.low = stack.high = 0
    assert stack.floor == 0
    assert LEAST <= stack.share <= 1 << 19


def test_garbage_that_is_collected_while_a_thread_reads_its_bounds_may_ask(monkeypatch):
    asked = []

    def bounds():
        asked.append((stack.share, stack.floor))
        return 1 << 40, (1 << 40) + (1 << 23)

    stack = Stack()
    monkeypatch.setitem(stacks._READERS, sys.platform, bounds)
    assert in_a_thread(1 << 20, lambda: stack.share) == 1 << 22
    assert asked == [(1 << 19, 0)]
