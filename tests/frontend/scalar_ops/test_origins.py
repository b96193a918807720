"""What only running tells of a value is refused wherever somebody asks: which object it is, whether it is an int.

Identity: 4 kinds of objects x 4 ways to bind one of two x 3 questions. Class: 5 ways to join an int and a real x 4
questions, and numbers that are sure.
"""

import itertools
import math

import pytest

import rosejit as rose
from rosejit.errors import RoseError
from rosejit.numeric import np
from tests.frontend.oracle import define

OBJECTS = {"list": "[{0}, x]", "array": "np.array([{0}, x])", "object": "Thing({0}, x)", "tuple": "({0}, x)"}
WAYS = {
    "if": "    if x > 0.0:\n        b = a",
    "else": "    if x > 0.0:\n        c = 1.0\n    else:\n        b = a",
    "ternary": "    b = a if x > 0.0 else b",
    "loop": "    for i in rose.range(3):\n        if x > i:\n            b = a",
}
QUESTIONS = ("b is a", "a is not b", "c is b")


class Thing:
    def __init__(self, first: float, second: float) -> None:
        self.first, self.second = first, second


@pytest.mark.parametrize(("kind", "way", "question"), list(itertools.product(OBJECTS, WAYS, QUESTIONS)))
def test_identity(kind, way, question):
    made = OBJECTS[kind]
    text = (
        f"def f(x: float) -> bool:\n    a = {made.format(1.0)}\n    b = {made.format(2.0)}\n    c = b\n{WAYS[way]}\n"
        f"    return {question}\n"
    )
    f = define(text.replace("c = 1.0", "d = 1.0"), np=np, rose=rose, Thing=Thing)
    with pytest.raises(RoseError, match="which object one of them is only running tells"):
        rose.jit(f)(1.0)


def test_identity_that_is_sure():
    def f(x: float) -> float:
        a, b, n = [x], [x], None
        c = a
        if x > 0.0:
            b = [x + 1.0]
        return 1.0 * (a is c) + 2.0 * (b is None) + 4.0 * (n is None) + 8.0 * (b is b)

    assert rose.jit(f)(1.0) == f(1.0) == 13.0


JOINS = {
    "if": "    q = n\n    if x > 0.0:\n        q = x",
    "literal": "    q = 1\n    if x > 0.0:\n        q = 2.5",
    "ternary": "    q = n if x > 0.0 else x",
    "loop": "    q = 1\n    for i in rose.range(n):\n        q = q * x",
    "derived": "    q = n\n    if x > 0.0:\n        q = x\n    q = q + 1",
}
ASKED = ("isinstance(q, int)", "isinstance(q, float)", "type(q) is int", "q.__class__ is float")


@pytest.mark.parametrize(("join", "asked"), list(itertools.product(JOINS, ASKED)))
def test_the_class_of_a_number(join, asked):
    f = define(f"def f(x: float, n: int) -> bool:\n{JOINS[join]}\n    return {asked}\n", rose=rose)
    with pytest.raises(RoseError, match="an int on some paths"):
        rose.jit(f)(1.0, 3)


@pytest.mark.parametrize("asked", ASKED)
def test_the_class_of_a_number_inside_the_loop(asked):
    """The first iteration finds an int, the others a float."""
    text = (
        f"    q, s = 1, 0.0\n    for i in rose.range(n):\n        if {asked}:\n            s += 1.0\n        q = q * x"
    )
    f = define(f"def f(x: float, n: int) -> float:\n{text}\n    return s\n", rose=rose)
    with pytest.raises(RoseError, match="an int on some paths"):
        rose.jit(f)(1.0, 3)


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize(
    "made", ["q = n + 1", "q = x * 2", "q = x if x > 0.0 else 1.0", "q = n / 2", "q = math.sin(n)"]
)
def test_the_class_of_a_number_that_is_sure(made, asked):
    f = define(f"def f(x: float, n: int) -> bool:\n    {made}\n    return {asked}\n", rose=rose, math=math)
    assert rose.jit(f)(1.0, 3) == f(1.0, 3)


@pytest.mark.parametrize("name", ["why", "tape", "truth", "remedy", "use"])
def test_names_of_ours(name):
    """Attributes of a value that differs between paths are not those of what stands for it."""
    f = define(
        f"def f(x: float) -> float:\n    q = 1.0\n    if x > 0.0:\n        q = 'text'\n    return 1.0 if q.{name} is None else 2.0\n"
    )
    with pytest.raises(RoseError, match="on the other"):
        rose.jit(f)(1.0)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [2, 3, 5])
def test_sorted_as_python_has_it(length, reverse):
    """Equals keep their order, zeros of both signs too, so that slopes go to the right operand."""
    names = "abcde"[:length]
    text = ", ".join(f"{name}: float" for name in names)
    f = define(
        f"def f({text}) -> list[float]:\n    return sorted([{', '.join(names)}], reverse={reverse})\n",
    )
    staged = rose.jit(f)
    for values in itertools.product((0.0, -0.0, 1.0, -math.inf), repeat=length):
        if hash(values) % 4 and length == 5:
            continue
        assert list(map(repr, staged(*values))) == list(map(repr, f(*values)))
    with pytest.raises(ValueError, match="one is nan"):
        staged(*[1.0] * (length - 1), math.nan)
    first = define(f"def g({text}) -> float:\n    return sorted([{', '.join(names)}], reverse={reverse})[0]\n")
    assert rose.grad(rose.jit(first), argnums=tuple(range(length)))(*[2.0] * length) == (1.0, *[0.0] * (length - 1))
