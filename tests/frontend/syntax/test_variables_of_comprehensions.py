"""A variable of a comprehension is another one than the local variable of that name: tests of loops, statements and
conditions x kinds of comprehensions x what the local variable is, against CPython."""

from typing import Any

import pytest

import rosejit as rose
from tests.frontend.oracle import define


class Ball:
    def __init__(self, x: Any) -> None:
        self.x, self.v = x, 0.0

    def step(self, h: Any) -> None:
        self.v -= h
        self.x += self.v * h


_LARGEST = {
    "generator": "max(b.x for b in balls)",
    "list": "max([b.x for b in balls])",
    "filtered": "max(b.x for b in balls if b.x < 100.0)",
    "nested": "max(max(b * k.x for b in (1.0, 0.5)) for k in balls)",
    "dict": "max({id(b): b.x for b in balls}.values())",
    "two": "max(b.x for bs in [balls] for b in bs)",
}
_LOOPS = {
    "while": "while {largest} > 0.5:\n    for b in balls:\n        b.step(0.1)\n    t += 0.1\nreturn t",
    "break": "while True:\n    for b in balls:\n        b.step(0.1)\n    t += 0.1\n    if {largest} < 0.5:\n        break\n"
    "return t",
    "return": "for k in range(n):\n    for b in balls:\n        b.step(0.1)\n    if {largest} < 0.5:\n        return k + t\n"
    "return t",
    "assigned": "for k in range(n):\n    b = {largest}\n    for ball in balls:\n        ball.step(0.1 * b)\n    t += b\nreturn t",
    "kept": "b = 3.0\nwhile {largest} > 0.5:\n    for ball in balls:\n        ball.step(0.1)\n    b += {largest}\n"
    "return b",
    "unbound": "while {largest} > 0.5:\n    for ball in balls:\n        ball.step(0.1)\nif t < 0.0:\n    b = 1.0\nreturn t",
}


@pytest.mark.parametrize("loop", _LOOPS)
@pytest.mark.parametrize("kind", _LARGEST)
def test_names(kind: str, loop: str) -> None:
    body = _LOOPS[loop].format(largest=_LARGEST[kind]).replace("\n", "\n    ")
    text = f"def f(h: float, n: int):\n    balls = [Ball(h), Ball(2.0 * h)]\n    t = 0.0\n    {body}\n"
    plain = define(text, Ball=Ball)
    staged = rose.jit(plain)
    for h in (1.0, 0.1, 2.5):
        assert staged(h, 12) == plain(h, 12)
