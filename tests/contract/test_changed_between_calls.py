"""What functions, methods, classes and modules say that they are, and what they hold, changed between two calls: what
is read x how it is changed x how the code comes to it. The second call has the numbers of the changed one."""

import dataclasses
import functools
import inspect
import re
import types
import typing

import pytest

import rosejit as rose
from tests.frontend.oracle import define
from tests.tables import crossed

CLASSES = """
import functools, dataclasses
class A:
    'doc'
    k = 2.0
    def m(self, v, k=2.0, *, s=1.0):
        return v * k + s
    @staticmethod
    def sm(v, k=2.0):
        return v * k
    @classmethod
    def cm(cls, v, k=2.0):
        return v * k * cls.k
    @property
    def p(self):
        return self.k
    pm = functools.partialmethod(m, k=4.0)
class B:
    k = 5.0
class M(type):
    q = 2.0
    def __call__(cls, v):
        return v * cls.q
class K(metaclass=M):
    pass
@dataclasses.dataclass
class D:
    u: float = 2.0
    w: float = 3.0
def _():
    pass
"""


def function(**scope):
    """A function with everything that one has."""
    return define("def g(v: float, k=2.0, *, s=3.0):\n    'doc'\n    return v * k + s * kk", **{"kk": 1.0} | scope)


def other():
    """Another one's code."""
    return define("def longer(v: float, k=2.0, *, s=3.0):\n    z = 1.0\n    return v - k - s * z").__code__


def wrapped():
    """A function that is decorated twice, by plain decorators."""
    found = function()
    for _ in range(2):
        outer = define("def w(*a, **k):\n    return inner(*a, **k)", inner=found)
        found = functools.update_wrapper(outer, found)
    return found


def classes():
    """Fresh ones."""
    return define(CLASSES).__globals__


def module():
    """A module of the user's that no file has made."""
    made = types.ModuleType("mm", "doc")
    made.k, made.f, made.sub = 2.0, function(), types.ModuleType("ss")
    made.sub.k = 3.0
    return made


def cell():
    """A function with a variable that another one sets."""
    k = 2.0

    def put(value):
        nonlocal k
        k = value

    def g(v):
        return v * k

    g.put = put
    return g


HELD = {
    "function": function,
    "wrapped": wrapped,
    "class": lambda: classes()["A"],
    "object": lambda: classes()["A"](),
    "bound method": lambda: classes()["A"]().m,
    "metaclass": lambda: classes()["K"],
    "dataclass": lambda: classes()["D"],
    "module": module,
    "partial": lambda: functools.partial(function(), k=4.0),
    "closure": cell,
}
BASE = types.SimpleNamespace(k=9.0)
FACTS = {  # what holds it, what is read, and what changes it
    "function": [
        ("len(h.__name__)", lambda h: setattr(h, "__name__", "longer")),
        ("len(h.__qualname__)", lambda h: setattr(h, "__qualname__", "longer")),
        ("len(h.__doc__)", lambda h: setattr(h, "__doc__", "longer")),
        ("(1.0 if h.__module__ == 'mm' else 2.0)", lambda h: setattr(h, "__module__", "mm")),
        ("len(h.__annotations__)", lambda h: h.__annotations__.update(k=int)),
        ("(1.0 if h.__annotations__['v'] is float else 2.0)", lambda h: h.__annotations__.update(v=int)),
        ("len(h.__annotations__)", lambda h: setattr(h, "__annotations__", {"v": 1, "k": 2})),
        ("h.__defaults__[0]", lambda h: setattr(h, "__defaults__", (9.0,))),
        ("h(1.0)", lambda h: setattr(h, "__defaults__", (9.0,))),
        ("h.__kwdefaults__['s']", lambda h: h.__kwdefaults__.update(s=9.0)),
        ("h(1.0)", lambda h: h.__kwdefaults__.update(s=9.0)),
        ("h(1.0)", lambda h: setattr(h, "__kwdefaults__", {"s": 9.0})),
        ("h(1.0)", lambda h: setattr(h, "__code__", other())),
        ("len(h.__code__.co_varnames)", lambda h: setattr(h, "__code__", other())),
        ("h.__globals__['kk']", lambda h: h.__globals__.update(kk=9.0)),
        ("getattr(h, 'c', 1.0)", lambda h: setattr(h, "c", 9.0)),
        ("len(inspect.signature(h).parameters['v'].name) + inspect.signature(h).parameters['k'].default",
         lambda h: setattr(h, "__defaults__", (9.0,))),
        ("len(typing.get_type_hints(h))", lambda h: h.__annotations__.update(k=int)),
        ("len(repr(h).split()[1])", lambda h: setattr(h, "__qualname__", "longer")),
    ],
    "wrapped": [
        ("h(1.0)", lambda h: setattr(h.__wrapped__.__wrapped__, "__defaults__", (9.0,))),
        ("h(1.0)", lambda h: h.__wrapped__.__wrapped__.__kwdefaults__.update(s=9.0)),
        ("h.__wrapped__.__wrapped__.__defaults__[0]",
         lambda h: setattr(h.__wrapped__.__wrapped__, "__defaults__", (9.0,))),
        ("h.__wrapped__(1.0)", lambda h: setattr(h, "__wrapped__", lambda v: 9.0 * v)),
        ("len(h.__wrapped__.__name__)", lambda h: setattr(h.__wrapped__, "__name__", "longer")),
        ("getattr(h.__wrapped__, 'q', 1.0)", lambda h: setattr(h.__wrapped__, "q", 9.0)),
    ],
    "class": [
        ("len(h.__name__)", lambda h: setattr(h, "__name__", "longer")),
        ("len(h.__qualname__)", lambda h: setattr(h, "__qualname__", "longer")),
        ("len(h.__doc__)", lambda h: setattr(h, "__doc__", "longer")),
        ("len(getattr(h, '__annotations__', {}))", lambda h: setattr(h, "__annotations__", {"u": 1})),
        ("h.k", lambda h: setattr(h, "k", 9.0)),
        ("getattr(h.cm, 'q', 1.0)", lambda h: setattr(h.cm.__func__, "q", 9.0)),
        ("h.sm(1.0)", lambda h: setattr(h.sm, "__defaults__", (9.0,))),
        ("h.cm(1.0)", lambda h: setattr(h.cm.__func__, "__defaults__", (9.0,))),
        ("h.m.__defaults__[0]", lambda h: setattr(h.m, "__defaults__", (9.0,))),
    ],
    "object": [
        ("len(type(h).__name__)", lambda h: setattr(type(h), "__name__", "longer")),
        ("len(h.__class__.__qualname__)", lambda h: setattr(type(h), "__qualname__", "longer")),
        ("len(h.__doc__)", lambda h: setattr(type(h), "__doc__", "longer")),
        ("h.p", lambda h: setattr(type(h), "p", property(lambda self: 9.0))),
        ("h.m(1.0)", lambda h: setattr(type(h).m, "__defaults__", (9.0,))),
        ("h.m(1.0)", lambda h: type(h).m.__kwdefaults__.update(s=9.0)),
        ("h.m(1.0)", lambda h: setattr(type(h), "m", lambda self, v: 9.0 * v)),
        ("h.pm(1.0)", lambda h: vars(type(h))["pm"].keywords.update(k=9.0)),
        ("h.m.__defaults__[0]", lambda h: setattr(type(h).m, "__defaults__", (9.0,))),
        ("h.m.__func__.__defaults__[0]", lambda h: setattr(type(h).m, "__defaults__", (9.0,))),
        ("len(h.m.__name__)", lambda h: setattr(type(h).m, "__name__", "longer")),
        ("(1.0 if h.m.__doc__ is None else 2.0)", lambda h: setattr(type(h).m, "__doc__", "doc")),
        ("getattr(h.m, 'q', 1.0)", lambda h: setattr(type(h).m, "q", 9.0)),
        ("h.m.__self__.k", lambda h: setattr(h, "k", 9.0)),
        ("h.k", lambda h: setattr(h, "__class__", type("Other", (), {"k": 9.0}))),
    ],
    "bound method": [
        ("len(h.__name__)", lambda h: setattr(h.__func__, "__name__", "longer")),
        ("(1.0 if h.__doc__ is None else 2.0)", lambda h: setattr(h.__func__, "__doc__", "doc")),
        ("len(h.__annotations__)", lambda h: h.__func__.__annotations__.update(v=int)),
        ("h.__kwdefaults__['s']", lambda h: h.__func__.__kwdefaults__.update(s=9.0)),
        ("h(1.0)", lambda h: setattr(h.__func__, "__defaults__", (9.0,))),
        ("h.__self__.k", lambda h: setattr(h.__self__, "k", 9.0)),
    ],
    "metaclass": [("h.q", lambda h: setattr(type(h), "q", 9.0)), ("h(1.0)", lambda h: setattr(type(h), "q", 9.0))],
    "dataclass": [
        ("h().u", lambda h: setattr(h.__init__, "__defaults__", (9.0, 9.0))),
        ("dataclasses.fields(h)[0].default", lambda h: setattr(h.__dataclass_fields__["u"], "default", 9.0)),
        ("len(dataclasses.fields(h))", lambda h: h.__dataclass_fields__.pop("u")),
    ],
    "module": [
        ("h.k", lambda h: setattr(h, "k", 9.0)),
        ("h.sub.k", lambda h: setattr(h.sub, "k", 9.0)),
        ("h.sub.k", lambda h: setattr(h, "sub", BASE)),
        ("h.f(1.0)", lambda h: setattr(h.f, "__defaults__", (9.0,))),
        ("h.f(1.0)", lambda h: setattr(h, "f", lambda v: 9.0 * v)),
        ("len(h.f.__name__)", lambda h: setattr(h.f, "__name__", "longer")),
        ("len(h.__name__)", lambda h: setattr(h, "__name__", "longer")),
        ("len(h.__doc__)", lambda h: setattr(h, "__doc__", "longer")),
        ("getattr(h, 'kk', 1.0)", lambda h: setattr(h, "kk", 9.0)),
        ("getattr(h, 'kk', 1.0)", lambda h: setattr(h, "__getattr__", lambda name: 9.0)),
    ],
    "partial": [
        ("h(1.0)", lambda h: h.keywords.update(k=9.0)),
        ("h(1.0)", lambda h: h.func.__kwdefaults__.update(s=9.0)),
        ("len(h.func.__name__)", lambda h: setattr(h.func, "__name__", "longer")),
    ],
    "closure": [
        ("h(1.0)", lambda h: h.put(9.0)),
        ("h.__closure__[0].cell_contents", lambda h: h.put(9.0)),
    ],
}  # fmt: skip
PLACES = {
    "at once": "def f(x):\n    return x * {h}",
    "in a helper": "def helper():\n    return {h}\ndef f(x):\n    return x * helper()",
    "in a branch": "def f(x):\n    if x > 0.0:\n        return x * {h}\n    return x",
    "in a loop": "def f(x):\n    s = 0.0\n    for _ in rose.range(3):\n        s += x * {h}\n    return s",
    "in a comprehension": "def f(x):\n    return sum([x * {h} for _ in range(2)])",
    "in a method": "class Z:\n    def go(self, x):\n        return x * {h}\ndef f(x):\n    return Z().go(x)",
    "by another name": "def f(x):\n    q = h\n    return x * {q}",
    "as an argument": "def helper(q):\n    return {q}\ndef f(x):\n    return x * helper(h)",
    "in a list": "def f(x):\n    q, = [h]\n    return x * {q}",
}
CASES = [(kind, read, change) for kind, facts in FACTS.items() for read, change in facts]


@pytest.mark.parametrize(("case", "place"), crossed(range(len(CASES)), PLACES, 13))
def test_nothing_is_stale(case, place):
    kind, read, change = CASES[case]
    held = HELD[kind]()
    text = PLACES[place].format(h=read, q=re.sub(r"\bh\b", "q", read))
    f = define(text, h=held, inspect=inspect, typing=typing, dataclasses=dataclasses, rose=rose)
    staged = rose.jit(f)
    try:
        found = staged(2.0)
    except rose.RoseError:
        assert kind == "metaclass"  # its calls, in staged blocks
        return
    assert found == f(2.0)
    change(held)
    assert staged(2.0) == f(2.0)
    assert staged(2.0) == f(2.0)
