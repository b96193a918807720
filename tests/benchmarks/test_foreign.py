"""The runner of others' functions, on functions with a planted class each."""

import importlib.util

import pytest

from benchmarks import foreign
from benchmarks.foreign_calls import calls, functions

PLANTED = '''
import math
import fractions

def right(x, k=1):
    """
    >>> right(2.0, k=3)
    6.0
    >>> y = [1.0]
    >>> right(2.0, k=y)
    >>> right(2.0, k=unknown)
    """
    return k * x if isinstance(k, int) else [x * each for each in k]

def raises(x):
    """
    >>> raises(-1.0)
    Traceback (most recent call last):
    ValueError
    """
    if x < 0.0:
        raise ValueError("negative")
    return x

def refused(x):
    """>>> refused(0.5)"""
    return fractions.Fraction(x)

def unfaulted(x):
    """>>> unfaulted(0.0)"""
    return 1.0 / x

def as_float(x):
    """>>> as_float(3)"""
    return x if x > 0 else 0.5

def at_a_point(x):
    """>>> at_a_point(1.0)"""
    return 0.0 if x == 1.0 else (x - 1.0) * 3.0

def no_call(x):
    return x
'''
EXPECTED = {
    "right": ("right", "right"), "raises": ("right", "unstable"), "refused": ("refused", "none"),
    "unfaulted": ("unfaulted", "none"), "as_float": ("as float", "none"), "at_a_point": ("right", "at a point"),
}  # fmt: skip


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    file = tmp_path_factory.mktemp("foreign") / "planted.py"
    file.write_text(PLANTED)
    spec = importlib.util.spec_from_file_location("planted", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_calls_are_those_with_literal_arguments(planted):
    assert [call.text for call in calls(planted.right)] == ["right(2.0, k=3)", "right(2.0, k=y)"]
    assert calls(planted.right)[1].arguments() == ([2.0], {"k": [1.0]})
    assert calls(planted.no_call) == []


def test_each_function_is_of_its_planted_class(planted):
    rows = [row for function in functions(planted) if (row := foreign.tried(function))]
    assert {row["name"].partition(".")[2]: (row["class"], row["slope"]) for row in rows} == EXPECTED
    text = foreign.report("planted", rows, 7)
    assert "6 functions with calls, of 7: 3 right, 1 refused, 1 unfaulted, 1 as float" in text
    assert "refused 1: StagingTypeError: `..` is called by Python" in text


@pytest.mark.parametrize(
    ("found", "wanted", "text"),
    [
        (1.0, 1.0 + 1e-9, "the result is 1.0, CPython"), ([1.0, 2.0], [1.0, 3.0], "[1] is 2.0"),
        ((1.0,), [1.0], "of class tuple"), ({"a": 1}, {"b": 1}, "has keys"), (True, 1, "of class bool"),
        (float("nan"), float("nan"), ""), (None, 0.0, "is None"), ([1], [1, 2], "has 1 items"),
    ],
)  # fmt: skip
def test_results_are_compared_in_structure_kind_and_value(found, wanted, text):
    said = foreign.difference(found, wanted)
    assert text in said
    assert bool(said) == bool(text)


def test_a_wrong_slope_is_seen(planted, monkeypatch):
    monkeypatch.setattr(foreign.rose, "jvp", lambda f, primals, tangents: (6.0, 5.0))
    assert foreign.slope(planted.right, calls(planted.right)[0])[0] == "wrong slope"


def test_an_error_that_is_neither_ours_nor_pythons_is_raw_and_one_of_a_check_wrong():
    value = foreign.Outcome(1.0, None, ())
    assert foreign.compared(foreign.Outcome(None, KeyError("x"), ()), value)[0] == "raw"
    assert foreign.compared(foreign.Outcome(None, foreign.rose.RoseIndexError("x"), ()), value)[0] == "wrong value"
