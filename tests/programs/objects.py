"""Objects of the user's classes: what Python calls of them, what staged blocks change of them, how they are joined."""

import copy
import functools
import math
import operator
from dataclasses import dataclass, field

import numpy as np

import rosejit as rose
from rosejit import Vec
from tests.programs.record import Program


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __abs__(self):
        return self.norm if self.x > 0 else 2 * self.norm

    @property
    def norm(self):
        if self.x > self.y:
            return math.sqrt(self.x * self.x + self.y * self.y)
        return self.x * self.x + self.y

    def __getitem__(self, i):
        if i == 0:
            return self.x
        return self.y

    def __len__(self):
        return 2

    def __bool__(self):
        return self.x > 0

    def __iter__(self):
        yield self.x
        yield self.y * 2

    def __eq__(self, other):
        return self.x == other.x and self.y == other.y

    def __call__(self, t):
        if t > 1:
            return self.x * t
        return self.y

    def __enter__(self):
        return self.norm

    def __exit__(self, *error):
        return False

    @classmethod
    def towards(cls, x):
        return cls(x, 1.0) if x > 1 else cls(1.0, x * x)


@dataclass
class Ball:
    x: float
    v: float = 0.0
    bounces: int = 0

    def step(self, h):
        self.v -= 9.81 * h
        self.x += self.v * h
        if self.x < 0:
            self.x, self.v = -self.x, -0.5 * self.v
            self.bounces += 1


@dataclass
class Pair:
    first: Ball = field(default_factory=lambda: Ball(1.0))
    weights: object = None


@rose.jit
def operators(x: float) -> float:
    v = Vector(x, 1.0) + 2 * Vector(2.0, x)
    return abs(v) + v @ Vector(x, 3.0)


@rose.jit
def protocols(x: float) -> float:
    v, total = Vector(x, 3.0), 0.0
    for i in rose.range(len(v)):
        total += v[i] * (i + 1)
    first, second = v
    with v as norm:
        total += norm * second
    if v and v != Vector(3.0, 3.0):
        total += v(x) * first
    return total + Vector.towards(x).norm


@rose.jit
def summed(x: float) -> float:
    parts = [Vector(x, 1.0), Vector(2.0, x), Vector(x * x, -1.0)]
    whole = functools.reduce(operator.add, parts)
    return whole.norm + sum(parts, Vector(0.0, 0.0)).x + sum(map(abs, parts))


@rose.jit
def joined(x: float) -> float:
    v = Vector(x, 1.0)
    if x > 1:
        v = v * 0.5
    else:
        v = v + Vector(0.5, x)
    for i in rose.range(3):
        v = v + Vector(x, 0.5)
    while v @ v < 50:
        v = 2 * v
    return v.x * v.y


@rose.jit
def bouncing(x: float) -> float:
    ball = Ball(x)
    for i in rose.range(40):
        ball.step(0.05)
    return ball.x + ball.bounces * ball.v


@rose.jit
def fallen(x: float) -> float:
    ball, other = Ball(x), Ball(2 * x)
    same = ball
    while True:
        ball.step(0.1)
        if ball.x > other.x or same.bounces > 2:
            break
        other.x = other.x * 0.9
    return same.x * other.x


@rose.jit
def nested(x: float, w: Vec["n"]) -> float:
    pair = Pair(weights=w.copy())
    for i in rose.range(len(w)):
        for j in rose.range(2):
            pair.first.x += x * pair.weights[i]
            pair.weights[i] *= 0.5
        if pair.first.x > 1.5:
            pair.weights = pair.weights * x
    if x > 1:
        pair.first = Ball(x * pair.first.x)
    spare = copy.copy(pair.first)
    spare.x += 1.0
    return pair.first.x * spare.x + np.sum(pair.weights)


WEIGHTS = np.array([0.5, -0.3, 0.8])
PROGRAMS = [
    Program(operators, [(0.5,), (2.5,), (-1.5,)], exact=False),
    Program(protocols, [(0.5,), (2.5,), (-1.5,)], exact=False),
    Program(summed, [(0.5,), (2.5,), (0.9,)], exact=False),
    Program(joined, [(0.7,), (2.5,)]),
    Program(bouncing, [(0.5,), (2.5,)]),
    Program(fallen, [(0.5,), (2.5,)]),
    Program(nested, [(0.5, WEIGHTS), (2.5, WEIGHTS)]),
]
