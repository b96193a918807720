"""What runs in the pages beside this file, exported with its optimisers and solvers: billiards, a walking robot, a
diagram, a ball that bounces into a cup, hares and lynxes.

`build(folder)` writes `billiards/`, `robot/`, `diagram/`, `ball/` and `hares/`, and the first module of the page that
compiles by itself. `python -m rosejit demo` does that and serves the pages.
"""

import math
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec

sys.path.insert(0, str(Path(__file__).parents[1]))

import billiards
import bouncing_ball
import lynx_and_hare
import robot

sys.path.insert(0, str(Path(__file__).parent))

import live

# --- billiards


class Shot(NamedTuple):
    """Where the cue ball starts, and how fast."""

    cue: Vec[2]
    push: Vec[2]


@rose.jit
def miss(shot: Shot, goal: Vec[2], target: int) -> float:
    """The squared distance of the ball `target` from the goal, in the end."""
    balls = billiards.table(shot.cue, shot.push)
    for _ in rose.range(billiards.STEPS):
        balls = billiards.step(balls)
    ends = np.zeros((billiards.BALLS, 2))
    for k, ball in enumerate(balls):
        ends[k] = [ball.at.x, ball.at.y]
    missed = ends[target] - goal
    return missed @ missed


aim = rose.optim.gradient_descent(miss, billiards.RATE, steps=100, tolerance=1e-5, progress=True)


@rose.jit
def play(shot: Shot) -> Mat[..., 2]:
    """Where every ball is at every time, one row a ball and time."""
    return billiards.watch(shot.cue, shot.push).reshape(-1, 2)


# --- the robot


@rose.jit(static_argnames="walker")
def improved(walker: robot.Robot, w: robot.Weights) -> tuple[float, robot.Weights]:
    """How far it has not come, and the weights a step of fixed length further."""
    value, slope = rose.value_and_grad(robot.loss, argnums="w")(walker, w)
    size = 1e-12
    for part in slope:
        size += (part * part).sum()
    scale = 0.2 / math.sqrt(size)
    return value, robot.Weights(*[p - scale * d for p, d in zip(w, slope, strict=True)])


def robots():
    """Functions for each robot, and what the page has to know to draw it."""
    functions = {}
    for name in ("A", "B", "C", "D"):
        walker = robot.Robot(name)
        functions[f"improve{name}"] = (improved, walker, robot.first_weights(walker))
        functions[f"walk{name}"] = (robot.watch, walker, robot.first_weights(walker))
        functions[f"start{name}"] = (start, walker)
        functions[f"springs{name}"] = (springs, walker)
    return functions


@rose.jit(static_argnames="walker")
def start(walker):
    """The first weights."""
    return robot.first_weights(walker)


@rose.jit(static_argnames="walker")
def springs(walker):
    """From where to where, and how much its length can change: that of muscles can."""
    return np.column_stack([walker.ends.astype(float), walker.actuation])


# --- a diagram

NAMES = ("Python", "staging", "IR", "jvp", "unzip", "transpose", "Wasm", "page", "cache", "engine")
RADII = np.array([46.0, 40.0, 34.0, 28.0, 30.0, 40.0, 36.0, 32.0, 30.0, 36.0])
ARROWS = np.array([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 2), (2, 6), (6, 7), (6, 8), (8, 9), (6, 9)])
SIZE = np.array([800.0, 600.0])
WIDTHS = np.array([6.0 * len(name) for name in NAMES])
"""Half the width of each label."""
GAP, ARROW = 26.0, 70.0


class Layout(NamedTuple):
    """Centres of circles, and of the labels beside them."""

    circles: Mat["n", 2]
    labels: Mat["n", 2]


def over(x):
    """How far above zero, squared."""
    return max(x, 0.0) ** 2


@rose.jit
def gap(a: Vec[2], b: Vec[2], sizes: float, widths: float) -> float:
    """What is free between two shapes that take `sizes` in all directions, and `widths` more from side to side."""
    d = a - b
    distance = math.sqrt(d @ d + 1e-6)
    return distance - sizes - widths * abs(d[0]) / distance


@rose.jit
def energy(x: Layout, held: int, at: Vec[2]) -> float:
    """Arrows of one length, nothing overlaps, labels at their circles, all inside; `held` is where the hand is."""
    total = 0.0
    n = len(RADII)
    for k in rose.range(len(ARROWS)):
        a, b = ARROWS[k]
        total += 0.02 * (gap(x.circles[a], x.circles[b], RADII[a] + RADII[b], 0.0) - ARROW) ** 2
        for i in rose.range(n):
            for part in (0.35, 0.5, 0.65):
                on = part * x.circles[a] + (1 - part) * x.circles[b]
                total += 0.3 * over(-gap(x.labels[i], on, 18.0, WIDTHS[i]))
                if i != a and i != b:
                    total += over(18.0 - gap(x.circles[i], on, RADII[i], 0.0))
    for i in rose.range(n):
        for j in rose.range(n):
            if j < i:
                total += over(GAP - gap(x.circles[i], x.circles[j], RADII[i] + RADII[j], 0.0))
                total += over(-gap(x.labels[i], x.labels[j], 24.0, WIDTHS[i] + WIDTHS[j]))
            if j != i:
                total += over(-gap(x.labels[i], x.circles[j], RADII[j] + 18.0, WIDTHS[i]))
        total += 0.5 * (gap(x.labels[i], x.circles[i], RADII[i] + 14.0, WIDTHS[i])) ** 2
        for k in range(2):
            room = (WIDTHS[i] if k == 0 else 0.0) + 16.0
            total += over(RADII[i] + 8.0 - x.circles[i, k]) + over(x.circles[i, k] + RADII[i] + 8.0 - SIZE[k])
            total += over(room - x.labels[i, k]) + over(x.labels[i, k] + room - SIZE[k])
    if held >= 0:
        pull = x.circles[held] - at
        total += 100.0 * (pull @ pull)
    return total


layout = rose.optim.lbfgs(energy, steps=200, tolerance=1e-3)


@rose.jit
def described():
    """The names, radii and arrows of the diagram, and its size."""
    return NAMES, RADII.copy(), ARROWS.astype(float), SIZE.copy()


# --- a ball


@rose.jit
def throw_into(cup: float, bounce: float):
    """The angle of a throw that ends in a cup, whether there is one, and where each flight leads."""
    found = rose.root(lambda angle: bouncing_ball.throw(angle, bounce)[0] - cup, bracket=(0.9, 1.5))
    return found.x, found.success, bouncing_ball.throw(found.x, bounce)[1]


@rose.jit
def thrown(angle: float, bounce: float):
    """Where a throw ends, how much further that is for each radian, and where its flights lead."""
    (end, flights), (further, _) = rose.jvp(lambda at: bouncing_ball.throw(at, bounce), (angle,), (1.0,))
    return end, further, flights


# --- hares and lynxes


class Fit(NamedTuple):
    """What fits best: logarithms of rates and of first populations, half the squared misfit, and the iterations."""

    x: Vec[6]
    cost: float
    success: bool
    nit: int


@rose.jit
def fitted(start: Vec[6], hares: Vec["n"], lynxes: Vec["n"]) -> Fit:
    """The equations that fit numbers of animals best, searched from a guess."""
    found = rose.least_squares(lambda p: misfit(p, hares, lynxes), start)
    return Fit(found.x, found.cost, found.success, found.nit)


def misfit(p, hares, lynxes):
    """How far the logarithms of both populations are from those of the numbers."""
    found = lynx_and_hare.populations(p, lynx_and_hare.YEARS)
    return np.log(found[0]) - np.log(hares), np.log(found[1]) - np.log(lynxes)


@rose.jit
def curves(p: Vec[6], hares: Vec["n"], lynxes: Vec["n"]):
    """Both populations at 201 times of the 20 years, and half the squared misfit."""
    apart = np.concatenate(misfit(p, hares, lynxes))
    return lynx_and_hare.populations(p, np.linspace(0.0, 20.0, 201)), 0.5 * (apart @ apart)


@rose.jit
def pelts():
    """What was counted."""
    return lynx_and_hare.HARES.copy(), lynx_and_hare.LYNXES.copy()


# --- files


def build(folder):
    """Write all modules."""
    shot = Shot(np.array([0.1, 0.5]), np.array([0.3, 0.0]))
    goal = np.array(billiards.GOAL)
    rose.export({"aim": (aim, shot, goal, 10), "play": (play, shot)}, path=Path(folder) / "billiards")
    rose.export(robots(), path=Path(folder) / "robot")
    places = Layout(np.zeros((len(RADII), 2)), np.zeros((len(RADII), 2)))
    entries = {"layout": (layout, places, -1, np.zeros(2)), "energy": (energy, places, -1, np.zeros(2))}
    rose.export({**entries, "described": (described,)}, path=Path(folder) / "diagram")
    rose.export({"aim": (throw_into, 4.0, 0.8), "thrown": (thrown, 1.2, 0.8)}, path=Path(folder) / "ball")
    counted = pelts()
    entries = {"fitted": (fitted, np.zeros(6), *counted), "curves": (curves, np.zeros(6), *counted), "pelts": (pelts,)}
    rose.export(entries, path=Path(folder) / "hares")
    (Path(folder) / "quadratic").mkdir(exist_ok=True)
    (Path(folder) / "quadratic" / "start.wasm").write_bytes(live.Live().compiled("x^y"))


if __name__ == "__main__":
    build(sys.argv[1] if len(sys.argv) > 1 else "build/web")
