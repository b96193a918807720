"""Texts, members of an `Enum` and None in lists that staged loops grow: what the items are x what is done with them."""

from itertools import product

import pytest

import rosejit as rose
from tests.frontend.oracle import define
from tests.tables import part

HEAD = """
import heapq
from collections import deque
from dataclasses import dataclass
from enum import Enum, IntEnum

class Phase(Enum):
    WAIT = 1
    WORK = 2

class Level(IntEnum):
    LOW = 1
    HIGH = 2

@dataclass(frozen=True)
class Event:
    time: float
    what: str
"""
ITEMS = {
    "text": ("'even' if k % 2 == 0 else 'odd'", "v == 'odd'"),
    "one text": ("'tick'", "v == 'tick'"),
    "three texts": ("'a' if k % 3 == 0 else 'b' if k * x > 3.0 else 'c'", "v in ('a', 'c')"),
    "bytes": ("b'a' if k * x > 2.0 else b'b'", "v != b'a'"),
    "member": ("Phase.WAIT if k % 3 else Phase.WORK", "v is Phase.WORK"),
    "number member": ("Level.LOW if k % 3 else Level.HIGH", "v is Level.HIGH and v > 1"),
    "number or None": ("None if k % 3 == 0 else k * x", "v is not None and v > 2.0"),
    "int or None": ("None if k * x > 3.0 else k", "v is None"),
    "text or None": ("None if k % 2 else 'a' if k % 3 else 'b'", "v is not None and v == 'a'"),
    "member or None": ("None if k % 2 else Phase.WAIT", "v is Phase.WAIT"),
    "None": ("None", "v is None"),
    "text and number": ("(k * x, 'even' if k % 2 == 0 else 'odd')", "v[1] == 'odd' and v[0] > 2.0"),
    "number or None, and member": ("(None if k % 3 else x, Phase.WAIT)", "v[0] is None"),
    "pair or None": ("None if k % 2 else (x, k)", "v is not None and v[1] > 3"),
    "record": ("Event(k * x, 'leave' if k % 2 else 'arrive')", "v.what == 'leave' and v.time > 1.5"),
}
USES = {
    "returned": "return out",
    "last": "out.append({item0})\n    return out[-1], len(out)",
    "counted": "return sum(1 for v in out if {asked})",
    "filtered": "return len([v for v in out if {asked}])",
    "slice": "return out[1::2], out[:3]",
    "written": "if n > 2:\n        out[1] = out[2]\n    return out",
    "popped": "t = 0\n    while out:\n        v = out.pop()\n        if {asked}:\n            t += len(out)\n    return t",
    "queue": "q = deque(out)\n    t = 0\n    while len(q) > 1:\n        v = q.popleft()\n        if {asked}:\n            t += len(q)\n    return t, q",
    "values": "d = {{}}\n    for k in range(n):\n        d[k % 4] = {item}\n    return d",
    "state": "v = {item0}\n    for k in range(n):\n        v = {item}\n        out.append(v)\n    return len(out), out",
    "beside one from outside": "out.insert(0, {item0})\n    return out, len(out)",
}
ARGUMENTS = ((0, 1.0), (1, 2.0), (7, 0.7), (20, 1.0))


@pytest.mark.parametrize(("kind", "use"), part([*product(ITEMS, USES)], 3))
def test_items_without_numbers(kind: str, use: str) -> None:
    item, asked = ITEMS[kind]
    done = USES[use].format(item=item, asked=asked, item0=f"(lambda k: {item})(0)")
    text = f"def f(n: int, x: float):\n    out = []\n    for k in range(n):\n        out.append({item})\n    {done}\n"
    f = define(HEAD + text, rose=rose)
    compiled = rose.jit(f)
    for given in ARGUMENTS:
        found, wanted = compiled(*given), f(*given)
        assert repr(found) == repr(wanted), given
