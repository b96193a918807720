"""`is` of elements at staged indices, of their parts, and of joined numbers: Python's answer, or a refusal."""

from collections import namedtuple
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

import rosejit as rose
from tests.frontend.oracle import define
from tests.tables import part

Pair = namedtuple("Pair", "a b")


@dataclass(frozen=True)
class Frozen:
    a: Any
    b: Any


@dataclass
class Thing:
    a: Any
    b: Any


MADE = {
    "tuple": "({0}, y)", "list": "[{0}, y]", "named tuple": "Pair({0}, y)", "frozen": "Frozen({0}, y)",
    "object": "Thing({0}, y)", "tuple in a tuple": "((y, y), {0})", "dict": "{{'a': {0}, 'b': y}}",
}  # fmt: skip
ASKED = {
    "itself": "m[i] is m[i]", "another": "m[i] is m[0]", "no other": "m[i] is not m[1]", "a name": "t is t",
    "joined": "(m[0] if i > 0 else m[1]) is m[0]", "a part": "m[i][0] is m[i][0]", "a number": "(x if i else y) is x",
    "a name of a number": "z is x",
}  # fmt: skip
HELD = {"lists": ("[x]", "[y]"), "numbers": ("x", "y"), "known numbers": ("1.0", "2.0"), "texts": ("'a'", "'b'")}
CASES = [*product(MADE, ASKED, HELD)]


@pytest.mark.parametrize(("made", "asked", "held"), part(CASES, 5), ids=lambda text: text)
def test_python_says_so_too_or_it_is_refused(made: str, asked: str, held: str):
    first, second = [MADE[made].format(text) for text in HELD[held]]
    body = f"y = x * 2\nz = x\nm = [{first}, {second}]\nt = m[i]\nreturn 1.0 if {ASKED[asked]} else 2.0"
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    f = define(f"def f(x: float, i: int):\n{lines}", Pair=Pair, Frozen=Frozen, Thing=Thing)
    for i in (0, 1):
        try:
            wanted = f(0.5, i)
        except (TypeError, KeyError):
            continue
        try:
            assert rose.jit(f)(0.5, i) == wanted
        except rose.RoseError:
            assert asked != "a name of a number"
