"""Loops with checkpoints: what the gradient of many steps keeps and takes, by schedule.

`python -m benchmarks.checkpoints --steps 1000000`: a state of 1,000 numbers; seconds of CPU as a ratio to the loop
without derivative, and the peak of the process, each in a process of its own. With `--order 2` it is a product with
the Hessian. All schedules must give the same bits.
"""

import hashlib
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import Table, options

SCHEDULES = ("none", "root", "100", "at most 30")


def simulation(schedule: str) -> Any:
    """A chain of springs with friction, stepped `steps` times."""
    every = {"none": None, "root": True}.get(schedule, int(schedule) if schedule.isdigit() else None)
    most = int(schedule.removeprefix("at most ")) if schedule.startswith("at most ") else None

    @rose.jit
    def run(x: rose.Vec["n"], friction: float, steps: int) -> float:
        x, v = x.copy(), 0.0 * x
        n = len(x)
        for _ in rose.range(steps, checkpoint=every, snapshots=most):
            before = x[0]
            for i in rose.range(1, n - 1):
                force = before - 2.0 * x[i] + x[i + 1]
                before = x[i]
                v[i] = v[i] + 0.1 * (force - friction * v[i] * v[i] * v[i])
                x[i] = x[i] + 0.1 * v[i]
        return (x * x).sum()

    return run


def derivative(run: Any, order: int, size: int) -> Any:
    """The derivatives by the state and the friction, of the first order, or along a direction of the second."""
    if order == 1:
        return rose.grad(run, (0, 1))
    along = np.cos(np.linspace(0.0, 5.0, size))

    def of_both(given: Any, steps: int) -> float:
        return run(given[0], given[1], steps)

    product = rose.hvp(of_both)
    return lambda x, friction, steps: product((x, friction), (along, 0.5), steps)


def one(schedule: str, steps: int, size: int, order: int) -> dict[str, Any]:
    """The figures of one schedule, in this process."""
    run = simulation(schedule)
    x = np.sin(np.linspace(0.0, 9.0, size))
    found = derivative(run, order, size)
    run(x, 0.1, 10)
    found(x, 0.1, 10)
    start = time.process_time()
    run(x, 0.1, steps)
    primal = time.process_time() - start
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    dx, dfriction = found(x, 0.1, steps)
    seconds = time.process_time() - start
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    bits = [hashlib.sha256(dx.tobytes()).hexdigest(), dfriction.hex()]
    return {
        "schedule": schedule,
        "steps": steps,
        "primal s": primal,
        "ratio": seconds / primal,
        "peak MB": peak,
        "bits": bits,
    }


def main() -> None:
    """The table."""
    given = options(__doc__ or "", steps=20_000, size=1_000, schedules=",".join(SCHEDULES), order=1, one="")
    if given.one:
        print(json.dumps(one(given.one, given.steps, given.size, given.order)))
        return
    columns = {"schedule": "", "steps": ",", "primal s": ".2f", "ratio": ".2f", "peak MB": ".0f"}
    title = "gradients of many steps" if given.order == 1 else "products with Hessians of many steps"
    table = Table("checkpoints", title, columns)
    bits: list[Any] = []
    for schedule in given.schedules.split(","):
        command = [sys.executable, "-m", "benchmarks.checkpoints", "--one", schedule]
        command += ["--steps", str(given.steps), "--size", str(given.size), "--order", str(given.order)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            table.add(schedule=schedule, steps=given.steps, error=done.stderr.strip().splitlines()[-1])
            continue
        row = json.loads(done.stdout)
        bits.append(row["bits"])
        table.add(**row)
    assert all(each == bits[0] for each in bits), "the schedule changes bits"
    table.finish(given.json)


if __name__ == "__main__":
    main()
