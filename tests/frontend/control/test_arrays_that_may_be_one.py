"""Arrays that may be the same one, of which a loop reads one and writes the other: ways to get them x loops x writes x
what reads x the order in the body. Python's own numbers, or a refusal."""

import itertools

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec
from rosejit.errors import RoseError
from tests.frontend.oracle import define, run, same, stage

WAYS = {
    "a conditional expression": "z = v if n > 2 else w",
    "a branch": "if n > 2:\n    z = v\nelse:\n    z = w",
    "a branch that rebinds": "z = v\nif n < 3:\n    z = w",
    "a choice of two that are written": "y = v * 2.0\nz = y if n > 2 else w",
    "a helper": "z = pick(n, v, w)",
    "a list at a staged index": "z = [w, v, v, v][n]",
    "another name": "z = w",
    "a view": "z = w[:]",
    "a part": "z = w[2:]",
    "a row": "m = m * 1.0\nw = m[1]\nz = m[n]",
    "a transposed view": "m = m * 1.0\nw = m[:, 0]\nz = m[1]",
    "names that were swapped": "z = v * 1.0\nif n > 2:\n    w, z = z, w",
    "a loop before": "z = v * 1.0\nfor k in rose.range(n):\n    w, z = z, w",
    "a dict": "d = {'a': w}\nz = d['a']",
    "an optional": "z = None\nif n > 2:\n    z = w\nif z is None:\n    z = w",
}
LOOPS = {
    "plain": "for i in range(6):",
    "staged": "for i in rose.range(6):",
    "while": "i = -1\nwhile i < 5:\n    i += 1",
    "inner": "for k in range(2):\n  for i in rose.range(3):",
    "over the array": "i = 0\nfor r in z:",
}
WRITES = {
    "in place": "w += 1.0",
    "an element": "w[i % 3] = s",
    "a slice": "w[1:3] = w[1:3] * 0.5 + 1.0",
    "through the other": "z[i % 3] += x",
    "on a side": "if s > 1.0:\n    w[i % 3] -= 0.5",
}
READS = {"an element": "s = s * 0.9 + z[i % 3]", "a sum": "s = s * 0.9 + z.sum()"}
RESULTS = "s", "s + w[0]", "s + w[0] + z[1]"


REFUSED = "a conditional expression", "a branch", "a branch that rebinds", "a helper", "a list at a staged index"
"""Which array it is only running tells, and all of these programs read one and write the other."""


def pick(n, a, b):
    return a if n > 2 else b


def indented(text, depth):
    return "".join(f"{'  ' * depth}{line}\n" for line in text.splitlines())


def program(way, loop, write, read, reads_first, result):
    head = LOOPS[loop]
    depth = 1 + len(head.splitlines()[-1]) // 2 - len(head.splitlines()[-1].lstrip()) // 2
    depth += 1 if head.endswith(":") else 0
    if loop == "over the array" and read == "an element":
        read_text = "s = s * 0.9 + r * x"
    else:
        read_text = READS[read]
    body = [read_text, WRITES[write]]
    text = "\n".join(body if reads_first else body[::-1])
    return (
        "def f(x: float, n: int, v: Vec[6], m: Mat[4, 6]):\n  s = x\n  w = v * 1.0\n"
        f"{indented(WAYS[way], 1)}{indented(head, 1)}{indented(text, depth)}  return {result}\n"
    )


@pytest.mark.parametrize("way", WAYS)
def test_arrays_that_may_be_one(way):
    right = 0
    v, m = np.linspace(-1.0, 2.0, 6), np.sin(np.arange(24.0)).reshape(4, 6)
    for number, case in enumerate(itertools.product(LOOPS, WRITES, READS, (True, False))):
        text = program(way, *case, RESULTS[number % 3])
        f = define(text, rose=rose, np=np, pick=pick, Vec=Vec, Mat=Mat)
        try:
            staged = stage(f, 0.5, 3, v, m)
        except RoseError:
            continue
        for n in (0, 1, 3):
            try:
                wanted = f(0.5, n, v.copy(), m.copy())
            except ValueError:  # Python's own refusal of an argument that is not written: none of ours
                continue
            try:
                found = run(staged, f, 0.5, n, v, m)
            except RoseError:
                continue
            assert same(found, wanted), f"{found} is not {wanted}, n = {n}:\n{text}"
            right += 1
    assert right > 5 or way in REFUSED


@pytest.mark.parametrize("leave", ["raise ValueError", "return rows[0]", "return rows[2]"])
@pytest.mark.parametrize("change", ["v[0] = 50.0", "v += 1.0", "v.sort()", "bump(v)"])
def test_an_element_that_a_helper_returns_early_is_still_one_of_the_list(leave, change):
    f = define(
        f"""
        def chosen(rows, k, n):
            if n > 1:
                return rows[k]
            {leave}

        def bump(v):
            v[1] += 3.0

        def f(k: int, n: int) -> float:
            rows = [np.zeros(2), np.arange(2.0), np.ones(2) * 2]
            v = chosen(rows, k, n)
            {change}
            return sum(r.sum() for r in rows)
        """,
        np=np,
    )
    try:
        assert rose.jit(f)(1, 2) == f(1, 2)
    except rose.RoseError as error:
        assert error.span is not None


@pytest.mark.parametrize("head", ["for i in rose.range(n):", "for i in range(n):"])
def test_one_of_two_lists_at_a_time_is_no_endless_staging(head):
    text = f"def f(n: int) -> int:\n    a, b = [], []\n    {head}\n        c = a if i % 3 == 0 else b\n        c.append(i)\n"
    f = define(text + "    return len(a) + 10 * len(b)", rose=rose)
    with pytest.raises(RoseError, match="each time it is staged"):
        rose.jit(f)(6)
