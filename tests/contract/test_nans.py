"""ROSE_DEBUG_NANS=1: the first nan that an operation gives is an error at the user's line."""

import linecache
import math
import traceback

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec
from tests.frontend.oracle import define


@pytest.fixture(autouse=True)
def debugged(monkeypatch):
    monkeypatch.setenv("ROSE_DEBUG_NANS", "1")
    rose.clear_caches()
    yield
    rose.clear_caches()


TEXT = """
def f(x: float, y: float) -> float:
    a = x / y
    b = a - a
    return b * 2.0
"""


def raised(f, *args):
    with pytest.raises(rose.RoseFloatingPointError) as info:
        f(*args)
    assert isinstance(info.value, FloatingPointError)
    last = traceback.extract_tb(info.value.__traceback__)[-1]
    return str(info.value), last.line


def test_the_first_nan_is_reported_with_its_operands_and_line():
    f = rose.jit(define(TEXT))
    assert f(6.0, 2.0) == 0.0
    message, line = raised(f, 1.0, 0.0)
    assert message.splitlines()[0] == "`-` of inf and inf is nan"
    assert line == "b = a - a"
    message, line = raised(f, 0.0, 0.0)
    assert message.splitlines()[0] == "`/` of 0.0 and 0.0 is nan"
    assert line == "a = x / y"
    assert f(6.0, 3.0) == 0.0


def test_a_nan_of_the_caller_is_reported_where_it_is_used():
    message, line = raised(rose.jit(define(TEXT)), math.nan, 2.0)
    assert "`/` of nan and 2.0" in message
    assert line == "a = x / y"


def test_derivatives_that_are_nan_where_the_value_is_not():
    text = "def g(x: float) -> float:\n    r = math.sqrt(x)\n    return r * r * 0.0 + r * 0.0\n"
    g = rose.jit(define(text, math=math))
    assert g(0.0) == 0.0
    for way in (rose.grad(g), lambda x: rose.jvp(g, (x,), (1.0,)), lambda x: rose.vjp(g, x)[1](1.0)):
        message, line = raised(way, 0.0)
        assert "`*` of " in message
        assert "inf" in message
        assert line.startswith(("r = ", "return "))
        way(1.0)
    assert "this is the code of a derivative" in raised(rose.grad(g), 0.0)[0]


def test_in_loops_calls_and_arrays():
    text = (
        "def h(v: Vec['n']) -> float:\n    total = 0.0\n    for i in rose.range(len(v)):\n"
        "        total += math.log(v[i])\n    return total\n"
    )
    h = rose.jit(define(text, math=math, rose=rose, Vec=Vec))
    assert h(np.ones(3)) == 0.0
    message, line = raised(h, np.array([1.0, -2.0, 3.0]))
    assert "`log` of -2.0 is nan" in message
    assert line == "total += math.log(v[i])"
    caller = rose.jit(lambda v: h(v) + 1.0)
    assert raised(caller, np.array([-1.0]))[1] == "total += math.log(v[i])"
    assert rose.jit(lambda v: np.sqrt(v) + 0.0)(np.array([4.0])).tolist() == [2.0]
    raised(rose.jit(lambda v: np.sqrt(v) + 0.0), np.array([4.0, -4.0]))


def test_the_side_that_is_not_taken_gives_none():
    @rose.jit
    def guarded(x: float) -> float:
        if x > 0:
            return math.sqrt(x)
        return 0.0

    assert guarded(-1.0) == 0.0
    assert rose.grad(guarded)(0.0) == 0.0


def test_the_interpreter_says_the_same():
    f = rose.jit(define(TEXT))
    wanted = raised(f, 1.0, 0.0)
    with rose.disable_jit():
        assert raised(f, 1.0, 0.0) == wanted


def test_without_it_nan_is_a_number_as_in_numpy(monkeypatch):
    monkeypatch.delenv("ROSE_DEBUG_NANS")
    assert math.isnan(rose.jit(define(TEXT))(1.0, 0.0))


def test_the_disk_cache_tells_lines_apart(monkeypatch, tmp_path):
    """The same function but for a blank line: what is kept of one names lines of its own."""
    monkeypatch.setenv("ROSE_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "module.py"

    def written(*lines):
        path.write_text("\n".join(["def f(x: float) -> float:", *lines, "    return y * 2.0\n"]))
        linecache.checkcache(str(path))
        scope = {"math": math}
        exec(compile(path.read_text(), str(path), "exec"), scope)
        return rose.jit(scope["f"])

    root = "    y = math.sqrt(x)"
    for lines in ((root, ""), ("", root)):
        assert raised(written(*lines), -1.0)[1] == root.strip()
