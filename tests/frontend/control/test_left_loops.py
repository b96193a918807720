"""Loops that are left (`break`, `return`, a flag) carry what loops that run to their end do: kinds of values x ways to
leave x kinds of loops, against CPython."""

import enum
import inspect
import textwrap
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose
from tests.tables import crossed


class Mode(enum.Enum):
    A = 1
    B = 2


@dataclass
class Point:
    x: float
    y: float


def one(v):
    return v + 1.0


def two(v):
    return 2.0 * v


KINDS = {  # before the loop, in an iteration, what is told of it
    "number": ("0.0", "0.5 * x", "s"),
    "int to real": ("0", "0.5 * x", "s"),
    "text": ('"a"', '"c" if x > 0.7 else "b"', '{"a": 1.0, "b": 20.0 * x, "c": 300.0}[s]'),
    "text on one side": ('"a"', '"c" if x > 0.7 else s', '1.0 if s == "a" else 2.0 * x'),
    "member": ("Mode.A", "Mode.B if x > 0.7 else s", "1.0 if s is Mode.A else 2.0 * x"),
    "function": ("one", "two if x > 0.7 else s", "s(x)"),
    "None before": ("None", "x * x", "0.0 if s is None else s"),
    "None after": ("1.0", "None if x > 0.7 else s", "0.0 if s is None else s * x"),
    "pair": ("(0, 1.0)", "(s[0] + 1, s[1] * x)", "s[0] + s[1]"),
    "list": ("[0, 1.0]", "[s[1], s[0] + x]", "s[0] + 2.0 * s[1]"),
    "record": ("Point(0.0, 1.0)", "Point(s.y, s.x + x)", "s.x + 2.0 * s.y"),
    "dict": ('{"a": 0.0, "b": 1.0}', '{"a": s["b"], "b": s["a"] + x}', 's["a"] + 2.0 * s["b"]'),
    "array": ("np.zeros(2)", "s + np.array([x, 1.0])", "s[0] + 2.0 * s[1]"),
    "array chosen": ("np.zeros(2)", "np.array([x, 1.0]) if x > 0.7 else s", "s[0] + 2.0 * s[1]"),
    "complex": ("1j", "s * complex(x, 1.0)", "s.real + 2.0 * s.imag"),
    "optional record": ("None", "Point(x, 2.0) if x > 0.7 else s", "0.0 if s is None else s.x + s.y"),
    "text in a record": ('("a", 0.0)', '("c" if x > 0.7 else "b", x)', '(1.0 if s[0] == "a" else 2.0) * s[1]'),
}
LOOPS = {
    "range": "for i in range(m):",
    "downwards": "for i in reversed(range(m)):",
    "rose.range": "for i in rose.range(m):",
    "while": "i = -1\nwhile i < m - 1:\n    i += 1",
    "array": "for i in np.arange(6.0) + 0.0 * x:",
}
WAYS = {
    "break behind": "s = {new}\nx -= 0.4\nif x < -0.1:\n    break",
    "break before": "x -= 0.4\nif x < -0.1:\n    break\ns = {new}",
    "break at once": "s = {new}\nbreak",
    "return": "s = {new}\nx -= 0.4\nif x < -0.1:\n    return {told}",
    "continue": "x -= 0.4\nif x < -0.1:\n    continue\ns = {new}",
    "in a branch": "x -= 0.4\nif x > 0.3:\n    s = {new}\nif x < -0.1:\n    break",
}


def made(kind, loop, way):
    before, new, told = KINDS[kind]
    body = textwrap.indent(WAYS[way].format(new=new, told=told), "    ")
    text = f"s = {before}\n{LOOPS[loop]}\n{body}\nreturn {told}"
    return "def f(x: float, m: int):\n" + textwrap.indent(text, "    ")


FORMS = [(loop, way) for loop in LOOPS for way in WAYS]


@pytest.mark.parametrize(("kind", "form"), crossed(KINDS, FORMS, 7), ids=str)
def test_what_a_loop_that_is_left_carries(kind, form, tmp_path):
    text = made(kind, *form)
    path = tmp_path / "left.py"
    path.write_text(text)
    scope = {"np": np, "rose": rose, "Mode": Mode, "Point": Point, "one": one, "two": two}
    exec(compile(text, str(path), "exec"), scope)
    plain = scope["f"]
    assert inspect.getsource(plain)
    compiled = rose.jit(plain, cache=False)
    for x, m in ((0.9, 7), (0.9, 2), (0.2, 7), (-0.5, 5), (2.5, 3)):
        assert compiled(x, m) == plain(x, m)
        along = rose.jvp(compiled, (x, m), (1.0, None))[1]
        steps = (plain(x + 1e-6, m) - plain(x - 1e-6, m)) / 2e-6
        assert along == pytest.approx(steps, rel=1e-5, abs=1e-5)
        assert rose.grad(compiled)(x, m) == pytest.approx(along, rel=1e-12, abs=1e-12)
    if m > 0:
        assert compiled(0.9, 0) == plain(0.9, 0)
