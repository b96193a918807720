"""Methods, dense output and events of differential equations beside SciPy's and closed forms; their derivatives."""

import math
import resource
import sys

import numpy as np
import pytest
from scipy import integrate

import rosejit as rose
from tests.export import machine

METHODS = ("RK23", "RK45", "DOP853", "Tsit5", "Rodas5P")
PREY = np.array([1.0, 2.0])


def lotka_volterra(t, y, a):
    return np.array([a * y[0] - y[0] * y[1], y[0] * y[1] - y[1]])


def ball(t, y):
    return np.array([y[1], -9.81])


def ground(t, y):
    return y[0]


def apex(t, y):
    return y[1]


def robertson(k):
    def slope(t, y):
        a, b, c = k * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
        return np.array([b - a, a - b - c, c])

    return slope


@pytest.mark.parametrize("method", METHODS[:3])
def test_explicit_methods_take_the_steps_of_scipy(method):
    given = {"args": (1.5,), "rtol": 1e-6, "atol": 1e-8, "first_step": 0.01, "max_step": 0.4, "dense_output": True}
    found = rose.solve_ivp(lotka_volterra, (5.0, 0.0), PREY, method, **given)
    known = integrate.solve_ivp(lotka_volterra, (5.0, 0.0), PREY, method, **given)
    assert found.y[:, -1] == pytest.approx(known.y[:, -1], rel=1e-11)
    assert found.sol.ts == pytest.approx(known.sol.ts, rel=1e-9, abs=1e-9)
    times = np.linspace(0.0, 5.0, 12)
    assert found.sol(times) == pytest.approx(known.sol(times), rel=1e-10)
    assert found.sol(1.25) == pytest.approx(known.sol(1.25), rel=1e-10)
    assert (found.njev, found.nlu, found.nit) == (0, 0, len(known.t) - 1 + (found.nit - len(found.sol.ts) + 1))


@pytest.mark.parametrize("method", METHODS[2:])
def test_the_order_of_a_method_and_of_its_interpolant(method):
    """Errors of fixed steps fall with the power of the step that the method promises, between the steps too."""

    def errors(h):
        times = np.linspace(0.0, 2.0, 9)
        given = {"rtol": 1e30, "atol": 1e30, "first_step": h, "max_step": h}
        found = rose.solve_ivp(
            lambda t, y: np.array([y[1], math.cos(t) - 2 * y[0]]), (0.0, 2.0), START, method, times, **given
        )
        exact = np.cos(times) + 0.5 * np.sin(np.sqrt(2) * times)
        return abs(found.y[0] - exact)[[8, 1]]

    START = np.array([1.0, 0.5 * math.sqrt(2)])
    end, inside = np.log2(errors(0.4) / errors(0.2))
    order = {"DOP853": 8, "Tsit5": 5, "Rodas5P": 5}[method]
    assert order - 0.6 < end < order + 1.5
    assert inside > order - 1.6


def test_stiff_equations():
    """Robertson's reaction to t = 1e5, beside SciPy's Radau at tighter tolerances; the gradient beside differences."""

    def end(k):
        found = rose.solve_ivp(
            robertson(k), (0.0, 1e5), np.array([1.0, 0.0, 0.0]), "Rodas5P", rtol=1e-8, atol=[1e-10, 1e-14, 1e-10]
        )
        return found.y[:, -1], found.nit

    compiled = rose.jit(end)
    y, steps = compiled(0.04)
    known = integrate.solve_ivp(
        robertson(0.04), (0.0, 1e5), [1.0, 0.0, 0.0], "Radau", rtol=1e-10, atol=[1e-12, 1e-16, 1e-12]
    )
    assert y == pytest.approx(known.y[:, -1], rel=1e-6)
    assert steps < 400
    gradient = rose.grad(lambda k: end(k)[0][0])(0.04)
    assert gradient == pytest.approx((compiled(0.0401)[0][0] - compiled(0.0399)[0][0]) / 2e-4, rel=1e-4)
    found = rose.odeint(robertson(0.04), np.array([1.0, 0.0, 0.0]), [0.0, 40.0], tfirst=True, rtol=1e-8, atol=1e-10)
    assert found[1] == pytest.approx([0.7158270688, 9.185534765e-6, 0.2841637457], rel=1e-6)


def swing(method):
    """A pendulum with everything: its state at times, between steps and at an event, as a number."""

    def value(length, speed):
        def through(t, y):
            return y["angle"] - 0.1

        through.direction = -1
        found = rose.solve_ivp(
            lambda t, y: {"angle": y["rate"], "rate": -math.sin(y["angle"]) / length},
            (0.0, 3.0),
            {"angle": 1.0, "rate": speed},
            method,
            t_eval=np.array([0.5, 2.5]),
            dense_output=True,
            events=through,
            rtol=1e-9,
            atol=1e-9,
            max_steps=300,
        )
        state = found.y_events[0]
        return found.y["angle"].sum() + found.sol(1.7)["rate"] + found.t_events[0][0] * state["rate"][0]

    return value


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Rodas5P"])
def test_derivatives_of_all_that_a_solution_gives(method):
    """Beside differences; with RK45 order two, forward mode and batches too."""
    value = rose.jit(swing(method))
    gradient, h = rose.grad(value, (0, 1)), 1e-4
    at = (0.9, 0.3)
    slopes = gradient(*at)
    steps = [(value(at[0] + h, at[1]) - value(at[0] - h, at[1])) / (2 * h)]
    steps.append((value(at[0], at[1] + h) - value(at[0], at[1] - h)) / (2 * h))
    assert slopes == pytest.approx(steps, rel=2e-5)
    if method == "RK45":
        assert rose.jvp(value, at, (1.0, 0.0))[1] == pytest.approx(slopes[0], rel=1e-11)
        curve = (gradient(at[0] + h, at[1])[0] - gradient(at[0] - h, at[1])[0]) / (2 * h)
        assert rose.hessian(value)(*at) == pytest.approx(curve, rel=1e-4)
        batch = rose.vmap(gradient, (0, None))(np.array([0.8, 0.9]), 0.3)
        assert (batch[0][1], batch[1][1]) == pytest.approx(slopes, rel=1e-12)


def test_node_gives_the_same_bits(tmp_path):
    value = rose.jit(swing("DOP853"))
    stiff = rose.jit(swing("Rodas5P"))
    functions = {"value": value, "gradient": rose.grad(value, (0, 1)), "stiff": stiff}
    rose.export(functions, 0.9, 0.3, path=tmp_path / "out")
    jobs = [(tmp_path / "out" / "out.mjs", name, f, (0.8, 0.1)) for name, f in functions.items()]
    found = machine.results(tmp_path, jobs)
    known = [np.atleast_1d(f(0.8, 0.1)).tolist() for f in functions.values()]
    assert found is None or [machine.bits(each) for each in found] == [machine.bits(each) for each in known]


def marked(event, terminal=False, direction=0):
    def made(t, y):
        return event(t, y)

    made.terminal, made.direction = terminal, direction
    return made


def angle(t, y):
    return np.array([y[1], -y[0]])


EVENTS = {
    "falls through the ground": (ball, (0.0, 10.0), [1.0, 5.0], [marked(ground, True, -1), marked(apex)]),
    "many": (
        angle,
        (0.0, 20.0),
        [1.0, 0.0],
        [marked(ground), marked(ground, direction=1), marked(ground, direction=-1)],
    ),
    "the third ends it": (angle, (0.0, 20.0), [1.0, 0.0], [marked(ground, terminal=3), marked(apex)]),
    "backwards": (angle, (20.0, 3.0), [1.0, 0.0], [marked(ground, direction=1), marked(apex, terminal=4)]),
    "at once": (angle, (0.0, 2.0), [0.0, 1.0], [marked(ground), marked(apex)]),
    "at once and the end": (angle, (0.0, 2.0), [0.0, 1.0], [marked(ground, terminal=True)]),
    "never": (angle, (0.0, 2.0), [1.0, 0.0], [marked(lambda t, y: y[0] + 2.0, terminal=True)]),
    "by time": (angle, (0.0, 2.0), [1.0, 0.0], [marked(lambda t, y: t - 0.75, terminal=True)]),
    "two in one step": (
        ball,
        (0.0, 9.0),
        [1.0, 5.0],
        [marked(lambda t, y: t - 0.2), marked(lambda t, y: t - 0.1, True)],
    ),
}


@pytest.mark.parametrize("name", EVENTS)
def test_events_are_those_of_scipy(name):
    f, span, y0, events = EVENTS[name]
    times = np.linspace(*span, 7)
    given = {"rtol": 1e-6, "atol": 1e-8, "events": events, "dense_output": True}
    found = rose.solve_ivp(f, span, np.array(y0), "RK45", times, **given)
    known = integrate.solve_ivp(f, span, np.array(y0), "RK45", times, **given)
    assert (found.status, found.success, found.nfev) == (known.status, known.success, known.nfev)
    assert [len(each) for each in found.t_events] == [len(each) for each in known.t_events]
    for ours, theirs in zip(found.t_events, known.t_events, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)
    for ours, theirs in zip(found.y_events, known.y_events, strict=True):
        assert ours.ravel() == pytest.approx(np.ravel(theirs), rel=1e-10, abs=1e-10)
    reached = len(known.t)
    assert found.y[:, :reached] == pytest.approx(known.y, rel=1e-10, abs=1e-10)
    assert np.isnan(found.y[:, reached:]).all()
    assert found.sol.ts[-1] == pytest.approx(known.sol.ts[-1], rel=1e-12)


def test_derivatives_of_when_a_ball_lands():
    """Beside the closed form; after the last event there is none, in compiled code too."""

    def lands(speed, weight):
        found = rose.solve_ivp(
            lambda t, y: np.array([y[1], -weight]), (0.0, 9.0), np.array([1.0, speed]), events=marked(ground, True, -1)
        )
        return found.t_events[0][0] + 0.0 * found.t[-1], found.y[1, -1], found.t_events[0][1]

    def exact(v, g):
        return (v + np.sqrt(v * v + 2 * g)) / g

    v, g, h = 5.0, 9.81, 1e-4
    time, speed, after = rose.jit(lands)(v, g)
    assert (time, speed) == pytest.approx((exact(v, g), v - g * exact(v, g)), rel=1e-12)
    assert math.isnan(after)
    slopes = rose.grad(lambda v, g: lands(v, g)[0], (0, 1))(v, g)
    known = ((exact(v + h, g) - exact(v - h, g)) / (2 * h), (exact(v, g + h) - exact(v, g - h)) / (2 * h))
    assert slopes == pytest.approx(known, rel=1e-8)
    assert rose.grad(lambda v: lands(v, g)[1])(v) == pytest.approx(1 - g * slopes[0], rel=1e-10)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured in KiB")
def test_the_memory_of_a_gradient_is_that_of_the_root_of_its_steps():
    def end(rate, steps):
        found = rose.solve_ivp(
            lambda t, y: (y[1], -rate * y[0]), (0.0, 0.01 * steps), (1.0, 0.0), max_step=0.01, max_steps=300_000
        )
        return found.y[0][-1]

    gradient = rose.grad(end)
    gradient(1.3, 1e3)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert gradient(1.3, 2e5) == pytest.approx(-2e3 * math.sin(2e3 * math.sqrt(1.3)) / (2 * math.sqrt(1.3)), rel=1e-4)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8192


STATUSES = {
    "an event is no number": (-4, {"events": lambda t, y: math.sqrt(0.5 - t)}),
    "an event is no number at once": (-4, {"events": lambda t, y: math.sqrt(-1 - t)}),
    "an event is infinite later": (-4, {"events": lambda t, y: math.inf if t > 0.5 else -1.0}),
    "an event is no number in a step": (
        -4,
        {
            "events": lambda t, y: math.sqrt(abs(t - 0.6) - 0.05) * (t - 0.6),
            "first_step": 1.0,
            "rtol": 1.0,
            "atol": 1.0,
        },
    ),
    "the end is no number": (-2, {"t_span": (0.0, math.nan)}),
    "an end that is never reached": (-2, {"t_span": (0.0, math.inf)}),
    "infinite at the start": (-2, {"y0": math.inf}),
    "times in no order": (-5, {"t_eval": [0.5, 0.25]}),
    "times outside": (-5, {"t_eval": [0.5, 1.25]}),
    "a time that is no number": (-5, {"t_eval": [0.5, math.nan]}),
    "too many events": (-6, {"events": lambda t, y: math.sin(40 * t + 1), "max_events": 3, "max_step": 0.05}),
    "a limit": (-3, {"max_steps": 3, "max_step": 0.1, "dense_output": True}),
    "a stiff limit": (-3, {"max_steps": 3, "max_step": 0.1, "method": "Rodas5P"}),
}


@pytest.mark.parametrize("name", STATUSES)
def test_failures_are_statuses(name):
    status, given = STATUSES[name]
    found = rose.solve_ivp(lambda t, y: -y, **{"t_span": (0.0, 1.0), "y0": 1.0, **given})
    assert (found.success, found.status) == (False, status)
    assert math.isnan(found.y[-1])
    assert found.message


def test_stiff_failures_are_statuses():
    found = rose.solve_ivp(lambda t, y: y * y, (0.0, 2.0), 1.0, "Rodas5P")
    assert (found.status, math.isnan(found.y[-1])) == (-1, True)
    found = rose.solve_ivp(lambda t, y: math.sqrt(0.5 - t) - y, (0.0, 2.0), 1.0, "Rodas5P")
    assert (found.status, math.isnan(found.y[-1])) == (-1, True)


def test_wrong_options_are_refused():
    for given, words in (
        ({"first_step": 0.0}, "first_step"),
        ({"max_step": -1.0}, "max_step"),
        ({"rtol": math.nan}, "rtol"),
        ({"atol": -1e-6}, "atol"),
        ({"method": "Radau"}, "Rodas5P"),
        ({"method": "Euler"}, "knows no method 'Euler'"),
    ):
        with pytest.raises(rose.RoseValueError, match=words):
            rose.solve_ivp(lambda t, y: -y, (0.0, 1.0), 1.0, **given)
    with pytest.raises(rose.ShapeError, match="`atol` has 2 numbers for a state of 3"):
        rose.solve_ivp(lambda t, y: -y, (0.0, 1.0), np.ones(3), atol=[1e-6, 1e-6])
    with pytest.raises(rose.StagingTypeError, match="a function is needed, given int"):
        rose.solve_ivp(lambda t, y: -y, (0.0, 1.0), 1.0, events=3)
    with pytest.raises(rose.RoseValueError, match="not in order"):
        rose.odeint(lambda y, t: -y, 1.0, [0.0, 1.0, 0.5], raise_on_failure=True)


def test_odeint_is_that_of_scipy():
    def pendulum(y, t, b, c):
        return np.array([y[1], -b * y[1] - c * np.sin(y[0])])

    times, start = np.linspace(0, 10, 11), np.array([3.0, 0.0])
    known = integrate.odeint(pendulum, start, times, (0.25, 5.0), rtol=1e-11, atol=1e-11)
    assert rose.odeint(pendulum, start, times, (0.25, 5.0)) == pytest.approx(known, abs=1e-6)
    y = rose.odeint(lambda t, y: {"a": -y["a"]}, {"a": np.ones(2)}, times[:3], tfirst=True, method="DOP853")
    assert y["a"] == pytest.approx(np.exp(-times[:3])[:, None] * np.ones(2), abs=1e-7)
    rate = rose.grad(lambda k: rose.odeint(lambda y, t: -k * y, 1.0, [0.0, 1.0, 2.0])[1])
    assert rate(0.7) == pytest.approx(-math.exp(-0.7), rel=1e-6)


def test_what_runs_of_rosejit_is_not_looked_at_at_each_call():
    """What a user has written is: this program is 10 us slower otherwise, as long as it runs."""

    def slope(t, y):
        return -y

    compiled = rose.jit(lambda y: rose.solve_ivp(slope, (0.0, 1.0), y).y[-1])
    compiled(1.0)
    guards = [guard for each in compiled.known.values() for guard in each.guards]
    looked_at = [getattr(guard, "owner", None) for guard in guards]
    assert not [owner for owner in looked_at if getattr(owner, "__module__", "").startswith("rosejit")]
    assert guards
