"""`gmm`: the log posterior of a Gaussian mixture, and its gradient."""

import math
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.gradbench.task import Task, plain
from rosejit import Mat, Vec


@rose.jit
def distance(scale: Vec["d"], below: Vec["t"], x: Vec["d"], mu: Vec["d"]) -> float:
    """The squared length of x - mu times a lower triangle: `scale` on the diagonal, `below` it column by column."""
    d = len(x)
    y = x - mu
    z = scale * y
    at = 0
    for j in rose.range(d):
        for i in rose.range(j + 1, d):
            z[i] += below[at] * y[j]
            at += 1
    return z @ z


def log_gamma(a: float, d: int) -> float:
    """The logarithm of the multivariate gamma function."""
    return d * (d - 1) / 4 * math.log(math.pi) + sum(math.lgamma(a + (1 - j) / 2) for j in range(1, d + 1))


@rose.jit(static_argnames=("gamma", "m"))
def objective(
    alpha: Vec["k"], mu: Mat["k", "d"], q: Mat["k", "d"], below: Mat["k", "t"], x: Mat["n", "d"], gamma: float, m: int
) -> float:
    (k, d), n = mu.shape, len(x)
    scales = np.exp(q)
    weights = [alpha[a] + q[a].sum() for a in rose.range(k)]
    total = 0.0
    for i in rose.range(n):
        total += rose.logsumexp([weights[a] - 0.5 * distance(scales[a], below[a], x[i], mu[a]) for a in rose.range(k)])
    freedom = d + m + 1
    prior = k * (freedom * d * math.log(gamma / math.sqrt(2)) - log_gamma(freedom / 2, d))
    squares = np.sum(np.exp(2 * q)) + np.sum(below * below)
    likelihood = total - n * (d / 2 * math.log(2 * math.pi) + rose.logsumexp(alpha))
    return likelihood + prior - gamma**2 / 2 * squares + m * np.sum(q)


gradient = rose.grad(objective, argnums=("alpha", "mu", "q", "below"))


def arguments(given: dict[str, Any]) -> tuple[Any, ...]:
    k, d = given["k"], given["d"]
    alpha, mu, q = (np.array(given[name], float) for name in ("alpha", "mu", "q"))
    below = np.array(given["l"], float).reshape(k, d * (d - 1) // 2)
    return alpha, mu, q, below, np.array(given["x"], float), float(given["gamma"]), given["m"]


def by_name(gradient: tuple[Any, ...]) -> Any:
    return plain(dict(zip(("alpha", "mu", "q", "l"), gradient, strict=True)))


FUNCTIONS = {"objective": Task(objective, arguments), "jacobian": Task(gradient, arguments, by_name)}
