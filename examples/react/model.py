"""A chain of springs between two nails: its energy, and one step downhill, for chains of any length."""

import rosejit as rose
from rosejit import Vec


@rose.jit
def energy(x: Vec["n"], rest: float) -> float:
    total = 0.0
    for i in rose.range(len(x) - 1):
        total += (x[i + 1] - x[i] - rest) ** 2
    return total


@rose.jit
def step(x: Vec["n"], rest: float) -> Vec["n"]:
    return x - 0.1 * rose.grad(energy)(x, rest)
