"""Programs beside JAX on one thread: the first gradient from nothing compiled, and calls of values and of gradients.

Each is written as a user of the one and of the other writes it: here in plain loops over NumPy arrays, in JAX with
`lax.scan` and broadcasting; *arrays* is the text of JAX with `np`. Seconds are of process CPU. A first call is that of
`value_and_grad` in a process of its own, with an empty cache, after an import and the gradient of a square; the median
of several. Calls afterwards take turns in one process. `python -m benchmarks.beside_jax`; `--kind first`, `calls`.
"""

import math
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import rosejit as rose
from benchmarks import blas
from benchmarks.exploding import hidden_markov
from benchmarks.measure import Table, alone, has, once, options, per_call_each

Function = Callable[..., Any]


class Program(NamedTuple):
    """A loss, its text for JAX, and arguments; derivatives are of those in `places`."""

    ours: Function
    jax: Callable[[Any, Any], Function]
    """From `jax` and `jax.numpy`."""
    args: tuple[Any, ...]
    places: tuple[int, ...] = (0,)


# --- first calls


def lennard_jones(x):
    """The energy of bodies, pair by pair."""
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            inverse = 1.0 / (d @ d) ** 3
            total += 4.0 * (inverse * inverse - inverse)
    return total


def lennard_jones_arrays(x):
    """The same by broadcasting."""
    n = len(x)
    d = x[:, None, :] - x[None, :, :]
    squares = np.sum(d * d, axis=2) + np.eye(n)
    inverse = (1.0 - np.eye(n)) / squares**3
    return 2.0 * np.sum(inverse * inverse - inverse)


def _lennard_jones_jax(jax: Any, jnp: Any) -> Function:
    def loss(x: Any) -> Any:
        n = len(x)
        d = x[:, None, :] - x[None, :, :]
        squares = jnp.sum(d * d, axis=2) + jnp.eye(n)
        inverse = (1.0 - jnp.eye(n)) / squares**3
        return 2.0 * jnp.sum(inverse * inverse - inverse)

    return loss


def _hidden_markov_jax(jax: Any, jnp: Any) -> Function:
    seen = (7 * np.arange(MARKOV) ** 2 + 3 * np.arange(MARKOV)) % 4
    total = jax.scipy.special.logsumexp

    def loss(A: Any, B: Any, start: Any) -> Any:
        def step(alpha: Any, k: Any) -> Any:
            return total(alpha[:, None] + A, axis=0) + B[:, k], None

        alpha, _ = jax.lax.scan(step, start + B[:, seen[0]], jnp.asarray(seen[1:]))
        return total(alpha)

    return loss


def kalman(A, C, Q, R, ys):
    """The negative log likelihood of observations by a filter of four states and two measurements."""
    m, P = np.zeros(4), np.eye(4)
    total = 0.0
    for y in ys:
        m, P = A @ m, A @ P @ A.T + Q
        S = C @ P @ C.T + R
        e = y - C @ m
        K = np.linalg.solve(S, C @ P).T
        total += 0.5 * (e @ np.linalg.solve(S, e) + np.log(np.linalg.det(S)) + 2.0 * math.log(2.0 * math.pi))
        m, P = m + K @ e, P - K @ S @ K.T
    return total


def _kalman_jax(jax: Any, jnp: Any) -> Function:
    def loss(A: Any, C: Any, Q: Any, R: Any, ys: Any) -> Any:
        def step(state: Any, y: Any) -> Any:
            m, P = state
            m, P = A @ m, A @ P @ A.T + Q
            S = C @ P @ C.T + R
            e = y - C @ m
            K = jnp.linalg.solve(S, C @ P).T
            term = 0.5 * (e @ jnp.linalg.solve(S, e) + jnp.log(jnp.linalg.det(S)) + 2.0 * math.log(2.0 * math.pi))
            return (m + K @ e, P - K @ S @ K.T), term

        return jnp.sum(jax.lax.scan(step, (jnp.zeros(4), jnp.eye(4)), ys)[1])

    return loss


MARKOV = 40
"""Observations of the hidden Markov model."""


def first_programs() -> dict[str, Program]:
    """By name."""
    rng = np.random.default_rng(0)
    grid = np.array([(i, j, k) for i in range(3) for j in range(3) for k in range(3)], float)
    bodies = (grid * 1.12 + 0.05 * rng.normal(size=(27, 3)),)
    markov, given, _ = hidden_markov(MARKOV)
    A = np.eye(4) + 0.1 * np.eye(4, k=2)
    filtered = (A, np.eye(2, 4), 0.05 * np.eye(4), 0.3 * np.eye(2), np.cumsum(rng.normal(size=(50, 2)), axis=0))
    return {
        "Lennard-Jones, 27 bodies": Program(lennard_jones, _lennard_jones_jax, bodies),
        "Lennard-Jones, arrays": Program(lennard_jones_arrays, _lennard_jones_jax, bodies),
        "hidden Markov model, 40 steps": Program(markov, _hidden_markov_jax, given, (0, 1, 2)),
        "Kalman filter, 50 steps": Program(kalman, _kalman_jax, filtered, (0, 1, 2, 3)),
    }


# --- calls


def _likelihood_jax(jax: Any, jnp: Any) -> Function:
    def loss(t: Any, x: Any, values: Any) -> Any:
        y = x * t[1:4]
        s = jnp.sum(y * y, axis=1)
        k = t[0] * jnp.exp(-(s[:, None] + s - 2.0 * (y @ y.T))) + t[4] * jnp.eye(len(x))
        triangle = jnp.linalg.cholesky(k)
        a = jax.scipy.linalg.cho_solve((triangle, True), values)
        return 0.5 * values @ a + jnp.sum(jnp.log(jnp.diag(triangle)))

    return loss


def likelihood(t, x, values):
    """The negative logarithm of a Gaussian process's, up to a constant."""
    triangle = np.linalg.cholesky(blas.covariance(t, x))
    half = rose_solve(triangle, values)
    return 0.5 * half @ half + np.sum(np.log(np.diag(triangle)))


def rose_solve(triangle, values):
    """`scipy.linalg.solve_triangular`."""
    from scipy.linalg import solve_triangular

    return solve_triangular(triangle, values, lower=True)


def network(u, v, x):
    """Two dense layers and a mean square."""
    return np.mean((np.tanh(x @ u) @ v) ** 2)


def _network_jax(jax: Any, jnp: Any) -> Function:
    return lambda u, v, x: jnp.mean((jnp.tanh(x @ u) @ v) ** 2)


def convolution(w, x):
    """The mean square of an image's correlation with a kernel."""
    n, m = x.shape
    y = np.zeros((n - len(w) + 1, m - len(w) + 1))
    for i in range(len(w)):
        for j in range(len(w)):
            y += w[i, j] * x[i : i + y.shape[0], j : j + y.shape[1]]
    return np.mean(np.maximum(y, 0.0) ** 2)


def _convolution_jax(jax: Any, jnp: Any) -> Function:
    def loss(w: Any, x: Any) -> Any:
        y = jax.lax.conv_general_dilated(x[None, None], w[None, None], (1, 1), "VALID")
        return jnp.mean(jnp.maximum(y, 0.0) ** 2)

    return loss


def programs() -> dict[str, Program]:
    """By name."""
    rng = np.random.default_rng(0)
    found: dict[str, Program] = {}
    for n in (30, 150, 400):
        given = (np.array([1.0, 0.8, 1.2, 0.5, 0.1]), rng.normal(size=(n, 3)), rng.normal(size=n))
        found[f"Gaussian process, {n} points"] = Program(likelihood, _likelihood_jax, given)
    layers = (rng.normal(size=(64, 64)) / 8, rng.normal(size=(64, 64)) / 8, rng.normal(size=(512, 64)))
    found["network, 512 x 64 x 64"] = Program(network, _network_jax, layers, (0, 1))
    for k in (3, 5):
        image = (rng.normal(size=(k, k)), rng.normal(size=(400, 400)))
        found[f"convolution, 400 x 400 by {k} x {k}"] = Program(convolution, _convolution_jax, image, (0, 1))
    return found


# --- the two sides


def _jax() -> tuple[Any, Any]:
    import jax  # pyright: ignore[reportMissingImports]

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    return jax, jax.numpy


def of_jax(program: Program) -> tuple[Function, Function]:
    """The loss, and the loss with its gradient, compiled by JAX."""
    jax, jnp = _jax()
    loss = program.jax(jax, jnp)
    value, both = jax.jit(loss), jax.jit(jax.value_and_grad(loss, program.places))
    given = tuple(jnp.asarray(a) for a in program.args)
    return lambda: jax.block_until_ready(value(*given)), lambda: jax.block_until_ready(both(*given))


def of_ours(program: Program, **settings: Any) -> tuple[Function, Function]:
    """The same, by `rose`."""
    loss = rose.jit(program.ours, **settings)
    both = rose.value_and_grad(loss, program.places)
    return lambda: loss(*program.args), lambda: both(*program.args)


def first_call(side: str, name: str) -> dict[str, Any]:
    """Seconds of the first value with its gradient, and what it is."""
    program = first_programs()[name]
    square = Program(lambda x: x * x, lambda jax, jnp: lambda x: x * x, (1.5,))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROSE_CACHE_DIR"] = folder
        sides = {"ours": of_ours, "jax": of_jax}
        sides[side](square)[1]()
        call = sides[side](program)[1]
        seconds, (value, slopes) = once(call)
    return {"seconds": seconds, "value": float(value), "slopes": [np.asarray(s).tolist() for s in slopes]}


_CHILD = """
import json, sys
from benchmarks.beside_jax import first_call
print(json.dumps(first_call(*sys.argv[1:])))
"""
ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}  # fmt: skip


def _same(one: Any, other: Any) -> None:
    assert math.isclose(one["value"], other["value"], rel_tol=1e-9), (one["value"], other["value"])
    for a, b in zip(one["slopes"], other["slopes"], strict=True):
        assert np.allclose(a, b, rtol=1e-7, atol=1e-9)


def first_calls(table: Table, turns: int) -> None:
    """A row for each program."""
    for name in first_programs():
        rounds = [[alone(_CHILD, side, name, env=ONE_THREAD) for side in ("ours", "jax")] for _ in range(turns)]
        for ours, jax in rounds:
            _same(ours, jax)
        ours, theirs = (statistics.median(row["seconds"] for row in rows) for rows in zip(*rounds, strict=True))
        table.add(program=name, call="first", ours=1e3 * ours, jax=1e3 * theirs, ratio=ours / theirs)


def later_calls(table: Table) -> None:
    """Two rows for each program, and for `blas=True`."""
    for name, program in programs().items():
        jaxs = of_jax(program)
        with_blas = of_ours(program, blas=True) if "convolution" not in name else (None, None)
        for call, ours, blas_call, theirs in zip(("value", "gradient"), of_ours(program), with_blas, jaxs, strict=True):
            if call == "gradient":
                found, wanted = ours(), theirs()
                _same(*({"value": float(v), "slopes": s} for v, s in (found, wanted)))
            calls = [ours, theirs, *([blas_call] if blas_call else [])]
            seconds = per_call_each(*calls, batch=0.1, batches=7)
            table.add(
                program=name, call=call, ours=1e3 * seconds[0], jax=1e3 * seconds[1], ratio=seconds[0] / seconds[1],
                blas=1e3 * seconds[2] if blas_call else None,
            )  # fmt: skip


def main() -> None:
    """The table."""
    given = options(__doc__ or "", kind="first,calls", turns=3)
    columns = {"program": "", "call": "", "ours": ".3f", "jax": ".3f", "ratio": ".2f", "blas": ".3f"}
    table = Table("beside_jax", "Beside JAX, ms of process CPU; blas: ours with blas=True", columns)
    if not has("jax"):
        table.absent.append("jax")
    elif os.environ.get("XLA_FLAGS") != ONE_THREAD["XLA_FLAGS"]:
        os.execve(sys.executable, [sys.executable, "-m", "benchmarks.beside_jax", *sys.argv[1:]],
            os.environ | ONE_THREAD)  # fmt: skip
    else:
        if "first" in given.kind:
            first_calls(table, given.turns)
        if "calls" in given.kind:
            later_calls(table)
    table.finish(given.json)


if __name__ == "__main__":
    main()
