"""Least squares whose residuals read few of many numbers: a smoothing spline, a path from noisy steps, and a bundle of
photographs."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class SparseFit(NamedTuple):
    """The residuals of a vector, where to begin, and the pattern of their Jacobian: a row and a column an entry."""

    name: str
    residuals: Callable[..., Any]
    start: Any


def spline(count: int) -> SparseFit:
    """A curve through noisy heights, whose second differences are small, with few large ones: squares of residuals grow
    like these, so that there is one minimum."""
    rng = np.random.default_rng(1)
    t = np.linspace(0.0, 1.0, count)
    heights = np.sin(9.0 * t) + np.where(t > 0.6, 1.0, 0.0) + 0.1 * rng.normal(size=count)
    stiff = 30.0

    def residuals(x):
        bend = stiff * (x[2:] - 2.0 * x[1:-1] + x[:-2])
        return np.concatenate([x - heights, bend / np.sqrt(1.0 + np.sqrt(1.0 + bend * bend))])

    return SparseFit(f"spline of {count} knots", residuals, heights)


def path(count: int) -> SparseFit:
    """Places and headings of a robot from its steps, and from when it saw again where it was 50 steps before."""
    rng = np.random.default_rng(2)
    true = np.stack([np.cos(0.02 * np.arange(count)), np.sin(0.02 * np.arange(count)), 0.02 * np.arange(count)])
    first = np.concatenate([np.arange(count - 1), np.arange(0, count - 50, 10)])
    second = np.concatenate([np.arange(1, count), np.arange(50, count, 10)])

    def between(x, y, heading):
        dx, dy = x[second] - x[first], y[second] - y[first]
        c, s = np.cos(heading[first]), np.sin(heading[first])
        return np.stack([c * dx + s * dy, c * dy - s * dx, heading[second] - heading[first]])

    seen = between(*true) + 0.01 * rng.normal(size=(3, len(first)))

    def residuals(v):
        pose = v.reshape(3, count)
        held = np.array([pose[0, 0] - 1.0, pose[1, 0], pose[2, 0]])
        return np.concatenate([(between(pose[0], pose[1], pose[2]) - seen).ravel() / 0.01, held])

    start = true + 0.05 * rng.normal(size=true.shape)
    return SparseFit(f"path of {count} poses", residuals, start.ravel())


def bundle(cameras: int, points: int) -> SparseFit:
    """Turns and places of cameras, and the points that they see, from where these are in the photographs."""
    rng = np.random.default_rng(3)
    angle = 2.0 * np.pi * np.arange(cameras) / cameras
    turns = np.stack([np.zeros(cameras), angle, np.zeros(cameras)], 1)
    places = np.tile([0.0, 0.0, 6.0], (cameras, 1))
    world = rng.normal(size=(points, 3))
    camera = np.concatenate([np.arange(k, k + 4) % cameras for k in rng.integers(cameras, size=points)])
    point = np.repeat(np.arange(points), 4)

    def project(v):
        turn, place = v[: 3 * cameras].reshape(cameras, 3), v[3 * cameras : 6 * cameras].reshape(cameras, 3)
        w, p = turn[camera], v[6 * cameras :].reshape(points, 3)[point]
        square = (w * w).sum(axis=1) + 1e-12
        size = np.sqrt(square)
        one, other = np.sin(size) / size, (1.0 - np.cos(size)) / square
        cross = np.stack(
            [
                w[:, 1] * p[:, 2] - w[:, 2] * p[:, 1],
                w[:, 2] * p[:, 0] - w[:, 0] * p[:, 2],
                w[:, 0] * p[:, 1] - w[:, 1] * p[:, 0],
            ],
            1,
        )
        along = (w * p).sum(axis=1)
        turned = p * np.cos(size)[:, None] + cross * one[:, None] + w * (along * other)[:, None]
        seen = turned + place[camera]
        return 500.0 * seen[:, :2] / seen[:, 2:]

    true = np.concatenate([turns.ravel(), places.ravel(), world.ravel()])
    measured = project(true) + 0.5 * rng.normal(size=(len(camera), 2))
    guess = true + 0.03 * rng.normal(size=len(true))

    def residuals(v):
        return np.concatenate([(project(v) - measured).ravel(), 100.0 * (v[: 6 * cameras] - guess[: 6 * cameras])])

    return SparseFit(f"bundle of {cameras} cameras, {points} points", residuals, guess)


FITS = (spline(300), spline(3000), path(200), path(1000), bundle(8, 100), bundle(20, 500))
