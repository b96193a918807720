"""What the fence refuses, when a function is decorated; and the classes of errors."""

import linecache
import traceback

import pytest

import rosejit as rose
from rosejit import collector
from tests.contract.anatomy import fault

CLASSES = {
    "UnsupportedSyntax": SyntaxError,
    "StagingTypeError": TypeError,
    "ShapeError": ValueError,
    "NotDifferentiable": TypeError,
    "UnboundStagedName": UnboundLocalError,
    "UnrollLimit": RuntimeError,
    "RoseIndexError": IndexError,
    "RoseAssertionError": AssertionError,
    "WasmTrap": RuntimeError,
    "RoseOverflowError": OverflowError,
    "RoseZeroDivisionError": ZeroDivisionError,
    "RoseRecursionError": RecursionError,
    "RoseMemoryError": MemoryError,
    "ParseError": SyntaxError,
    "CacheError": OSError,
    "UnrollWarning": RuntimeWarning,
}


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_is_ours_and_pythons(name):
    assert issubclass(getattr(rose, name), rose.RoseError)
    assert issubclass(getattr(rose, name), CLASSES[name])


def test_cache_errors_are_warnings():
    assert issubclass(rose.CacheError, Warning)


# --- UnsupportedSyntax: at decoration


def test_async_functions():
    with fault(rose.UnsupportedSyntax, "`async def` cannot be staged", line="async def later(", help="remove `async`"):

        @rose.jit  # async
        async def later(x: float) -> float:
            return x


def test_generators():
    with fault(rose.UnsupportedSyntax, "generator", line="yield x * x", at="yield x * x"):

        @rose.jit  # yields
        def squares(x: float) -> float:
            yield x * x


def test_global_writes():
    with fault(rose.UnsupportedSyntax, "`COUNT`", "global", line="global COUNT", at="global COUNT"):

        @rose.jit  # global
        def counting(x: float) -> float:
            global COUNT
            COUNT = 1
            return x


def test_nonlocal_writes():
    count = 0
    with fault(rose.UnsupportedSyntax, "`count`", line="nonlocal count", at="nonlocal count"):

        @rose.jit  # nonlocal
        def counting(x: float) -> float:
            nonlocal count
            count += 1
            return x

    assert count == 0


def test_frame_readers():
    with fault(rose.UnsupportedSyntax, "`locals()`", line='return locals()["x"]', at="locals()"):

        @rose.jit  # locals
        def reading(x: float) -> float:
            return locals()["x"]


def test_all_faults_are_named_at_once():
    with pytest.raises(rose.UnsupportedSyntax) as caught:

        @rose.jit
        def many(x: float) -> float:
            global ONE
            ONE = x
            yield x
            return eval("x")

    text = str(caught.value)
    assert "`ONE`" in text.splitlines()[0]
    assert "generator" in text
    assert "`eval()`" in text


def test_syntax_errors_carry_their_place():
    """Editors and `traceback` read these fields."""
    with pytest.raises(rose.UnsupportedSyntax) as caught:

        @rose.jit
        def later(x: float) -> float:
            return (yield x)

    error = caught.value
    shown = "".join(traceback.format_exception_only(type(error), error))
    assert "generator" in shown
    assert "(yield x)" in shown


def test_source_that_cannot_be_found():
    scope = {"rose": rose}
    with pytest.raises(rose.UnsupportedSyntax) as caught:
        exec("@rose.jit\ndef f(x: float) -> float:\n    return x", scope)
    text = str(caught.value)
    assert "source of `f`" in text
    assert "help: " in text
    assert "linecache" in text


def test_numbers_and_text_are_no_functions():
    for thing in (3, "f"):
        with pytest.raises(TypeError) as caught:
            rose.jit(thing)
        assert isinstance(caught.value, rose.RoseError)


def long_sum(terms, monkeypatch):
    """A function with one long expression; compiled by CPython itself."""
    text = f"def f(x: float) -> float:\n    return {' * '.join(['x'] * terms)}\n"
    monkeypatch.setitem(linecache.cache, "<long>", (len(text), None, text.splitlines(True), "<long>"))
    scope: dict = {}
    exec(compile(text, "<long>", "exec"), scope)
    return scope["f"]


def test_a_long_expression(monkeypatch):
    f = long_sum(1200, monkeypatch)
    assert rose.grad(f)(1.0) == 1200.0


def test_an_expression_that_is_too_long(monkeypatch):
    monkeypatch.setattr(collector, "DEEPEST", 0)
    with pytest.raises(rose.UnsupportedSyntax) as caught:
        rose.jit(long_sum(1201, monkeypatch))
    assert "nested too deeply" in str(caught.value)
    assert "help: take it apart" in str(caught.value)
