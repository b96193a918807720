"""Problems of optimal control by `rose.interop.ipopt` and by CasADi's SX, with IPOPT behind both: iterations, optimum,
set-up, solve, and what IPOPT waits for at each call.

    PEER_PYTHON=python-with-casadi python -m benchmarks.optimal_control

Runs where cyipopt is. Each problem has a process of its own on each side, without a disk cache, and imports are over
before the clock starts; `warm` is our first solve in a process that finds the disk cache filled. Where cyipopt has been
built against the libipopt inside CasADi's wheel, both have one and the same solver (docs/interop.md).
"""

import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import PEER_PYTHON, PEERS, Row, Table, options, peer_has, process
from benchmarks.peers.control_problems import PROBLEMS, Tools

CALLS = ("f", "slope", "g", "jacobian", "hessian")
METHODS = {"objective": "f", "gradient": "slope", "constraints": "g", "jacobian": "jacobian", "hessian": "hessian"}


def main() -> None:
    asked = options(__doc__ or "", problem="all")
    if asked.problem != "all":
        print(json.dumps(solved(asked.problem)))
        return
    columns = {"problem": "", "n": ",", "who": "", "iterations": "d", "optimum": ".10f", "apart": ".0e",
               "set up": ",.3f", "solve": ",.4f", "first": ",.3f", "warm": ",.3f"}  # fmt: skip
    table = Table(
        "optimal_control", "Optimal control, s of process CPU; calls in us", columns | dict.fromkeys(CALLS, ",.1f")
    )
    here = peer_has("casadi") and "casadi" not in asked.without
    for name, (_, n) in PROBLEMS.items():
        rows = {"rosejit": ours(name)}
        if here:
            rows["CasADi"] = process([PEER_PYTHON, str(PEERS / "casadi_control.py"), name], QUIET)
        points = [np.array(row.pop("x")) for row in rows.values()]
        apart = abs(rows["rosejit"]["optimum"] - rows["CasADi"]["optimum"]) if here else None
        for who, row in rows.items():
            calls = {call: 1e6 * seconds for call, seconds in row.pop("calls").items()}
            table.add(
                problem=name,
                n=n,
                who=who,
                apart=apart,
                points=float(np.abs(points[0] - points[-1]).max()),
                **row,
                **calls,
            )
    table.absent = [] if here else ["casadi"]
    table.finish(asked.json)


QUIET = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def ours(name: str) -> Row:
    """The row of rosejit, in a process without a cache, then in one that finds what the first has left."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "benchmarks.optimal_control", "--problem", name]
        cold, warm = (process(command, {**QUIET, "ROSE_CACHE_DIR": cache}) for _ in range(2))
    return {**cold, "warm": warm["first"]}


def solved(name: str) -> Row:
    """What a process finds."""
    from rosejit.interop import ipopt

    make, n = PROBLEMS[name]
    ipopt.minimize(lambda x: (x * x).sum(), np.ones(2), constraints=(lambda x: x, 0.0, 1.0))  # what is imported late
    start = time.process_time()
    problem = make(Tools(rose.range, np.zeros), n)
    f, g = rose.jit(problem.f), rose.jit(problem.g)
    bounds = [*zip(problem.low, problem.high, strict=True)]
    given = {"constraints": (g, problem.lower, problem.upper), "bounds": bounds}
    ipopt.minimize(f, problem.start, **given)
    first = time.process_time() - start
    solves: list[float] = []
    for _ in range(3):
        start = time.process_time()
        ipopt.minimize(f, problem.start, **given)
        solves.append(time.process_time() - start)
    spent = counted(ipopt)
    found = ipopt.minimize(f, problem.start, **given)
    solve = sorted(solves)[1]
    row = {"iterations": found.nit, "optimum": found.fun, "success": found.success, "set up": first - solve}
    calls = {name: total / count for name, (total, count) in spent.items()}
    return {**row, "first": first, "solve": solve, "calls": calls, "x": found.x.tolist()}


def counted(ipopt: Any) -> dict[str, list[float]]:
    """Seconds and number of the calls that IPOPT makes from now on."""
    spent: dict[str, list[float]] = defaultdict(lambda: [0.0, 0])
    for method, call in METHODS.items():
        setattr(ipopt._Problem, method, timed(getattr(ipopt._Problem, method), spent[call]))
    return spent


def timed(method: Callable[..., Any], into: list[float]) -> Callable[..., Any]:
    """A method that adds its seconds, and one, to a pair."""

    def run(*args: Any) -> Any:
        start = time.perf_counter()
        found = method(*args)
        into[0] += time.perf_counter() - start
        into[1] += 1
        return found

    return run


if __name__ == "__main__":
    main()
