"""What is no number in a structure (a text, a function, an object) is in its derivatives, in its place and as it is."""

import math
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose


@dataclass(frozen=True)
class Call:
    """A node of an expression tree."""

    fn: str
    arg: float
    digits: int = 2
    exact: bool = True


class Unit:
    """An object that compiled code knows nothing of."""


Named = namedtuple("Named", "fn arg")
UNIT = Unit()


def value(c, w=1.0):
    held = c if isinstance(c, dict) else c._asdict() if isinstance(c, Named) else vars(c) if isinstance(c, Call) else {}
    fn, x = (held["fn"], held["arg"]) if held else c[:2]
    return (math.cos(x) if fn == "cos" else math.sin(x)) * w


HOLDERS = {
    "dataclass": lambda fn, x: Call(fn, x, 0, False),
    "dict": lambda fn, x: {"fn": fn, "arg": x},
    "tuple": lambda fn, x: (fn, x),
    "list": lambda fn, x: [fn, x],
    "named tuple": lambda fn, x: Named(fn, x),
    "object beside": lambda fn, x: (fn, x, UNIT, math.sin),
}
S, C = math.sin(1.0), math.cos(1.0)
NESTED = {
    "hessian": lambda c: rose.hessian(value)(c),
    "jacobian of grad": lambda c: rose.jacobian(rose.grad(value))(c),
    "grad of grad": lambda c: rose.grad(lambda c: second(rose.grad(value)(c)))(c),
}
MODES = {
    "grad": (lambda c: rose.grad(value)(c), C),
    "value_and_grad": (lambda c: rose.value_and_grad(value)(c)[1], C),
    "several": (lambda c: rose.grad(value, argnums=(1, 0))(c, 2.0)[1], 2.0 * C),
    "aux": (lambda c: rose.grad(lambda c: (value(c), ("aux", c)), has_aux=True)(c)[0], C),
    "aux itself": (lambda c: rose.value_and_grad(lambda c: (value(c), ("aux", c)), has_aux=True)(c)[0][1][1], 1.0),
    "jacfwd": (lambda c: rose.jacfwd(value)(c), C),
    "jacrev": (lambda c: rose.jacrev(value)(c), C),
    "vjp": (lambda c: rose.vjp(value, c)[1](2.0)[0], 2.0 * C),
    "jvp": (lambda c: rose.jvp(lambda c: c, (c,), (rose.grad(value)(c),))[1], C),
    "linearize": (lambda c: rose.linearize(lambda c: c, c)[1](rose.grad(value)(c)), C),
    "hvp": (lambda c: rose.hvp(value)(c, rose.grad(value)(c)), -S * C),
    "jit of grad": (lambda c: rose.jit(lambda c: rose.grad(value)(c))(c), C),
    "jit of vjp": (lambda c: rose.jit(lambda c: rose.vjp(value, c)[1](1.0)[0])(c), C),
    "jit of jvp": (lambda c: rose.jit(lambda c: rose.jvp(lambda c: c, (c,), (c,))[1])(c), 1.0),
    "compiled": (lambda c: rose.grad(value).lower(c).compile()(c), C),
    "interpreted": (lambda c: interpreted(c), C),
}


def interpreted(c):
    with rose.disable_jit():
        return rose.grad(value)(c)


def second(c):
    return c["arg"] if isinstance(c, dict) else c.arg if isinstance(c, (Call, Named)) else c[1]


def like(c, x):
    """`c` with `x` for its real number."""
    return {**c, "arg": x} if isinstance(c, dict) else type(c)(*c._replace(arg=x)) if isinstance(c, Named) else (
        Call(c.fn, x, 0, False) if isinstance(c, Call) else type(c)([c[0], x, *c[2:]])
    )  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("holder", HOLDERS)
def test_they_are_in_derivatives(holder, mode):
    derive, slope = MODES[mode]
    for fn in ("sin", "text"):
        c = HOLDERS[holder](fn, 1.0)
        found = derive(c)
        assert second(found) == pytest.approx(slope)
        assert like(found, 0.0) == like(c, 0.0)
        assert type(found) is type(c)


@pytest.mark.parametrize("mode", NESTED)
@pytest.mark.parametrize("holder", HOLDERS)
def test_they_are_in_second_derivatives(holder, mode):
    c = HOLDERS[holder]("sin", 1.0)
    found = NESTED[mode](c)
    inner = second(found) if mode != "grad of grad" else found
    assert second(inner) == pytest.approx(-S)
    assert like(inner, 0.0) == like(found, 0.0) == like(c, 0.0)


def test_the_host_values_of_a_result_are_in_its_derivatives():
    c = Call("sin", 1.0, 0, False)
    assert rose.jacobian(lambda c: ("name", value(c)))(c) == ("name", Call("sin", C, 0, False))
    assert rose.jvp(lambda x: {"x": x * x, "of": "x"}, (3.0,), (1.0,)) == ({"x": 9.0, "of": "x"}, {"x": 6.0, "of": "x"})
    assert rose.vjp(lambda x: {"x": x * x, "of": "x"}, 3.0)[1]({"x": 1.0, "of": "anything"}) == (6.0,)
    assert rose.taylor(lambda x: ("s", math.sin(x)), 0.0, 1.0, 1) == (("s", 0.0), ("s", 1.0))


def test_a_step_down_the_gradient_is_one_comprehension():
    p = {"name": "a", "x": 3.0, "n": 2, "rows": [{"fn": "sin", "y": np.ones(2)}]}
    g = rose.grad(lambda p: p["x"] ** p["n"] + (p["rows"][0]["y"] ** 2).sum())(p)

    def step(p, g):
        if isinstance(p, dict):
            return {key: step(p[key], g[key]) for key in p}
        return [*map(step, p, g)] if isinstance(p, list) else p if isinstance(p, str) else p - 0.5 * g

    assert str(step(p, g)) == "{'name': 'a', 'x': 0.0, 'n': 2.0, 'rows': [{'fn': 'sin', 'y': array([0., 0.])}]}"
    rose.check_grads(lambda p: p["x"] ** p["n"], (p,))


def test_arguments_that_are_host_values_have_no_cotangent():
    @rose.jit(static_argnames="how")
    def f(x: float, how: tuple[str, float], y: float) -> float:
        return x * y if how[0] == "times" else x

    found = 3.0, None, 2.0
    assert rose.vjp(f, 2.0, ("times", 5.0), 3.0)[1](1.0) == found
    inside = rose.jit(lambda x: rose.vjp(f, x, ("times", 5.0), 3.0)[1](1.0))
    assert inside(2.0) == found


@dataclass
class Kept:
    w: float
    rate: rose.Static[float] = 0.25
    count: rose.Static[int] = 3
    flag: rose.Static[bool] = True
    name: str = "a"


def test_static_numbers_are_zero_in_derivatives():
    """So that a step along a gradient, number by number, leaves them what they are."""
    kept, still = Kept(2.0), {"rate": 0.0, "count": 0, "flag": False}

    def f(k: Kept, x: float) -> float:
        return k.w * x * k.rate + k.count

    slopes = [
        rose.grad(f)(kept, 4.0),
        rose.value_and_grad(f)(kept, 4.0)[1],
        rose.jacobian(f)(kept, 4.0),
        rose.vjp(f, kept, 4.0)[1](1.0)[0],
        rose.jit(lambda k: rose.grad(f)(k, 4.0))(kept),
        rose.jit(lambda k: rose.vjp(f, k, 4.0)[1](1.0)[0])(kept),
    ]
    assert slopes == [Kept(1.0, **still)] * len(slopes)
    assert rose.jvp(lambda k: k, (kept,), (kept,))[1] == Kept(2.0, **still)
    assert rose.linearize(lambda k: k, kept)[1](kept) == Kept(2.0, **still)
    assert rose.optim.lbfgs(lambda k: (k.w - 1.0) ** 2 * k.rate)(kept).x == Kept(1.0)
