"""A robot of masses and springs learns to walk: gradient descent through 681 steps of contacts and a neural network.

The second application of the Rose paper, after DiffTaichi, written with NumPy's own words. The losses of the first
iterations and every entry of the first gradient are compared with those of Taichi (f64) for the robots A and D. Writes
`robot.svg`: how robot D moves before and after training. `python examples/robot.py 20` trains for 20 iterations only.
"""

import json
import math
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec

DATA = Path(__file__).parent / "data"

DT = 0.004
STEPS = 681
GRAVITY = -4.8
DRAG = math.exp(-15 * DT)
GROUND = 0.1
GOAL = np.array([0.9, 0.2])
WAVES = 10
HIDDEN = 32

# Taichi 1.7 in f64, weights of `first_weights`. Contacts make later iterations chaotic: rounding decides.
LOSSES = {
    "A": (-0.2118618548838097, -0.17911824656543004, -0.20238877013336284, -0.1752416523328268),
    "D": (-0.20006545202808917, -0.19842528180071037, -0.2022191592315119, -0.20334268597533312, -0.20766911377936373),
}


class Weights(NamedTuple):
    """The controller: what the robot senses -> a hidden layer -> how far each spring is to change its length."""

    w1: Mat["hidden", "senses"]
    b1: Vec["hidden"]
    w2: Mat["springs", "hidden"]
    b2: Vec["springs"]


class Robot:
    """Masses, and the springs between them, from a file."""

    def __init__(self, name):
        spec = json.loads((DATA / "robots.json").read_text())[name]
        self.name = name
        self.objects = np.array(spec["objects"])
        self.ends = np.array([spring[:2] for spring in spec["springs"]], int)
        self.length, self.stiffness, self.actuation = np.array([spring[2:] for spring in spec["springs"]], float).T


def first_weights(robot):
    """Weights that look random and are the same everywhere."""
    senses, springs = WAVES + 4 * len(robot.objects) + 2, len(robot.ends)
    w1 = np.sin(np.arange(HIDDEN * senses) + 1.0) * 2 * math.sqrt(2 / (HIDDEN + senses))
    w2 = np.sin(np.arange(springs * HIDDEN) + 0.5) * 3 * math.sqrt(2 / (HIDDEN + springs))
    return Weights(w1.reshape(HIDDEN, senses), np.zeros(HIDDEN), w2.reshape(springs, HIDDEN), np.zeros(springs))


def senses(t, x, v):
    """What the robot knows: waves, where its parts are and how fast, and the way to the goal."""
    centre = x.mean(axis=0)
    waves = np.sin(10 * t + 2 * math.pi / WAVES * np.arange(WAVES))
    body = 0.05 * np.concatenate([x - centre, v], axis=1)
    return np.concatenate([waves, body.ravel(), GOAL - centre])


def pull(robot, x, act):
    """The change of velocity that the springs give to each mass."""
    change = np.zeros_like(x)
    for i in rose.range(len(act)):
        a, b = robot.ends[i]
        d = x[a] - x[b]
        length = np.linalg.norm(d) + 1e-4
        target = robot.length[i] * (1 + robot.actuation[i] * act[i])
        impulse = DT * (length - target) * robot.stiffness[i] / length * d
        change[a] -= impulse
        change[b] += impulse
    return change


def step(robot, w, t, x, v):
    """Places and velocities one time step later; what falls below the ground stops when it touches it."""
    hidden = np.tanh(w.w1 @ senses(t, x, v) + w.b1)
    act = np.tanh(w.w2 @ hidden + w.b2)
    free = DRAG * v + DT * np.array([0.0, GRAVITY]) + pull(robot, x, act)
    new_x, new_v = np.empty_like(x), np.empty_like(v)
    for k in rose.range(len(x)):
        if x[k, 1] + DT * free[k, 1] < GROUND and free[k, 1] < -1e-4:
            toi = -(x[k, 1] - GROUND) / free[k, 1]
            new_v[k] = 0.0
        else:
            toi = 0.0
            new_v[k] = free[k]
        new_x[k] = x[k] + toi * free[k] + (DT - toi) * new_v[k]
    return new_x, new_v


@rose.jit(static_argnames="robot")
def loss(robot: Robot, w: Weights) -> float:
    """How far the head has not come."""
    x, v = robot.objects.copy(), np.zeros_like(robot.objects)
    for t in rose.range(STEPS):
        x, v = step(robot, w, t * DT, x, v)
    return -x[0, 0]


@rose.jit(static_argnames="robot")
def watch(robot: Robot, w: Weights):
    """Where every mass is at every time."""
    x, v = robot.objects.copy(), np.zeros_like(robot.objects)
    places = np.zeros((STEPS + 1, *x.shape))
    for t in rose.range(STEPS + 1):
        places[t] = x
        x, v = step(robot, w, t * DT, x, v)
    return places


gradient = rose.value_and_grad(loss, argnums="w")


def train(robot, w, iterations):
    """Descend by steps of one length, with a bar that shows how far; the losses, and the weights that walk farthest."""
    losses, best = [], w
    spent = 0.0
    for k in range(iterations):
        started = time.process_time()
        y, d = gradient(robot, w)
        spent += time.process_time() - started
        best = w if y <= min(losses, default=y) else best
        losses.append(y)
        scale = 0.2 / (math.sqrt(sum(np.sum(part * part) for part in d)) + 1e-6)
        w = Weights(*(p - scale * dp for p, dp in zip(w, d, strict=True)))
        done = 30 * (k + 1) // iterations
        print(f"\r[{'#' * done}{'.' * (30 - done)}] {k + 1}/{iterations}   head at {-y:.4f}", end="", flush=True)
    print(f"\n{1e3 * spent / iterations:.1f} ms of CPU for each loss and gradient of {STEPS} steps")
    return losses, best


def check(name, iterations):
    """Train a robot and compare its losses, and all of its first gradient, with Taichi's."""
    robot = Robot(name)
    w = first_weights(robot)
    started = time.perf_counter()
    _, d = gradient(robot, w)
    print(f"robot {name}: first gradient after {time.perf_counter() - started:.2f} s; ", end="")
    print(f"{len(gradient.lower(robot, w).wasm):,} bytes of WebAssembly")
    expected = np.load(DATA / "robot_gradients.npz")[name]
    off = np.abs(np.concatenate([np.ravel(part) for part in d]) - expected).max() / np.abs(expected).max()
    print(f"  {len(expected):,} entries of the gradient agree within {off:.0e} of the largest")
    assert off < 1e-9

    losses, best = train(robot, w, iterations)
    for k, expected in enumerate(LOSSES[name]):
        print(f"  loss after {k} updates {losses[k]:.16f}   difference {abs(losses[k] - expected):.0e}")
        assert abs(losses[k] - expected) < 1e-8
    return robot, w, best, losses


def pose(robot, x, kind, origin):
    """The springs of a robot at one moment."""
    marks = []
    for (a, b), actuated in zip(robot.ends, robot.actuation > 0, strict=True):
        (x1, y1), (x2, y2) = ((p - origin) * (640, -640) for p in (x[a], x[b]))
        line = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        marks.append(f'<line class="{"muscle" if actuated else "bone"} {kind}" {line}/>')
    return marks


def draw(robot, runs, path):
    """Write one strip a run as an SVG file: the robot at five moments, and the way of its head."""
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 480" font-family="sans-serif">',
        "<style>.name{font-size:15px;font-weight:bold;fill:#223}.ground{stroke:#2b8a3e;stroke-width:3}",
        ".bone{stroke:#343a40;stroke-width:1.5}.muscle{stroke:#d6336c;stroke-width:3}.past{stroke-opacity:.16}",
        ".head{fill:none;stroke:#3b5bdb;stroke-width:2}</style>",
        '<rect width="660" height="480" fill="#fff"/>',
    ]
    for k, (title, places) in enumerate(runs):
        origin = np.array([0.0, GROUND])
        lines.append(f'<g class="run" transform="translate(10, {220 + 240 * k})">')
        lines.append(f'<text class="name" x="4" y="-196">{title}: head at {places[-1, 0, 0]:.3f}</text>')
        lines.append('<line class="ground" x1="0" y1="2" x2="640" y2="2"/>')
        for t in np.linspace(0, STEPS, 5).astype(int):
            lines += pose(robot, places[t], "now" if t == STEPS else "past", origin)
        way = " ".join(f"{640 * x:.1f},{-640 * (y - GROUND):.1f}" for x, y in places[::4, 0])
        lines.append(f'<polyline class="head" points="{way}"/>')
        lines.append("</g>")
    lines.append("</svg>")
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"drawing: {path}")


if __name__ == "__main__":
    iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    check("A", len(LOSSES["A"]))
    robot, first, best, losses = check("D", iterations)
    before, after = watch(robot, first), watch(robot, best)
    assert before[-1, 0, 0] == -losses[0]
    assert after[-1, 0, 0] == -min(losses) > before[-1, 0, 0]
    draw(robot, [("before", before), ("after", after)], "robot.svg")
