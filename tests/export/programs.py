"""The programs of tests/programs as exported modules: calls of them and their gradients, beside what Python gives."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import rosejit as rose
from tests.export.machine import Job, bits
from tests.programs.record import Program

CALLING_PAGES = {"enters_twice", "checkpoint_with_host_calls", "recomputed_effects", "array_in_a_rule"}
"""Programs whose host functions do what only Python can; they are exported, and ask for those functions."""
ROUNDED = {"logarithm", "powers"}
"""Programs that call `Math.log` and `Math.pow` of the page, whose last bit is not ours."""


def jobs_of(program: Program, folder: Path) -> list[Job]:
    """The calls of a program and of its gradient, in one module in `folder`."""
    f, calls = program.function, [*program.calls, *program.kinks]
    entries: dict[str, tuple[Any, ...]] = {f"f{k}": (f, *call) for k, call in enumerate(calls)}
    if program.slope is not None:
        entries |= {f"g{k}": (rose.grad(f), *call) for k, call in enumerate(program.calls)}
    module = rose.export(entries, path=folder / program.name)[1]
    return [(module, name, entry[0], tuple(entry[1:])) for name, entry in entries.items()]


def by_program(jobs: Sequence[Job], found: Sequence[Any] | None) -> dict[str, list[tuple[Job, Any]]]:
    """The jobs with what an engine gave for them; nothing where there is no engine."""
    gathered: dict[str, list[tuple[Job, Any]]] = {}
    for job, given in zip(jobs, found or (), strict=found is not None):
        gathered.setdefault(job[0].parent.name, []).append((job, given))
    return gathered


def check(job: Job, given: Any) -> None:
    """That an engine gave the bits of wasmtime, or as near as functions of the page allow."""
    module, name, function, call = job
    if any(known in module.parent.name for known in CALLING_PAGES):
        assert "is needed: load({ imports" in given
        return
    wanted = bits(function(*call))
    if module.parent.name.rpartition(".")[2] in ROUNDED:
        assert np.allclose(list(map(float, bits(given))), list(map(float, wanted)), rtol=1e-14)
    else:
        assert bits(given) == wanted, (module.parent.name, name, given)
