"""Structures whose parts have names stand by these, not by their places: states, bounds, tolerances, cotangents."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose


@dataclass
class Record:
    a: float
    b: float


class Named(NamedTuple):
    a: float
    b: float


STATES = {"dict": lambda a, b: {"a": a, "b": b}, "record": Record, "named": Named}
OTHERS = {
    "turned": lambda a, b: {"b": b, "a": a},
    "dict": lambda a, b: {"a": a, "b": b},
    "record": Record,
    "named": Named,
}


def of(state):
    return (state["a"], state["b"]) if isinstance(state, dict) else (state.a, state.b)


@pytest.mark.parametrize("given", OTHERS)
@pytest.mark.parametrize("kind", STATES)
class TestByName:
    def test_derivatives_of_states(self, kind, given):
        def slope(t, y):
            a, b = of(y)
            return OTHERS[given](-a, 2.0 * b)

        for method in ("RK45", "Rodas5P"):
            found = rose.solve_ivp(slope, (0.0, 1.0), STATES[kind](1.0, 1.0), method, rtol=1e-8, atol=1e-10)
            a, b = of(found.y)
            assert [a[-1], b[-1]] == pytest.approx([np.exp(-1.0), np.exp(2.0)], rel=1e-6)

    def test_tolerances(self, kind, given):
        def slope(t, y):
            a, b = of(y)
            return STATES[kind](-a, 2.0 * b)

        def steps(tolerance):
            return rose.solve_ivp(slope, (0.0, 1.0), STATES[kind](1.0, 1.0), atol=tolerance, rtol=1e-12).nfev

        assert steps(OTHERS[given](1e-9, 1e3)) == steps(STATES[kind](1e-9, 1e3)) != steps(STATES[kind](1e3, 1e-9))

    def test_fixed_points(self, kind, given):
        def step(x):
            a, b = of(x)
            return OTHERS[given](np.cos(a), 0.5 * b + 1.0)

        for method in ("iteration", "hybr"):
            found = of(rose.fixed_point(step, STATES[kind](1.0, 1.0), method=method).x)
            assert found == pytest.approx((0.7390851332151607, 2.0), rel=1e-9)

    def test_bounds(self, kind, given):
        def distance(x):
            a, b = of(x)
            return (a - 1.0) ** 2 + (b - 2.0) ** 2

        start = STATES[kind](0.0, 0.0)
        bounds = rose.optim.Bounds(OTHERS[given](-9.0, 1.5), STATES[kind](9.0, 1.7))
        for found in (
            rose.optim.minimize(distance, start, bounds=bounds),
            rose.optim.lbfgs(distance, bounds=bounds)(start),
            rose.least_squares(lambda x: np.array([of(x)[0] - 1.0, of(x)[1] - 2.0]), start, bounds=bounds),
        ):
            assert of(found.x) == pytest.approx((1.0, 1.7), rel=1e-6)


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_vectors_of_derivatives(order):
    """A cotangent and a tangent are of the structure of a result and of an argument."""
    point, by = {"a": 2.0, "b": 5.0}, {name: {"a": 1.0, "b": 10.0}[name] for name in order}

    def several(d):
        return {"a": 3.0 * d["a"] ** 2, "b": d["a"] * d["b"]}

    def number(d):
        return d["a"] ** 3 * d["b"] ** 2

    assert rose.vjp(several, point)[1](by)[0] == {"a": 62.0, "b": 20.0}
    assert rose.jvp(several, (point,), (by,))[1] == {"a": 12.0, "b": 25.0}
    assert rose.linearize(several, point)[1](by) == {"a": 12.0, "b": 25.0}
    assert rose.hvp(number)(point, by) == {"a": 1500.0, "b": 280.0}
    assert rose.taylor(number, point, by, 1) == (200.0, 1100.0)


def test_other_names_are_refused():
    with pytest.raises(rose.ShapeError, match="the parts 'a', 'b' are needed, given 'a', 'c'"):
        rose.solve_ivp(lambda t, y: {"a": 1.0, "c": 2.0}, (0.0, 1.0), {"a": 1.0, "b": 1.0})
    with pytest.raises(rose.ShapeError, match="the parts 'a', 'b' are needed, given 'a'"):
        rose.optim.minimize(lambda x: x["a"] ** 2, {"a": 1.0, "b": 1.0}, bounds=SimpleNamespace(lb={"a": 1.0}, ub=2.0))
