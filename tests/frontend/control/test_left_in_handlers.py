"""Jumps, loops that are left and exceptions in the parts of a `try`: what stands there x in which part, against CPython."""

import itertools
import textwrap

import pytest

from tests.frontend.outcomes import outcome
from tests.tables import part

INSIDE = {
    "break": "for k in range(3):\n    s += 1.0\n    if x > k:\n        break",
    "break of a staged loop": "for k in rose.range(3):\n    if x > k:\n        break\n    s += 1.0",
    "continue": "for k in range(3):\n    if x > k:\n        continue\n    s += 1.0",
    "break of a while": "k = 0\nwhile k < 3:\n    k += 1\n    if x > k:\n        break\n    s += 1",
    "break of an endless one": "while True:\n    s += 1\n    if s > y:\n        break",
    "else of a loop": "for k in range(3):\n    if x > k:\n        break\nelse:\n    s += 7",
    "try": "try:\n    s += 1.0\n    if x > y:\n        raise ValueError\n    s += 2.0\nexcept ValueError:\n    s += 5.0",
    "raise": "if x > y:\n    raise KeyError",
    "return": "if x > y:\n    return s * 2",
    "match": "match x > y:\n    case True:\n        s += 1\n    case _:\n        s += 2",
    "function": "def g(v):\n    if v > x:\n        return v\n    return 2.0\ns += g(y)",
}
PARTS = {
    "finally": "try:\n    s += x\nfinally:\n    {}",
    "finally of what raises": "try:\n    s += x\n    if x > y:\n        raise ValueError\nexcept ValueError:\n    s += 2.0\nfinally:\n    {}",
    "finally of what returns": "try:\n    if x > y:\n        return s\n    s += x\nfinally:\n    {}",
    "finally of a handler that returns": "try:\n    if x > y:\n        raise ValueError\nexcept ValueError:\n    return s + 9.0\nfinally:\n    {}",
    "finally in a loop": "for j in range(2):\n    try:\n        if x > y:\n            continue\n        s += x\n    finally:\n        {}",
    "finally of what leaves": "for j in rose.range(2):\n    try:\n        if x > y:\n            break\n        s += x\n    finally:\n        {}",
    "except": "try:\n    if x > y:\n        raise ValueError\nexcept ValueError:\n    {}",
    "else": "try:\n    if x > y:\n        raise ValueError\nexcept ValueError:\n    s -= 2\nelse:\n    {}",
    "with": "with contextlib.nullcontext():\n    {}",
    "suppressed": "with contextlib.suppress(ValueError):\n    {}\n    if x > y:\n        raise ValueError\n    s += 3",
}  # fmt: skip


def written(inside: str, place: str) -> str:
    """The program of one cell."""
    text = PARTS[place]
    margin = text[: text.index("{}")].rpartition("\n")[2]
    body = textwrap.indent(text.replace("{}", INSIDE[inside].replace("\n", f"\n{margin}")), "    ")
    head = "import contextlib\ndef f(x: float, y: float, i: int, n: int) -> float:\n    s = 0.5\n"
    return f"{head}{body}\n    return s + x\n"


@pytest.mark.parametrize(("inside", "place"), part([*itertools.product(INSIDE, PARTS)], 3))
def test_in_every_part(inside, place):
    source = written(inside, place)
    found = outcome(source)
    assert found == "right" or (inside == "return" and "`return` in a `finally` block" in found), f"{found}\n{source}"
