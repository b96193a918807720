"""The loss and its gradient of billiards and of the robot by Taichi in f64 on one thread: JSON on the last line.

`python taichi_apps.py APP SPEC.json REPEAT`, with what `benchmarks/apps.py` writes as SPEC.
"""

import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import taichi as ti

REAL = ti.f64
VECTOR = ti.types.vector(2, REAL)


class Billiards:
    """Balls at every time in one field; a kernel a step."""

    def __init__(self, spec):
        self.spec = spec
        self.balls, self.steps = len(spec["rack"]) + 1, spec["steps"]
        times = self.steps + 1
        self.x = ti.Vector.field(2, REAL, (times, self.balls), needs_grad=True)
        self.v = ti.Vector.field(2, REAL, (times, self.balls), needs_grad=True)
        self.impulse = ti.Vector.field(2, REAL, (times, self.balls), needs_grad=True)
        self.shift = ti.Vector.field(2, REAL, (times, self.balls), needs_grad=True)
        self.cue = ti.Vector.field(2, REAL, 2, needs_grad=True)
        self.rack = ti.Vector.field(2, REAL, self.balls)
        self.loss = ti.field(REAL, (), needs_grad=True)
        self.cue.from_numpy(np.reshape(spec["params"], (2, 2)))
        self.rack.from_numpy(np.array([[0, 0], *spec["rack"]]))
        self._kernels()

    def _kernels(self):
        balls, steps = self.balls, self.steps
        dt, radius, elasticity = (self.spec[name] for name in ("dt", "radius", "elasticity"))
        goal = self.spec["goal"]
        x, v, impulse, shift, cue, rack, loss = (
            self.x, self.v, self.impulse, self.shift, self.cue, self.rack, self.loss
        )  # fmt: skip

        @ti.kernel
        def aim():
            x[0, 0] = cue[0]
            v[0, 0] = cue[1]

        @ti.kernel
        def place():
            for i in range(1, balls):
                x[0, i] = rack[i]

        @ti.kernel
        def clear():
            for t, i in impulse:
                impulse[t, i] = ti.Vector([0.0, 0.0])
                shift[t, i] = ti.Vector([0.0, 0.0])

        @ti.kernel
        def collide(t: ti.i32):
            for i in range(balls):
                for j in range(balls):
                    if i != j:
                        d = (x[t, i] + dt * v[t, i]) - (x[t, j] + dt * v[t, j])
                        distance = ti.sqrt(d[0] * d[0] + d[1] * d[1])
                        normal = d * (1 / (distance + 1e-6))
                        approach = normal.dot(v[t, i] - v[t, j])
                        if distance < 2 * radius and approach < 0:
                            push = -(1 + elasticity) * 0.5 * approach * normal
                            toi = (distance - 2 * radius) / ti.min(-1e-3, approach)
                            impulse[t + 1, i] += push
                            shift[t + 1, i] += ti.min(toi - dt, 0.0) * push

        @ti.kernel
        def advance(t: ti.i32):
            for i in range(balls):
                v[t, i] = v[t - 1, i] + impulse[t, i]
                x[t, i] = x[t - 1, i] + dt * v[t, i] + shift[t, i]

        @ti.kernel
        def measure():
            loss[None] = (x[steps, balls - 1][0] - goal[0]) ** 2 + (x[steps, balls - 1][1] - goal[1]) ** 2

        def run():
            clear()
            with ti.ad.Tape(loss):
                aim()
                place()
                for t in range(1, steps + 1):
                    collide(t - 1)
                    advance(t)
                measure()

        self.run = run

    def gradient(self):
        return self.cue.grad.to_numpy().ravel()


class Robot:
    """Masses at every time in one field; five kernels a step."""

    def __init__(self, spec):
        self.spec = spec
        self.steps, self.masses, self.muscles = spec["steps"], len(spec["objects"]), len(spec["springs"])
        self.senses, self.hidden = spec["waves"] + 4 * self.masses + 2, spec["hidden"]
        times = self.steps + 1

        def reals(*shape):
            return ti.field(REAL, shape, needs_grad=True)

        self.x = ti.Vector.field(2, REAL, (times, self.masses), needs_grad=True)
        self.v = ti.Vector.field(2, REAL, (times, self.masses), needs_grad=True)
        self.change = ti.Vector.field(2, REAL, (times, self.masses), needs_grad=True)
        self.centre = ti.Vector.field(2, REAL, times, needs_grad=True)
        self.first, self.act = reals(times, self.hidden), reals(times, self.muscles)
        self.sum1, self.sum2 = reals(times, self.hidden), reals(times, self.muscles)
        self.w1, self.b1 = reals(self.hidden, self.senses), reals(self.hidden)
        self.w2, self.b2 = reals(self.muscles, self.hidden), reals(self.muscles)
        self.ends = ti.Vector.field(2, ti.i32, self.muscles)
        self.spring = ti.Vector.field(3, REAL, self.muscles)
        self.loss = reals()
        for name, value in spec["params"].items():
            getattr(self, name).from_numpy(np.array(value))
        self.ends.from_numpy(np.array([spring[:2] for spring in spec["springs"]], np.int32))
        self.spring.from_numpy(np.array([spring[2:] for spring in spec["springs"]], float))
        for k, place in enumerate(spec["objects"]):
            self.x[0, k] = place
        self._kernels()

    def _kernels(self):
        names = ("dt", "gravity", "drag", "ground", "waves")
        dt, gravity, drag, ground, waves = (self.spec[name] for name in names)
        goal_x, goal_y = self.spec["goal"]
        masses, muscles, hidden, steps = self.masses, self.muscles, self.hidden, self.steps
        x, v, change, centre, first, act = self.x, self.v, self.change, self.centre, self.first, self.act
        sum1, sum2 = self.sum1, self.sum2
        w1, b1, w2, b2, ends, spring, loss = self.w1, self.b1, self.w2, self.b2, self.ends, self.spring, self.loss
        turn = 2 * np.pi / waves

        @ti.kernel
        def clear():
            for t, i in change:
                change[t, i] = ti.Vector([0.0, 0.0])
            for t in centre:
                centre[t] = ti.Vector([0.0, 0.0])
            for t, i in sum1:
                sum1[t, i] = 0.0
            for t, i in sum2:
                sum2[t, i] = 0.0

        @ti.kernel
        def middle(t: ti.i32):
            for j in range(masses):
                centre[t] += 1.0 / masses * x[t, j]

        @ti.kernel
        def layer1(t: ti.i32):
            for i in range(hidden):
                for k in ti.static(range(waves)):
                    sum1[t, i] += w1[i, k] * ti.sin(10 * (t * dt) + turn * k)
                for j in range(masses):
                    sum1[t, i] += w1[i, waves + 4 * j] * 0.05 * (x[t, j][0] - centre[t][0])
                    sum1[t, i] += w1[i, waves + 4 * j + 1] * 0.05 * (x[t, j][1] - centre[t][1])
                    sum1[t, i] += w1[i, waves + 4 * j + 2] * 0.05 * v[t, j][0]
                    sum1[t, i] += w1[i, waves + 4 * j + 3] * 0.05 * v[t, j][1]
                sum1[t, i] += w1[i, waves + 4 * masses] * (goal_x - centre[t][0])
                sum1[t, i] += w1[i, waves + 4 * masses + 1] * (goal_y - centre[t][1])

        @ti.kernel
        def squash1(t: ti.i32):
            for i in range(hidden):
                first[t, i] = ti.tanh(sum1[t, i] + b1[i])

        @ti.kernel
        def layer2(t: ti.i32):
            for i in range(muscles):
                for j in range(hidden):
                    sum2[t, i] += w2[i, j] * first[t, j]

        @ti.kernel
        def squash2(t: ti.i32):
            for i in range(muscles):
                act[t, i] = ti.tanh(sum2[t, i] + b2[i])

        @ti.kernel
        def pull(t: ti.i32):
            for i in range(muscles):
                a, b = ends[i][0], ends[i][1]
                d = x[t, a] - x[t, b]
                length = ti.sqrt(d[0] * d[0] + d[1] * d[1]) + 1e-4
                target = spring[i][0] * (1 + spring[i][2] * act[t, i])
                q = dt * (length - target) * spring[i][1] / length * d
                change[t, a] += -q
                change[t, b] += q

        @ti.kernel
        def advance(t: ti.i32):
            for k in range(masses):
                free = drag * v[t - 1, k] + dt * ti.Vector([0.0, gravity]) + change[t - 1, k]
                place = x[t - 1, k]
                toi = 0.0 * place[1]
                kept = 1.0
                if place[1] + dt * free[1] < ground and free[1] < -1e-4:
                    toi = -(place[1] - ground) / free[1]
                    kept = 0.0
                v[t, k] = kept * free
                x[t, k] = place + toi * free + (dt - toi) * kept * free

        @ti.kernel
        def measure():
            loss[None] = -x[steps, 0][0]

        def run():
            clear()
            with ti.ad.Tape(loss):
                for t in range(steps):
                    for kernel in (middle, layer1, squash1, layer2, squash2, pull):
                        kernel(t)
                    advance(t + 1)
                measure()

        self.run = run

    def gradient(self):
        return np.concatenate([p.grad.to_numpy().ravel() for p in (self.w1, self.b1, self.w2, self.b2)])


def main(app: str, path: str, repeat: int) -> None:
    ti.init(arch=ti.cpu, default_fp=REAL, cpu_max_num_threads=1, log_level=ti.ERROR)
    start = time.process_time()
    program = {"billiards": Billiards, "robot": Robot}[app](json.loads(Path(path).read_text()))
    program.run()
    total = time.process_time() - start
    times = []
    for _ in range(repeat):
        before = time.process_time()
        program.run()
        times.append(time.process_time() - before)
    found = {"total": total, "call": statistics.median(times), "loss": program.loss[None]}
    print(json.dumps({**found, "gradient": program.gradient().tolist()}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
