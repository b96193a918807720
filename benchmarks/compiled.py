"""What `.compile()` is for: calls beside plain calls and the code alone, and programs loaded in new processes.

`load` and `first call` are those of a new process that has imported rosejit, NumPy and the engine, which are the next
columns; its disk cache has the native code that `save` left.
"""

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.calls import f, squares
from benchmarks.measure import Table, alone, once, options, per_call
from benchmarks.straight_lines import random_program

FACTORS = {f"k{i}": float(i) for i in range(200)}


def outside(x: float) -> float:
    total = 0.0
    for factor in FACTORS.values():
        total += x * factor
    return total


def code_alone(compiled: Any, kept: list[Any]) -> Callable[[], Any]:
    """The bare call of the export, without arguments and results; `kept` holds its instance."""
    kept.append(compiled._loaded.module.instantiate())
    return kept[-1].entry("main")


def calls() -> Table:
    """A call of each kind."""
    x = np.linspace(0.0, 1.0, 1000)
    cases: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "f(float, float)": (rose.jit(tier="best")(f), (2.0, 3.0)),
        "gradient of 1,000": (rose.grad(rose.jit(tier="best")(squares)), (x,)),
        "reads 200 numbers": (rose.jit(tier="best")(outside), (1.5,)),
    }
    table = Table("compiled", "one call (us of CPU)", {"case": "", "plain": ".3f", "compiled": ".3f", "code": ".3f"})
    kept: list[Any] = []
    for case, (function, args) in cases.items():
        compiled = function.lower(*args).compile()
        assert np.array_equal(compiled(*args), function(*args))
        plain, own, run = partial(function, *args), partial(compiled, *args), code_alone(compiled, kept)
        table.add(case=case, plain=1e6 * per_call(plain), compiled=1e6 * per_call(own), code=1e6 * per_call(run))
    return table


NEW = """
import json, sys, time
clock = time.process_time
start = clock()
import numpy as np
numpy = clock()
import rosejit as rose
rose.load
package = clock()
from rosejit.runtime import backend
backend.current().identity
engine = clock()
point = np.load(sys.argv[2]).tolist()
begun = clock()
program = rose.load(sys.argv[1])
loaded = clock()
program(*point)
called = clock()
print(json.dumps({"load": 1e3 * (loaded - begun), "first call": 1e3 * (called - loaded), "numpy": 1e3 * (numpy - start),
                  "rosejit": 1e3 * (package - numpy), "engine": 1e3 * (engine - package)}))
"""


def loads(sizes: list[int], times: int) -> Table:
    """Programs from files, in new processes; the best of some, since all of it is less than a slice of time."""
    parts = ("load", "first call", "numpy", "rosejit", "engine")
    columns = {"ops": ",", "bytes": ",", "compile": ".0f", "save": ".1f", **dict.fromkeys(parts, ".2f")}
    table = Table("compiled_load", "a saved program in a new process (ms of CPU)", columns)
    for ops in sizes:
        program = random_program(ops)
        with tempfile.TemporaryDirectory() as folder:
            os.environ["ROSE_CACHE_DIR"] = folder
            path, point = Path(folder) / "program.saved", Path(folder) / "point.npy"
            np.save(point, program.point)
            lowered = rose.jit(program.table()).lower(*program.point)
            compile_s, made = once(lowered.compile)
            save_s, _ = once(partial(made.save, path))
            rows = [alone(NEW, str(path), str(point), env={"ROSE_CACHE_DIR": folder}) for _ in range(times)]
            best = {part: min(row[part] for row in rows) for part in parts}
            table.add(ops=ops, bytes=path.stat().st_size, compile=1e3 * compile_s, save=1e3 * save_s, **best)
    return table


def main() -> None:
    """Both tables."""
    given = options(__doc__ or "", ops=[1_000, 100_000], times=5)
    calls().finish(given.json)
    loads(given.ops, given.times).finish()


if __name__ == "__main__":
    main()
