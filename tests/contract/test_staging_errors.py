"""Faults that staging finds: types, shapes, names, host loops that are too long."""

import contextlib
import math
import re
import traceback

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec
from tests.contract.anatomy import fault

# --- StagingTypeError: while staging


def test_a_result_of_another_type():
    @rose.jit
    def vector(x: Vec["n"]) -> float:
        return x  # a vector

    with fault(rose.StagingTypeError, "float", line="return x  # a vector", at="x"):
        vector([1.0, 2.0])


def test_a_result_that_is_missing():
    @rose.jit
    def silent(x: float) -> float:
        pass

    with fault(rose.StagingTypeError, "float", "None"):
        silent(1.0)


def test_a_structure_where_a_number_is_promised():
    @rose.jit
    def pair(x: float) -> tuple[float, float]:
        return x, x, x  # three

    with fault(rose.StagingTypeError, "tuple", line="return x, x, x  # three"):
        pair(1.0)


def test_sides_that_do_not_join():
    @rose.jit
    def mixed(x: float) -> float:
        if x > 0.0:  # sides
            y = x
        else:
            y = "no"
        return y * 2.0

    with fault(rose.StagingTypeError, "`y`"):
        mixed(1.0)


def test_a_carry_that_changes_its_type():
    @rose.jit
    def growing(x: float) -> float:
        y = x
        for _ in rose.range(3):  # carries
            y = (y, x)
        return y[0]

    with fault(rose.StagingTypeError, "`y`"):
        growing(1.0)


def test_a_staged_value_where_the_host_needs_one():
    @rose.jit
    def listed(x: float, n: int) -> float:
        values = [1.0, "two"]
        return values[n] * x  # index

    with fault(rose.StagingTypeError, "Int", line="return values[n] * x  # index", at="values[n] * x", help="Static"):
        listed(1.0, 1)


def test_a_staged_value_as_a_key():
    @rose.jit
    def keyed(x: float) -> float:
        return {"a": 2.0}[x]  # key

    with fault(rose.StagingTypeError, "Real", line='return {"a": 2.0}[x]  # key'):
        keyed(1.0)


def test_a_staged_value_as_text():
    @rose.jit
    def named(x: float) -> float:
        return len(f"{x}")  # text

    with fault(rose.StagingTypeError, "Real", line='return len(f"{x}")  # text'):
        named(1.0)


def test_operands_of_other_types():
    @rose.jit
    def joined(x: float) -> float:
        return x + "1"  # operand

    with fault(rose.StagingTypeError, "`+`", "str", line='return x + "1"  # operand', at='x + "1"'):
        joined(1.0)


def test_writing_an_argument():
    @rose.jit
    def writes(x: Vec["n"]) -> float:
        x[0] = 1.0  # argument
        return x[0]

    with fault(rose.StagingTypeError, "`x`", "argument", line="x[0] = 1.0  # argument", help="x.copy()"):
        writes([2.0])


CAPTURED = np.array([1.0, 2.0])


def test_writing_a_captured_array():
    @rose.jit
    def writes(x: float) -> float:
        CAPTURED[0] = x  # captured
        return x

    with fault(rose.StagingTypeError, line="CAPTURED[0] = x  # captured", help=".copy()"):
        writes(2.0)
    assert CAPTURED.tolist() == [1.0, 2.0]


def test_the_chain_of_calls_to_a_helper():
    def inner(v):
        return v + "text"  # inner

    def outer(v):
        return inner(v) * 2.0  # outer

    @rose.jit
    def top(x: float) -> float:
        return outer(x) + 1.0  # top

    with fault(rose.StagingTypeError, line='return v + "text"  # inner', at='v + "text"') as found:
        top(1.0)
    text = found.text
    assert text.index("return outer(x) + 1.0  # top") < text.index("return inner(v) * 2.0  # outer")
    assert text.count("called from") == 2


def test_the_chain_of_calls_to_a_decorated_function():
    @rose.jit
    def inner(v: float) -> float:
        return v + "text"  # decorated

    @rose.jit
    def outer(x: float) -> float:
        return inner(x) * 2.0  # calls decorated

    with fault(rose.StagingTypeError, line='return v + "text"  # decorated') as found:
        outer(1.0)
    assert "return inner(x) * 2.0  # calls decorated" in found.text


def test_an_argument_of_a_staged_call():
    @rose.jit
    def scalar(v: float) -> float:
        return v

    @rose.jit
    def caller(x: Vec["n"]) -> float:
        return scalar(x)  # vector given

    with fault(rose.StagingTypeError, "`scalar`", "`v`", last="return scalar(x)  # vector given") as found:
        caller([1.0, 2.0])
    assert "return scalar(x)  # vector given" in found.text


def test_counts_of_a_staged_call():
    @rose.jit
    def scalar(v: float) -> float:
        return v

    @rose.jit
    def caller(x: float) -> float:
        return scalar(x, x)  # two given

    with pytest.raises(TypeError, match=r"takes 1 positional argument but 2 were given") as caught:
        caller(1.0)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line == "return scalar(x, x)  # two given"


def test_errors_of_host_code_are_themselves():
    @rose.jit
    def fails(x: float) -> float:
        return x * {"a": 1.0}["b"]  # host

    with pytest.raises(KeyError) as caught:
        fails(1.0)
    assert type(caught.value) is KeyError
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line == 'return x * {"a": 1.0}["b"]  # host'


# --- ShapeError


def test_shapes_that_do_not_fit_together():
    @rose.jit
    def added(x: Vec["n"], y: Vec["m"]) -> Vec["n"]:
        return x + y  # shapes

    with fault(rose.ShapeError, "(2,)", "(3,)", line="return x + y  # shapes", at="x + y"):
        added([1.0, 2.0], [1.0, 2.0, 3.0])


def test_a_result_of_another_shape():
    @rose.jit
    def padded(x: Vec["n"]) -> Vec["n"]:
        return np.zeros(len(x) + 1)  # longer

    with fault(rose.ShapeError, "(3,)", line="return np.zeros(len(x) + 1)  # longer"):
        padded([1.0, 2.0])


# --- UnboundStagedName


def test_a_name_that_no_path_sets():
    @rose.jit
    def unset(x: float) -> float:
        if False:
            y = 1.0
        return x * y  # unset

    with fault(rose.UnboundStagedName, "`y`", line="return x * y  # unset", at="y"):
        unset(1.0)


def test_a_name_that_one_path_sets():
    @rose.jit
    def half_set(x: float) -> float:
        if x > 0.0:
            y = x
        return x * y  # half set

    assert half_set(2.0) == 4.0
    with fault(rose.UnboundStagedName, "`y`", line="return x * y  # half set", at="y"):
        half_set(-2.0)
    assert half_set(3.0) == 9.0


def test_a_name_that_a_loop_of_no_iteration_sets():
    @rose.jit
    def last(n: int) -> int:
        for i in rose.range(n):
            k = i * 2
        return k  # of the loop

    assert last(3) == 4
    with fault(rose.UnboundStagedName, "`k`", line="return k  # of the loop", at="k"):
        last(0)


# --- UnrollLimit


def test_a_host_loop_that_is_too_long(monkeypatch):
    monkeypatch.setenv("ROSE_UNROLL_LIMIT", "1000")

    @rose.jit
    def endless(x: float) -> float:
        for k in rose.unroll(range(10**9)):
            x = x + k  # unrolled
        return x

    with fault(rose.UnrollLimit, "1000", help="rose.range", line="x = x + k  # unrolled"):
        endless(1.0)


def test_host_recursion_without_end():
    def forever(v):
        return forever(v * 2.0)  # recursion

    @rose.jit
    def top(x: float) -> float:
        return forever(x)

    with pytest.raises(rose.UnrollLimit) as caught:
        top(1.0)
    assert "return forever(v * 2.0)  # recursion" in str(caught.value)


def test_hints_that_are_none():
    """Said where the hint is written: the last frame is that line."""
    for wrong, words in (("n m", "takes 1 dimension, given 2"), ("1.5", "no dimension"), ("f(n)", "no dimension")):
        with pytest.raises(rose.StagingTypeError, match=words) as caught:
            Vec[wrong]
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        assert (last.filename, last.line) == (__file__, "Vec[wrong]")


def test_a_number_among_joined_arrays():
    @rose.jit
    def joined(v: Vec["n"]) -> Vec["n+1"]:
        return np.concatenate([v, v[0]])

    with fault(rose.ShapeError, "cannot be joined", line="return np.concatenate([v, v[0]])"):
        joined(np.ones(3))
    with pytest.raises(ValueError, match="dimension"):
        joined.__wrapped__(np.ones(3))


def test_host_arithmetic_without_a_result_in_a_staged_branch_or_loop_is_refused_with_its_line():
    """Python raises only where it gets there: the raw error was raised whether it did or not."""

    def root(x, least):
        if x > least:
            return x + math.sqrt(least - 3.0)
        return x

    def ratio(x, n):
        total = 0.0
        while x > 1.0:
            x, total = x - 1.0, total + 1 // n
        return total

    cases = ((root, "ValueError", "math.sqrt(least - 3.0)"), (ratio, "ZeroDivisionError", "1 // n"))
    for function, error, text in cases:
        staged = rose.jit(static_argnames="n" if function is ratio else "least")(function)
        with pytest.raises(rose.UnsupportedSyntax, match=f"(?s)no result.*{re.escape(text)}.*it says {error}"):
            staged(0.5, 1 if function is root else 0)
        assert function(0.5, 1) in (0.0, 0.5)

    def root_before(x, least):
        base = math.sqrt(least - 3.0)  # Python gets there in any case
        return x + base if x > least else x

    with pytest.raises(ValueError, match="math domain error"):
        rose.jit(static_argnames="least")(root_before)(0.5, 0)


@pytest.mark.parametrize("name", ["as_integer_ratio", "hex", "fromhex", "numerator", "bit_count", "to_bytes"])
def test_an_attribute_of_pythons_numbers_is_no_attribute_error_to_handlers_and_hasattr(name):
    def read(x):
        try:
            getattr(x, name)
        except AttributeError:
            return -1.0
        return 1.0

    def asked(x):
        return 1.0 if hasattr(x, name) else -1.0

    for function in (read, asked):
        for x in (2.5, 3, True):
            staged = rose.jit(function)
            if not hasattr(x, name):
                assert staged(x) == -1.0
            else:
                with contextlib.suppress(rose.StagingTypeError):
                    assert staged(x) == 1.0
