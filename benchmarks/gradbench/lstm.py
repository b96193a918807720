"""`lstm`: the loss of a recurrent network that predicts the next character, and its gradient."""

from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.gradbench.task import Task
from rosejit import Mat, Vec


@rose.jit
def cell(hidden: Vec["b"], memory: Vec["b"], x: Vec["b"], w: Vec["4*b"], bias: Vec["4*b"]):
    """One layer: its new hidden state and memory."""
    b = len(x)
    forget = rose.sigmoid(x * w[0:b] + bias[0:b])
    take = rose.sigmoid(hidden * w[b : 2 * b] + bias[b : 2 * b])
    give = rose.sigmoid(x * w[2 * b : 3 * b] + bias[2 * b : 3 * b])
    change = np.tanh(hidden * w[3 * b :] + bias[3 * b :])
    memory = memory * forget + take * change
    return give * np.tanh(memory), memory


@rose.jit
def objective(main: Mat["r", "4*b"], extra: Mat[3, "b"], state: Mat["r", "b"], sequence: Mat["c", "b"]) -> float:
    layers, (c, b) = len(main) // 2, sequence.shape
    state = state.copy()
    total = 0.0
    for t in rose.range(c - 1):
        x = sequence[t] * extra[0]
        for k in range(layers):
            x, memory = cell(state[2 * k], state[2 * k + 1], x, main[2 * k], main[2 * k + 1])
            state[2 * k], state[2 * k + 1] = x, memory
        y = x * extra[1] + extra[2]
        y_norm = y - np.log(2 + np.sum(np.exp(y)))
        total += np.sum(sequence[t + 1] * y_norm)
    return -total / ((c - 1) * b)


gradient = rose.grad(objective, argnums=(0, 1))


def arguments(given: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(np.array(given[name], float) for name in ("main_params", "extra_params", "state", "sequence"))


def flat(found: tuple[Any, Any]) -> list[float]:
    return np.concatenate([part.ravel() for part in found]).tolist()


FUNCTIONS = {"objective": Task(objective, arguments), "jacobian": Task(gradient, arguments, flat)}
