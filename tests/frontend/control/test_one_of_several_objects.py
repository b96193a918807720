"""Lists, dicts and objects of which only running tells which one a name or an element holds, and which are changed:
kinds x how they came to be one of several x what is changed x where x what is read, against CPython.

A program gives CPython's numbers or is refused. Which must run is said at the end.
"""

import itertools
import random
from typing import Any

import pytest

import rosejit as rose
from tests.frontend.oracle import define, run, stage

KINDS = {
    "list": ("[{0}, {1}]", "{0}[0]", "{0}[1]"),
    "dict": ("{{'u': {0}, 'w': {1}}}", "{0}['u']", "{0}['w']"),
    "object": ("P({0}, {1})", "{0}.u", "{0}.w"),
    "nested": ("[[{0}], [{1}]]", "{0}[0][0]", "{0}[1][0]"),
    "holder": ("P([{0}], {1})", "{0}.u[0]", "{0}.w"),
    "pairs": ("([{0}], {1}, [{1}])", "{0}[0][0]", "{0}[2][0]"),
}
"""How one is made of two numbers, and the two places that are changed."""
MIXED = {
    "made anew": "if x > y:\n    a = {new}",
    "made anew on both sides": "if x > y:\n    a = {new}\nelse:\n    a = {other}",
    "another": "if x > y:\n    a = b",
    "an expression": "a = a if x > y else b",
    "names swapped": "if x > y:\n    a, b = b, a",
    "one under two names": "if x > y:\n    a = {new}\n    b = a",
    "one in two places": "if x > y:\n    a = {new}\n    m[0] = a\nelse:\n    a = {other}",
    "element of itself": "if x > y:\n    m[1] = {new}\n    a = m[1]",
    "neighbours swapped": "if x > y:\n    m[0], m[1] = m[1], m[0]",
    "neighbours in order": "for k in range(2):\n    if {mk} > {mk1}:\n        m[k], m[k + 1] = m[k + 1], m[k]",
    "swapped": "m[0], m[i] = m[i], m[0]",
    "swapped if another": "if i != 0:\n    m[0], m[i] = m[i], m[0]",
    "swapped twice": "for k in range(2):\n    p = max(range(k, 3), key=lambda r: {mr})\n    m[k], m[p] = m[p], m[k]",
    "swapped by a third name": "t = m[0]\nm[0] = m[i]\nm[i] = t",
    "taken": "a = m[i]",
    "put": "m[i] = {new}",
    "put there too": "m[0] = m[i]",
    "swapped in a loop": "for k in rose.range(n):\n    a, b = b, a",
    "swapped and changed in a loop": "for k in rose.range(n):\n    a, b = b, a\n    {a} += x * k",
    "changed and swapped in a loop": "for k in rose.range(n):\n    {b} *= x\n    a, b = b, a",
    "elements swapped in a loop": "for k in rose.range(n):\n    m[0], m[1] = m[1], m[0]\n    {m0} += x * k",
    "swapped at a number in a loop": "for k in rose.range(n):\n    m[0], m[k] = m[k], m[0]\n    {m1} += x * k",
    "made anew in a loop": "for k in rose.range(n):\n    if x * k > y:\n        a = {new}\n    {a} += x",
    "another in a loop": "for k in rose.range(n):\n    a = b\n    {a} += x",
}
CHANGED = {"a": "{a} += x", "b": "{b} = x * {b}", "c": "{c} *= y", "m[0]": "{m0} += y", "m[i]": "{mi} -= x", "m[2]": "{m2} = 4.0 * x", "nothing": "pass"}  # fmt: skip
PLACES = {
    "after": "{}",
    "in a branch": "if y > 0.0:\n    {}\n    {}",
    "in a loop": "for j in rose.range(2):\n    {}",
}
READ = {"names": "{a} + 10 * {b} + 3 * {aw} - {bw}", "rows": "{m0} + 10 * {m1} + 100 * {m2} + 3 * {m0w} - {m1w}", "alias": "{c} - 3 * {cw}",
        "all": "{a} + 10 * {b} + 100 * {m0} + 7 * {m1} + 11 * {m2} + 13 * {c} + 3 * {aw} - {cw}"}  # fmt: skip
CALLS = ((0.75, 0.25, 1, 2), (-0.5, 1.5, 0, 3), (1.25, 2.0, 2, 0), (2.0, 1.0, 1, 1))
HEAD = "class P:\n    def __init__(self, u, w):\n        self.u = u\n        self.w = w\n\n"


def written(kind: str, mixed: str, changed: str, place: str, read: str) -> str:
    """The program of one cell of the table."""
    made, one, two = KINDS[kind]
    owners = {name: name for name in "abc"} | {"m0": "m[0]", "m1": "m[1]", "m2": "m[2]", "mi": "m[i]", "mk": "m[k]", "mk1": "m[k + 1]", "mr": "m[r]"}  # fmt: skip
    names = {key: one.format(owner) for key, owner in owners.items()}
    names |= {f"{key}w": two.format(owner) for key, owner in owners.items()}
    names |= {"new": made.format("y", "x * y"), "other": made.format("x - y", "5.0")}
    change = CHANGED[changed].format(**names)
    lines = [
        f"a, b = {made.format('x', '2.0')}, {made.format('3.0', 'y')}",
        f"m = [{made.format('x * y', '1.0')}, {made.format('0.5', 'x')}, {made.format('y', '7.0')}]",
        "c = m[1]" if "m" in MIXED[mixed].replace("x * k", "") else "c = a",
        *MIXED[mixed].format(**names).split("\n"),
        *PLACES[place].format(change, change).split("\n"),
        f"return {READ[read].format(**names)}",
    ]
    body = "\n    ".join(lines)
    return f"{HEAD}def f(x: float, y: float, i: int, n: int) -> float:\n    {body}\n"


def outcome(source: str) -> str:
    """`right` or `wrong`, or what it is refused for."""
    f: Any = define(source, rose=rose)
    try:
        staged = stage(f, *CALLS[0])
    except rose.RoseError as error:
        return str(error).splitlines()[0]
    for call in CALLS:
        try:
            wanted = f(*call)
        except Exception as error:
            wanted = type(error)
        try:
            found = run(staged, f, *call)
        except Exception as error:
            if not isinstance(wanted, type) or not isinstance(error, wanted):
                return f"wrong: {error!r} for {wanted!r}"
            continue
        if isinstance(wanted, type) or abs(found - wanted) > 1e-12 * max(1.0, abs(wanted)):
            return f"wrong: {found!r} for {wanted!r} at {call}"
    return "right"


def cells() -> list[tuple[str, ...]]:
    """All cells of the table."""
    return [*itertools.product(KINDS, MIXED, CHANGED, PLACES, READ)]


@pytest.mark.parametrize("mixed", MIXED)
@pytest.mark.parametrize("kind", KINDS)
def test_no_change_is_lost(kind: str, mixed: str) -> None:
    draw = random.Random(f"{kind} {mixed}")
    table = [cell for cell in cells() if cell[:2] == (kind, mixed)]
    for cell in draw.sample(table, 7):
        assert not outcome(written(*cell)).startswith("wrong"), written(*cell)


SURE = {
    "made anew": ("a", "names"), "made anew on both sides": ("a", "names"), "names swapped": ("a", "names"), "neighbours swapped": ("m[0]", "rows"),
    "neighbours in order": ("m[2]", "rows"), "swapped": ("m[i]", "rows"), "swapped if another": ("m[0]", "rows"), "swapped twice": ("m[2]", "rows"),
    "put": ("m[0]", "rows"), "swapped in a loop": ("b", "names"), "swapped and changed in a loop": ("a", "names"),
    "changed and swapped in a loop": ("b", "names"), "elements swapped in a loop": ("m[0]", "rows"), "made anew in a loop": ("a", "names"),
}  # fmt: skip
"""What is changed and read of programs that nothing else reads: these run."""


@pytest.mark.parametrize("mixed", SURE)
@pytest.mark.parametrize("kind", KINDS)
def test_what_nothing_else_reads_may_be_changed(kind: str, mixed: str) -> None:
    changed, read = SURE[mixed]
    source = written(kind, mixed, changed, "after", read)
    assert outcome(source) == "right", source
    f: Any = define(source, rose=rose)
    for x, y, i, n in CALLS[:2]:
        for at, other in ((x, lambda v: (v, y, i, n)), (y, lambda v: (x, v, i, n))):
            slope = (f(*other(at + 1e-6)) - f(*other(at - 1e-6))) / 2e-6
            found = rose.jvp(lambda v, other=other: f(*other(v)), (at,), (1.0,))[1]
            assert found == pytest.approx(slope, rel=1e-6, abs=1e-6)
