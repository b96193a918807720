"""Arrays that a staged loop reaches under names that are bound to others from iteration to iteration: as CPython, or
refused.
"""

import numpy as np
import pytest

from rosejit.errors import StagingTypeError
from rosejit.frontend.hints.hints import Mat, Vec
from rosejit.frontend.values import rose_functions as rose
from tests.frontend.oracle import agrees, define, fault

ARGS = [(x, n, np.array([1.0, 2.0, 3.0]), np.arange(6.0).reshape(2, 3)) for x in (1.0, -1.0) for n in (0, 1, 2, 3)]
SCOPE = {"np": np, "rose": rose, "Vec": Vec, "Mat": Mat}

SHARED = {
    "a view": "for i in rose.range(3):\n    a[0] = 5.0 + i\n    a = d[0]",
    "another array": "for i in rose.range(3):\n    a[0] = 5.0 + i\n    a = b",
    "a staged choice": "for i in rose.range(3):\n    a[0] = 5.0 + i\n    if x > 0:\n        a = b\n    else:\n        a = a.copy()",
    "a conditional": "for i in rose.range(n):\n    a[0] = 5.0 + i\n    a = b if x > 0 else a.copy()",
    "in a while": "i = 0\nwhile i < n:\n    i += 1\n    a[0] = 5.0 + i\n    a = b if x > 0 else a.copy()",
    "in a tuple": "t = (a, 1.0)\nfor i in rose.range(3):\n    t[0][0] = 5.0 + i\n    t = (b if x > 0 else a.copy(), t[1])",
    "written in an inner loop": "for i in rose.range(3):\n    for j in rose.range(2):\n        a[0] = 5.0 + i\n    a = b",
    "bound in an inner loop": "for i in rose.range(3):\n    a[0] += 5.0\n    for j in rose.range(2):\n        a = b",
    "in a cell": "def turn():\n    nonlocal a\n    a[0] += 1.0\n    a = b\nfor i in rose.range(3):\n    turn()",
    "an argument": "for i in rose.range(3):\n    a[0] = 5.0 + i\n    a = v if x > 0 else a.copy()",
    "one after the other": "for i in rose.range(3):\n    a[0] += 5.0 + i\n    a, c = c, b",
    "two names meet": "for i in rose.range(3):\n    a[0] += 5.0 + i\n    a = c",
    "two names of one new array": "for i in rose.range(3):\n    a[0] += 1.0\n    s += c[0]\n    a = c = a * 2.0",
    "read, and written by its own name": "for i in rose.range(3):\n    b[0] = 5.0 + i\n    s += a[0]\n    a = b",
    "the array of before": "keep = b\nfor i in rose.range(3):\n    a[0] += 1.0\n    a, b = b, a\ns = keep[0]",
    "an argument after the loop": "e = v\nfor i in rose.range(n):\n    e = e * 2.0\ne[0] = 1.0",
    "written after the loop": "for i in rose.range(3):\n    s += a[0]\n    a, b = c, a\nb[0] = 9.0\ns += c[0]",
    "the last of before": "keep = a\nfor i in rose.range(3):\n    last = a\n    a = a * 2.0\nlast[0] = 9.0\ns += keep[0]",
}
"""What is refused: CPython would show a write under another name."""

APART = {
    "swap": "for i in rose.range(n):\n    for j in rose.range(3):\n        b[j] = a[j] * 0.5 + i\n    a, b = b, a",
    "rotation": "for i in rose.range(n):\n    a[0] += 1.0\n    a, b, c = b, c, a\na[1] += 1.0\nb[2] -= 1.0",
    "recurrence": "a, b = v, d[0]\nfor i in rose.range(n):\n    a, b = b, a + b\ns = v[0] + d[0, 1]",
    "new ones": "for i in rose.range(n):\n    a = a * 2.0\n    a[0] = 1.0\n    b = a + b\n    b[1] = 0.0",
    "a copy": "for i in rose.range(n):\n    a[0] = 5.0 + i\n    a = (b if x > 0 else c).copy()",
    "only read": "for i in rose.range(2):\n    s += a[0]\n    a = d[i]\ns += d[1, 1]",
    "rows": "for i in rose.range(2):\n    row = d[i]\n    row[0] += 1.0\ns = row[0]",
    "rows under an old name": "row = d[0]\nfor i in rose.range(2):\n    row = d[i]\n    row[0] += 1.0\ns = row[0]",
    "rows of before": "last = np.zeros(3)\nfor i in rose.range(2):\n    row = d[i]\n    s += last[0] + row[1]\n    last = row",
    "two names, one used": "e = a\nfor i in rose.range(n):\n    if x > 0:\n        a -= 1.0\ns += e[0]",
    "in a structure": "t = (a, 1.0)\nfor i in rose.range(n):\n    for j in rose.range(2):\n        a -= t[1] * a[0]\ns += t[0][1]",
    "the same one": "for i in rose.range(n):\n    a[0] += 1.0\n    if x > 0:\n        a = a",
}


def program(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return (
        "def f(x: float, n: int, v: Vec[3], m: Mat[2, 3]):\n    a, b, c, d, s = v.copy(), v * 2.0, v * 3.0, m.copy(), 0.0\n"
        f"{lines}    return a * 1.0, b * 1.0, c * 1.0, d * 1.0, s\n"
    )


@pytest.mark.parametrize("body", APART.values(), ids=APART)
def test_arrays_that_are_never_one(body):
    agrees(define(program(body), **SCOPE), *ARGS)


@pytest.mark.parametrize("body", SHARED.values(), ids=SHARED)
def test_arrays_that_may_be_one(body):
    error = fault(define(program(body), **SCOPE), *ARGS[-1])
    assert isinstance(error, StagingTypeError), error
    assert ".copy()" in (error.help or ""), error
