"""A ball with air drag, thrown so that it bounces three times and then falls into a cup.

Each flight is a differential equation that ends where an event says so: the ball is on the floor. The search for the
throw goes through all three, so the times of the bounces are differentiated too. Draws `bouncing_ball.svg`: a throw
at a guess, and this one.
"""

import math
from pathlib import Path

import numpy as np

import rosejit as rose

CUP = 4.0
"""How far away the cup stands, in metres."""
BOUNCE = 0.8
"""The part of its upward speed that a ball keeps."""
SPEED = 6.0


def fall(t, state):
    """Places and velocities to their rates: gravity, and drag that grows as the square of the speed."""
    _, _, u, v = state
    drag = 0.02 * math.sqrt(u * u + v * v)
    return np.array([u, v, -drag * u, -9.81 - drag * v])


def floor(t, state):
    return state[1]


floor.terminal, floor.direction = True, -1


def flight(state):
    """The state where a flight ends, on the floor, and 41 places on the way."""
    found = rose.solve_ivp(fall, (0.0, 5.0), state, events=floor, rtol=1e-9, atol=1e-9)
    length = found.t_events[0][0]
    way = rose.solve_ivp(fall, (0.0, length), state, t_eval=np.linspace(0.0, 1.0, 41) * length, rtol=1e-9, atol=1e-9)
    return found.y_events[0][0], way.y[:2]


@rose.jit
def throw(angle, bounce):
    """Where the ball lands the fourth time, and the four flights."""
    state = np.array([0.0, 1.0, SPEED * math.cos(angle), SPEED * math.sin(angle)])
    flights = []
    for _ in range(4):
        state, way = flight(state)
        flights.append(way)
        x, _, u, v = state
        state = np.array([x, 0.0, u, -bounce * v])
    return x, flights


@rose.jit
def aim(cup, bounce):
    """The flattest angle that reaches a cup."""
    return rose.root(lambda angle: throw(angle, bounce)[0] - cup, bracket=(0.9, 1.5)).x


def drawing(flights, colours):
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 780 320" width="1170">']
    lines.append('<rect x="-10" y="-10" width="780" height="320" fill="#fff"/>')
    lines.append('<line x1="-10" y1="290" x2="770" y2="290" stroke="#868e96" stroke-width="2"/>')
    for ways, colour in zip(flights, colours, strict=True):
        for way in ways:
            points = " ".join(f"{100 * x:.1f},{290 - 100 * y:.1f}" for x, y in way.T)
            lines.append(f'<polyline class="flight" points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    x = 100 * CUP
    lines.append(
        f'<path class="cup" d="M{x - 8} 274 L{x - 6} 290 H{x + 6} L{x + 8} 274" fill="none"'
        ' stroke="#2b8a3e" stroke-width="3"/>'
    )
    return "\n".join([*lines, "</svg>\n"])


if __name__ == "__main__":
    angle = aim(CUP, BOUNCE)
    lands, flights = throw(angle, BOUNCE)
    print(f"thrown at {math.degrees(angle):.3f} degrees, it lands at {lands:.9f} m")
    assert abs(lands - CUP) < 1e-9

    by_cup, by_bounce = rose.grad(aim, (0, 1))(CUP, BOUNCE)
    print(f"a livelier ball is thrown {math.degrees(0.01 * by_bounce):+.3f} degrees for each hundredth")
    step = 1e-5
    differences = (
        (aim(CUP + step, BOUNCE) - aim(CUP - step, BOUNCE)) / (2 * step),
        (aim(CUP, BOUNCE + step) - aim(CUP, BOUNCE - step)) / (2 * step),
    )
    assert np.allclose((by_cup, by_bounce), differences, rtol=1e-5)

    Path("bouncing_ball.svg").write_text(drawing((throw(1.1, BOUNCE)[1], flights), ("#adb5bd", "#d6336c")))
