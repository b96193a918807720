"""Python's own limits while we compile."""

import sys

from rosejit.collector import DEEPEST, deep_recursion


def test_the_last_thread_puts_the_limit_back() -> None:
    before = sys.getrecursionlimit()
    one, other = deep_recursion(), deep_recursion()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert sys.getrecursionlimit() >= DEEPEST
    other.__exit__(None, None, None)
    assert sys.getrecursionlimit() == before
