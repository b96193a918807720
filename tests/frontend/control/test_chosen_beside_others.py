"""One of several values of the host on one side of a branch, and a value of any other kind on the other: the number that
Python gives, or refused (the chosen one survived alone, in silence)."""

import inspect
import math
import operator
import textwrap
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define
from tests.tables import crossed


@dataclass
class Point:
    x: float


CHOSEN = {
    "text": '"ab" if x < 2.0 else "cc"',
    "function": "math.sin if x < 2.0 else math.cos",
    "text or None": '"ab" if x < 2.0 else None if x < 2.5 else "cc"',
}
OTHERS = {
    "None": "None",
    "number": "3.0",
    "staged number": "2.0 * x",
    "truth": "False",
    "text": '"ab"',
    "text or None": '"ab" if x < 0.7 else None',
    "number or None": "x if x < 0.7 else None",
    "tuple": '("ab", x)',
    "list": "[x]",
    "empty list": "[]",
    "dict": '{"ab": x}',
    "record": "Point(x)",
    "record or None": "Point(x) if x < 0.7 else None",
    "array": "np.zeros(2)",
    "complex": "1j * x",
    "function around": "lambda v: x",
}
FORMS = {
    "expression": "m = ({c}) if x > 1.0 else ({o})",
    "other way round": "m = ({o}) if x < 1.0 else ({c})",
    "statement": "m = {o}\nif x > 1.0:\n    m = {c}",
    "in a tuple": "p = (({c}), x) if x > 1.0 else (({o}), x)\nm = p[0]",
    "in a loop": "m = {o}\nfor i in range(k):\n    m = ({c}) if x > 1.0 else m",
    "loop that changes": "m = {c}\nfor i in range(k):\n    if x < 1.0:\n        m = {o}",
    "in a while": "m = {o}\nwhile x > 1.0 and k > 1:\n    m = {c}\n    k -= 1",
    "item": 'd = {{"m": {o}}}\nif x > 1.0:\n    d["m"] = {c}\nm = d["m"]',
    "attribute": "d = Point({o})\nif x > 1.0:\n    d.x = {c}\nm = d.x",
    "bound on one side": "if x > 1.0:\n    m = {c}\nelse:\n    m = {o}",
    "or": "m = (x > 1.0 and ({c})) or ({o})",
    "match": "match x > 1.0:\n    case True:\n        m = {c}\n    case _:\n        m = {o}",
    "returned": "def g():\n    if x > 1.0:\n        return {c}\n    return {o}\nm = g()",
}
USES = {
    "compared": 'return x if m == "ab" else 10.0 * x',
    "compared with None": 'if m is None:\n    return -x\nreturn x if m == "ab" else 10.0 * x',
}
POINTS = [(0.5, 2), (0.75, 2), (1.5, 3), (2.25, 2), (2.75, 4)]


def made(body, path):
    text = "def f(x: float, k: int):\n" + textwrap.indent(body, "    ")
    path.write_text(text)
    scope = {"np": np, "math": math, "Point": Point}
    exec(compile(text, str(path), "exec"), scope)
    assert inspect.getsource(scope["f"])
    return scope["f"]


SIDES = [(chosen, other) for chosen in CHOSEN for other in OTHERS]
WAYS = [(form, use) for form in FORMS for use in USES]


@pytest.mark.parametrize(("sides", "way"), crossed(SIDES, WAYS, 13), ids=str)
def test_a_chosen_value_beside_one_of_another_kind_is_python_s_or_refused(sides, way, tmp_path):
    (chosen, other), (form, use) = sides, way
    body = FORMS[form].format(c=CHOSEN[chosen], o=OTHERS[other]) + "\n" + USES[use]
    plain = made(body, tmp_path / "beside.py")
    compiled = rose.jit(plain, cache=False)
    for x, k in POINTS:
        try:
            wanted = plain(x, k)
        except ValueError:  # an array is compared, which has no one truth
            with pytest.raises((rose.RoseError, ValueError)):
                compiled(x, k)
            continue
        try:
            found = compiled(x, k)
        except rose.RoseError:
            continue
        assert found == wanted
        assert rose.grad(compiled)(x, k) == pytest.approx(wanted / x, rel=1e-12)


class Square:
    def __init__(self, side):
        self.side = side
        self.at = Point(2.0 * side)

    def grown(self, by=1.0, *, times=2.0):
        return self.side * by * times


class Disc(Square):
    def grown(self, by=1.0, *, times=2.0):
        return self.side + by + times


SHAPES = [Square(2.0), Disc(3.0)]
GETTERS = (
    "operator.attrgetter('side')(o)",
    "sum(operator.attrgetter('side', 'at.x')(o))",
    "operator.attrgetter('at.x')(o)",
    "operator.methodcaller('grown', x)(o)",
    "operator.methodcaller('grown', times=x)(o)",
    "getattr(o, 'side')",
    "getattr(o, 'grown')(x)",
    "sum(map(operator.attrgetter('side'), [o, SHAPES[0]]))",
    "max([o, SHAPES[0]], key=operator.attrgetter('side')).side",
)


@pytest.mark.parametrize("way", ["SHAPES[0] if x < 2.0 else SHAPES[1]", "SHAPES[int(x) % 2]", "SHAPES[0]"])
@pytest.mark.parametrize("getter", GETTERS)
def test_attributes_that_are_asked_for_by_name(getter, way):
    """An error of ours of a value that is one of several: it has no attributes, but those that it may be have."""
    f = define(f"def f(x):\n    o = {way}\n    return x * {getter}", SHAPES=SHAPES, operator=operator)
    for x in (0.5, 1.5, 2.5):
        assert rose.jit(f)(x) == f(x)


MADE_ANEW = (
    "[]",
    "[1]",
    "set()",
    "(1, 2)",
    "tuple([1])",
    "frozenset([3])",
    "Point(1)",
    "(lambda v: v)",
    "'a' * two",
    "{'a': 1}",
)
BEFORE = ("'ab' if x < 2.0 else None if x < 2.5 else 'cc'", "None", "'ab'")


@pytest.mark.parametrize(("value", "before"), crossed(MADE_ANEW, BEFORE, 2), ids=str)
def test_staging_ends_where_each_iteration_makes_another_value(value, before, tmp_path):
    body = f"m, i, two = {before}, 0, 2\nwhile i < k:\n    if x * i < 1.0:\n        m = {value}\n    i += 1\nreturn -x if m is None else x"
    f = made(body, tmp_path / "anew.py")
    for x, k in POINTS:
        try:
            assert rose.jit(f, cache=False)(x, k) == f(x, k)
        except rose.RoseError as error:
            assert error.help
