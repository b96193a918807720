"""What a staged `if` has assigned, then something else moves, then a second `if` or loop assigns: as CPython does it."""

import heapq

import pytest

import rosejit as rose
from tests.frontend.oracle import define

LISTS = [
    "S.sort()", "S.sort(reverse=True)", "S.sort(key=lambda v: -v)", "S.reverse()", "S.insert(0, S.pop())",
    "S.append(S.pop(0))", "del S[0]; S.append(x)", "S += S[:1]; del S[0]", "S.extend(S[:1]); S.pop(0)",
    "S.remove(S[0]); S.append(x)", "S.clear(); S.extend([x, 1.0, 2.0])", "S.__setitem__(1, x)", "S[:] = sorted(S)",
    "S = sorted(S)", "T = S; T.sort()", "S[1:] = [x, 2.0]", "S[0], S[2] = S[2], S[0]", "heapq.heapify(S)",
    "heapq.heappush(S, x); S.pop()", "heapq.heapreplace(S, 9.0)", "S *= 1", "helped(S)",
]  # fmt: skip
DICTS = ["S.update({1: x})", "S |= {1: x, 0: 2.0}", "S.clear(); S.update({0: x, 1: 2.0, 2: 1.0})", "S[1] = S.pop(0); S[0] = x",
         "S.setdefault(1, 5.0)", "del S[1]; S[1] = x"]  # fmt: skip
OBJECTS = ["S.__dict__.update({'a': x})", "vars(S)['a'] = x", "setattr(S, 'a', x)", "del S.a; S.a = x", "S.method()"]
KINDS = {
    "list": ("[1.0, x, 4.0]", "S[1]", LISTS),
    "dict": ("{0: 1.0, 1: x, 2: 4.0}", "S[1]", DICTS),
    "object": ("Thing(x)", "S.a", OBJECTS),
}
SECOND = {
    "if": "if x > 9.0:\n        {} = 7.0",
    "else": "if x < 9.0:\n        pass\n    else:\n        {} = 7.0",
    "loop": "for _ in rose.range(2):\n        {} = {} + x",
    "while": "while {} < 3.0:\n        {} = {} + 1.5",
    "if in a loop": "for k in range(3):\n        if x > k:\n            {} = {} + 1.0",
}
PREAMBLE = """
class Thing:
    def __init__(self, a):
        self.a = a
    def method(self):
        self.__dict__.update({"a": 2.0 * self.a})
def helped(S):
    S.sort()
    S[0] = S[0] + 1.0
"""


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize(("kind", "moved"), [(kind, moved) for kind, (_, _, all_) in KINDS.items() for moved in all_])
def test_moved_between_two_blocks(kind, moved, second):
    made, place, _ = KINDS[kind]
    last = SECOND[second].replace("{}", place)
    gives = {"list": "S", "dict": "[S[k] for k in (0, 1, 2)]", "object": "[S.a]"}[kind]
    text = f"""{PREAMBLE}
def f(x):
    S = {made}
    if x > 0.0:
        {place} = {place} * 0.5
    {moved}
    {last}
    return {gives}
"""
    f = define(text, heapq=heapq, rose=rose)
    for x in (1.5, -1.0, 12.0):
        assert rose.jit(f)(x) == f(x)


def test_a_sliding_window_and_a_ring():
    def window(x):
        S = [0.0] * 3
        for k in range(5):
            S.pop(0)
            S.append(x * k)
            if min(S) < 0:
                S[-1] = 0.0
        return S

    def ring(x):
        S = [1.0, x, 4.0]
        for _ in range(100):
            if S[0] < S[1]:
                S[0] += 0.3
            S.append(S.pop(0))
        return S

    for x in (0.2, -9.0, 5.0):
        assert rose.jit(window)(x) == window(x)
        assert rose.jit(ring)(x) == ring(x)
