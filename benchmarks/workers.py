"""What a worker costs at its first call: seconds in a fresh worker of each engine, from the pickle to the result.

`function` travels by value and is staged there, with an empty disk cache and with a filled one; `compiled` is Wasm
already; `numba` is its `njit` of the same loop. Each number is that of one worker, which has done nothing before.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import PEER_PYTHON, Row, Table, options, peer_has, process

ENGINES = {
    "processes": "concurrent.futures",
    "joblib": "joblib",
    "dask": "distributed",
    "ray": "ray",
    "mpi": "mpi4py",
}

PROGRAM = """
import json, sys, time
import cloudpickle
import numpy as np

def source():
    import rosejit as rose
    from rosejit import Vec

    @rose.jit
    def cost(p: Vec[2], x: Vec["n"], y: Vec["n"]) -> float:
        total = 0.0
        for i in rose.range(len(x)):
            total += (p[0] * np.exp(-p[1] * x[i]) - y[i]) ** 2
        return total

    return rose.value_and_grad(cost)

P, X = np.array([2.0, 1.3]), np.linspace(0.0, 4.0, 1000)
ARGS = P, X, 2.5 * np.exp(-1.3 * X)

def made(kind):
    if kind == "compiled":
        return source().lower(*ARGS).compile()
    if kind == "numba":
        import numba

        @numba.njit
        def cost(p, x, y):
            total = 0.0
            for i in range(len(x)):
                total += (p[0] * np.exp(-p[1] * x[i]) - y[i]) ** 2
            return total

        return cost
    return source()

class Timed:
    def __init__(self, text):
        self.text = text

    def __call__(self, number):
        import pickle, time
        start = time.perf_counter()
        f, args = pickle.loads(self.text)
        arrived = time.perf_counter()
        f(*args)
        first = time.perf_counter()
        f(*args)
        return arrived - start, first - arrived, time.perf_counter() - first

def main(spread):
    text = cloudpickle.dumps((made(sys.argv[1]), ARGS))
    arrives, first, second = spread(Timed(text), [0])[0]
    print(json.dumps({"bytes": len(text), "arrives": arrives, "first": first, "second": second}))
"""


def main() -> None:
    asked = options(__doc__ or "")
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from tests.interop.test_clusters import ENGINES as STARTED

    columns = {"engine": "", "what": "", "bytes": ",d", "arrives": ",.3f", "first": ",.3f", "second": ",.6f"}
    table = Table("workers", "A worker's first call, s", columns)
    for engine, module in ENGINES.items():
        if not peer_has(module):
            continue
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "program.py").write_text(PROGRAM + STARTED[engine])
            for what in ("function", "function, cache filled", "compiled", *(["numba"] if peer_has("numba") else [])):
                table.add(engine=engine, what=what, **called(engine, what, folder))
    table.finish(asked.json)


def called(engine: str, what: str, folder: str) -> Row:
    """What a worker says."""
    kept = Path(folder) / "cache"
    if what != "function, cache filled":
        kept = Path(tempfile.mkdtemp(dir=folder))
    else:
        called_once: Any = process(command(engine, folder, "function"), {"ROSE_CACHE_DIR": str(kept)})
        assert called_once
    return process(command(engine, folder, what.partition(",")[0]), {"ROSE_CACHE_DIR": str(kept)})


def command(engine: str, folder: str, kind: str) -> list[str]:
    program = [f"{folder}/program.py", kind]
    if engine == "mpi":
        return [os.fspath(Path(PEER_PYTHON).parent / "mpiexec"), "-n", "2", PEER_PYTHON, "-m", "mpi4py", *program]
    return [PEER_PYTHON, *program]


if __name__ == "__main__":
    main()
