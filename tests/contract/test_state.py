"""A fault leaves nothing behind."""

import math
import pickle
import sys
import traceback
import warnings

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec
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
