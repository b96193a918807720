"""Elements of containers of classes that are derived from Python's, assigned in staged blocks: classes x ways to assign,
against CPython."""

import textwrap
from collections import Counter, OrderedDict

import pytest

import rosejit as rose
from tests.tables import crossed


class Env(dict):
    pass


class Outer(dict):
    def __init__(self, values=(), outer=None):
        super().__init__(values)
        self.outer = outer

    def find(self, name):
        return self if name in self else self.outer.find(name)


class Doubled(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, 2.0 * value)


class Shifted(dict):
    def __setitem__(self, key, value):
        dict.__setitem__(self, key, value - 1.0)

    def __getitem__(self, key):
        return dict.__getitem__(self, key) + 0.5


class Watched(dict):
    def __setitem__(self, key, value):
        if value > 2.0:
            value = 2.0 + 0.5 * value
        super().__setitem__(key, value)


class Kept(OrderedDict):
    pass


class Counted(Counter):
    pass


class Row(list):
    pass


class Capped(list):
    def __setitem__(self, k, value):
        list.__setitem__(self, k, value if value < 2.0 else 2.0)


MADE = {
    "dict": 'dict({"s": x, "t": 1.0})',
    "derived": 'Env({"s": x, "t": 1.0})',
    "with an outer one": 'Outer({"s": x, "t": 1.0}, None)',
    "writes": 'Doubled({"s": x, "t": 1.0})',
    "writes and reads": 'Shifted({"s": x, "t": 1.0})',
    "writes with a branch": 'Watched({"s": x, "t": 1.0})',
    "ordered": 'Kept({"s": x, "t": 1.0})',
    "counter": 'Counted({"s": x, "t": 1.0})',
    "list": "Row([x, 1.0])",
    "list that writes": "Capped([x, 1.0])",
}
ASSIGNED = {
    "if": "if x > 1.0:\n    e[S] = e[S] * 0.5\nreturn e[S] * e[T]",
    "both sides": "if x > 1.0:\n    e[S] = 3.0 * x\nelse:\n    e[T] = x\nreturn e[S] + 2.0 * e[T]",
    "while": "k = 0\nwhile e[S] > 1.25 and k < 9:\n    e[S] = e[S] * 0.25\n    k += 1\nreturn e[S] + e[T]",
    "for": "for i in range(n):\n    e[S] = e[S] + 0.25 * i\n    e[T] += 0.5\nreturn e[S] * e[T]",
    "augmented": "if x > 1.0:\n    e[S] *= 2.0\n    e[T] -= x\nreturn e[S] + 3.0 * e[T]",
    "in a helper": "def put(e, v):\n    e[S] = v\nif x > 1.0:\n    put(e, 2.5 * x)\nreturn e[S] + e[T]",
    "nested": "d = [e, 1.0]\nif x > 1.0:\n    d[0][T] = x\n    if x > 2.0:\n        d[0][S] = 4.0\nreturn e[S] * e[T]",
    "left": "for i in range(n):\n    e[S] = e[S] + 0.25\n    if e[S] > 2.0:\n        break\nreturn e[S] - e[T]",
    "made inside": "t = 0.0\nfor i in range(n):\n    d = type(e)(e)\n    d[T] = x * i\n    t += d[T]\nreturn t + e[T]",
    "no block": "e[S] = 3.0 * x\ne[T] += 1.0\nreturn e[S] * e[T]",
}


@pytest.mark.parametrize(("made", "assigned"), crossed(MADE, ASSIGNED, 3))
def test_elements_of_derived_containers(made, assigned, tmp_path):
    body = f"S, T = {(0, 1) if 'list' in made else ('s', 't')}\ne = {MADE[made]}\n{ASSIGNED[assigned]}"
    text = "def f(x: float, n: int):\n" + textwrap.indent(body, "    ")
    path = tmp_path / "derived.py"
    path.write_text(text)
    scope = {**globals()}
    exec(compile(text, str(path), "exec"), scope)
    plain, compiled = scope["f"], rose.jit(scope["f"], cache=False)
    for x, n in ((0.53, 3), (1.53, 0), (1.53, 4), (2.51, 2)):
        assert compiled(x, n) == pytest.approx(plain(x, n), rel=1e-15)
        slope = (plain(x + 1e-6, n) - plain(x - 1e-6, n)) / 2e-6
        assert rose.grad(compiled)(x, n) == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_an_interpreter_s_environments():
    @rose.jit
    def f(x: float) -> float:
        env = Outer({"s": x, "t": 1.0})
        inner = Outer({"u": 0.0}, env)
        while inner.find("s")["s"] > 1.0:
            inner.find("s")["s"] = inner.find("s")["s"] * 0.5
            inner.find("u")["u"] += 1.0
        return env["s"] * inner["u"]

    assert f(6.0) == f.__wrapped__(6.0)
    assert rose.grad(f)(6.0) == 0.375


def test_one_from_outside_is_not_changed():
    env = Env({"s": 1.0})

    @rose.jit
    def f(x: float) -> float:
        if x > 1.0:
            env["s"] = x
        return env["s"]

    with pytest.raises(rose.RoseError, match="from outside of a staged branch or loop is changed"):
        f(2.0)
    assert env == {"s": 1.0}
