"""Statistics by group: what a dict or a list holds at a key that only running tells is changed in loops, by methods, by
its attributes or its elements: containers x what is in them x loops, against CPython."""

import copy
import enum
from dataclasses import dataclass
from typing import Any

import pytest

import rosejit as rose
from tests.frontend.oracle import define
from tests.tables import crossed


class Level(enum.Enum):
    LOW = 1
    HIGH = 2
    NONE = 3


@dataclass
class Group:
    """The running mean and variance of some numbers (Welford), how the last one was, and its name."""

    last: str
    n: int = 0
    mean: float = 0.0
    square: float = 0.0
    level: Level = Level.NONE
    seen: bool = False

    def add(self, x: Any) -> None:
        self.n += 1
        d = x - self.mean
        self.mean += d / self.n
        self.square += d * (x - self.mean)


_CONTAINERS = {
    "texts": ("{'low': %, 'high': %}", "'high' if x > 0.5 else 'low'"),
    "members": ("{Level.LOW: %, Level.HIGH: %}", "Level.HIGH if x > 0.5 else Level.LOW"),
    "ints": ("{7: %, 3: %, 5: %}", "7 if x > 0.5 else 3"),
    "truth": ("{True: %, False: %}", "x > 0.5"),
    "pairs": ("{(0, 1): %, (0, 2): %}", "(0, 1) if x > 0.5 else (0, 2)"),
    "list": ("[%, %, %]", "int(x > 0.5)"),
}
_CHANGES = {
    "method": ("Group('a')", "t[k].add(x)"),
    "name": ("Group('a')", "s = t[k]\ns.add(x)\ns.n += 1"),
    "attributes": ("Group('a')", "t[k].n += 1\nt[k].mean = t[k].mean + x"),
    "text": ("Group('a')", "t[k].last = 'b'\nif t[k].n > 0:\n    t[k].last = 'c'\nt[k].n += 1"),
    "member": ("Group('a')", "t[k].level = Level.HIGH if t[k].level is Level.LOW else Level.LOW"),
    "truth value": ("Group('a')", "t[k].seen = t[k].n == 0\nt[k].n += 1"),
    "on a path": ("Group('a')", "g = t[k]\nif x > 0.2:\n    g.level = Level.LOW\n    g.last = 'b'\n    g.mean += x"),
    "dict": ("{'n': 0, 'sum': 0.0}", "g = t[k]\ng['n'] += 1\ng['sum'] += x"),
    "row": ("[0, 0.0]", "t[k][0] += 1\nt[k][1] += x"),
    "dict in a dict": ("{'low': 0, 'high': 0}", "t[k]['high' if x > 0.7 else 'low'] += 1"),
    "objects in a list": ("[Group('a'), Group('b')]", "t[k][1].add(x)"),
}
_LOOPS = {
    "list": "for x in xs:",
    "index": "for i in range(n):\n    x = xs[i]",
    "while": "i = -1\nwhile i < n - 1:\n    i += 1\n    x = xs[i]",
    "none": "x = xs[0]\nif n > 0:",
}


def _source(container: str, change: str, loop: str) -> str:
    (made, key), (value, body) = _CONTAINERS[container], _CHANGES[change]
    lines = [*_LOOPS[loop].split("\n"), f"    k = {key}", *("    " + line for line in body.split("\n"))]
    first = f"t = {made.replace('%', value)}"
    return "def f(xs, n: int):\n" + "\n".join("    " + line for line in [first, *lines, "return t"])


def _shown(value: Any) -> Any:
    if isinstance(value, Group):
        return _shown(vars(value))
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items()}
    return [_shown(item) for item in value] if isinstance(value, list) else value


_WAYS = [(container, change) for container in _CONTAINERS for change in _CHANGES]


@pytest.mark.parametrize(("loop", "way"), crossed(_LOOPS, _WAYS, 7))
def test_changes(loop: str, way: tuple[str, str]) -> None:
    plain = define(_source(*way, loop), Group=Group, Level=Level)
    xs = [0.9, 0.1, 0.6, 0.3, 0.8]
    staged = rose.jit(plain)
    for given in (xs, [0.1, 0.2, 0.3, 0.4, 0.6]):
        assert _shown(staged(given, 5)) == _shown(plain(copy.deepcopy(given), 5))


def test_an_index_out_of_range() -> None:
    @rose.jit
    def f(k: int) -> float:
        groups = [Group("a"), Group("b")]
        groups[k].last = "c"
        return groups[0].mean

    assert f(-1) == 0.0
    for k in (2, -3):
        with pytest.raises(IndexError):
            f(k)
