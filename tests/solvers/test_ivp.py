"""Differential equations beside closed forms and SciPy's steps; derivatives; failures; the same bits in node."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import integrate

import rosejit as rose
from tests.export import machine


def lotka_volterra(t, y, a, b):
    return np.array([a * y[0] - b * y[0] * y[1], y[0] * y[1] - y[1]])


def arenstorf(t, y):
    mu = 0.012277471
    mu1 = 1 - mu
    d1 = ((y[0] + mu) ** 2 + y[1] ** 2) ** 1.5
    d2 = ((y[0] - mu1) ** 2 + y[1] ** 2) ** 1.5
    return np.array(
        [
            y[2],
            y[3],
            y[0] + 2 * y[3] - mu1 * (y[0] + mu) / d1 - mu * (y[0] - mu1) / d2,
            y[1] - 2 * y[2] - mu1 * y[1] / d1 - mu * y[1] / d2,
        ]
    )


PROBLEMS = {
    "lotka volterra": (lambda t, y: lotka_volterra(t, y, 1.5, 0.7), (0.0, 10.0), [1.0, 2.0]),
    "backwards": (lambda t, y: lotka_volterra(t, y, 1.5, 0.7), (3.0, -2.0), [1.0, 2.0]),
    "time": (lambda t, y: -2 * t * y + np.array([np.sin(t)]), (0.0, 3.0), [1.0]),
    "van der pol": (lambda t, y: np.array([y[1], 5 * (1 - y[0] ** 2) * y[1] - y[0]]), (0.0, 8.0), [2.0, 0.0]),
    "arenstorf": (arenstorf, (0.0, 4.0), [0.994, 0.0, 0.0, -2.00158510637908252]),
    "at rest": (lambda t, y: np.zeros(2) * y, (0.0, 1.0), [1.0, 2.0]),
}


@pytest.mark.parametrize("rtol", [1e-3, 1e-8])
@pytest.mark.parametrize("name", PROBLEMS)
def test_steps_are_those_of_scipy(name, rtol):
    f, span, y0 = PROBLEMS[name]
    times = np.linspace(*span, 9)
    found = rose.solve_ivp(f, span, np.array(y0), t_eval=times, rtol=rtol, atol=1e-3 * rtol)
    known = integrate.solve_ivp(f, span, np.array(y0), t_eval=times, rtol=rtol, atol=1e-3 * rtol)
    assert found.success
    assert found.nfev == known.nfev
    assert found.y == pytest.approx(known.y, rel=1e-6, abs=1e-9)
    assert found.t.tolist() == times.tolist()


@dataclass(frozen=True)
class Pendulum:
    angle: float
    speed: float


STATES = {
    "number": (2.0, lambda t, y: -y, lambda y: y[-1], 2 * math.exp(-1)),
    "integer": (2, lambda t, y: -y, lambda y: y[-1], 2 * math.exp(-1)),
    "tuple": ((1.0, 0.0), lambda t, y: (y[1], -y[0]), lambda y: y[1][-1], -math.sin(1)),
    "dict": ({"x": 1.0, "v": 0.0}, lambda t, y: {"x": y["v"], "v": -y["x"]}, lambda y: y["x"][-1], math.cos(1)),
    "dataclass": (
        Pendulum(1.0, 0.0),
        lambda t, y: Pendulum(y.speed, -y.angle),
        lambda y: y["angle"][-1],
        math.cos(1),
    ),
    "matrix": (np.eye(2), lambda t, y: np.array([[0.0, 1.0], [-1.0, 0.0]]) @ y, lambda y: y[0, 1, -1], math.sin(1)),
}


@pytest.mark.parametrize("kind", STATES)
def test_structures_are_states(kind):
    y0, f, read, known = STATES[kind]
    found = rose.solve_ivp(f, (0.0, 1.0), y0, rtol=1e-10, atol=1e-12)
    assert read(found.y) == pytest.approx(known, rel=1e-9)
    wanted = {"number": np.ndarray, "integer": np.ndarray, "dataclass": dict}
    assert type(found.y) is wanted.get(kind, type(y0))


def growth(rate, end, start):
    return rose.solve_ivp(lambda t, y: rate * y, (start, end), 2.0, rtol=1e-11, atol=1e-12).y[-1]


def test_derivatives_by_parameters_and_by_both_ends():
    rate, end, start = 0.8, 1.5, 0.25
    y = 2 * math.exp(rate * (end - start))
    gradient = rose.grad(growth, (0, 1, 2))(rate, end, start)
    assert gradient == pytest.approx(((end - start) * y, rate * y, -rate * y), rel=1e-9)
    assert rose.jvp(growth, (rate, end, start), (1.0, 0.0, 0.0))[1] == pytest.approx((end - start) * y, rel=1e-9)
    assert rose.hessian(growth)(rate, end, start) == pytest.approx((end - start) ** 2 * y, rel=1e-8)
    rates = np.array([0.1, 0.8])
    slopes = rose.vmap(rose.grad(growth), (0, None, None))(rates, end, start)
    assert slopes == pytest.approx((end - start) * 2 * np.exp(rates * (end - start)), rel=1e-9)


def test_derivatives_between_the_steps():
    times = np.linspace(0, 10, 21)

    def total(a):
        found = rose.solve_ivp(
            lotka_volterra, (0.0, 10.0), np.array([1.0, 2.0]), t_eval=times, args=(a, 0.7), rtol=1e-9, atol=1e-9
        )
        return found.y[0].sum()

    h = 1e-4
    value = rose.jit(total)
    assert rose.grad(total)(1.5) == pytest.approx((value(1.5 + h) - value(1.5 - h)) / (2 * h), rel=1e-4)
    slope = rose.grad(total)
    assert rose.hessian(total)(1.5) == pytest.approx((slope(1.5 + h) - slope(1.5 - h)) / (2 * h), rel=1e-4)


FAILURES = {
    "blows up": (lambda: rose.solve_ivp(lambda t, y: y * y, (0.0, 2.0), 1.0), -1),
    "no number": (lambda: rose.solve_ivp(lambda t, y: math.sqrt(0.5 - t) + y, (0.0, 1.0), 1.0), -1),
    "no number at the start": (lambda: rose.solve_ivp(lambda t, y: math.sqrt(-1 - y * y), (0.0, 1.0), 1.0), -2),
    "too many steps": (lambda: rose.solve_ivp(lambda t, y: -1e5 * y, (0.0, 1.0), 1.0, max_steps=100), -3),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_is_a_status_and_no_number(failure):
    run, status = FAILURES[failure]
    found = run()
    assert (found.success, found.status) == (False, status)
    assert math.isnan(found.y[-1])
    assert found.message


def test_wrong_calls_are_refused():
    with pytest.raises(rose.RoseValueError, match=r"has no method 'LSODA'(.|\n)*Rodas5P"):
        rose.solve_ivp(lambda t, y: y, (0.0, 1.0), 1.0, method="LSODA")
    with pytest.raises(rose.StagingTypeError, match="1 derivatives for a state of 2 numbers"):
        rose.solve_ivp(lambda t, y: y[0], (0.0, 1.0), np.ones(2))
    with pytest.raises(rose.RoseValueError, match="limit of steps"):
        rose.solve_ivp(lambda t, y: -1e5 * y, (0.0, 1.0), 1.0, max_steps=9, raise_on_failure=True)


def test_integers_are_times_and_states():
    found = rose.solve_ivp(lambda t, y: (y[1], -y[0]), (0, 2), (1, 0), t_eval=[0, 1, 2], rtol=1e-9, atol=1e-9)
    assert found.y[0] == pytest.approx(np.cos([0, 1, 2]), abs=1e-7)
    found = rose.solve_ivp(lambda t, y: -y, (0, 2), np.array([1, 2]), t_eval=np.arange(3))
    assert found.y.shape == (2, 3)


def test_an_empty_interval():
    found = rose.solve_ivp(lambda t, y: y, (1.0, 1.0), 3.0)
    assert found.success
    assert found.y.tolist() == [3.0, 3.0]


def final(rate: float, speed: float) -> float:
    found = rose.solve_ivp(lambda t, y: (y[1], -rate * math.sin(y[0])), (0.0, 3.0), (1.0, speed))
    return rose.root(lambda x: x * x * x + x - found.y[0][-1], 0.1).x


def test_node_gives_the_same_bits(tmp_path):
    """A pendulum, and a root of where it ends: values and gradients, in one module."""
    value = rose.jit(final)
    functions = {"value": value, "gradient": rose.grad(value, (0, 1))}
    rose.export(functions, 1.2, 0.3, path=tmp_path / "out")
    calls = [(1.2, 0.3), (0.4, -1.0)]
    jobs = [(tmp_path / "out" / "out.mjs", name, f, call) for name, f in functions.items() for call in calls]
    found = machine.results(tmp_path, jobs)
    known = [np.atleast_1d(f(*call)).tolist() for f in functions.values() for call in calls]
    assert found is None or [machine.bits(each) for each in found] == [machine.bits(each) for each in known]
