"""A pendulum that is swung up by a motor too weak to lift it: optimal control by shooting.

The motor's torque is constant on each of 20 intervals. What is sought are the torques that leave the pendulum upright
and at rest, with the least energy, none of them above the limit: bounds, two equalities, and a simulation inside both
objective and constraints. Draws `pendulum.svg`: the swing, and the torques.
"""

import math
from pathlib import Path

import numpy as np

import rosejit as rose

INTERVALS, TIME = 20, 4.0
LIMIT = 4.0
"""The most that the motor gives, in newton metres; 9.81 would hold the rod of 1 m and 1 kg level."""


def motion(state, torque):
    angle, speed = state
    return np.array([speed, torque - 9.81 * math.sin(angle) - 0.1 * speed])


def step(state, torque, h):
    """One step of the method of Runge and Kutta."""
    a = motion(state, torque)
    b = motion(state + h / 2 * a, torque)
    c = motion(state + h / 2 * b, torque)
    return state + h / 6 * (a + 2 * b + 2 * c + motion(state + h * c, torque))


@rose.jit
def swing(torques):
    """Angle and speed at the ends of all intervals, from hanging at rest."""
    state, states = np.zeros(2), np.zeros((INTERVALS + 1, 2))
    for k in rose.range(INTERVALS):
        for _ in rose.range(4):
            state = step(state, torques[k], TIME / INTERVALS / 4)
        states[k + 1] = state
    return states


def energy(torques):
    return (torques * torques).sum() * TIME / INTERVALS


def upright(torques):
    """Zero where the pendulum ends upright and at rest."""
    angle, speed = swing(torques)[-1]
    return [angle - math.pi, speed]


@rose.jit
def best(limit, guess):
    return rose.optim.minimize(energy, guess, bounds=(-limit, limit), constraints={"type": "eq", "fun": upright})


def drawing(states, torques):
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="-130 -130 700 260" width="1050">']
    lines.append('<rect x="-130" y="-130" width="700" height="260" fill="#fff"/>')
    for k, (angle, _) in enumerate(states):
        x, y, shade = 110 * math.sin(angle), 110 * math.cos(angle), 0.15 + 0.85 * k / INTERVALS
        lines.append(f'<line x1="0" y1="0" x2="{x:.1f}" y2="{y:.1f}" stroke="#adb5bd" stroke-opacity="{shade:.2f}"/>')
        lines.append(f'<circle class="bob" cx="{x:.1f}" cy="{y:.1f}" r="6" fill="#3b5bdb" fill-opacity="{shade:.2f}"/>')
    for y in (-100, 0, 100):
        lines.append(f'<line x1="150" y1="{y}" x2="550" y2="{y}" stroke="#ced4da"/>')
    for k, torque in enumerate(torques):
        top, height = min(0.0, -100 * torque / LIMIT), abs(100 * torque / LIMIT)
        colour = "#d6336c" if abs(torque) == LIMIT else "#f783ac"
        lines.append(
            f'<rect class="torque" x="{150 + 20 * k}" y="{top:.1f}" width="18" height="{height:.1f}" fill="{colour}"/>'
        )
    return "\n".join([*lines, "</svg>\n"])


if __name__ == "__main__":
    pushes = LIMIT * np.sin(3.0 * np.linspace(0.0, TIME, INTERVALS))  # to and fro, about as fast as it swings
    found = best(LIMIT, pushes)
    print(f"{found.nit} steps, {found.nfev} simulations: energy {found.fun:.6f}, misses by {found.maxcv:.0e}")
    assert found.success
    assert np.abs(found.x).max() <= LIMIT
    states = swing(found.x)
    assert np.allclose(states[-1], [math.pi, 0.0], atol=1e-5)
    print(f"{(np.abs(found.x) == LIMIT).sum()} of {INTERVALS} torques are at the limit")

    by_limit = rose.grad(lambda limit: best(limit, found.x).fun)(LIMIT)
    difference = (best(LIMIT + 1e-3, found.x).fun - best(LIMIT - 1e-3, found.x).fun) / 2e-3
    print(f"a stronger motor saves {-by_limit:.4f} for each newton metre (by differences {-difference:.4f})")
    assert abs(by_limit - difference) < 1e-2 * abs(by_limit)

    Path("pendulum.svg").write_text(drawing(states, found.x))
