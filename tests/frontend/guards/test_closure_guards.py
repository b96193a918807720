"""Decorated functions inside others: what they read around them changes between two of their calls."""

import functools
import textwrap
import types

import numpy as np
import pytest

import rosejit as rose
from rosejit.errors import UnsupportedSyntax
from tests.frontend.oracle import define

CASES = {
    # name: what stands before, what `g` gives, what changes
    "a staged number": ("s = x", "a * s", "s = s + 1.0"),
    "a host number": ("s = 2.0", "a * s", "s = 3.0"),
    "a number of another type": ("s = 2", "a * s if isinstance(s, int) else a", "s = 2.0"),
    "the sign of zero": ("s = 0.0", "np.copysign(a, s)", "s = -0.0"),
    "a list": ("s = [1.0]", "a * s[0]", "s[0] = x"),
    "the length of a list": ("s = [1.0]", "a * len(s)", "s.append(x)"),
    "a list in a dict": ("s = {'k': [x]}", "a * s['k'][0]", "s['k'][0] = x * 3.0"),
    "the order of a dict": ("s = {'k': x, 'l': 1.0}", "a * [*s.values()][0]", "s['k'] = s.pop('k')"),
    "a set": ("s = {1, 2}", "a * len(s)", "s.add(3)"),
    "an attribute": ("s = Box(k=x)", "a * s.k", "s.k = x * 3.0"),
    "an object": ("s = Box(k=x)", "a * s.k", "s = Box(k=x * 3.0)"),
    "an element of an array": ("s = np.zeros(2)", "a * (s[0] + 1.0)", "s[0] = x"),
    "an array": ("s = np.ones(2) * x", "a * s[0]", "s = np.ones(2) * 3.0"),
    "a part of an array": ("s = np.ones(2) * x\nt = s[1:]", "a * t[0]", "t = s[1:] + 1.0"),
    "what a helper reads": ("s = x\ndef h(a): return a * s", "h(a)", "s = s + 1.0"),
    "what a decorated helper reads": ("s = x\n@jit\ndef h(a): return a * s", "h(a)", "s = s + 1.0"),
    "a helper": ("def h(a): return a * x", "h(a)", "def h(a): return a + x"),
    "a default value": ("def h(a, s=x): return a * s", "h(a)", "h.__defaults__ = (x + 1.0,)"),
    "a cell that a helper binds": ("s = x\ndef h():\n    nonlocal s\n    s = s * 3.0", "a * s", "h()"),
    "an attribute of a global": ("GLOBAL.k = 1.0", "a * GLOBAL.k", "GLOBAL.k = 3.0"),
    "an attribute of a class": ("class C: k = x", "a * C.k", "C.k = 3.0"),
    "of a class, by an instance": ("class C: k = x\ns = C()", "a * s.k", "C.k = 3.0"),
    "of a class in a list": ("class C: k = 2.0\ns = [C]", "a * s[0].k", "C.k = x"),
    "an array of objects": ("s = np.array([2.0, None])", "a * s[0]", "s[0] = 3.0"),
    "a partial": ("from functools import partial\nh = partial(pow, x)", "a * h(2)", "h = partial(pow, x + 1.0)"),
    "a method": ("h = Box(k=x).scaled", "h(a)", "h = Box(k=x + 1.0).scaled"),
}


class Box:
    def __init__(self, **attributes):
        vars(self).update(attributes)

    def scaled(self, x):
        return x * self.k


def made(text, **scope):
    """The function `make` of a text, called with `rose.jit` and with nothing in its place."""
    make = define(text, np=np, Box=Box, GLOBAL=types.SimpleNamespace(k=1.0), **scope)
    return make(rose.jit), make(lambda f: f)


def of(before, gives, change, calls="g(x)"):
    lines = f"{before}\n@jit\ndef g(a): return {gives}\nr = {calls}\n{change}\nreturn r + 100.0 * {calls}"
    body = textwrap.indent(lines, " " * 8)
    return f"def make(jit):\n    @jit\n    def f(x):\n{body}\n    return f\n"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_second_call_sees_what_has_changed(case):
    f, plain = made(of(*case))
    assert f(2.0) == plain(2.0)
    assert f(3.0) == plain(3.0)


def test_an_argument_of_a_call_may_be_changed_after_it():
    """While a function runs its arguments are not written; then they are the caller's again."""
    f, plain = made(
        """
    def make(jit):
        class C:
            def __init__(self, k): self.k = k
            @jit
            def scaled(self, a): return a * self.k
        @jit
        def g(c, a): return c["k"] * a
        @jit
        def f(x):
            c, d = C(2.0), {"k": [1.0][0]}
            r = c.scaled(x) + 10.0 * g(d, x)
            c.k, d["k"] = 3.0, x
            r += 100.0 * c.scaled(x) + 1000.0 * g(d, x)
            c.k = x
            return r + 10000.0 * c.scaled(x)
        return f
    """
    )
    assert f(2.0) == plain(2.0)
    assert f(3.0) == plain(3.0)


def test_derivatives_see_it_too():
    text = of("s = x\ndg = None", "a * a * s", "s = s * 3.0", "grad(g)(x)")
    f, _ = made(text, grad=rose.grad)
    assert f(2.0) == 2 * 2.0 * 2.0 + 100 * (2 * 2.0 * 6.0)
    kept = """
    def f(x):
        s = x
        d = grad(lambda a: a * a * s)
        r = d(x)
        s = s * 3.0
        return r + 100.0 * d(x)
    """
    assert rose.jit(define(kept, grad=rose.grad))(2.0) == 8.0 + 100 * 24.0


def test_in_loops_and_branches():
    f, plain = made(
        """
    def make(jit):
        @jit
        def f(x, n: int):
            s = x
            @jit
            def g(a): return a * s
            for i in spread(n):
                s = s + g(1.5)
                if s > 4.0:
                    s = s - x
                    s = s + g(0.25)
            for i in range(3):
                s = s + h(x, i)
            return s + g(x)
        @jit
        def h(x, i):
            @jit
            def g(a): return a * i
            return g(x) + g(x)
        return f
    """,
        spread=rose.range,
    )
    assert f(2.0, 3) == plain(2.0, 3)
    slope = (plain(2.0 + 1e-6, 3) - plain(2.0 - 1e-6, 3)) / 2e-6
    assert rose.grad(f)(2.0, 3) == pytest.approx(slope)


def test_what_was_made_in_a_function_is_of_the_past_after_it():
    """Who calls the function again does not stage it again, and compiled code does not look for its variables."""
    f = rose.jit(
        define(
            """
    def f(x):
        s = x
        @rose.jit
        def g(a): return a * s
        r = g(x)
        s = s + 1.0
        return r
    """,
            rose=rose,
        )
    )
    outer = rose.jit(lambda x: f(x) + f(x + 1.0) + f(x + 2.0))
    assert outer(1.0) == 1.0 + 4.0 + 9.0
    assert f.cache_info().misses == 1
    assert [outer(2.0), outer(2.0)] == [4.0 + 9.0 + 16.0] * 2
    assert outer.cache_info().misses == 1


def test_a_function_that_is_called_often_is_staged_once():
    f = rose.jit(
        define(
            """
    def f(x):
        s, t = x, [x, Box(k=[1.0])]
        @rose.jit
        def g(a): return a * s + t[0]
        return sum([g(x + i) for i in range(5)])
    """,
            rose=rose,
            Box=Box,
        )
    )
    text = str(f.lower(1.0).ir)
    assert text.count("def g") == 1
    assert text.count("g(") == 6


def test_a_number_that_changes_inside_a_cycle_is_refused():
    f = rose.jit(
        define(
            """
    def f(x: float) -> float:
        @rose.jit
        def a(t: float) -> float:
            u = t
            @rose.jit
            def b(w: float) -> float:
                return u if w < 0.0 else a(w - 2.0) + u * w
            r = b(t - 1.0)
            u = 10.0 * t
            return r + b(t - 1.0)
        return a(x)
    """,
            rose=rose,
        )
    )
    with pytest.raises(UnsupportedSyntax, match="`b` reads around it has changed") as caught:
        f(2.5)
    assert "return r + b(t - 1.0)" in str(caught.value)


@pytest.mark.parametrize("given", ["h", "[h]", "{'k': (h, 1.0)}", "Box(k=h)", "partial(h)"])
def test_functions_that_are_arguments(given):
    taken = {"h": "h", "[h]": "h[0]", "{'k': (h, 1.0)}": "h['k'][0]", "Box(k=h)": "h.k", "partial(h)": "h"}[given]
    text = f"""
    def make(jit):
        @jit
        def applied(x, h: Static):
            return {taken}(x) + {taken}(2.0 * x)
        @jit
        def f(x):
            s = x
            def h(a): return a * s
            given = {given}
            r = applied(x, given)
            s = s * 3.0
            return r + 100.0 * applied(x, given)
        return f
    """
    f, plain = made(text, Static=rose.Static, partial=functools.partial)
    assert f(2.0) == plain(2.0)
