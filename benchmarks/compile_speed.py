"""Microseconds of CPU that each stage of the compiler takes for one op of the source: gradients of straight-line code.

Staging is not here, since the programs are made as IR; `latency.py` has it. `--profile jvp` says where a stage spends
its time.
"""

import cProfile
import hashlib
import pstats
import statistics
from collections.abc import Callable
from typing import Any

from benchmarks.measure import Row, Table, collector_off, once, options
from benchmarks.straight_lines import INPUTS, random_program
from rosejit.codegen.program.compile import compile_program
from rosejit.ir import syntax as ir
from rosejit.runtime import backend
from rosejit.text import show
from rosejit.transforms.autodiff.derivative_programs import gradient
from rosejit.transforms.autodiff.jvp import jvp
from rosejit.transforms.autodiff.transpose import transpose
from rosejit.transforms.autodiff.unzip import unzip
from rosejit.transforms.passes.erase import erase
from rosejit.transforms.pipeline import optimise

MASK = (True,) * INPUTS

STAGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "jvp": lambda made: jvp(made["source"], MASK).function,
    "unzip": lambda made: unzip(made["jvp"]),
    "transpose": lambda made: transpose(made["unzip"].linear),
    "erase": lambda made: erase(made["transpose"]),
    "gradient": lambda made: gradient(made["source"], MASK, True),
    "text": lambda made: hashlib.sha256(show(made["gradient"], complete=True).encode()).hexdigest(),
    "optimise": lambda made: optimise(made["gradient"])[0],
    "codegen": lambda made: compile_program({"main": made["optimise"]})[0],
    "engine": lambda made: backend.current().compile(made["codegen"], ()),
}
"""In order; each gets what the earlier ones made. `gradient` puts the derived functions together, `text` is the key of
the disk cache."""

PYTHON = [stage for stage in STAGES if stage != "engine"]


def compiled(source: ir.Function) -> Row:
    """Microseconds an op of each stage, and sizes."""
    made: dict[str, Any] = {"source": source}
    ops = len(source.body.lets) if source.body is not None else 0
    spent: Row = {}
    for stage, run in STAGES.items():
        seconds, made[stage] = once(lambda run=run: run(made))
        spent[stage] = 1e6 * seconds / ops
    return {**spent, "bytes": len(made["codegen"].wasm) / ops}


def measure(sizes: list[int], times: int) -> Table:
    """Medians over `times` programs of each size."""
    table = Table(
        "compile_speed",
        "gradient of straight-line code, us of CPU an op of the source (bytes: of Wasm an op)",
        {"ops": ",", **dict.fromkeys(STAGES, ".2f"), "python": ".2f", "bytes": ".0f"},
    )
    compiled(random_program(50).function())  # rules are traced and kernels made once a process
    for ops in sizes:
        turns = [compiled(random_program(ops, seed).function()) for seed in range(times if ops <= 20_000 else 3)]
        row = {key: statistics.median(turn[key] for turn in turns) for key in turns[0]}
        table.add(ops=ops, **row, python=sum(row[stage] for stage in PYTHON))
    return table


def profile(stage: str, ops: int) -> None:
    """Print the functions in which `stage` spends its time."""
    made: dict[str, Any] = {"source": random_program(ops).function()}
    for earlier, run in STAGES.items():
        if earlier == stage:
            break
        made[earlier] = run(made)
    with collector_off(), cProfile.Profile() as profiler:
        STAGES[stage](made)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(20)


def main() -> None:
    """The table, or a profile of one stage."""
    given = options(__doc__ or "", ops=[100, 1_000, 10_000, 100_000], times=7, profile="")
    if given.profile:
        profile(given.profile, given.ops[-1])
    else:
        measure(given.ops, given.times).finish(given.json)


if __name__ == "__main__":
    main()
