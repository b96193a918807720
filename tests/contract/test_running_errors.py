"""Faults that only the run can find: they are the exceptions that CPython would raise, with the user's line."""

import dataclasses
import math
import re
import traceback
from collections.abc import Callable

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec
from tests.contract.anatomy import fault
from tests.frontend.oracle import define

# --- RoseIndexError


@rose.jit
def at(x: Vec["n"], i: int) -> float:
    return x[i] * 2.0  # at


def test_an_index_that_only_the_run_knows():
    assert [at([1.0, 2.0, 3.0], i) for i in (0, 2, -1, -3)] == [2.0, 6.0, 6.0, 2.0]
    for i in (3, -4, 2**62, -(2**63)):
        with fault(rose.RoseIndexError, str(i), "3", line="return x[i] * 2.0  # at", at="x[i]"):
            at([1.0, 2.0, 3.0], i)
    assert at([1.0, 2.0, 3.0], 1) == 4.0
    for derivative in (lambda: rose.grad(at)([1.0], 5), lambda: rose.jvp(at, ([1.0], 5), ([1.0], None))):
        with fault(rose.RoseIndexError, "5", "1", line="return x[i] * 2.0  # at"):
            derivative()


def test_an_index_that_is_known():
    @rose.jit
    def fifth(x: Vec["n"]) -> float:
        return x[5] * 2.0  # fifth

    with fault(rose.RoseIndexError, "5", "3", line="return x[5] * 2.0  # fifth"):
        fifth([1.0, 2.0, 3.0])
    assert fifth(np.arange(6.0)) == 10.0


def test_an_index_in_a_loop_and_in_a_store():
    @rose.jit
    def beyond(x: Vec["n"], k: int) -> float:
        y = x.copy()
        for i in rose.range(len(x)):
            y[i + k] = 1.0  # beyond
        return y[0]

    assert beyond([2.0, 3.0], 0) == 1.0
    with fault(rose.RoseIndexError, "2", line="y[i + k] = 1.0  # beyond", at="y[i + k]"):
        beyond([2.0, 3.0], 1)
    assert beyond([2.0, 3.0], 0) == 1.0


def test_an_index_of_a_matrix():
    @rose.jit
    def entry(a: Mat["n", "m"], i: int, j: int) -> float:
        return a[i, j]  # entry

    a = np.arange(6.0).reshape(2, 3)
    assert entry(a, 1, -1) == 5.0
    for i, j, wrong in ((0, 3, 3), (2, 0, 2), (-3, 0, -3), (0, -4, -4)):
        with fault(rose.RoseIndexError, str(wrong), line="return a[i, j]  # entry", at="a[i, j]"):
            entry(a, i, j)


def test_a_guarded_read_is_not_moved_out_of_its_guard():
    @rose.jit
    def guarded(x: Vec["n"], i: int) -> float:
        s = 0.0
        for _ in rose.range(3):
            if i < len(x):
                s += x[i]
        return s

    assert guarded([1.0, 2.0], 1) == 6.0
    assert guarded([1.0, 2.0], 7) == 0.0
    assert rose.grad(guarded)([1.0, 2.0], 7).tolist() == [0.0, 0.0]


# --- RoseAssertionError, and the user's own exceptions


def test_assertions():
    @rose.jit
    def positive(x: float) -> float:
        assert x > 0.0, "x must be positive"
        return math.sqrt(x)

    assert positive(4.0) == 2.0
    line = 'assert x > 0.0, "x must be positive"'
    with fault(rose.RoseAssertionError, "x must be positive", line=line):
        positive(-1.0)
    with fault(rose.RoseAssertionError, "x must be positive", line=line):
        rose.grad(positive)(-1.0)
    assert rose.grad(positive)(4.0) == 0.25


def test_assertions_of_host_values():
    @rose.jit
    def long(x: Vec["n"]) -> float:
        assert len(x) > 2, "too short"
        return x[2]

    assert long([1.0, 2.0, 3.0]) == 3.0
    with pytest.raises(AssertionError, match="too short"):
        long([1.0])


class TooColdError(Exception):
    """A user's own."""


def test_raise_in_a_staged_branch():
    @rose.jit
    def heated(t: float) -> float:
        if t < -273.15:
            raise TooColdError("below absolute zero")  # cold
        elif t > 1e6:
            raise ValueError("too hot")
        return t * 2.0

    assert heated(1.0) == 2.0
    with pytest.raises(TooColdError, match="below absolute zero") as caught:
        heated(-300.0)
    assert type(caught.value) is TooColdError
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line.startswith("raise TooColdError")
    with pytest.raises(ValueError, match="too hot"):
        heated(1e7)
    with pytest.raises(TooColdError):
        rose.grad(heated)(-300.0)
    assert rose.grad(heated)(1.0) == 2.0


def test_effects_before_a_fault_have_happened(capsys):
    @rose.opaque
    def told(x: float) -> float:
        print("told", x)
        return x

    @rose.jit
    def f(x: Vec["n"], k: int) -> float:
        a = told(x[0])
        b = x[k]
        return a + told(b)

    with pytest.raises(rose.RoseIndexError):
        f([1.0], 3)
    assert capsys.readouterr().out == "told 1.0\n"


# --- integers


def test_overflow():
    @rose.jit
    def squared(n: int) -> int:
        return n * n  # squared

    @rose.jit
    def summed(n: int, m: int) -> int:
        return n + m - 1  # summed

    assert squared(3_000_000_000) == 9 * 10**18
    with fault(rose.RoseOverflowError, "`*`", "64 bits", line="return n * n  # squared", at="n * n"):
        squared(4_000_000_000)
    with fault(rose.RoseOverflowError, "`+`", line="return n + m - 1  # summed", at="n + m"):
        summed(2**63 - 1, 1)
    assert summed(2**63 - 1, 0) == 2**63 - 2
    with fault(rose.RoseOverflowError, line="return n + m - 1  # summed"):
        summed(-(2**63), 0)


WORDS: dict[str, Callable[[int, float], int]] = {
    "abs": lambda n, x: abs(n),
    "**": lambda n, x: 3 ** abs(n + 1),
    "<<": lambda n, x: n << 1,
    "-": lambda n, x: -n,
    "int": lambda n, x: int(x) + math.floor(x),
}


@pytest.mark.parametrize("word", WORDS)
def test_overflow_is_told_in_the_words_of_the_user(word):
    with pytest.raises(rose.RoseOverflowError, match=f"the result of `{re.escape(word)}` does not fit 64 bits"):
        rose.jit(WORDS[word])(-(2**63), 1e30)


def test_overflow_in_a_loop():
    @rose.jit
    def factorial(n: int) -> int:
        y = 1
        for k in rose.range(1, n + 1):
            y *= k  # factorial
        return y

    assert factorial(20) == math.factorial(20)
    with fault(rose.RoseOverflowError, "`*`", line="y *= k  # factorial"):
        factorial(21)


def test_zero_divisors():
    @rose.jit
    def divided(n: int, m: int) -> int:
        return n // m + n % m  # divided

    assert divided(-7, 2) == -7 // 2 + -7 % 2
    with fault(rose.RoseZeroDivisionError, "`//`", line="return n // m + n % m  # divided", at="n // m"):
        divided(7, 0)
    with fault(rose.RoseOverflowError, line="return n // m + n % m  # divided"):
        divided(-(2**63), -1)


def test_reals_never_fault():
    @rose.jit
    def quotient(x: float, y: float) -> float:
        return x / y

    assert quotient(1.0, 0.0) == math.inf
    assert quotient(-1.0, 0.0) == -math.inf
    assert math.isnan(quotient(0.0, 0.0))
    logs = rose.jit(lambda x: (math.log(x), math.exp(1000.0 - x), math.sqrt(x - 1.0)))
    zero, infinite, undefined = logs(0.0)
    assert (zero, infinite) == (-math.inf, math.inf)
    assert math.isnan(undefined)


# --- memory and stack


def test_memory_that_is_not_there():
    @rose.jit
    def huge(n: int) -> float:
        y = np.zeros((300_000, 2_000))  # 4.8 GB
        y[n, n] = 1.0
        return y[n, n]

    for _ in range(2):
        with fault(rose.RoseMemoryError) as found:
            huge(3)
        assert any(character.isdigit() for character in found.text)


def test_recursion_through_python_without_end():
    @rose.opaque
    def again(x: float) -> float:
        return deeper(x)

    @rose.jit
    def deeper(x: float) -> float:
        return again(x) + 1.0

    with pytest.raises(RecursionError):
        deeper(1.0)

    @rose.jit
    def shallow(x: float) -> float:
        return x

    assert shallow(1.0) == 1.0


# --- what is no integer


@pytest.mark.parametrize("word", ["int", "round", "math.floor", "math.ceil", "math.trunc"])
def test_nan_and_infinity_made_integers(word):
    f = define(f"def f(x: float) -> int:\n    return {word}(x)\n", math=math)
    g = rose.jit(f)
    for x in (math.nan, math.inf, -math.inf):
        with pytest.raises((ValueError, OverflowError)) as plain:
            f(x)
        with pytest.raises(plain.type) as caught:
            g(x)
        assert isinstance(caught.value, rose.RoseError)
        with rose.disable_jit(), pytest.raises(plain.type) as interpreted:
            g(x)
        assert str(interpreted.value) == str(caught.value)
    with pytest.raises(rose.RoseOverflowError):
        g(1e30)
    assert g(2.5) == f(2.5)


# --- opaque functions that are called where nothing is staged


@rose.opaque
def shifted(x: Vec["n"], k: int) -> Vec["n"]:
    return x


def test_an_opaque_function_is_held_to_its_hints():
    x = np.ones(3)
    found = shifted(x, 1)
    found[0] = 5.0
    assert x.tolist() == [1.0, 1.0, 1.0]
    assert shifted([1, 2], 1).tolist() == [1.0, 2.0]
    for args in ((x, 1.5), (np.ones((2, 2)), 1)):
        with pytest.raises((rose.StagingTypeError, rose.ShapeError)):
            shifted(*args)

    @rose.opaque
    def wrong(x: Vec["n"]) -> Vec["n+1"]:
        return x

    @rose.opaque
    def text(x: float) -> float:
        return "a"

    @rose.opaque
    def whole(x: float) -> float:
        return 3

    for call, kind in ((lambda: wrong(x), rose.ShapeError), (lambda: text(1.0), rose.StagingTypeError)):
        with pytest.raises(kind, match="should return"):
            call()
    assert type(whole(1)) is float


def test_an_opaque_function_cannot_write_its_arguments():
    @rose.opaque
    def writes(x: Vec["n"]) -> float:
        x[0] = 3.0
        return 1.0

    x = np.ones(3)
    for call in (writes, rose.jit(lambda x: writes(x))):
        with pytest.raises(ValueError, match="read-only"):
            call(x)
    assert x.tolist() == [1.0, 1.0, 1.0]


class Ball:
    @property
    def speed(self):
        return 1.0

    @speed.setter
    def speed(self, value):
        raise ValueError("it stands still")


def test_an_attribute_that_only_some_paths_set():
    @rose.jit
    def f(x: float) -> float:
        ball = Ball()
        if x > 0.0:
            ball.size = x
        return ball.size

    assert f(2.0) == 2.0
    with pytest.raises(rose.RoseAttributeError, match="'Ball' object has no attribute 'size'") as caught:
        f(-1.0)
    assert isinstance(caught.value, AttributeError)
    assert "return ball.size" in str(caught.value)
    assert "`Ball.size`" in str(caught.value)


def test_an_attribute_that_a_loop_may_never_set():
    @rose.jit
    def f(n: int) -> int:
        ball = Ball()
        for i in rose.range(n):
            ball.size = i
        return ball.size

    assert f(3) == 2
    with pytest.raises(AttributeError, match="no attribute 'size'"):
        f(0)


def test_an_attribute_that_is_deleted_on_a_path():
    @rose.jit
    def f(x: float) -> float:
        ball = Ball()
        ball.size = x
        if x > 0.0:
            del ball.size
        return ball.size

    assert f(-2.0) == -2.0
    with pytest.raises(AttributeError, match="no attribute 'size'"):
        f(2.0)


def test_a_setter_that_raises_stands_in_the_traceback_by_its_name():
    @rose.jit
    def f(x: float) -> float:
        ball = Ball()
        if x > 0.0:
            ball.speed = x
        return x

    with pytest.raises(ValueError, match="it stands still") as caught:
        f(2.0)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "speed"


def test_what_was_being_handled_shows_the_users_frames_only():
    @rose.jit
    def f(x: float) -> float:
        try:
            return {}["a"]
        except KeyError as error:
            raise ValueError("nothing there") from error

    with pytest.raises(ValueError, match="nothing there") as caught:
        f(2.0)
    files = {frame.filename for frame in traceback.extract_tb(caught.value.__cause__.__traceback__)}
    assert files == {__file__}


def test_a_frozen_dataclass_in_a_branch():
    @dataclasses.dataclass(frozen=True)
    class Fixed:
        x: float

    @rose.jit
    def f(x: float) -> float:
        fixed = Fixed(x)
        if x > 0.0:
            fixed.x = 2.0
        return fixed.x

    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        f(2.0)
