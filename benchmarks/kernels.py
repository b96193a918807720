"""Loop kernels beside gcc -O3 -march=native, all systems in turns of one run: the code alone, and the call from Python.

`python -m benchmarks.kernels --only dot,matvec`. *us*: the compiled code alone, its arguments where it reads them, less
what an empty entry takes. *call*: from Python, NumPy arrays in and fresh ones out, ÷ C alone. *÷ C*: to the C that may
do as much to the order of sums: -O3 for loops as they are, and for NumPy's sums and `fastmath` too (-ffast-math is a
row of its own). *÷ C sse2*: to -O3 for the 128 bits without fused products that WebAssembly has.
"""

import ctypes
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.kernel_programs import C, Program, programs
from benchmarks.measure import Row, Table, collector_off, options
from rosejit.api.programs.lowered import Lowered
from rosejit.runtime import loaded_program

Repeat = Callable[[int], Any]
"""Does something so many times."""

NATIVE = ["-O3", "-march=native"]
FLAGS = {"c": NATIVE, "c fast": [*NATIVE, "-ffast-math"], "c sse2": ["-O3", "-msse2"]}


def repeated(call: Callable[[], Any], *kept: Any) -> Repeat:
    """`call`, again and again; `kept` lives as long."""

    def repeat(times: int, kept: Any = kept) -> None:
        for _ in range(times):
            call()

    return repeat


# --- in C


def libraries() -> dict[str, ctypes.CDLL]:
    """The kernels in C, by flags; none without a compiler."""
    if shutil.which("gcc") is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernels.c"
        source.write_text(C)
        for name, flags in FLAGS.items():
            target = Path(folder) / f"{name[2:]}.so"
            subprocess.run(["gcc", *flags, "-shared", "-fPIC", str(source), "-o", str(target), "-lm"], check=True)
        return {name: ctypes.CDLL(str(Path(folder) / f"{name[2:]}.so")) for name in FLAGS}


def in_c(library: ctypes.CDLL, program: Program, wanted: Any) -> Repeat:
    """The kernel, after a look at its result."""
    name = "energy_gradient" if program.gradient else program.name
    result = np.zeros(np.shape(wanted))
    arrays = [*program.arguments, np.zeros(1)][:2]
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*arrays, result)]
    repeat = partial(_repeat, library.repeat, getattr(library, name), pointers, (*arrays, result))
    repeat(1)
    assert np.allclose(result, wanted, rtol=1e-9), name
    return repeat


def _repeat(repeat: Any, kernel: Any, pointers: list[Any], kept: tuple[Any, ...], times: int) -> None:
    repeat(ctypes.cast(kernel, ctypes.c_void_p), ctypes.c_long(times), *pointers)


# --- ours


def bare(lowered: Lowered, arguments: tuple[Any, ...]) -> Repeat:
    """The entry of the module, arguments written before."""
    artifact, hosts = lowered._compiled  # the module itself, without a caller
    instance = loaded_program.load(artifact, hosts).module.instantiate()
    entry = artifact.entries["main"]
    for slot, value in zip(entry.params, arguments, strict=True):
        instance.array(slot.offset, slot.shape, slot.element)[...] = value
    return repeated(instance.entry("main"), instance)


def ours(program: Program, wanted: Any) -> dict[str, tuple[Repeat, Repeat]]:
    """The code alone and the call from Python, by how the kernel is written."""
    found: dict[str, tuple[Repeat, Repeat]] = {}
    for name, function, fastmath in (
        ("loops", program.loops, False),
        ("loops, fastmath", program.loops, True),
        ("numpy calls", program.arrays, False),
    ):
        if function is None:
            continue
        made: Any = rose.jit(fastmath=fastmath)(function)
        made = rose.grad(made) if program.gradient else made
        assert np.allclose(made(*program.arguments), wanted, rtol=1e-9), (program.name, name)
        call = repeated(partial(made, *program.arguments))
        found[name] = bare(made.lower(*program.arguments), program.arguments), call
    return found


def empty() -> Repeat:
    """What an entry takes that does nothing."""

    def nothing() -> float:
        return 0.0

    return bare(rose.jit(nothing).lower(), ())


# --- the table


def medians(runs: dict[str, Repeat], batches: int, batch: float = 2e-3) -> dict[str, float]:
    """Seconds an iteration: medians of batches of about `batch` seconds, all systems in turns."""
    with collector_off():
        times = {name: max(1, int(batch / _seconds(run, 50))) for name, run in runs.items()}
        found: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(batches):
            for name, run in runs.items():
                found[name].append(_seconds(run, times[name]))
    return {name: statistics.median(seconds) for name, seconds in found.items()}


def _seconds(run: Repeat, times: int) -> float:
    start = time.process_time()
    run(times)
    return (time.process_time() - start) / times


def rows(program: Program, clibs: dict[str, ctypes.CDLL], nothing: Repeat, batches: int) -> list[Row]:
    """One for each way to write the kernel."""
    reference: Any = rose.grad(rose.jit(program.loops)) if program.gradient else rose.jit(program.loops)
    wanted = reference(*program.arguments)
    runs: dict[str, Repeat] = {"empty": nothing}
    runs |= {name: in_c(library, program, wanted) for name, library in clibs.items()}
    calls: dict[str, Repeat] = {}
    for name, (alone, call) in ours(program, wanted).items():
        runs[name], calls[name] = alone, call
    if program.arrays is not None and not program.gradient and program.name != "energy":
        runs["numpy itself"] = repeated(partial(program.arrays, *program.arguments))
    runs |= {f"call of {name}": call for name, call in calls.items()}
    seconds = medians(runs, batches)
    found: list[Row] = []
    for name in runs:
        if name == "empty" or name.startswith("call of "):
            continue
        us = 1e6 * (seconds[name] - (seconds["empty"] if name in calls else 0.0))
        call = 1e6 * seconds[f"call of {name}"] if name in calls else None
        row: Row = {"kernel": program.name, "system": name, "us": us, "call": call}
        for column, flags in (("÷ C", "c"), ("÷ C fast", "c fast"), ("÷ C sse2", "c sse2")):
            row[column] = us / (1e6 * seconds[flags]) if flags in seconds else None
        row["call ÷ C"] = call / (1e6 * seconds["c"]) if call is not None and "c" in seconds else None
        found.append(row)
    return found


def main() -> None:
    """The table."""
    given = options(__doc__ or "", only="", batches=41)
    wanted = given.only.split(",") if given.only else None
    clibs = {} if "gcc" in given.without else libraries()
    columns = {
        "kernel": "",
        "system": "",
        "us": ".3f",
        "÷ C": ".2f",
        "÷ C fast": ".2f",
        "÷ C sse2": ".2f",
        "call": ".3f",
        "call ÷ C": ".2f",
    }
    table = Table("kernels", "loop kernels (us, medians)", columns, absent=[] if clibs else ["gcc"])
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROSE_CACHE_DIR"] = folder
        nothing = empty()
        for program in programs():
            if wanted is None or ("energy_gradient" if program.gradient else program.name) in wanted:
                for row in rows(program, clibs, nothing, given.batches):
                    table.add(**row)
    table.finish(given.json)


if __name__ == "__main__":
    main()
