"""Billiards as `examples/billiards.py` has it, written with NumPy rows of two numbers: how much small arrays cost."""

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec

DT, STEPS, RADIUS, ELASTICITY, GOAL = 0.003, 1023, 0.03, 0.8, (0.9, 0.75)
RACK = np.array(
    [(2 * RADIUS * i + 0.5, 2 * RADIUS * j + 0.5 - 0.7 * RADIUS * i) for i in range(4) for j in range(i + 1)]
)


@rose.jit
def collide(x: Vec[2], v: Vec[2], other_x: Vec[2], other_v: Vec[2]) -> tuple[Vec[2], Vec[2]]:
    d = (x + DT * v) - (other_x + DT * other_v)
    distance = np.linalg.norm(d)
    normal = d / (distance + 1e-6)
    approach = np.dot(normal, v - other_v)
    impulse, shift = np.zeros(2), np.zeros(2)
    if distance < 2 * RADIUS and approach < 0:
        impulse = -(1 + ELASTICITY) * 0.5 * approach * normal
        toi = (distance - 2 * RADIUS) / min(-1e-3, approach)
        shift = min(toi - DT, 0) * impulse
    return impulse, shift


@rose.jit
def step(x: Mat["n", 2], v: Mat["n", 2]) -> tuple[Mat["n", 2], Mat["n", 2]]:
    later_x, later_v = np.empty_like(x), np.empty_like(v)
    for i in rose.range(len(x)):
        speed, shift = v[i].copy(), np.zeros(2)
        for j in rose.range(len(x)):
            if i != j:
                impulse, back = collide(x[i], v[i], x[j], v[j])
                speed += impulse
                shift += back
        later_v[i] = speed
        later_x[i] = x[i] + DT * speed + shift
    return later_x, later_v


@rose.jit
def loss(cue: Vec[2], push: Vec[2]) -> float:
    x, v = np.concatenate([[cue], RACK]), np.zeros((1 + len(RACK), 2))
    v[0] = push
    for _ in rose.range(STEPS):
        x, v = step(x, v)
    missed = x[-1] - np.array(GOAL)
    return missed @ missed


gradient = rose.value_and_grad(loss, argnums=(0, 1))
