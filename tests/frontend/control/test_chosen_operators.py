"""What is done with one of several texts, objects or containers of the host: operators, builtins, membership, texts made
of texts, against CPython."""

import copy
import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define


class State(enum.Enum):
    IDLE = 1
    RUN = 2
    FAULT = 3


class Weight:
    def __init__(self, w: float) -> None:
        self.w = w

    def __add__(self, other: Any) -> Any:
        return self.w + other

    def __radd__(self, other: Any) -> Any:
        return other - self.w

    def __mul__(self, other: Any) -> Any:
        return self.w * other

    def __lt__(self, other: Any) -> Any:
        return self.w < other.w

    def __neg__(self) -> Any:
        return -self.w

    def __abs__(self) -> Any:
        return abs(self.w)

    def __bool__(self) -> bool:
        return self.w > 1.0

    def __iter__(self) -> Any:
        return iter((self.w, 2.0 * self.w))

    def __contains__(self, other: Any) -> Any:
        return other.w < self.w


class Double(Weight):
    def __add__(self, other: Any) -> Any:
        return 2.0 * self.w + other


@dataclass
class Named:
    name: str
    w: float


SCOPE = {
    "light": Weight(0.5),
    "heavy": Double(1.5),
    "named": (Named("a", 0.5), Named("bcd", 1.5)),
    "State": State,
    "copy": copy,
    "following": {State.IDLE: (State.RUN, State.FAULT), State.RUN: (State.IDLE,), State.FAULT: ()},
    "sets": {"ab": {"x", "y"}, "cde": {"y"}},
    "lists": {"ab": [1, 2, 3], "cde": [4]},
}
TEXTS = [
    "s + 'd'", "'d' + s", "s * 2", "s + t", "s + s", "f'{s}-{t}'", "f'{s:>5}|{s!r}'", "'%s!' % s",
    "'%s, %s' % (s, t)", "'{}!'.format(s)", "'-'.join([s, t, 'x'])", "'b' in s", "s in 'xaby'", "s < 'b'", "s <= t",
    "s[0]", "s[1:]", "s.upper()", "s.startswith('a')", "'xab'.endswith(s)", "'abab'.replace(s, t)", "len(s + t)",
    "len(f'{s}!')", "bool(s)", "1.0 if s else 2.0", "str(s)", "(s + t) == 'abq'",
    "{'abq': 1.0, 'cder': x}.get(s + t, 7.0)", "f'{m.name}'", "[s + u for u in ('1', '2')]", "not s", "ord(s[0])",
    "s + str(len(t))",
]  # fmt: skip
OBJECTS = [
    "o + 1.0", "o + x", "1.0 + o", "o * x", "o < light", "heavy < o", "light > o", "-o", "abs(o)", "bool(o)", "not o",
    "1.0 if o else x", "[c * x for c in o]", "light in o", "o in (light, heavy)", "getattr(o, 'w')", "sum(o)",
    "tuple(o)", "max(o)", "hasattr(o, 'w')", "copy.copy(p).w", "getattr(p, 'name')", "getattr(p, 'q', x)",
]  # fmt: skip
CONTAINERS = [
    "n in following[m]", "m in following[n]", "State.FAULT in following[m]", "len(following[m])", "'x' in sets[s]",
    "t in sets[s]", "3 in lists[s]", "len(lists[s])", "lists[s][0]", "n not in following[m]",
]  # fmt: skip
PLACES = [
    "[x, -x][x > 1.0]", "('n', 'y')[x > 1.0]", "[light, heavy][x > 1.0].w", "[[1, 2], [3, 4]][x > 1.0][x > 3.0]",
    "(x, 2.0)[not x > 1.0]",
]  # fmt: skip
_FIRST = """
def f(x: float):
    s = "cde" if x > 1.0 else "ab"
    t = "r" if x > 3.0 else "q"
    m = State.RUN if x > 1.0 else State.IDLE
    n = State.FAULT if x > 3.0 else State.IDLE
    o = heavy if x > 1.0 else light
    p = named[1] if x > 1.0 else named[0]
"""


@pytest.mark.parametrize("expression", [*TEXTS, *OBJECTS, *CONTAINERS, *PLACES])
def test_operations(expression: str) -> None:
    plain = define(f"{_FIRST}    return {expression}\n", **SCOPE)
    staged = rose.jit(plain)
    for x in (0.5, 2.0, 4.0):
        assert staged(x) == plain(x)


def test_texts_that_grow() -> None:
    def script(a: list[float], b: list[float]) -> str:
        ops = ""
        for u, v in zip(a, b, strict=True):
            ops += "=" if u == v else "s"
        return ops

    a, b = [1.0, 2.0, 3.0, 4.0], [1.0, 5.0, 3.0, 6.0]
    assert rose.jit(script)(a, b) == script(a, b) == "=s=s"
    with pytest.raises(rose.StagingTypeError, match="one of more than 256"):
        rose.jit(script)(a * 3, b * 3)


@pytest.mark.parametrize(
    "change", ["c = lists[s]\nc += [1]", "lists[s].append(1)", "c = lists[s]\nc[0] = 5", "sets[s].add('z')"]
)
def test_containers_are_not_changed(change: str) -> None:
    body = change.replace("\n", "\n    ")
    staged = rose.jit(define(f"{_FIRST}    {body}\n    return len(lists['ab'])\n", **SCOPE))
    with pytest.raises(rose.RoseError):
        staged(0.5)
    assert SCOPE["lists"] == {"ab": [1, 2, 3], "cde": [4]}
    assert SCOPE["sets"] == {"ab": {"x", "y"}, "cde": {"y"}}


def test_truth_values_of_numpys_are_no_index() -> None:
    @rose.jit
    def f(a: rose.Vec["n"]) -> float:  # noqa: F821
        return [1.0, 2.0][a[0] > 1.0]

    with pytest.raises(rose.StagingTypeError, match="no index"):
        f(np.array([2.0]))


def test_truth_values_as_places() -> None:
    def f(xs: list[float]) -> list[int]:
        counts = [0, 0]
        for x in xs:
            counts[x > 1.0] += 1
        return counts

    assert rose.jit(f)([0.5, 2.0, 3.0]) == f([0.5, 2.0, 3.0]) == [1, 2]
