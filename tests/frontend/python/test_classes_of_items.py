"""Numbers in lists and tuples of Python's stay of the class that they have there, whichever way they are taken out:
what asks for the class is answered as by CPython, or refused.

31 containers x 13 ways to take a number out x 9 questions, of which the gate takes a part.
"""

import collections
import math
from array import array
from typing import Any, NamedTuple

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define
from tests.tables import crossed


class Pair(NamedTuple):
    v: float
    w: float


class Thing:
    def __init__(self, v):
        self.v = v


CONTAINERS = {
    "arguments": "l", "a tuple": "t", "made a tuple": "tuple(l)", "made": "[x, x + 1.0, 2.0]", "known": "[1.5, 2.5, 3.5]",
    "a known tuple": "(1.5, 2.5, 3.5)", "outside": "OUTSIDE", "a comprehension": "[x * j for j in range(3)]",
    "repeated": "[x] * 3", "turned": "[x, x + 1.0, 2.0][::-1]", "sorted": "sorted([x, x + 1.0, 2.0])",
    "a deque": "collections.deque([x, x + 1.0, 2.0])", "grown": "grown(x)", "written": "written(x)",
    "swapped": "swapped(x, i)", "of NumPy": "[a[0], a[1], a[2]]", "of an array": "list(a)", "tolist": "a.tolist()",
    "an array": "a", "of both": "[a[0], x, 1.0]", "NumPy's known": "[np.float64(2.0), 1.5, 2.5]",
    "long": "[0.5 * j for j in range(100)]", "rows": "[[x, 1.0, 2.0], [2.0, x, x]][i]", "ints": "[1, 2, 3]",
    "arguments that are ints": "k", "truth values": "[x > 0.0, x < 0.0, True]", "ints of NumPy": "list(n)",
    "an int and floats": "[1, 2.5, x]", "an int zero": "[0, i - 1, x]", "a record": "Pair(x, 2.0)",
    "array.array": "array('d', [1.0, 2.0, 3.0])",
}  # fmt: skip
WAYS = {
    "at": "v = c[i]", "from the end": "v = c[-i]", "in a loop": "v = c[0]\n    for j in rose.range(2):\n        v = c[j]",
    "in a long loop": "v = c[0]\n    for j in range(100):\n        v = c[j % 2]",
    "in a branch": "v = c[0]\n    for j in rose.range(i):\n        if j > 0:\n            v = c[j]",
    "chosen": "v = c[0] if x > 0.0 else c[1]", "of two": "v = (c if x > 0.0 else [*c][::-1])[i]",
    "while": "j, v = 0, c[0]\n    while j < i:\n        v = c[j]\n        j += 1", "least": "v = min(c)",
    "joined": "v = c[0]\n    for e in c:\n        v = e if e > x else v", "first": "v = next(e for e in c)",
    "by a key": "v = {'a': c[0], 'b': c[1]}['a' if x > 2.0 else 'b']", "of objects": "v = [Thing(c[0]), Thing(c[1])][i].v",
}  # fmt: skip
QUESTIONS = (
    "isinstance(v, float)", "isinstance(v, int)", "type(v).__name__", "isinstance(v, np.generic)", "type(v) is bool",
    "round(v, 2)", "math.copysign(1.0, -v)", "divided(v)", "v is True",
)  # fmt: skip
PRELUDE = """
def grown(x):
    c = []
    for j in range(3):
        c.append(x * j)
    return c


def written(x):
    c = [0.0] * 3
    for j in rose.range(3):
        c[j] = x * j
    return c


def swapped(x, i):
    c = [x, 2.0, 3.0]
    c[i], c[i - 1] = c[i - 1], c[i]
    return c


def divided(v):
    try:
        return 1.0 / (v - 1.5)
    except ZeroDivisionError:
        return 7.0


"""
ARGS = 1.5, 1, [1.5, 2.5, 0.5], [1, 2, 3], (1.0, 2.0, 3.0), np.array([1.0, 2.0, 3.0]), np.array([1, 2, 3])
HEAD = "def f(x: float, i: int, l: list[float], k: list[int], t: tuple[float, float, float], a: np.ndarray, n: np.ndarray):"
SCOPE = {
    "np": np, "math": math, "collections": collections, "Pair": Pair, "Thing": Thing, "array": array, "rose": rose,
    "OUTSIDE": [1.5, 2.5, 3.5],
}  # fmt: skip
CELLS = crossed(CONTAINERS, WAYS, 8)


def _outcome(f) -> Any:
    try:
        found = f(*ARGS)
    except rose.RoseError:
        return None
    except Exception as error:
        return type(error)
    return found.item() if isinstance(found, np.generic) else found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's of a division by zero
@pytest.mark.parametrize("question", QUESTIONS)
def test_answers(question):
    right = 0
    for container, way in CELLS:
        f = define(
            f"{PRELUDE}{HEAD}\n    c = {CONTAINERS[container]}\n    {WAYS[way]}\n    return {question}\n", **SCOPE
        )
        found = _outcome(rose.jit(f))
        if found is not None:
            wanted = _outcome(f)
            assert found == wanted, (container, way, question)
            right += 1
    assert right > len(CELLS) // 2


@pytest.mark.parametrize("source", ["[0, 2.5]", "[i - 1, 2.5]", "[x - x, 0, 0.0]", "[0 if x > 0.0 else 0.0, 0.0]"])
@pytest.mark.parametrize("taken", ["c[i - 1]", "c[i]", "sorted(c)[0]", "min(c)", "max(c)"])
def test_zeros_of_ints_have_no_sign(source, taken):
    f = define(f"{HEAD}\n    c = {source}\n    return math.copysign(1.0, -({taken}))\n", **SCOPE)
    assert _outcome(rose.jit(f)) == _outcome(f)
