"""`rose.jit(blas=True)` beside the compiled loops and beside NumPy on one thread.

`python -m benchmarks.blas` (it starts itself once more with one thread). *ms*: processor time of a call, median of
batches that take turns. The Gaussian process is its negative log likelihood of points in three dimensions with respect
to an amplitude, three lengths and a noise; NumPy's gradient is written by hand, with the inverse.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import OUT, per_call_each

Program = tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]
"""One for `rose`, the same in NumPy, and arguments."""


def product(a, b):
    """A product."""
    return a @ b


def cholesky(a):
    """A triangle."""
    return np.linalg.cholesky(a)


def layers(x, u, v):
    """Two dense layers and a mean square."""
    return np.mean((np.tanh(x @ u) @ v) ** 2)


def layers_gradient(x, u, v):
    """Its gradient by the weights, by hand."""
    h = np.tanh(x @ u)
    dz = h @ v
    dz *= 2.0 / dz.size
    return x.T @ ((dz @ v.T) * (1.0 - h * h)), h.T @ dz


def covariance(t, x):
    """Of a Gaussian process."""
    y = x * t[1:4]
    s = np.sum(y * y, axis=1)
    return t[0] * np.exp(-(s[:, None] + s - 2.0 * (y @ y.T))) + t[4] * np.eye(len(x))


def likelihood(t, x, values):
    """The negative logarithm, up to a constant."""
    triangle = np.linalg.cholesky(covariance(t, x))
    return 0.5 * values @ np.linalg.solve(covariance(t, x), values) + np.sum(np.log(np.diag(triangle)))


def likelihood_gradient(t, x, values):
    """Its gradient in `t`, by hand."""
    n = len(x)
    k = covariance(t, x)
    np.linalg.cholesky(k)
    inverse = np.linalg.inv(k)
    a = inverse @ values
    g = 0.5 * (inverse - np.outer(a, a))
    pure = k - t[4] * np.eye(n)
    weighted = g * pure
    rows = weighted.sum(1)
    lengths = [-4.0 * t[1 + d] * (rows @ x[:, d] ** 2 - x[:, d] @ weighted @ x[:, d]) for d in range(3)]
    return np.array([weighted.sum() / t[0], *lengths, np.trace(g)])


def programs() -> dict[str, Program]:
    """By name."""
    rng = np.random.default_rng(0)
    found: dict[str, Program] = {}
    for n in (256, 512):
        a, b = rng.normal(size=(2, n, n))
        found[f"product {n}"] = (product, product, (a, b))
        found[f"cholesky {n}"] = (cholesky, cholesky, (a @ a.T + n * np.eye(n),))
    network = (rng.normal(size=(512, 256)), rng.normal(size=(256, 256)) / 16, rng.normal(size=(256, 256)) / 16)
    found["layers"] = (layers, layers, network)
    found["layers, gradient"] = (rose.grad(layers, (1, 2)), layers_gradient, network)
    for n in (150, 400):
        given = (np.array([1.0, 0.8, 1.2, 0.5, 0.1]), rng.normal(size=(n, 3)), rng.normal(size=n))
        found[f"Gaussian process {n}"] = (likelihood, likelihood, given)
        found[f"Gaussian process {n}, gradient"] = (rose.grad(likelihood), likelihood_gradient, given)
    return found


def measured(name: str, program: Program) -> dict[str, Any]:
    """A row: times in seconds, and quotients; all three must agree."""
    function, numpys, given = program
    calls = [rose.jit(function), rose.jit(function, blas=True), numpys]
    results = [call(*given) for call in calls]
    for one, other in zip(np.atleast_1d(results[0]), np.atleast_1d(results[2]), strict=True):
        assert np.allclose(one, other, rtol=1e-7, atol=1e-9), name
    assert all(map(np.allclose, np.atleast_1d(results[1]), np.atleast_1d(results[2]))), name
    plain, blas, numpy = per_call_each(*[lambda call=call: call(*given) for call in calls], batch=0.2, batches=5)
    times = {"plain ms": plain * 1e3, "blas ms": blas * 1e3, "numpy ms": numpy * 1e3}
    return {"program": name, **times, "plain ÷ blas": plain / blas, "blas ÷ numpy": blas / numpy}


def main() -> None:
    """The table, and the same as JSON."""
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":  # it is read when NumPy is loaded
        alone = os.environ | dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        subprocess.run([sys.executable, "-m", "benchmarks.blas"], env=alone, check=True)
        return
    rows: list[dict[str, Any]] = []
    for name, program in programs().items():
        rows.append(measured(name, program))
        shown = {key: value if isinstance(value, str) else f"{value:.3g}" for key, value in rows[-1].items()}
        print("  ".join(f"{key} {value}" for key, value in shown.items()), flush=True)
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "blas.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
