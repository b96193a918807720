"""What is taken off a list that may be empty, and `zip(*rows)` of rows that may be there: how the list came to be x what
is asked of it, against CPython with its errors, and slopes against differences."""

import textwrap

import pytest

import rosejit as rose
from rosejit.numeric import np
from tests.frontend.oracle import define
from tests.tables import crossed

FILLED = {
    "one": "if x > 1.0:\n    s.append(row(x))",
    "two": "for k in range(2):\n    if x > k:\n        s.append(row(x + k))",
    "or taken": "for k in range(3):\n    if x > k:\n        s.append(row(x * k))\n    elif s:\n        s.pop()",
    "filtered": "s = [row(v) for v in (x, 2.0, y) if v > 1.5]",
    "never": "pass",
    "codes": "for c in codes:\n    if c > 0:\n        s.append(row(c * x))\n    else:\n        s.pop()",
}
ASKED = {
    "pop": "return value(s.pop())",
    "pop in a branch": "if y > 1.0:\n    return value(s.pop())\nreturn x",
    "first": "return value(s.pop(0)) + len(s)",
    "handler": "try:\n    v = value(s.pop())\nexcept IndexError:\n    v = -y\nreturn v * x + len(s)",
    "handler in a loop": "t = 0.0\nfor k in range(3):\n    try:\n        r = s.pop()\n        t = t * y + value(r)\n    except IndexError:\n"
    "        t = t - 1.0\n        break\nreturn t",
    "guarded": "return value(s.pop()) if s else y",
    "pushed back": "if y > 1.0:\n    s.append(s.pop())\nreturn sum([value(r) for r in s])",
    "columns": "return sum([sum(c) * (k + 1) for k, c in enumerate(zip(*s))]) if s else -x",
    "means": "m = [sum(c) / len(c) for c in zip(*s)]\nreturn m[0] - m[1] * x if m else y",
    "extremes": "t = 0.0\nfor c in zip(*s):\n    t = t * x + max(c) - min(c)\nreturn t",
}
ROWS = {"pop": ("v", "r"), "columns": ("(v, 2.0 * v + y)", "r[0]")}


def outcome(f, *args):
    try:
        return f(*args)
    except IndexError as error:
        return str(error)


@pytest.mark.parametrize(("filled", "asked"), crossed(FILLED, ASKED, 4))
def test_lists_that_may_be_empty(filled, asked):
    row, value = ROWS["columns" if "zip" in ASKED[asked] else "pop"]
    body = f"row = lambda v: {row}\nvalue = lambda r: {value}\ns = []\n{FILLED[filled]}\n{ASKED[asked]}"
    plain = define("def f(x: float, y: float, codes):\n" + textwrap.indent(body, "    "))
    f = rose.jit(plain)
    for codes in (np.array([1, 2, 0]), np.array([3, 0, 0]), np.array([0, 1, 1])):
        for x, y in ((0.4, 1.7), (1.3, 0.6), (2.6, 1.2)):
            wanted = outcome(plain, x, y, codes)
            assert outcome(f, x, y, codes) == (wanted if isinstance(wanted, str) else pytest.approx(wanted, rel=1e-12))
            if not isinstance(wanted, str):
                slope = (plain(x + 1e-6, y, codes) - plain(x - 1e-6, y, codes)) / 2e-6
                assert rose.grad(f)(x, y, codes) == pytest.approx(slope, rel=1e-5, abs=1e-6)
