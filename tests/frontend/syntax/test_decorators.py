"""Decorators of functions that staged code makes: the user's own, which keep, count or close over staged values, those
of the library, and ours. Values are CPython's, slopes differences."""

import contextlib
import functools

import pytest

import rosejit as rose


def memo(f):
    cache = {}

    def wrapped(n):
        if n not in cache:
            cache[n] = f(n)
        return cache[n]

    return wrapped


def counted(f):
    calls = []

    @functools.wraps(f)
    def wrapped(*args):
        calls.append(args[0])
        return f(*args) * len(calls)

    return wrapped


def scaled(k):
    return lambda f: lambda x: k * f(x)


def squared(f):
    return lambda *args: f(*args) ** 2


def remembered(x):
    @memo
    def f(n):
        return x**n

    return f(2) + f(3) + f(2)


def counts(x):
    @counted
    def f(n):
        return n * x

    return f(x) + f(2 * x)


def with_staged_arguments(x):
    @scaled(x)
    @scaled(2.0)
    def f(y):
        return y * y

    return f(3.0) + f(x)


def several(x):
    @scaled(x)
    @squared
    @memo
    def f(y):
        return y * x

    return f(2) + f(3)


def in_a_loop(x):
    total = 0.0
    for i in rose.range(3):

        @scaled(i)
        def f(y):
            return y * x

        total += f(x)
    return total


def in_a_branch(x):
    if x > 1.0:

        @scaled(x)
        def f(y):
            return y * y

        return f(2.0)
    return x


def registered(x):
    known = {}

    def register(name):
        def keep(f):
            known[name] = f
            return f

        return keep

    @register("a")
    def square(y):
        return y * y

    @register("b")
    def triple(y):
        return 3.0 * y

    return known["a"](x) + known["b"](x)


def nonlocal_counter(x):
    calls = 0

    def count(f):
        def wrapped(*args):
            nonlocal calls
            calls += 1
            return f(*args)

        return wrapped

    @count
    def f(y):
        return y * x

    for _ in rose.range(3):
        f(x)
    return f(2.0) * calls


def cached(x):
    @functools.cache
    def f(n):
        return x**n

    return f(2) + f(2)


def dispatched(x):
    @functools.singledispatch
    def f(a):
        return 0.0

    @f.register
    def _(a: float):
        return 2.0 * a

    return f(x) + f("s")


def context(x):
    @contextlib.contextmanager
    def doubled():
        yield 2.0 * x

    with doubled() as k:
        return k * x


def ours(x):
    @rose.jit
    def f(y: float) -> float:
        return y * x

    @rose.grad
    def g(y):
        return y * y * x

    @rose.checkpoint
    def h(y):
        return y * y * x

    return f(2.0) + g(3.0) + h(x)


def members(x):
    class Holder:
        @property
        def twice(self):
            return 2.0 * x

        @staticmethod
        def times(y):
            return y * x

        @classmethod
        def plus(cls, y):
            return y + x

        @functools.cached_property
        def square(self):
            return x * x

        @squared
        def squares(self):
            return x

        @memo
        def kept(self):
            return x * 3.0

    h = Holder()
    return h.twice + h.times(2.0) + h.plus(1.0) + h.square + h.squares() + h.kept()


USES = (
    *(remembered, counts, with_staged_arguments, several, in_a_loop, in_a_branch, registered, nonlocal_counter),
    *(cached, dispatched, context, ours, members),
)


@pytest.mark.parametrize("f", USES)
@pytest.mark.parametrize("x", [1.5, 0.5])
def test_decorated_inside(f, x):
    assert rose.jit(f)(x) == f(x)
    assert rose.grad(f)(x) == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-7)
