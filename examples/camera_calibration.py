"""Five photographs of a house: where the camera stood, its lens, and where the corners of the house are (bundle
adjustment).

Nothing is known but where each corner is seen in each picture, to a third of a pixel, and a rough guess. All 86
numbers are found in one fit, whose variables are dataclasses. The Jacobian says how sure the focal length is.
Draws `camera_calibration.svg`: the five pictures, with the corners as they were seen (rings) and as the fit has them.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import rosejit as rose
from rosejit import Mat

CORNERS = np.array(  # metres: walls 8 x 6 x 5, a roof up to 8, a door and a chimney
    [
        [-4, -3, 0], [4, -3, 0], [4, 3, 0], [-4, 3, 0], [-4, -3, 5], [4, -3, 5], [4, 3, 5], [-4, 3, 5],
        [-4, 0, 8], [4, 0, 8], [-0.6, -3, 0], [0.6, -3, 0], [-0.6, -3, 2.2], [0.6, -3, 2.2],
        [2, 1, 7], [2.8, 1, 7], [2, 1, 9], [2.8, 1, 9],
    ],
    dtype=float,
)  # fmt: skip
WALLS = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
ROOF = [(4, 8), (7, 8), (8, 9), (5, 9), (6, 9), (14, 16), (15, 17), (16, 17), (14, 15), (10, 12), (12, 13), (13, 11)]


@dataclass(frozen=True)
class Camera:
    focal: float
    """Pixels."""
    bulge: float
    """Radial distortion."""


@dataclass(frozen=True)
class Scene:
    camera: Camera
    turns: Mat["views", 3]
    """Rotation vectors of the views."""
    shifts: Mat["views", 3]
    corners: Mat["corners", 3]


@rose.jit
def seen(camera: Camera, turn, shift, corner):
    """The pixel where a corner is (Rodrigues' formula, perspective, distortion)."""
    angle = math.sqrt(turn @ turn)
    axis = turn / angle
    side = np.cross(axis, corner)
    at = math.cos(angle) * corner + math.sin(angle) * side + (1 - math.cos(angle)) * (axis @ corner) * axis + shift
    x, y = at[0] / at[2], at[1] / at[2]
    stretch = camera.focal * (1 + camera.bulge * (x * x + y * y))
    return stretch * x, stretch * y


def pictures(scene):
    """All pixels: views by corners by two."""
    return np.array(
        [[seen(scene.camera, t, s, c) for c in scene.corners] for t, s in zip(scene.turns, scene.shifts, strict=True)]
    )


def around(angle):
    """The view from 20 m away: a rotation vector, and where the house is for the camera."""
    right = np.array([math.cos(angle), math.sin(angle), 0.0])
    ahead = np.array([-math.sin(angle), math.cos(angle), -0.05])
    ahead /= np.linalg.norm(ahead)
    rotation = np.array([right, np.cross(ahead, right), ahead])
    turned = math.acos((np.trace(rotation) - 1) / 2)
    skew = (rotation - rotation.T) / (2 * math.sin(turned))
    return turned * np.array([skew[2, 1], skew[0, 2], skew[1, 0]]), -rotation @ (np.array([0, 0, 4]) - 20 * ahead)


@rose.jit
def adjusted(scene, measured):
    """The scene that explains the pictures best; what no picture tells, place and size of all, stays near the guess."""

    def residuals(found):
        rest = 1e-3 * (found.corners - scene.corners)
        return (pictures(found) - measured).ravel() / NOISE, rest.ravel()

    return rose.least_squares(residuals, scene)


NOISE = 0.3


def drawing(measured, fitted):
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1500 330" width="1500">']
    for view, (rings, dots) in enumerate(zip(measured, fitted, strict=True)):
        lines.append(f'<svg class="picture" x="{300 * view}" width="290" height="330" viewBox="-290 -330 580 660">')
        lines.append('<rect x="-290" y="-330" width="580" height="660" fill="#f1f3f5"/>')
        for a, b in WALLS + ROOF:
            (x, y), (u, v) = dots[a], dots[b]
            lines.append(f'<path d="M{x:.1f} {y:.1f} L{u:.1f} {v:.1f}" stroke="#868e96" stroke-width="2"/>')
        for x, y in rings:
            lines.append(
                f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="9" fill="none" stroke="#d6336c" stroke-width="2"/>'
            )
        for x, y in dots:
            lines.append(f'<circle class="corner" cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#364fc7"/>')
        lines.append("</svg>")
    return "\n".join([*lines, "</svg>\n"])


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    turns, shifts = (np.array(part) for part in zip(*[around(a) for a in (-0.9, -0.4, 0.0, 0.5, 1.0)], strict=True))
    truth = Scene(Camera(800.0, -0.12), turns, shifts, CORNERS)
    exact = rose.jit(pictures)(truth)
    measured = exact + NOISE * rng.normal(size=exact.shape)
    guess = Scene(
        Camera(700.0, 0.0),
        turns + 0.05 * rng.normal(size=turns.shape),
        shifts + 0.5 * rng.normal(size=shifts.shape),
        CORNERS + 0.3 * rng.normal(size=CORNERS.shape),
    )
    found = adjusted(guess, measured)
    off = np.sqrt(((rose.jit(pictures)(found.x) - measured) ** 2).mean())
    before = np.sqrt(((rose.jit(pictures)(guess) - measured) ** 2).mean())
    sure = math.sqrt(np.linalg.inv(found.jac.T @ found.jac)[0, 0])
    print(f"{found.nit} steps: pictures {before:.1f} pixels off, then {off:.3f} (they were measured to {NOISE})")
    print(f"focal length {found.x.camera.focal:.2f} +- {sure:.2f} pixels, distortion {found.x.camera.bulge:.4f}")
    assert found.success
    assert off < NOISE
    assert abs(found.x.camera.focal - 800.0) < 3 * sure
    Path("camera_calibration.svg").write_text(drawing(measured, rose.jit(pictures)(found.x)))
