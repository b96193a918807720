"""Methods of the user's classes that change an object, as Python itself calls them: in staged branches and loops."""

import pytest

import rosejit
from rosejit.errors import RoseError
from tests.frontend.oracle import define

CLASSES = """
from dataclasses import dataclass
@dataclass
class P:
    x: float
    y: float
    def __iadd__(self, o):
        self.x += o.x
        self.y = self.y * 0.5 + o.y
        return self
    def __imul__(self, k):
        self.x *= k
        return self
    def __setitem__(self, i, v):
        if i == 0:
            self.x = v
        else:
            self.y = v
    def __getitem__(self, i):
        return self.x if i == 0 else self.y
    def moved(self, o):
        self.x += o.y
        return self
class L:
    def __init__(self, t):
        self.d = [t, t * 2]
    def __setitem__(self, i, v):
        self.d[i] = v
    def __getitem__(self, i):
        return self.d[i]
    def __iadd__(self, o):
        self.d[0] += o.y
        return self
class Clamped:
    def __init__(self, x, y):
        self._x, self.y = x, y
    @property
    def x(self):
        return self._x
    @x.setter
    def x(self, v):
        self._x = v if v < 2.0 else 2.0 + 0.1 * v
class Told:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __setattr__(self, name, v):
        object.__setattr__(self, name, v * 0.5 if name == "x" else v)
"""
CHANGES = {
    "+=": ("P(t, 1.0)", "p += q", "p.x + p.y"),
    "+= and *=": ("P(t, 1.0)", "p += q\np *= t", "p.x + p.y"),
    "a method that gives itself": ("P(t, 1.0)", "p = p.moved(q)", "p.x * p.y"),
    "the operator by its name": ("P(t, 1.0)", "p = p.__iadd__(q)", "p.x * p.y"),
    "items": ("P(t, 1.0)", "p[0] = t * p[1]\np[1] = p[0] + t", "p.x + p.y"),
    "items in place": ("P(t, 1.0)", "p[0] += t * p[1]", "p.x + p.y"),
    "items of a list": ("L(t)", "p[0] = t * p[1]\np[1] += p[0]", "p[0] + p[1]"),
    "a list by +=": ("L(t)", "p += q", "p[0] * p[1]"),
    "a setter": ("Clamped(t, 1.0)", "p.x = p.x * 1.5 + p.y", "p.x + p.y"),
    "a setter in place": ("Clamped(t, 1.0)", "p.x += t", "p.x + p.y"),
    "attributes": ("Told(t, 1.0)", "p.x = p.x + t\np.y = p.x * p.y", "p.x + p.y"),
}
PLACES = {
    "a branch": "if t > 0.5:\n    {}",
    "the other branch": "if t > 5.0:\n    q = P(t, t)\nelse:\n    {}",
    "a loop": "for i in range(n):\n    {}",
    "a branch in a loop": "for i in range(n):\n    if i * t < 2.0:\n        {}",
    "a loop in a loop": "for i in range(n):\n    for j in range(n - 1):\n        {}",
    "a while": "e = 0.0\nwhile e < n:\n    e += 1.0\n    {}",
    "a plain loop": "for i in range(3):\n    if i * t < 2.0:\n        {}",
    "a long plain loop": "for i in range(70):\n    if i * t < 2.0:\n        {}",
}


def made(change, place):
    start, lines, result = CHANGES[change]
    indent = PLACES[place].split("\n")[-1].index("{")
    text = PLACES[place].format(lines.replace("\n", "\n" + " " * indent))
    body = f"q = P(t, 2 * t)\np = {start}\nother = p\n{text}\nreturn {result} + 3 * ({result.replace('p', 'other')})"
    inside = "".join(f"    {line}\n" for line in body.split("\n"))
    return define(f"{CLASSES}\ndef f(n: int, t: float) -> float:\n{inside}", __name__=__name__)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("change", CHANGES)
def test_changes(change, place):
    f = made(change, place)
    compiled = rosejit.jit(f)
    for n, t in ((3, 1.25), (0, 0.25), (2, -0.5)):
        assert compiled(n, t) == pytest.approx(f(n, t), rel=1e-14)
    step = 1e-6
    slope = (f(3, 1.25 + step) - f(3, 1.25 - step)) / (2 * step)
    assert rosejit.grad(compiled, argnums=1)(3, 1.25) == pytest.approx(slope, rel=1e-6, abs=1e-8)


def of_given(body):
    text = f"def f(n: int, t: float, given: P) -> float:\n    p, q = P(t, 1.0), P(t, t)\n    {body}\n    return p.x"
    f = define(f"{CLASSES}\n{text}", __name__=__name__)
    return f, f.__globals__["P"]


@pytest.mark.parametrize("body", ["p += q\n        p = P(p.x, t)", "p += q\n        p, q = q, p"])
def test_what_is_changed_in_place_may_become_another_object(body):
    f, cls = of_given(f"for i in range(n):\n        {body}")
    for n, t in ((3, 1.25), (0, 0.25), (2, -0.5)):
        assert rosejit.jit(f)(n, t, cls(1.0, 2.0)) == pytest.approx(f(n, t, cls(1.0, 2.0)), rel=1e-14)


def test_an_argument_that_is_changed_in_place_is_refused():
    f, cls = of_given("for i in range(n):\n        given += q\n    p = given")
    with pytest.raises(RoseError):
        rosejit.jit(f)(3, 1.25, cls(1.0, 2.0))
