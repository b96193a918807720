"""What a person types into a page to a module with value, gradient and Hessian; runs in Pyodide, in a worker.

A module takes x and y at the addresses 64 and 72 of its memory; its export `main` leaves the six numbers of `Shape`
from 80 on. That is how every module of rosejit meets its host (`rosejit/abi.py`).
"""

import linecache
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import rosejit as rose

NAMES = [
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "cos", "cosh", "erf", "exp"),
    *("expm1", "floor", "gamma", "hypot", "log", "log10", "log1p", "log2", "max", "min", "pow", "round", "sigmoid"),
    *("sign", "sin", "sinh", "softplus", "sqrt", "tan", "tanh", "trunc"),
]
SCOPE = {name: getattr(rose, name) for name in NAMES} | {"rose": rose, "math": math, "pi": math.pi, "e": math.e}
_BARE = re.compile(rf"\b({'|'.join(sorted(NAMES, key=len, reverse=True))})\s+([xy]|\d+(?:\.\d+)?)\b")
_WRITTEN = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "²": "^2", "³": "^3", "π": "pi"})
_OURS = re.compile(r"\n  called from [^\n]*\blive\.py:.*\n.*\n.*")
"""Where a message tells of this file: a line that says so, the line of code, and marks."""
FILE = "<what you typed>"
_HEAD = "def f(x: float, y: float) -> float:\n    return "


class Shape(NamedTuple):
    """Value, gradient and Hessian at a point."""

    z: float
    fx: float
    fy: float
    fxx: float
    fxy: float
    fyy: float


def shape_of(f: Callable[[float, float], float]) -> rose.Function:
    """The function (x, y) -> Shape."""
    slopes, curves = rose.grad(f, argnums=(0, 1)), rose.hessian(f, argnums=(0, 1))

    @rose.jit(cache=False)
    def shape(x: float, y: float) -> Shape:
        fx, fy = slopes(x, y)
        (fxx, fxy), (_, fyy) = curves(x, y)
        return Shape(f(x, y), fx, fy, fxx, fxy, fyy)

    return shape


def typed(text: str) -> rose.Function:
    """The function that a text means: an expression of x and y, where `^` is a power, or Python with a `def`."""
    if not re.search(r"^\s*((async\s+)?def\b|@|import\b|from\b)", text, re.MULTILINE):
        text = _BARE.sub(r"\1(\2)", text.strip().translate(_WRITTEN)).replace("^", "**").replace("\n", " ")
        if not text:
            raise SyntaxError("type an expression of x and y, for example x^y")
        text = f"{_HEAD}{text}\n"
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    scope: dict[str, Any] = {"__name__": "__page__", **SCOPE}
    exec(compile(text, FILE, "exec"), scope)
    new = [value for name, value in scope.items() if SCOPE.get(name) is not value]
    found = [value for value in new if getattr(_code(value), "co_filename", "") == FILE]
    if not found:
        raise SyntaxError("no function: write `def f(x: float, y: float) -> float:` and what it returns")
    f = found[-1]
    if _code(f).co_argcount != 2:
        raise TypeError(f"`{_code(f).co_name}` should take two numbers, x and y; it takes {_code(f).co_argcount}")
    return f if isinstance(f, rose.Function) else rose.jit(cache=False)(f)


def _code(value: object) -> Any:
    return getattr(getattr(value, "__wrapped__", value), "__code__", None)


class Live:
    """The function of the last text that was one."""

    def __init__(self) -> None:
        self.shape: rose.Function | None = None

    def compiled(self, text: str) -> bytes:
        """The module for a text."""
        shape = shape_of(typed(text))
        lowered = shape.lower(0.5, 0.5)
        self.shape = shape
        return lowered.wasm

    def why(self, x: float, y: float) -> str:
        """What ends a call at that point, in words; nothing if it gives a result."""
        assert self.shape is not None
        try:
            self.shape(x, y)
        except Exception as error:
            return said(error)
        return ""


def said(error: Exception) -> str:
    """What a person needs to know of an error."""
    if isinstance(error, SyntaxError) and not isinstance(error, rose.RoseError):
        return _marked(error)
    return _OURS.sub("", f"{error}") if isinstance(error, rose.RoseError) else f"{type(error).__name__}: {error}"


def _marked(error: SyntaxError) -> str:
    """The line of an error, with marks under what is wrong."""
    text, start = (error.text or "").rstrip("\n"), error.offset
    if not text or start is None:
        return error.msg
    end = error.end_offset if error.end_lineno == error.lineno and error.end_offset else start + 1
    marks = " " * (start - 1) + "^" * max(1, end - start)
    alone = _HEAD.rpartition("\n")[2]
    if error.lineno == 2 and text.startswith(alone):  # an expression: the user wrote no `return`
        text, marks = text[len(alone) :], marks[len(alone) :]
    return f"{error.msg}\n  {text}\n  {marks}"
