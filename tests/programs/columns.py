"""Lists of structures made by staged loops: carried, chosen, passed, changed element by element and part by part."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

import rosejit as rose
from rosejit import Vec
from tests.programs.record import Program


@dataclass
class Body:
    x: float
    v: float


@dataclass(frozen=True)
class Fixed:
    x: float
    weight: float


class Pair(NamedTuple):
    a: float
    b: float


@dataclass
class Particle:
    place: Vec[2]
    speed: Vec[2]
    mass: float = 1.0


class Walker:
    def __init__(self, x, v):
        self.x = x
        self.v = v

    def step(self, h):
        self.x += self.v * h
        if self.x > 1:
            self.v = -0.5 * self.v


@rose.jit
def energy(bodies: list[Body]) -> float:
    total = 0.0
    for i in rose.range(len(bodies)):
        total += bodies[i].x * bodies[i].v + bodies[i].x
    return total


@rose.jit
def shifted(bodies: list[Body], h: float) -> list[Body]:
    return [Body(bodies[i].x + h * bodies[i].v, bodies[i].v) for i in rose.range(len(bodies))]


@rose.jit
def passed(x: float) -> float:
    bodies = [Body(x * i, 1.0 + x) for i in rose.range(5)]
    return energy(shifted(shifted(bodies, 0.1), x))


@rose.jit
def given_a_list(bodies: list[Body], h: float):
    for t in rose.range(3):
        bodies = shifted(bodies, h) if t > 0 else [Body(b.x * h, b.v) for b in bodies]
    return [b.x for b in bodies], [b.v for b in bodies]


@rose.jit
def carried(x: float, n: int) -> float:
    pairs = [Pair(x * i, 1.0) for i in rose.range(4)]
    for t in rose.range(n):
        pairs = [Pair(pairs[i].a * 0.5 + pairs[i].b, x * i) for i in rose.range(4)]
    return sum(pairs[i].a * pairs[i].b for i in rose.range(4))


@rose.jit
def chosen(x: float) -> float:
    if x > 1:
        bodies = [Body(x * i, 1.0) for i in rose.range(4)]
    else:
        bodies = [Body(1.0, x * i) for i in rose.range(4)]
    for i in rose.range(3):
        bodies[i] = Body(bodies[i + 1].x * 2, x)
    return energy(bodies)


@rose.jit
def attracted(x: float) -> float:
    bodies = [Body(x * i * i, 1.0) for i in rose.range(4)]
    for t in rose.range(3):
        for i in rose.range(4):
            a = bodies[i]
            for j in rose.range(i):
                b = bodies[j]
                force = 0.1 * (a.x - b.x)
                a.v -= force
                b.v += force
        for body in bodies:
            body.x += 0.1 * body.v
    return energy(bodies)


@rose.jit
def aliased(x: float) -> float:
    bodies = [Body(x * i, 1.0) for i in rose.range(3)]
    one, same = bodies[1], bodies[1]
    before = one.x
    copied = replace(one, v=x)
    one.x = 5.0 * x
    for i in rose.range(3):
        same.x += one.x * 0.1
    return one.x + same.x * bodies[1].x + before * copied.x


@rose.jit
def particles(x: float) -> float:
    made = [Particle(np.array([x * i, 1.0]), np.array([1.0, x])) for i in rose.range(3)]
    for t in rose.range(2):
        for i in rose.range(3):
            p = made[i]
            p.place += 0.1 * p.speed
            p.speed = p.speed * 0.5
            if p.place[0] > 1:
                p.speed[0] = -p.speed[0]
                p.mass = 2.0 * x
    total = 0.0
    for p in made:
        total += p.place[0] * p.speed[1] + p.mass * p.speed[0]
    return total


@rose.jit
def walkers(x: float) -> float:
    made = [Walker(x * i, 1.0) for i in rose.range(3)]
    for t in rose.range(6):
        for i in rose.range(3):
            made[i].step(0.3)
    return made[0].x + made[1].x * made[2].v


@rose.jit
def swapped(x: float) -> float:
    made = [Fixed(x * (i + 1), 1.0) for i in rose.range(3)]
    made[0], made[2] = made[2], made[0]
    for i in rose.range(3):
        made[i] = replace(made[i], weight=made[i].weight * x)
    best = made[0]
    for i in rose.range(3):
        if made[i].x * made[i].weight > best.x:
            best = made[i]
    return best.x - 3 * made[2].x + best.weight


@rose.jit
def of_the_host(points: list[Fixed], k: int) -> float:
    total = 0.0
    for i in rose.range(len(points)):
        total += points[i].x * points[-1 - i].weight
    return total * points[k].x


POINTS = [Fixed(1.0, 2.0), Fixed(-0.5, 3.0), Fixed(2.0, 0.5)]
BODIES = [Body(1.0, 2.0), Body(-0.5, 3.0)]
PROGRAMS = [
    Program(passed, [(0.5,), (2.0,)]),
    Program(energy, [(BODIES,), (BODIES[:1],)]),
    Program(given_a_list, [(BODIES, 0.5)]),
    Program(carried, [(0.5, 3), (2.0, 0), (2.0, 1)]),
    Program(chosen, [(0.5,), (2.0,)]),
    Program(attracted, [(0.5,), (2.0,)]),
    Program(aliased, [(0.5,), (2.0,)]),
    Program(particles, [(0.5,), (2.0,)]),
    Program(walkers, [(0.5,), (2.0,)]),
    Program(swapped, [(0.5,), (2.5,)], kinks=[(2.0,)]),
    Program(of_the_host, [(POINTS, 1), (POINTS[:2], -1)]),
]
