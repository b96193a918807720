"""Programs that were refused without need, against CPython; and refusals: ours, with the line and what to do."""

import linecache
import math
import struct
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, Mat, Vec
from rosejit.errors import RoseError, RoseOverflowError
from tests.docs.test_generate_errors import page
from tests.frontend.oracle import define

V, M = np.arange(4.0), np.array([[1.0, 2.0], [3.0, 5.0]])
WORKS: dict[str, tuple[str, tuple[tuple[Any, ...], ...]]] = {
    "an int that nobody has passed": ("x: float, n=20|return np.sum(np.zeros(n + 1) + x)", ((2.0,),)),
    "an int with a hint": ("x: float, n: int = 20|return np.sum(np.ones(n) * x)", ((2.0,),)),
    "an int by keyword": ("x: float, *, n: int = 3|return [x] * n", ((2.0,),)),
    "one that is passed too": ("x: float, n: int = 3|t = 0.0\nfor k in range(n):\n    t += x * k\nreturn t", ((2.0,), (2.0, 5))),
    "enumerate": ("x: float, n: int|t = 0.0\nfor i, k in enumerate(range(2, n, 2), 1):\n    t += i * x + k\nreturn t", ((2.0, 9), (1.0, 0))),
    "zip with a vector": ("v: Vec['n'], n: int|t = 0.0\nfor k, a in zip(range(n), v):\n    t += k * a\nreturn t", ((V, 3), (V, 9), (V, -1))),
    "zip of ranges": ("x: float, n: int, m: int|t = 0.0\nfor i, k in zip(range(n), range(1, m)):\n    t += i * x * k\nreturn t", ((1.5, 4, 9), (1.0, 4, 3))),
    "zip with a list": ("x: float, n: int|return sum(a * k * x for k, a in zip(range(n), [1.0, 2.0, 3.0]))", ((2.0, 2), (2.0, 7))),
    "the length of a range": ("n: int|return len(range(n)) + len(range(1, n, 2))", ((4,), (0,), (-3,))),
    "pow with a modulus": ("a: int, k: int, m: int|return pow(a, k, m)", ((3, 4, 5), (10, 3, -7), (2, 0, 1), (16, 10, 13))),
    "percentiles": ("v: Vec['n']|p = np.percentile(v, [25, 75])\nreturn p[1] - p[0]", ((V,),)),
    "quantiles by axis": ("m: Mat['n', 'k']|return np.quantile(m, (0.2, 0.9), 1).sum()", ((M,),)),
    "a median over axes": ("t: Array[2, 3, 4]|return np.median(t, axis=(0, 2)) + np.median(t, axis=(2, 0), keepdims=True).sum()", ((np.arange(24.0).reshape(2, 3, 4) % 7.0,),)),
    "slogdet by name": ("m: Mat['n', 'n']|return np.linalg.slogdet(m).logabsdet * np.linalg.slogdet(m).sign", ((M,),)),
    "a row in and after a loop": ("m: Mat['n', 'k']|w = m[0]\nc = 0\nr = 0.0\nwhile c < 4:\n    c = c + 1\n    r = r + w.sum()\n    if r > 1.5:\n        break\nreturn r + w.sum()", ((M,), (M / 50.0,))),
}  # fmt: skip


def made(text: str) -> Any:
    """A function from its parameters and its body."""
    parameters, _, body = text.partition("|")
    names = {"np": np, "math": math, "rose": rose, "Vec": Vec, "Mat": Mat, "Array": Array, "struct": struct}
    return define(f"def f({parameters}):\n    " + body.replace("\n", "\n    "), **names)


@pytest.mark.parametrize("name", WORKS)
def test_what_cpython_runs(name: str) -> None:
    text, calls = WORKS[name]
    f = made(text)
    staged = rose.jit(f)
    for call in calls:
        np.testing.assert_allclose(staged(*call), f(*call), rtol=1e-13)


MESSAGES = {
    "%g": "'bad %g and %5.2f|%-8s|%+d%%' % (x, x, x, n)",
    "one": "'bad %08.3f' % x",
    "named": "'%(a)s of %(b)d' % {'a': x, 'b': n}",
    "f": "f'bad {x} {n:>4} {x:.2e}'",
    "format": "'bad {} {:.2f}'.format(n, x)",
    "parts": "'bad', x, n",
}


@pytest.mark.parametrize(
    "place", ["if x < 0.0:\n    ", "", "if x > 0.0:\n    raise TypeError(f'other {x}')\nelse:\n    "]
)
@pytest.mark.parametrize("message", MESSAGES)
def test_messages_show_what_running_tells(message: str, place: str) -> None:
    f = made(f"x: float, n: int|{place}raise ValueError({MESSAGES[message]})\nreturn x")
    staged = rose.jit(f)
    for call in ((-1.5, 3), (2.0, 4)):
        told = []
        for each in (f, staged):
            try:
                told.append(each(*call))
            except (ValueError, TypeError) as error:
                told.append((type(error), str(error)))
        assert told[0] == told[1]


def test_an_error_that_is_raised_and_caught_on_the_host_stays_there() -> None:
    text = "x: float|try:\n    raise ValueError(f'bad {x}')\nexcept ValueError:\n    return x * 2.0"
    assert rose.jit(made(text))(3.0) == 6.0
    caught = "x: float|import contextlib\nwith contextlib.suppress(KeyError):\n    raise KeyError(f'bad {x}')\nreturn x * 3.0"
    assert rose.jit(made(caught))(3.0) == 9.0


def test_a_function_that_always_raises_can_be_called() -> None:
    f = define("def g(x):\n    raise KeyError(f'no {x}')\ndef f(x: float) -> float:\n    return g(x)\n")
    with pytest.raises(KeyError, match=r"no 2\.5"):
        rose.jit(f)(2.5)
    with pytest.raises(KeyError):
        rose.grad(f)(2.5)


@pytest.mark.parametrize("name", page.MEETS)
def test_refusals_are_ours_and_name_the_line(name: str) -> None:
    error = page.met(page.MEETS[name])
    assert isinstance(error, RoseError)
    assert error.span is not None
    assert error.span.file == "met.py"
    assert error.help
    assert "staged Real>" not in error.message


def test_an_integer_that_does_not_fit_is_one_class() -> None:
    for hint in ("", ": int"):
        f = rose.jit(made(f"n{hint}|return n + 1"))
        for call in (2**70, 1, 2**70):
            if call == 1:
                assert f(call) == 2
                continue
            with pytest.raises((RoseOverflowError, rose.StagingTypeError)):
                f(call)
    f = rose.jit(made("n: int|return n + 1"))
    with pytest.raises(RoseOverflowError):
        f(2**70)


@pytest.mark.parametrize(
    ("file", "words"), [("<stdin>", "prompt of Python"), ("<string>", "python -c"), ("<timed exec>", "%%time")]
)
def test_a_function_whose_text_is_lost_says_what_to_do(file: str, words: str, monkeypatch: Any) -> None:
    monkeypatch.delitem(linecache.cache, file, raising=False)  # on 3.13 it has what `python -c` was given
    names: dict[str, Any] = {}
    exec(compile("def f(x): return x", file, "exec"), names)
    with pytest.raises(RoseError, match="cannot be found") as told:
        rose.jit(names["f"])(1.0)
    assert words in str(told.value.help)


def test_a_static_hint_need_not_be_known() -> None:
    f = define(
        "from __future__ import annotations\ndef f(x: float, u: str | Unit = 'm') -> float:\n    return x if u == 'm' else 2.0 * x\n"
    )
    staged = rose.jit(f, static_argnames=("u",))
    assert (staged(1.0), staged(1.0, "k")) == (1.0, 2.0)
