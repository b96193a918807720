"""A fit of a differential equation beside diffrax: Tsit5 on both, the same tolerances, value and gradient.

Lotka's and Volterra's equations to t = 10, observed at 21 times; the value is the sum of squares, the gradient by the
four rates and by where it began. Each side in a process of its own, in turns, with nothing compiled before: the first
call is that of a fresh process, imports aside, and with them; the later ones are medians of batches, in CPU time of one
thread, as `taskset` allows. Python's bytecode, and what rosejit keeps beside it, is there, as after any first run.
diffrax works in float64 with its adjoint of the steps (`RecursiveCheckpointAdjoint`), its own controller
(`PIDController`) and room for as many steps as the fastest power of two that holds them.

`python -m benchmarks.ode_fits memory` tells what gradients of 1,000 and of 1,000,000 steps take.

`python -m benchmarks.ode_fits [PYTHON]`: PYTHON has diffrax (`/work/venv-peers/bin/python`).
"""

import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

RATES = np.array([1.1, 0.4, 0.4, 0.1])
START = np.array([10.0, 5.0])
TIMES = np.linspace(0.0, 10.0, 21)
MEASURED = np.array([10.0, 5.0]) + np.sin(np.arange(42.0)).reshape(21, 2)
TOLERANCES = (1e-3, 1e-6, 1e-9)
OURS = (
    "rosejit.solvers.odes.ivp",
    "rosejit.runtime.engine",
    "rosejit.transforms.pipeline",
    "rosejit.codegen.program.compile",
)
"""What a first call imports: rosejit imports little before."""


def ours(tolerance: float) -> Any:
    """The function that gives value and gradient, by rosejit."""
    import rosejit as rose

    def slope(t, y, rates):
        return np.array([rates[0] * y[0] - rates[1] * y[0] * y[1], rates[3] * y[0] * y[1] - rates[2] * y[1]])

    def misfit(rates, start):
        found = rose.solve_ivp(
            slope, (0.0, 10.0), start, "Tsit5", TIMES, args=(rates,), rtol=tolerance, atol=tolerance, max_steps=4096
        )
        return ((found.y.T - MEASURED) ** 2).sum()

    f = rose.value_and_grad(misfit, (0, 1))
    return lambda: f(RATES, START)


def theirs(tolerance: float) -> Any:
    """The same by diffrax."""
    import diffrax  # pyright: ignore[reportMissingImports]
    import jax  # pyright: ignore[reportMissingImports]
    import jax.numpy as jnp  # pyright: ignore[reportMissingImports]

    jax.config.update("jax_enable_x64", True)

    def slope(t, y, rates):
        return jnp.array([rates[0] * y[0] - rates[1] * y[0] * y[1], rates[3] * y[0] * y[1] - rates[2] * y[1]])

    term, times, measured = diffrax.ODETerm(slope), jnp.array(TIMES), jnp.array(MEASURED)

    def misfit(given):
        rates, start = given
        found = diffrax.diffeqsolve(
            term,
            diffrax.Tsit5(),
            0.0,
            10.0,
            None,
            start,
            rates,
            saveat=diffrax.SaveAt(ts=times),
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
            max_steps=4096,
        )
        return ((found.ys - measured) ** 2).sum()

    f = jax.jit(jax.value_and_grad(misfit))
    given = jnp.array(RATES), jnp.array(START)
    return lambda: jax.block_until_ready(f(given))


def measured(side: str, tolerance: float) -> dict[str, Any]:
    """Seconds of the first call, with imports done, and of later ones; the value and the gradient."""
    imports = time.process_time()
    for name in OURS if side == "ours" else ("jax", "diffrax"):
        importlib.import_module(name)
    imports = time.process_time() - imports
    start, spent = time.perf_counter(), time.process_time()
    call = (ours if side == "ours" else theirs)(tolerance)
    value, gradient = call()
    first, first_cpu = time.perf_counter() - start, time.process_time() - spent
    deadline, found = time.process_time() + 1.0, []
    while time.process_time() < deadline:
        before = time.process_time()
        for _ in range(50):
            call()
        found.append((time.process_time() - before) / 50)
    flat = [float(each) for part in gradient for each in part]
    times = {"first": first, "first_cpu": first_cpu, "whole_cpu": imports + first_cpu}
    return {**times, "call": min(found), "value": float(value), "gradient": flat}


def in_process(python: str, side: str, tolerance: float) -> dict[str, Any]:
    """`measured` in a process of its own, which has no compiled code of earlier ones."""
    with tempfile.TemporaryDirectory() as empty:
        one = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
        run = [python, "-m", "benchmarks.ode_fits", side, str(tolerance)]
        done = subprocess.run(
            run, env={**os.environ, **one, "ROSE_CACHE_DIR": empty}, capture_output=True, text=True, check=True
        )
    return json.loads(done.stdout)


def memory() -> None:
    """Print memory above that of a gradient of 10 steps, and seconds, of gradients of many steps of one length."""
    import rosejit as rose
    from benchmarks.row_sums import Peak, own

    def end(rate, longest):
        return rose.solve_ivp(
            lambda t, y, rate: np.array([y[1], -rate * y[0]]),
            (0.0, 10.0),
            np.array([1.0, 0.0]),
            "Tsit5",
            args=(rate,),
            first_step=longest,
            max_step=longest,
            max_steps=2_000_000,
        ).y[0, -1]

    for steps in (1_000, 1_000_000):
        f = rose.value_and_grad(lambda rate, steps=steps: end(rate, 10.0 / steps))
        with Peak() as peak:
            before, spent = own(), time.process_time()
            f(1.0)
            print(
                f"{steps:9,} steps: {peak.most - before:6.1f} MB, compiled and run, {time.process_time() - spent:.2f} s"
            )
        before, spent = own(), time.process_time()
        with Peak() as peak:
            value, slope = f(1.1)
        print(
            f"{'':9} again: {max(0.0, peak.most - before):8.1f} MB, {time.process_time() - spent:.3f} s", value, slope
        )


def main() -> None:
    if sys.argv[1:] == ["memory"]:
        memory()
        return
    if len(sys.argv) == 3:
        print(json.dumps(measured(sys.argv[1], float(sys.argv[2]))))
        return
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    print(
        "tolerance   first call: ours, diffrax [CPU s], ratio   with imports   value and gradient: ours, diffrax [us], "
        "ratio   agree"
    )
    for tolerance in TOLERANCES:
        rounds = [[in_process(python, side, tolerance) for side in ("ours", "theirs")] for _ in range(3)]
        first = [statistics.median(each[k]["first_cpu"] for each in rounds) for k in (0, 1)]
        whole = [statistics.median(each[k]["whole_cpu"] for each in rounds) for k in (0, 1)]
        call = [1e6 * statistics.median(each[k]["call"] for each in rounds) for k in (0, 1)]
        one, other = (np.array([each["value"], *each["gradient"]]) for each in rounds[0])
        off = np.abs(one / other - 1.0).max()
        print(
            f"{tolerance:9.0e} {first[0]:12.3f} {first[1]:8.2f} {first[0] / first[1]:8.4f}   "
            f"{whole[0]:7.3f} {whole[1]:6.2f} {whole[0] / whole[1]:7.4f} "
            f"{call[0]:21.1f} {call[1]:9.1f} {call[0] / call[1]:8.4f} {off:10.0e}"
        )


if __name__ == "__main__":
    main()
