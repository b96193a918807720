"""Methods that Python calls by itself are staged while a session stages, in its thread, and not a moment longer."""

import functools
import threading
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose
from rosejit.errors import StagingTypeError
from tests.frontend.oracle import agrees, define, evaluate, fault, stage


class Length:
    def __init__(self, metres):
        self.metres = metres

    def __add__(self, other):
        return Length(self.metres + other.metres if self.metres > 0 else other.metres)

    def __eq__(self, other):
        return self.metres == other.metres

    @property
    def folded(self):
        if self.metres < 0:
            return -self.metres
        return self.metres

    @functools.cached_property
    def doubled(self):
        return 2 * self.metres if self.metres > 1 else self.metres


@dataclass
class Place:
    x: float
    y: float


def folded(x: float):
    whole = Length(x) + Length(1.5)
    return whole.folded + whole.doubled


def test_operators_and_properties_are_staged():
    agrees(folded, (2.0,), (-3.0,))


@pytest.mark.parametrize("x", [1.0, 2.0])
def test_equality(x):
    def f(x: float):
        same = Length(x) == Length(2.0)
        other = Length(x) != Length(2.0)
        return (same, other, Place(x, 1.0) == Place(2.0, 1.0), Place(x, 1.0) != Place(2.0, 1.0))

    agrees(f, (x,))


def test_the_classes_are_what_they_were():
    before = dict(vars(Length))

    def wrong(x: float):
        return (Length(x) + 1.0).folded

    stage(folded, 2.0)
    assert dict(vars(Length)) == before
    with pytest.raises(AttributeError):
        stage(wrong, 2.0)
    assert dict(vars(Length)) == before
    assert (Length(1.0) + Length(2.0)).folded == 3.0


def test_other_threads_see_nothing_of_it():
    found = []

    def f(x: float):
        first = Length(x).folded
        thread = threading.Thread(target=lambda: found.append((Length(-2.0) + Length(3.0)).folded))
        thread.start()
        thread.join()
        return first

    agrees(f, (2.0,))
    assert found == [3.0, 3.0]


def test_two_sessions_at_once():
    def staged():
        for _ in range(10):
            stage(folded, 2.0)

    threads = [threading.Thread(target=staged) for _ in range(3)]
    before = dict(vars(Length))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert dict(vars(Length)) == before


def test_an_argument_is_not_changed():
    def f(p: Place):
        p.x = 1.0
        return p.x

    error = fault(f, Place(1.0, 2.0))
    assert "`p` is an argument" in str(error)
    assert not isinstance(error, StagingTypeError)


def test_an_object_with_staged_attributes_is_a_result():
    def f(x: float):
        return Length(x + 1.0)

    assert evaluate(f, 2.0).metres == 3.0


KEPT = Length(0.0)


def test_nothing_staged_is_left_in_something_global():
    def f(x: float):
        KEPT.metres = x
        return x

    try:
        error = fault(f, 1.0)
    finally:
        KEPT.metres = 0.0
    assert "`KEPT`, which is global" in str(error)


def test_what_staging_asks_of_an_object_does_not_run_its_getattr_as_staged_code():
    class Computed:
        def __init__(self, x):
            self.x = x

        def __getattr__(self, name):
            if name == "triple":
                return self.x * 3
            raise AttributeError(name)

    @rose.jit(cache=False)
    def f(x: float, n: int) -> float:
        one, total = Computed(x), 0.0
        if x > 1.0:
            one.x = 7.0
        for _ in rose.range(n):
            other = Computed(total + one.triple)
            both = [one, other]
            total += both[1].triple + both[0].x
        return total

    assert f(2.0, 1) == 70.0
    assert f(0.5, 1) == 5.0


def test_users_may_name_an_attribute_as_staged_values_do():
    class Tree:
        def __init__(self, x):
            self.leaf = x

        def grow(self):
            if self.leaf > 1.0:
                self.leaf += 1.0

    @rose.jit(cache=False)
    def f(x: float, n: int) -> float:
        tree = Tree(x)
        for _ in rose.range(n):
            tree.grow()
        return tree.leaf

    assert (f(1.5, 3), f(0.5, 3)) == (4.5, 0.5)


def test_members_of_a_class_may_be_lambdas():
    text = """
    class C:
        p = property(lambda self: self.__k)
        q = staticmethod(lambda x: x * 2.0)
        m = lambda self, x, n=3.0: x * n if x > self.__k else (lambda y: y * self.__k)(x)
        def __init__(self, k): self.__k = k
    c = C(1.5)
    def f(x): return c.p * c.q(x) + c.m(x)
    """
    f = define(text)
    assert [rose.jit(f)(x) for x in (1.0, 2.0)] == [f(1.0), f(2.0)]


def test_a_property_from_outside_is_not_asked_again():
    """What it reads of its object counts: it may compute what is staged, and is no number to compare."""
    text = """
    class Line:
        def __init__(self, k): self.k, self.w = k, np.ones(2)
        @rose.jit
        def at(self, x: float) -> float: return self.k * x
        @property
        def two(self):
            asked.append(1)
            return self.at(2.0)
        @property
        def weights(self): return self.w
        @property
        def me(self): return self
    line = Line(3.0)
    def f(x): return line.two * x + line.me.weights[1] * line.me.me.k
    """
    asked = []
    f = define(text, rose=rose, np=np, asked=asked)
    line, g = f.__globals__["line"], rose.jit(f)
    first = [g(1.0), g(1.0)]
    assert len(asked) == 1
    assert first == [f(1.0)] * 2
    line.k = 5.0
    assert g(1.0) == f(1.0)
    line.w[1] = 7.0
    assert g(1.0) == f(1.0)
    line.w = np.full(2, 9.0)
    assert g(1.0) == f(1.0)
