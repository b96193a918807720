"""What a person meets in a page: errors with their lines, arguments without NumPy, source that was typed; `check()`.

`tests/web/test_pyodide.py` runs it in Pyodide and on CPython: what is said must be the same.
"""

import array
import linecache
import traceback
from typing import Any

import rosejit as rose
from rosejit import Vec

TYPED = """\
import rosejit as rose
@rose.jit
def f(x: float, y: float) -> float:
    if x < 0.0:
        raise LookupError("no negative x")
    assert y > 0.0, "y must be positive"
    return x ** y
"""


@rose.opaque
def seen(x: float, n: int, b: bool) -> float:
    if n == 13:
        raise KeyError("thirteen")
    return x if b else -x


@seen.jvp
def _(x: rose.Dual, n: int, b: bool) -> rose.Dual:
    return rose.Dual(seen(x.re, n, b), x.du if b else -x.du)


@rose.opaque
def doubled(v: Vec[2]) -> Vec[2]:
    return [2.0 * v[0], 2.0 * v[1]]


@rose.jit
def through_the_host(x: float, n: int) -> float:
    return seen(-0.0 * x, n, x > 0.0) + seen(x, n, True)


@rose.jit
def through_arrays(v: Vec[2]) -> float:
    return doubled(v)[0] + doubled(v)[1]


@rose.jit
def picked(v: Vec["n"], k: int) -> float:
    return v[k]


@rose.jit
def factorial(n: int) -> int:
    return 1 if n <= 0 else n * factorial(n - 1)


@rose.jit
def depth(n: int) -> float:
    return 0.0 if n == 0 else 1.0 + depth(n - 1)


@rose.jit
def squares(v: Vec["n"]) -> float:
    return (v * v).sum()


def typed(text: str, name: str = "<typed>") -> Any:
    """The function `f` of a text that somebody typed."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": "typed"}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


def raised(function: Any, *args: Any) -> tuple[BaseException, str]:
    """What a call raises, and the line of the user's that it comes from."""
    try:
        function(*args)
    except Exception as error:
        return error, traceback.extract_tb(error.__traceback__)[-1].line or ""
    raise AssertionError(f"{function} raised nothing")


def check() -> None:
    """Raises AssertionError where something is not as it should be."""
    f = typed(TYPED)
    assert rose.grad(f, (0, 1))(2.0, 3.0) == (12.0, 5.545177444479562)
    for args, kind, words, line in (
        ((-1.0, 1.0), LookupError, "no negative x", "raise LookupError"),
        ((1.0, -1.0), rose.RoseAssertionError, "y must be positive", "assert y > 0.0"),
    ):
        error, at = raised(f, *args)
        assert isinstance(error, kind), error
        assert words in str(error), error
        assert line in at, at
        assert f(2.0, 3.0) == 8.0
    assert through_the_host(1.0, 2) == 1.0
    assert rose.grad(through_the_host)(1.5, 2) == 1.0
    assert isinstance(raised(through_the_host, 1.0, 13)[0], KeyError)
    assert through_the_host(2.0, 1) == 2.0
    assert through_arrays([1.0, 2.0]) == 6.0
    for given in ([1.0, 2.0, 3.0], array.array("d", [1.0, 2.0, 3.0]), memoryview(array.array("d", [1.0, 2.0, 3.0]))):
        assert picked(given, -1) == 3.0
        assert [*rose.grad(squares)(given)] == [2.0, 4.0, 6.0]
    assert isinstance(raised(picked, [1.0], 1)[0], IndexError)
    assert isinstance(raised(factorial, 30)[0], OverflowError)
    assert factorial(20) == 2432902008176640000
    assert isinstance(raised(depth, 50_000_000)[0], RecursionError)
    assert depth(100) == 100.0
    value, pullback = rose.vjp(squares, [1.0, 2.0])
    assert (value, [*pullback(1.0)[0]], [*pullback(2.0)[0]]) == (5.0, [2.0, 4.0], [4.0, 8.0])
    assert isinstance(raised(rose.grad(lambda x: x > 1.0), 1.0)[0], TypeError)
