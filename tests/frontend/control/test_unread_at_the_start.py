"""Names that no iteration of a staged loop reads before it binds them, and that a loop inside begins with: kinds before x
kinds that the inner loop leaves x what takes their place x inner loops, against CPython."""

import itertools

import pytest

from tests.frontend.outcomes import outcome
from tests.tables import part

BEFORE = {
    "number": "a = x",
    "list": "a = [x, 2.0]",
    "array": "a = np.zeros(2) + x",
    "dict": "a = {'u': x}",
    "none": "a = None",
    "text": "a = 'u'",
    "number or none": "a = x if x > y else None",
    "function": "a = math.sin if x > y else math.cos",
    "nothing": "pass",
    "nothing on some paths": "if x > y:\n    a = x",
}
INNER = {
    "number": "a = y * k",
    "list": "a = [y * k, x]",
    "array": "a = np.zeros(2) + y",
    "dict": "a = {'u': y * k}",
    "function": "a = math.tan if x * k > y else math.sin",
    "number or none": "a = None if x > y * k else y",
}
LAST = ("a = 's'", "a = (x, y)", "a = None", "del a", "a = abs", "a = [x]", "a[0] = 's'")
LOOPS = ("for k in rose.range(2):", "for k in rose.range(n):", "k = 0\nwhile k < 2:\n    k += 1")
CASES = [*itertools.product(BEFORE, INNER, LAST, LOOPS)]


def written(before: str, inner: str, last: str, loop: str) -> str:
    """The program of one cell."""
    body = [*loop.split("\n"), f"    {INNER[inner]}", "if x > 2 * y:", f"    {last}", "s += x"]
    lines = [*BEFORE[before].split("\n"), "s = 0.0", "for j in rose.range(n):", *(f"    {line}" for line in body)]
    text = "\n    ".join([*lines, "held = a", "return s"])
    return f"import math\nimport numpy as np\ndef f(x: float, y: float, i: int, n: int) -> float:\n    {text}\n"


@pytest.mark.parametrize("case", part(CASES, 11), ids=lambda case: "-".join(map(str, case)))
def test_what_a_loop_inside_begins_with_is_in_scope(case):
    source = written(*case)
    assert not outcome(source).startswith("wrong"), source
