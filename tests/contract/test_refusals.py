"""What users try first and cannot have: each is an error of ours, at their line, in their words, with what to do."""

import functools
import linecache
import math
import re
import traceback
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec
from tests.frontend.oracle import define

PACKAGE = str(Path(rose.__file__).parent)


class Pair(NamedTuple):
    a: float
    b: float


SCOPE = {"rose": rose, "np": np, "math": math, "Vec": Vec, "Mat": Mat, "Pair": Pair}
X, V, M, N = 1.0, np.ones(3), np.ones((3, 2)), 2

CASES = {
    # name: function, arguments, class, words of the message, line (of the error), whether there is help
    "a list is indexed": ("return [1, 2][x]", (X,), "StagingTypeError", "value of a staged Real", "", True),
    "a dict is indexed": ("return {}[x]", (X,), "StagingTypeError", "a key", "", True),
    "a set": ("return frozenset((x,))", (X,), "StagingTypeError", "a member of a set", "", True),
    "text is added": ("return 'a' + x", (X,), "StagingTypeError", "`+` takes a number, given str", "", True),
    "a list is repeated": (
        "return (1,) * x",
        (N,),
        "StagingTypeError",
        "how often a tuple is repeated, only running tells",
        "",
        True,
    ),
    "a comparison with text": ("return x < 'b'", (X,), "StagingTypeError", "`<` takes a number, given str", "", True),
    "order of complex numbers": ("return x < 1j", (X,), "StagingTypeError", "no `<`", "", True),
    "a real as a bound": ("return sum(rose.range(x))", (X,), "StagingTypeError", "integer bounds", "", True),
    "math of an array": ("return math.sin(x)", (V,), "StagingTypeError", "`math.sin` takes a number", "", True),
    "an unknown function of NumPy": ("return np.spacing(x)", (V,), "StagingTypeError", "`np.spacing`", "", True),
    "an unknown method": ("return x.byteswap()", (V,), "StagingTypeError", "`.byteswap`", "", True),
    "opening a file": ("return open(x)", (X,), "StagingTypeError", "`open` is called by Python", "", True),
    "the truth of an array": ("return 1.0 if x else 2.0", (V,), "ShapeError", "truth of an array", "", True),
    "shapes": ("return x + np.ones(4)", (V,), "ShapeError", "(3,) and (4,)", "", False),
    "shapes of a product": ("return x @ np.ones(4)", (M,), "ShapeError", "(3, 2) and (4,)", "", False),
    "a known index": ("return x[7]", (V,), "RoseIndexError", "index 7 is out of range for length 3", "", False),
    "an index when it runs": ("return x[np.argmax(x) + 9]", (V,), "RoseIndexError", "index 9 is out of", "", False),
    "too many indices": ("return x[0, 1]", (V,), "RoseIndexError", "1 dimension, and is indexed with 2", "", False),
    "a real as an index": ("return x[x[0]]", (V,), "StagingTypeError", "integers and slices, given Real", "", True),
    "a staged slice": ("return x[: int(x[0])]", (V,), "StagingTypeError", "bounds of a slice", "", True),
    "writing an argument": ("x[0] = 1.0\nreturn x", (V,), "StagingTypeError", "never written", "x[0] = 1.0", True),
    "in place": ("x += 1.0\nreturn x", (V,), "StagingTypeError", "never written", "x += 1.0", True),
    "a number of staged elements": ("return np.zeros(x)", (N,), "StagingTypeError", "shape of an array", "", True),
    "a number is called": ("return x(1)", (X,), "StagingTypeError", "a staged Real is called", "", False),
    "a number is taken apart": ("a, b = x\nreturn a", (X,), "StagingTypeError", "Python iterates", "a, b = x", True),
    "a number is indexed": ("return x[0]", (X,), "StagingTypeError", "no elements", "", True),
    "two texts": ("y = 'a' if x > 0 else 'b'\nreturn y + x", (X,), "StagingTypeError", "'a'", "", True),
    "two kinds": ("y = 0\nif x > 0:\n    y = [x]\nreturn y", (X,), "StagingTypeError", "a list on one", "", True),
    "a list grows in a loop": (
        "y = [x]\nfor i in rose.range(3):\n    y.append('a')\nreturn y",
        (X,),
        "UnsupportedSyntax",
        "a list from outside",
        "y.append",
        True,
    ),
    "text changes in a loop": (
        "y = 'a'\nwhile x > 0:\n    x -= 1\n    y += 'b'\nreturn x",
        (X,),
        "StagingTypeError",
        "`y` is 'a' before",
        "",
        True,
    ),
    "a tuple grows in a loop": (
        "y = (x,)\nfor i in rose.range(3):\n    y = (x, x)\nreturn y",
        (X,),
        "StagingTypeError",
        "a tuple of 1 before",
        "",
        True,
    ),
    "a shape changes in a loop": (
        "y = np.zeros(3)\nfor i in rose.range(3):\n    y = np.zeros(4)\nreturn y * x",
        (X,),
        "ShapeError",
        "(4,)",
        "y = np.zeros(4)",
        True,
    ),
    "errors that are swallowed": (
        "try:\n    y = [1][x]\nexcept Exception:\n    y = 0\nreturn y",
        (X,),
        "StagingTypeError",
        "value of a staged",
        "y = [1][x]",
        True,
    ),
    "a name that is deleted": ("del x\nreturn x", (X,), "UnboundStagedName", "`x`", "return x", True),
    "a name that no iteration bound": (
        "for i in rose.range(3):\n    if x > i + 5:\n        y = i\nreturn y",
        (X,),
        "UnboundStagedName",
        "`y`",
        "return y",
        True,
    ),
    "an assertion": (
        "assert x > 5, f'{x} is too small'\nreturn x",
        (X,),
        "RoseAssertionError",
        "1.0 is too small",
        "assert",
        False,
    ),
    "recursion without an end": (
        "def g(y):\n    return g(y)\nreturn g(x)",
        (X,),
        "UnrollLimit",
        "calls itself",
        "return g(y)",
        True,
    ),
    "helpers": (
        "def g(y):\n    return [1][y]\nreturn g(x)",
        (X,),
        "StagingTypeError",
        "called from",
        "return [1][y]",
        True,
    ),
    "the gradient of a vector": (
        "return rose.grad(lambda u: u * 2)(x)",
        (V,),
        "NotDifferentiable",
        "one Real",
        "",
        True,
    ),
    "the gradient to an integer": (
        "return rose.grad(lambda u: u * 2.0)(x)",
        (N,),
        "NotDifferentiable",
        "`u`",
        "",
        True,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_refused(case):
    body, args, kind, words, line, has_help = case
    f = rose.jit(define("def f(x):\n" + "".join(f"    {text}\n" for text in body.splitlines()), **SCOPE))
    texts = set()
    for _ in range(2):
        with pytest.raises(getattr(rose, kind)) as caught:
            f(*args)
        texts.add(str(caught.value))
    assert len(texts) == 1
    text = texts.pop()
    assert words in text
    assert ("\n  help: " in text) == has_help, text
    assert PACKAGE not in text
    assert not re.search(r"\b(tape|Tape|Lit|Atom|Var|atom|IR|Array object|placeholder)\b", text), text
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert not [frame for frame in frames if frame.filename.startswith(PACKAGE)]
    shown = linecache.getline(frames[-1].filename, frames[-1].lineno).strip()
    assert shown.startswith(line or body.splitlines()[-1]) or not line, shown
    assert f"\n  {frames[-1].filename}:{frames[-1].lineno}" in text


CALLS = {
    "a static argument": (lambda: rose.jit(lambda c: rose.jit(static_argnames="n")(lambda n: n)(c))(1.0), "host value"),
    "a shape in place of a value": (lambda: rose.jit(lambda x: x)(rose.ShapeOf(3)), "does not fit"),
    "no function": (lambda: rose.grad(3), "a function is needed, given int"),
    "no tuple of primals": (lambda: rose.jvp(lambda x: x, 1.0, 1.0), "the primals as a tuple"),
    "too many tangents": (lambda: rose.jvp(lambda x: x, (1.0,), (1.0, 2.0)), "one tangent for each primal"),
    "a cotangent of another shape": (lambda: rose.vjp(lambda x: x * x, V)[1](np.ones(2)), "does not fit"),
    "a cotangent that is text": (lambda: rose.vjp(lambda x: x * x, 1.0)[1]("a"), "does not fit"),
    "an argument that is not there": (lambda: rose.grad(lambda x: x, argnums=3)(1.0), "no argument 3"),
    "objects in an array": (lambda: rose.jit(lambda v: v * 2)(np.array([1, "a"], object)), "dtype object"),
    "a wrong derivative": (lambda: rose.check_grads(lambda x: abs(x), (0.0,)), "differs from differences"),
    "text that is lowered": (lambda: rose.jit(define("def f(x: float): return x")).lower("a"), "needs a number"),
}


@pytest.mark.parametrize("case", CALLS.values(), ids=CALLS)
def test_calls_that_do_not_fit(case):
    call, words = case
    with pytest.raises(rose.RoseError, match=re.escape(words)) as caught:
        call()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert not [frame for frame in frames if frame.filename.startswith(PACKAGE)]
    assert frames[-1].filename in (__file__, "<rosejit>")


def test_sources_of_notebooks_and_decorators_that_are_stacked():
    def logged(f):
        @functools.wraps(f)
        def call(*args):
            return f(*args)

        return call

    for text in (
        "@rose.jit\n@logged\ndef f(x):\n    return [1][x]",
        "@logged\n@rose.jit\ndef f(x):\n    return [1][x]",
    ):
        name = "/tmp/ipykernel_1/12345.py"  # as Jupyter names a cell
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        scope = {**SCOPE, "logged": logged}
        exec(compile(text, name, "exec"), scope)
        with pytest.raises(rose.StagingTypeError) as caught:
            scope["f"](1.0)
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        assert (last.filename, last.lineno) == (name, 4)


def test_errors_arrive_in_time():
    """Nothing of the size of the data, or of the count of iterations, is done before a refusal."""
    f = rose.jit(define("def f(x):\n    for i in range(10**12):\n        x = x * 0.5 + [1.0][x]\n    return x"))
    with pytest.raises(rose.StagingTypeError):
        f(1.0)


TIMES = np.array([0.5, 2.0])
COUNTED = {
    "k = 3\nfor i in rose.range(n):\n    out.append([x] * len(out))": "comes from `n`",
    "for i in range(int(TIMES.max())):\n    out.append([x] * len(out))": "comes from an array of numbers from outside",
    "for i in rose.unroll(range(int(TIMES[1] * n))):\n    out.append([x] * len(out))": "from outside and `n`",
}


@pytest.mark.parametrize("body", COUNTED)
def test_why_a_loop_is_staged_is_said(body):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    f = rose.jit(define(f"def f(x, n):\n    out = []\n{lines}    return out\n", TIMES=TIMES, rose=rose))
    with pytest.raises(rose.RoseError, match=COUNTED[body]) as caught:
        f(X, N)
    assert "rose.Static" in str(caught.value)
    assert ("of a list or a tuple are not" in str(caught.value)) == ("TIMES" in body)
