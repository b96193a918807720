"""Lists, dicts and objects of which only running tells which one a name or an element holds, and which are changed:
kinds x how they came to be one of several x what is changed x where x what is read, against CPython.

A program gives CPython's numbers or is refused. Which must run is said at the end.
"""

import itertools
import random
from typing import Any

import pytest

import rosejit as rose
from tests.frontend.oracle import define
from tests.frontend.outcomes import CALLS, HEAD, KINDS, outcome
from tests.tables import part

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


LEFT = {
    "another and itself": "b, m[1] = m[1], b\nb, m[1] = m[1], b\nb, a = a, m[1]",
    "one place and the next": "m[1] = m[1]\nb = a\na = m[1]",
    "three places": "m[0], m[1] = m[1], m[0]\nm[0], m[1] = m[1], m[0]\nc = b\nb = a\na = m[0]",
    "of a list": "m[0] = m[1]\nm[1] = m[2]\na = m[0]\nb = m[1]",
    "of a list and a name": "m[0] = a\na = m[1]\nb = m[0]",
}
"""Iterations that move what they find, and leave an object that stays where it was too: the next one leaves it twice."""


LOOPS = ("for k in rose.range(2):", "for k in rose.range(n):", "while k < n:")


@pytest.mark.parametrize(("kind", "left", "loop"), part([*itertools.product(KINDS, LEFT, LOOPS)], 7))
def test_what_an_iteration_leaves_and_keeps_comes_again(kind: str, left: str, loop: str) -> None:
    made, one, two = KINDS[kind]
    pairs = {"a": "xy", "b": ("y", "2.0"), "c": ("3.0", "x")}
    lines = [f"{name} = {made.format(*pair)}" for name, pair in pairs.items()]
    lines.append(f"m = [{made.format('0.5', 'x')}, {made.format('y', '7.0')}, {made.format('x * y', '1.0')}]")
    body = LEFT[left].split("\n")
    loops = [loop, *body] if loop.startswith("for") else ["k = 0", "while k < n:", "k += 1", *body]
    at = 1 if loop.startswith("for") else 2
    lines += [*loops[:at], *(f"    {line}" for line in loops[at:])]
    for changed, kept in itertools.permutations("abc", 2):
        for place in (one, two):
            change = f"{place.format(changed)} *= x + y"
            text = "\n    ".join([*lines, change, f"return {place.format(changed)} + 3 * {place.format(kept)}"])
            source = f"{HEAD}def f(x: float, y: float, i: int, n: int) -> float:\n    {text}\n"
            assert not outcome(source).startswith("wrong"), source


@pytest.mark.parametrize(
    "change", ["m[0][0] *= 3.0", "if x < 5.0:\n        m[0][0] *= 3.0", "m[2][1] += x", "b[0] += x"]
)
def test_an_element_at_a_staged_index_of_a_list_of_which_two_are_one(change):
    f = define(
        "def f(x: float, n: int) -> float:\n    m = [[x, 1.0], [0.5, x], [x + 1.0, 7.0]]\n    for _ in rose.range(2):\n"
        f"        m[0] = m[2]\n    b = m[n % 3]\n    {change}\n    return m[0][0] + 3 * b[0] + 5 * b[1]",
        rose=rose,
    )
    for n in range(3):
        try:
            assert rose.jit(f)(0.75, n) == f(0.75, n)
        except rose.RoseError as error:
            assert "was changed since" in str(error)
