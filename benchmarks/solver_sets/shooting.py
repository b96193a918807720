"""Optimal control by single shooting: torques or forces, constant on 20 intervals, that bring a machine to rest where
it is wanted with the least energy.

The pendulum of `examples/pendulum.py`, whose motor is too weak to lift it, and a pole on a cart that is swung up in 2 s
while the cart comes 1 m further (Kelly 2017, "An introduction to trajectory optimization", section 6), from several
guesses. The end is a function of all controls, far from linear: the Lagrangian bends downwards along many directions.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import rosejit as rose

INTERVALS = 20


class Task(NamedTuple):
    """A machine at rest, where it should be at rest in the end, and the most that the motor gives."""

    name: str
    motion: Callable[[Any, Any], Any]
    start: tuple[float, ...]
    goal: tuple[float, ...]
    time: float
    limit: float
    guess: Any

    def energy(self, controls: Any) -> Any:
        """What is to be least."""
        return (controls * controls).sum() * self.time / INTERVALS

    def missed(self, controls: Any) -> Any:
        """How far from the goal it is in the end: four steps of Runge and Kutta in each interval."""
        h, state = self.time / INTERVALS / 4, np.array(self.start)
        for k in rose.range(INTERVALS):
            for _ in rose.range(4):
                a = self.motion(state, controls[k])
                b = self.motion(state + h / 2 * a, controls[k])
                c = self.motion(state + h / 2 * b, controls[k])
                state = state + h / 6 * (a + 2 * b + 2 * c + self.motion(state + h * c, controls[k]))
        return state - np.array(self.goal)


def pendulum(state: Any, torque: Any) -> Any:
    """Angle and speed of 1 kg at 1 m, with friction."""
    angle, speed = state
    return np.array([speed, torque - 9.81 * math.sin(angle) - 0.1 * speed])


def cart_pole(state: Any, force: Any) -> Any:
    """Place and angle, and their speeds: a cart of 1 kg, a pole of 0.5 m with 0.3 kg at its end."""
    _, angle, speed, turning = state
    s, c = math.sin(angle), math.cos(angle)
    whole = 1.0 + 0.3 * s * s
    pull = 0.15 * s * turning * turning + force
    return np.array([speed, turning, (pull + 0.3 * 9.81 * c * s) / whole, -(c * pull + 1.3 * 9.81 * s) / (0.5 * whole)])


_RNG = np.random.default_rng(0)
TASKS = (
    *[
        Task(f"pendulum, {name}", pendulum, (0.0, 0.0), (math.pi, 0.0), 4.0, 4.0, guess)
        for name, guess in (
            ("as the example", 4.0 * np.sin(3.0 * np.linspace(0.0, 4.0, INTERVALS))),
            ("a quarter of that", np.sin(3.0 * np.linspace(0.0, 4.0, INTERVALS))),
            ("constant", np.full(INTERVALS, 0.1)),
        )
    ],
    *[
        Task(f"cart-pole, {name}", cart_pole, (0.0,) * 4, (1.0, math.pi, 0.0, 0.0), 2.0, 20.0, guess)
        for name, guess in (
            ("a sine", np.sin(3.0 * np.linspace(0.0, 2.0, INTERVALS))),
            ("constant", np.full(INTERVALS, 0.1)),
            ("a large sine", 10.0 * np.sin(5.0 * np.linspace(0.0, 2.0, INTERVALS))),
            ("random", 5.0 * _RNG.normal(size=INTERVALS)),
            ("random, large", 10.0 * _RNG.normal(size=INTERVALS)),
        )
    ],
)
