"""`ba`: the errors of a bundle adjustment, and their sparse Jacobian row by row."""

from typing import Any, NamedTuple

import numpy as np

import rosejit as rose
from benchmarks.gradbench.task import Task
from rosejit import Array, Mat, Vec


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


@rose.jit
def rotate(r: Vec[3], y: Vec[3]) -> Vec[3]:
    """`y` turned about `r` by the length of `r`: Rodrigues."""
    squared = np.dot(r, r)
    if squared != 0.0:
        angle = np.sqrt(squared)
        axis = r / angle
        cos, sin = np.cos(angle), np.sin(angle)
        return y * cos + cross(axis, y) * sin + axis * (np.dot(axis, y) * (1.0 - cos))
    return y + cross(r, y)


@rose.jit
def project(camera: Vec[11], x: Vec[3]) -> Vec[2]:
    """Where a camera sees a point: rotation 0-2, centre 3-5, focal length 6, principal point 7-8, distortion 9-10."""
    z = rotate(camera[0:3], x - camera[3:6])
    p = z[0:2] / z[2]
    s = np.dot(p, p)
    return p * (1.0 + camera[9] * s + camera[10] * s * s) * camera[6] + camera[7:9]


@rose.jit
def reprojection(camera: Vec[11], x: Vec[3], w: float, feature: Vec[2]) -> Vec[2]:
    return w * (project(camera, x) - feature)


@rose.jit
def weight_error(w: float) -> float:
    return 1.0 - w * w


@rose.jit
def objective(cameras: Mat["n", 11], points: Mat["m", 3], w: Vec["p"], features: Mat["p", 2]):
    """All errors of reprojection, then those of the weights."""
    n, m = len(cameras), len(points)
    errors = [reprojection(cameras[i % n], points[i % m], w[i], features[i]) for i in rose.range(len(w))]
    return errors, [weight_error(w[i]) for i in rose.range(len(w))]


class Sparse(NamedTuple):
    """A matrix by compressed rows."""

    rows: Array["r", int]
    cols: Array["z", int]
    vals: Vec["z"]


@rose.jit
def jacobian(cameras: Mat["n", 11], points: Mat["m", 3], w: Vec["p"], features: Mat["p", 2]) -> Sparse:
    """Fifteen entries in each of the two rows of an observation, one in the row of its weight."""
    n, m, p = len(cameras), len(points), len(w)
    rows, cols, vals = np.zeros(3 * p + 1, int), np.zeros(31 * p, int), np.zeros(31 * p)
    for i in rose.range(p):
        camera, point = i % n, i % m
        _, pullback = rose.vjp(reprojection, cameras[camera], points[point], w[i], features[i])
        for row in range(2):
            d_camera, d_point, d_w, _ = pullback(np.eye(2)[row])
            at = 30 * i + 15 * row
            rows[2 * i + row + 1] = at + 15
            for j in range(11):
                cols[at + j], vals[at + j] = 11 * camera + j, d_camera[j]
            for j in range(3):
                cols[at + 11 + j], vals[at + 11 + j] = 11 * n + 3 * point + j, d_point[j]
            cols[at + 14], vals[at + 14] = 11 * n + 3 * m + i, d_w
    for i in rose.range(p):
        rows[2 * p + i + 1] = 30 * p + i + 1
        cols[30 * p + i] = 11 * n + 3 * m + i
        vals[30 * p + i] = rose.grad(weight_error)(w[i])
    return Sparse(rows, cols, vals)


def arguments(given: dict[str, Any]) -> tuple[Any, ...]:
    """The one camera, point, weight and feature that are given, as often as they are asked for."""
    n, m, p = given["n"], given["m"], given["p"]
    copies = ((given["cam"], n), (given["x"], m), (given["w"], p), (given["feat"], p))
    cameras, points, w, features = (np.array([value] * times, float) for value, times in copies)
    return cameras, points, w, features


def errors(found: tuple[Any, Any]) -> Any:
    reprojections, weights = found
    return {
        "reproj_error": {"elements": reprojections[0].tolist(), "repeated": len(reprojections)},
        "w_err": {"element": float(weights[0]), "repeated": len(weights)},
    }


def ends(matrix: Sparse) -> Any:
    """The first thirty entries and the last of each part, as the eval compares them."""
    return {name: [*part[:30].tolist(), part[-1].item()] for name, part in matrix._asdict().items()}


FUNCTIONS = {"objective": Task(objective, arguments, errors), "jacobian": Task(jacobian, arguments, ends)}
