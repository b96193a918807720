"""Attributes that only some paths give an object, or take from it: whoever asks is answered as by CPython, or the code
is refused, or raises what CPython raises.

10 kinds of objects x 9 ways to bind x 31 questions, of which the gate takes a part.
"""

import copy
import operator
import types
from dataclasses import dataclass
from typing import Any

import pytest

import rosejit as rose
from tests.frontend.oracle import define
from tests.tables import crossed


class Plain:
    pass


class Slots:
    __slots__ = ("c", "d")


class Both(Slots):
    pass


class Default:
    c = 7.0


class Below(Default):
    def __init__(self):
        self.d = 1.0


@dataclass
class Data:
    d: float = 1.0


@dataclass
class Field:
    c: float = 7.0


class Space(types.SimpleNamespace):
    pass


class Asked:
    def __getattr__(self, name):
        if name == "c":
            return 50.0
        raise AttributeError(name)


KINDS = {
    "SimpleNamespace": types.SimpleNamespace, "Plain": Plain, "Slots": Slots, "Both": Both, "Default": Default, "Below": Below,
    "Data": Data, "Field": Field, "Space": Space, "Asked": Asked,
}  # fmt: skip
WAYS = {
    "if": "    if x > 1.0:\n        o.c = 3.0",
    "else": "    if x > 1.0:\n        o.d = 1.0\n    else:\n        o.c = x",
    "loop": "    for k in rose.range(3):\n        if x * k > 3.0:\n            o.c = x * k",
    "while": "    while x > 1.0:\n        o.c = x\n        x = x / 2.0",
    "setattr": "    if x > 1.0:\n        setattr(o, 'c', 3.0)",
    "dictionary": "    if x > 1.0:\n        o.__dict__['c'] = 3.0",
    "helper": "    give(o, x)",
    "deleted": "    o.c = 3.0\n    if x > 1.0:\n        del o.c",
    "early": "    if x > 1.0:\n        o.c = 3.0\n        if x > 5.0:\n            return 0.0",
}
QUESTIONS = (
    "10.0 if hasattr(o, 'c') else 20.0", "getattr(o, 'c', 5.0)", "o.c", "getattr(o, 'c')", "tried(o)", "len(vars(o))",
    "vars(o).get('c', 5.0)", "10.0 if 'c' in vars(o) else 20.0", "10.0 if 'c' in o.__dict__ else 20.0", "sum(vars(o).values())",
    "o.__dict__.get('c', 5.0)", "10.0 if 'c' in dir(o) else 20.0", "10.0 if o == o else 20.0", "10.0 if o == K() else 20.0",
    "getattr(copy.copy(o), 'c', 5.0)", "operator.attrgetter('c')(o)", "10.0 if hasattr(copy.deepcopy(o), 'c') else 20.0",
    "len(repr(o)) if K is types.SimpleNamespace else 1.0", "matched(o)", "(lambda p: p.c if hasattr(p, 'c') else 1.0)(o)",
    "[getattr(p, 'c', 5.0) for p in [o, K()]][0]", "10.0 if getattr(o, 'c', None) is None else 20.0",
    "10.0 if any(n == 'c' for n in vars(o)) else 20.0", "(o.c if x < 0.5 else 1.0)", "getattr(o, 'c', o)  is o",
    "len(o.__dict__)", "type(o)(**vars(o)).c", "{**vars(o)}.get('c', 5.0)", "dict(vars(o)).get('c', 5.0)",
    "o.__dict__.setdefault('c', 9.0)", "o.__dict__.pop('c', 9.0)",
)  # fmt: skip
PRELUDE = """
def give(o, x):
    if x > 1.0:
        o.c = 3.0


def tried(o):
    try:
        return o.c
    except AttributeError:
        return 5.0


def matched(o):
    match o:
        case K(c=v):
            return v
        case _:
            return 5.0


"""
POINTS = 0.5, 2.0
CELLS = crossed([(k, w) for k in KINDS for w in WAYS if (k, w) != ("Slots", "dictionary")], QUESTIONS, 16)


def outcome(f, x) -> Any:
    try:
        return f(x)
    except rose.RoseError as error:
        return AttributeError if isinstance(error, AttributeError) else None
    except Exception as error:
        return type(error)


def function(kind, way, question):
    text = f"{PRELUDE}def f(x: float):\n    o = K()\n{WAYS[way]}\n    return {question}\n"
    return define(text, K=KINDS[kind], copy=copy, operator=operator, types=types, rose=rose)


def test_answers():
    right = 0
    for (kind, way), question in CELLS:
        f = function(kind, way, question)
        staged = rose.jit(f)
        for x in POINTS:
            found = outcome(staged, x)
            if found is not None:
                assert found == outcome(f, x), (kind, way, question, x)
                right += 1
    assert right > len(CELLS) * 3 // 4


CHANGES = {
    "assigned": "C.k = 2.0", "counted": "C.k += 1.0", "setattr": "setattr(C, 'k', 2.0)", "by the object": "type(a).k = 2.0",
    "deleted": "del C.k", "of the base": "Base.k = 2.0", "in a helper": "change(C)", "first": "",
}  # fmt: skip
BETWEEN = {
    "on one side": "if x > 1.0:\n        a.k = 5.0", "nothing": "", "always": "a.k = 5.0",
    "in a loop": "for i in rose.range(3):\n        a.k += x",
    "in a loop, perhaps": "for i in rose.range(3):\n        if x > 1.0:\n            a.k = x * i",
    "in both": "if x > 1.0:\n        a.k = 5.0\n    else:\n        a.k = 6.0",
}  # fmt: skip


@pytest.mark.parametrize("own", ["", "a.k = 3.0"])
@pytest.mark.parametrize("between", BETWEEN)
def test_a_class_that_changes_later(between, own):
    """What objects have that have no attribute of their own is what their class has then."""
    for change in CHANGES.values():
        f = define(
            "def change(cls):\n    cls.k = 2.0\n\n\n"
            "def f(x: float):\n    class Base:\n        k = 4.0\n\n    class C(Base):\n        k = 1.0\n\n"
            f"    a, b = C(), C()\n    {own}\n    {BETWEEN[between]}\n    {change}\n    return a.k + 10.0 * b.k\n",
            rose=rose,
        )
        for x in POINTS:
            found = outcome(rose.jit(f), x)
            assert found == outcome(f, x) or (found is None and not own and change), (between, own, change, x)
