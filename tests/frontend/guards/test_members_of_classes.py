"""Members that a function reads of a class of the user's: while it is staged others stand in for some of them, which
is no change; a member that is replaced between two calls is one."""

import functools

import pytest

import rosejit as rose


def make_class():
    class Pair:
        def __init__(self, a: float, b: float) -> None:
            self.a, self.b = a, b

        def __mul__(self, other):
            return Pair(self.a * other.a, self.b + other.b)

        def __call__(self, x):
            return self.a * x + self.b

        def __getitem__(self, k):
            return (self.a, self.b)[k]

        def __eq__(self, other):
            return self.a == other.a

        def total(self):
            return self.a + self.b

        @property
        def sum(self):
            return self.a + self.b

        @functools.cached_property
        def product(self):
            return self.a * self.b

        @staticmethod
        def unit(x):
            return x * 2.0

        @classmethod
        def of(cls, x):
            return cls(x, 1.0).a

    return Pair


READS = {
    "__mul__": lambda P, x: P.__mul__(P(x, 1.0), P(x, 2.0)).a,
    "reduce": lambda P, x: functools.reduce(P.__mul__, [P(x, 1.0), P(x, 2.0), P(3.0, 0.0)]).a,
    "__call__": lambda P, x: P.__call__(P(x, 1.0), x),
    "__getitem__": lambda P, x: P.__getitem__(P(x, 1.0), 0),
    "__eq__": lambda P, x: 1.0 if P.__eq__(P(x, 1.0), P(x, 2.0)) else x,
    "total": lambda P, x: P.total(P(x, 1.0)),
    "map": lambda P, x: sum(map(P.total, [P(x, 1.0), P(x, 2.0)])),
    "sum": lambda P, x: P.sum.fget(P(x, 1.0)),
    "product": lambda P, x: P.product.func(P(x, 3.0)),
    "unit": lambda P, x: P.unit(x),
    "of": lambda P, x: P.of(x),
    "key": lambda P, x: sorted([P(x, 1.0), P(1.0, 0.0)], key=P.total)[0].a,
}
CHANGES = {
    "__mul__": lambda self, other: type(self)(7.0, 7.0),
    "__call__": lambda self, x: 7.0,
    "__getitem__": lambda self, k: 7.0,
    "total": lambda self: 7.0,
    "sum": property(lambda self: 7.0),
    "unit": staticmethod(lambda x: 7.0),
}
Pair = make_class()
WAYS = ["variable", "default", "global", "object", "local", "dict", "getattr"]


class Holder:
    @staticmethod
    def held():
        return Pair


def program_of(read, way):
    """A program that reads a member of the class by a variable around it, a default, a global, or in another way."""
    if way == "variable":
        cls = make_class()

        def program(x: float) -> float:
            return read(cls, x)

        return program, cls
    if way == "default":
        cls = make_class()

        def helper(x, *, C=cls):
            return read(C, x)

        def of_default(x: float) -> float:
            return helper(x)

        return of_default, cls
    global Pair
    Pair = make_class()
    if way == "global":

        def of_global(x: float) -> float:
            return read(Pair, x)

        return of_global, Pair

    ways = {
        "object": lambda x: type(Pair(x, x)),
        "local": lambda x: [c for c in [Pair]][0],
        "dict": lambda x: {"pair": Pair}["pair"],
        "getattr": lambda x: getattr(Holder(), "held")(),
    }
    found = ways[way]

    def of_other(x: float) -> float:
        return read(found(x), x)

    return of_other, Pair


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", READS)
def test_what_stands_in_is_no_change(name, way):
    program, _ = program_of(READS[name], way)
    staged = rose.jit(program)
    wanted = [program(x) for x in (2.0, 0.5)]
    assert [staged(x) for x in (2.0, 0.5)] == wanted
    assert rose.grad(staged)(2.0) == pytest.approx((program(2.0 + 1e-6) - program(2.0 - 1e-6)) / 2e-6, abs=1e-7)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CHANGES)
def test_a_member_that_is_replaced_is_seen(name, way):
    program, cls = program_of(READS[name], way)
    staged = rose.jit(program)
    assert staged(2.0) == program(2.0)
    setattr(cls, name, CHANGES[name])
    assert staged(2.0) == program(2.0) == 7.0
