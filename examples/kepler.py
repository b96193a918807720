"""A comet on its ellipse, found in two ways: by Kepler's equation, and by the law of gravity.

Kepler's equation E - e sin E = M has no solution in closed form: `rose.root` solves it, for many times at once, and its
derivatives are exact. The law of gravity is a differential equation, solved over one whole turn. Draws `kepler.svg`:
the comet at equal times, and the equal areas that its radius sweeps.
"""

import math
from pathlib import Path

import numpy as np

import rosejit as rose

AXIS, ECCENTRICITY = 17.834, 0.96714
"""Halley's comet: half the long axis in astronomical units; how far it is from a circle."""
TURN = 2 * math.pi * AXIS**1.5
"""The time of one turn where the sun's gravity is 1."""


def place(time, eccentricity):
    """Where the comet is so long after it was nearest to the sun, which is at the origin."""
    mean = time / AXIS**1.5
    turned = rose.root(lambda e: e - eccentricity * math.sin(e) - mean, math.pi).x
    return np.array(
        [
            AXIS * (math.cos(turned) - eccentricity),
            AXIS * math.sqrt(1 - eccentricity**2) * math.sin(turned),
        ]
    )


def pull(t, state):
    x, y, u, v = state
    cube = (x * x + y * y) ** 1.5
    return np.array([u, v, -x / cube, -y / cube])


@rose.jit
def integrated(times, eccentricity):
    """The same by the law of gravity, from the nearest point on."""
    near = AXIS * (1 - eccentricity)
    speed = math.sqrt((1 + eccentricity) / near)
    start = np.array([near, 0.0, 0.0, speed])
    return rose.solve_ivp(pull, (0.0, TURN), start, "DOP853", t_eval=times, rtol=1e-12, atol=1e-12).y[:2].T


def area(times, track):
    """What the radius sweeps between each two places (a sum of thin triangles)."""
    x, y = track.T
    thin = (x[:-1] * y[1:] - x[1:] * y[:-1]) / 2
    return thin.reshape(len(times), -1).sum(1)


def drawing(track, sectors):
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="-370 -70 400 140" width="1200">']
    lines.append('<rect x="-370" y="-70" width="400" height="140" fill="#0b1026"/>')
    for number, k in enumerate(range(0, len(track) - sectors, sectors)):
        fan = " ".join(f"{10 * x:.1f},{-10 * y:.1f}" for x, y in track[k : k + sectors + 1])
        colour = "#364fc7" if number % 2 else "#5c7cfa"
        lines.append(f'<polygon class="area" points="0,0 {fan}" fill="{colour}" fill-opacity="0.5"/>')
        x, y = track[k]
        lines.append(f'<circle class="comet" cx="{10 * x:.1f}" cy="{-10 * y:.1f}" r="2" fill="#fff"/>')
    return "\n".join([*lines, '<circle cx="0" cy="0" r="4" fill="#ffd43b"/>', "</svg>\n"])


if __name__ == "__main__":
    times = np.linspace(0.0, TURN, 12 * 200 + 1)
    track = rose.vmap(place, (0, None))(times, ECCENTRICITY)
    apart = np.abs(track - integrated(times, ECCENTRICITY)).max()
    print(f"{len(times)} places; the two ways differ by {apart:.1e} astronomical units")
    assert apart < 1e-6

    areas = area(range(12), rose.vmap(place, (0, None))(np.linspace(0.0, TURN, 12 * 2000 + 1), ECCENTRICITY))
    whole = math.pi * AXIS**2 * math.sqrt(1 - ECCENTRICITY**2)
    print(f"a twelfth of the time, a twelfth of the area: {areas.min() / whole:.6f} to {areas.max() / whole:.6f}")
    assert np.allclose(areas, whole / 12, rtol=1e-5)

    by_shape = rose.jacfwd(place, 1)(TURN / 3, ECCENTRICITY)
    by_shape_integrated = rose.jacfwd(lambda e: integrated(times, e)[800])(ECCENTRICITY)
    print(f"a third of the way round, by the eccentricity: {by_shape}")
    assert np.allclose(by_shape, by_shape_integrated, rtol=1e-5)

    Path("kepler.svg").write_text(drawing(track, 200))
