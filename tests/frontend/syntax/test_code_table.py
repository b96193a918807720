"""Tables by code object outlive no code, also where Python cannot say that it goes."""

import gc
import sys

import rosejit as rose
from rosejit.frontend.syntax.code_table import ByCode
from rosejit.frontend.syntax.translate import TRANSLATIONS
from tests.frontend.oracle import define


def code(text):
    return define(f"def f(x): return {text}").__code__


def forgotten_at_the_end_of_the_stack(held):
    """Let go of what is `held` where nothing in Python can be called any more."""
    limit = sys.getrecursionlimit()

    def deeper():
        try:
            deeper()
        except RecursionError:
            held.clear()
            gc.collect()

    hook, sys.unraisablehook = sys.unraisablehook, None
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    sys.setrecursionlimit(depth + 60)
    try:
        deeper()
    finally:
        sys.setrecursionlimit(limit)
        sys.unraisablehook = hook


def test_equal_code_is_not_the_same():
    known, one, other = ByCode(), code("x"), code("x")
    known.put(one, 1)
    assert known.get(one) == 1
    assert one in known
    assert one == one.replace()
    assert one.replace() not in known
    assert known.get(other) is None


def test_what_was_known_of_code_goes_with_it():
    known, one = ByCode(), code("x")
    known.put(one, 1)
    del one
    gc.collect()
    assert not known._held


def test_what_lies_where_other_code_was_is_not_it():
    known, held = ByCode(), [code("x * x") for _ in range(50)]
    for one in held:
        known.put(one, "old")
    del one
    forgotten_at_the_end_of_the_stack(held)
    assert not any(each in known or known.get(each) for each in [code("x + x") for _ in range(200)])


def test_a_function_is_not_staged_as_one_that_was_there_before():
    held = [define("def f(x):\n    for i in range(3): x = x * x\n    return x") for _ in range(50)]
    for f in held:
        TRANSLATIONS.of(f)
    del f
    forgotten_at_the_end_of_the_stack(held)
    others = [define("def f(x):\n    for i in range(3): x = x + x\n    return x") for _ in range(50)]
    assert {rose.jit(f)(2.0) for f in others} == {16.0}
