"""Billiards: gradient descent through 1,023 time steps finds the shot that sends the last ball to the goal.

The first application of the Rose paper, after DiffTaichi's. Points and balls are plain dataclasses; the loop over time
stays a loop, and the 110 calls of `collide` in each step stay calls of one compiled function. Every figure is compared
with those of Taichi (f64). Writes `billiards.svg`: what happens on the table before and after.
"""

import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import rosejit as rose
from rosejit import Vec

DT = 0.003
STEPS = 1023
RADIUS = 0.03
ELASTICITY = 0.8
ROWS = 4
BALLS = 1 + ROWS * (ROWS + 1) // 2
GOAL = (0.9, 0.75)
RATE = 0.01
UPDATES = 200

# Taichi 1.7 in f64: the loss before so many updates, the first gradient, and where 200 updates lead.
LOSSES = {
    0: 0.0454166227585681,
    1: 0.02930089722891727,
    2: 0.02874491693837865,
    3: 0.025672432787875666,
    4: 0.023475890785395075,
    5: 0.02216198790771391,
    10: 0.013721442053597368,
    20: 0.005636721968359574,
    50: 0.0005713922195011139,
    100: 2.257185045948689e-05,
    199: 2.2081394630049952e-05,
    200: 2.208139111566735e-05,
}
GRADIENT = (-0.5183187429265992, 1.1283946992678617, -0.6967854761398167, 1.2795995889697676)
FOUND = (0.4458116137898746, 0.47530432611030093, 0.5002464195214977, -0.0008853439021345679)


@dataclass(frozen=True)
class Point:
    x: float
    y: float

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Point(self.x - other.x, self.y - other.y)

    def __rmul__(self, factor):
        return Point(factor * self.x, factor * self.y)

    def dot(self, other):
        """The inner product."""
        return self.x * other.x + self.y * other.y


ZERO = Point(0.0, 0.0)


@dataclass(frozen=True)
class Ball:
    at: Point
    speed: Point


@rose.jit
def collide(a: Ball, b: Ball) -> tuple[Point, Point]:
    """What `b` does to the velocity of `a` in one step, and to its place."""
    d = (a.at + DT * a.speed) - (b.at + DT * b.speed)
    distance = math.sqrt(d.dot(d))
    normal = 1 / (distance + 1e-6) * d
    approach = normal.dot(a.speed - b.speed)
    impulse, shift = ZERO, ZERO
    if distance < 2 * RADIUS and approach < 0:
        impulse = -(1 + ELASTICITY) * 0.5 * approach * normal
        toi = (distance - 2 * RADIUS) / min(-1e-3, approach)
        shift = min(toi - DT, 0) * impulse
    return impulse, shift


@rose.jit
def step(balls: list[Ball]) -> list[Ball]:
    """The balls one time step later."""
    later = []
    for a in balls:
        speed, shift = a.speed, ZERO
        for b in balls:
            if a is not b:
                impulse, back = collide(a, b)
                speed += impulse
                shift += back
        later.append(Ball(a.at + DT * speed + shift, speed))
    return later


def table(cue, push):
    """The cue ball at `cue` with the velocity `push`, and the rack at rest."""
    balls = [Ball(Point(*cue), Point(*push))]
    for i in range(ROWS):
        for j in range(i + 1):
            balls.append(Ball(Point(2 * RADIUS * i + 0.5, 2 * RADIUS * j + 0.5 - 0.7 * RADIUS * i), ZERO))
    return balls


@rose.jit
def loss(cue: Vec[2], push: Vec[2]) -> float:
    """The squared distance of the last ball from the goal, in the end."""
    balls = table(cue, push)
    for _ in rose.range(STEPS):
        balls = step(balls)
    missed = balls[-1].at - Point(*GOAL)
    return missed.dot(missed)


@rose.jit
def watch(cue: Vec[2], push: Vec[2]):
    """Where every ball is at every time."""
    balls = table(cue, push)
    places = np.zeros((STEPS + 1, BALLS, 2))
    for t in rose.range(STEPS + 1):
        for k, ball in enumerate(balls):
            places[t, k] = [ball.at.x, ball.at.y]
        balls = step(balls)
    return places


gradient = rose.value_and_grad(loss, argnums=(0, 1))


def optimise(cue, push):
    """Descend, with a bar that shows how far; the losses, and the parameters before every update and after the last."""
    losses, tried = [], [(cue, push)]
    spent = 0.0
    for k in range(UPDATES):
        started = time.process_time()
        y, (d_cue, d_push) = gradient(cue, push)
        spent += time.process_time() - started
        cue, push = cue - RATE * d_cue, push - RATE * d_push
        losses.append(y)
        tried.append((cue, push))
        done = 30 * (k + 1) // UPDATES
        print(f"\r[{'#' * done}{'.' * (30 - done)}] {k + 1:3}/{UPDATES}   loss {y:.3e}", end="", flush=True)
    print(f"\n{1e3 * spent / UPDATES:.2f} ms of CPU for each loss and gradient of {STEPS} steps")
    return [*losses, loss(cue, push)], tried


def panel(title, places):
    """One run, drawn in a box of 480 x 340: faint where the balls were, full where they end."""
    left, top, scale = 0.05, 0.95, 480.0

    def at(x, y):
        return f"{(x - left) * scale:.1f}", f"{(top - y) * scale:.1f}"

    marks = [f'<text class="name" x="12" y="22">{title}</text>']
    for k in range(BALLS):
        kind = "cue" if k == 0 else "target" if k == BALLS - 1 else "ball"
        moved = np.ptp(places[:, k], axis=0).max() > 0
        if moved:
            trace = " ".join(",".join(at(x, y)) for x, y in places[::16, k])
            marks.append(f'<polyline class="{kind} trace" points="{trace}"/>')
            x, y = at(*places[0, k])
            marks.append(f'<circle class="{kind} start" cx="{x}" cy="{y}" r="{RADIUS * scale:.1f}"/>')
        x, y = at(*places[-1, k])
        marks.append(f'<circle class="{kind} end" cx="{x}" cy="{y}" r="{RADIUS * scale:.1f}"/>')
    x, y = at(*GOAL)
    marks.append(f'<circle class="goal" cx="{x}" cy="{y}" r="{RADIUS * scale / 2:.1f}"/>')
    return marks


def draw(before, after, path):
    """Write both runs as one SVG file."""
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 980 340" font-family="sans-serif">',
        "<style>.name{font-size:15px;font-weight:bold;fill:#223}.cue{color:#495057}.ball{color:#3b5bdb}.target{color:#d6336c}",
        ".trace{fill:none;stroke:currentColor;stroke-width:2;stroke-opacity:.35}.start{fill:currentColor;fill-opacity:.2}",
        ".end{fill:currentColor;stroke:#fff}.goal{fill:#2b8a3e;fill-opacity:.8}</style>",
        '<rect width="980" height="340" fill="#f1f3f5"/>',
    ]
    for k, (title, places) in enumerate((("before", before), (f"after {UPDATES} updates", after))):
        lines.append(f'<svg class="run" x="{10 + 490 * k}" y="0" width="480" height="340">')
        lines += panel(title, places)
        lines.append("</svg>")
    lines.append("</svg>")
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"drawing: {path}")


if __name__ == "__main__":
    cue, push = np.array([0.1, 0.5]), np.array([0.3, 0.0])
    started = time.perf_counter()
    first = gradient(cue, push)
    print(f"first gradient after {time.perf_counter() - started:.2f} s; ", end="")
    print(f"{len(gradient.lower(cue, push).wasm):,} bytes of WebAssembly")
    assert np.allclose(np.concatenate(first[1]), GRADIENT, rtol=1e-10, atol=1e-10)

    losses, tried = optimise(cue, push)
    for k, expected in LOSSES.items():
        assert math.isclose(losses[k], expected, rel_tol=1e-9), (k, losses[k])
        print(f"  loss after {k:3} updates {losses[k]:.16g}   relative difference {abs(losses[k] / expected - 1):.0e}")
    assert np.allclose(np.concatenate(tried[-1]), FOUND, rtol=0, atol=1e-9)
    print(f"the cue ball starts from {tried[-1][0]} with the velocity {tried[-1][1]}")

    before, after = watch(cue, push), watch(*tried[-1])
    assert np.hypot(*(after[STEPS, -1] - GOAL)) ** 2 <= losses[-1] * (1 + 1e-12)
    draw(before, after, "billiards.svg")
