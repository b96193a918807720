"""Functions on clusters: Dask, Ray and MPI as people start them, and the programs of docs/workers.md on every engine.

`tox -e interop` has the engines; elsewhere those are tried that are there."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.test_workers import PROGRAM, environment

pytest.importorskip("cloudpickle")

ENGINES = {
    "processes": """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        main(lambda f, *columns: list(pool.map(f, *columns)))
""",
    "joblib": """
from joblib import Parallel, delayed
if __name__ == "__main__":
    main(lambda f, *columns: Parallel(n_jobs=2)(delayed(f)(*row) for row in zip(*columns)))
""",
    "dask": """
from dask.distributed import Client, LocalCluster
if __name__ == "__main__":
    more = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(n_workers=2, **more) as cluster, Client(cluster) as client:
        main(lambda f, *columns: client.gather(client.map(f, *columns, pure=False)))
""",
    "ray": """
import ray
if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    def spread(f, *columns):
        remote = ray.remote(lambda *row: f(*row))
        return ray.get([remote.remote(*row) for row in zip(*columns)])
    main(spread)
    ray.shutdown()
""",
    "mpi": """
from mpi4py.futures import MPICommExecutor
if __name__ == "__main__":
    with MPICommExecutor() as pool:
        if pool is not None:
            main(lambda f, *columns: list(pool.map(f, *columns)))
""",
}
MODULES = {"joblib": "joblib", "dask": "distributed", "ray": "ray", "mpi": "mpi4py"}

EVERY_KIND = """
class Called:  # a pool's map takes one function
    def __init__(self, text): self.text = text
    def __call__(self, number):
        import pickle
        f, args = pickle.loads(self.text)
        found = f(*args)
        return repr(found.toarray() if hasattr(found, "toarray") else found)

def main(spread):
    import cloudpickle
    names = list(CALLS)
    texts = [cloudpickle.dumps(CALLS[name]) for name in names]
    found = [spread(Called(text), [0])[0] for text in texts]
    for name, one in zip(names, found):
        f, args = CALLS[name]
        assert one == told(f(*args)), (name, one)
    f, args = CALLS["gradient"]
    assert told(spread(f, *[[arg] for arg in args])[0]) == told(f(*args))
    print("all the same")
"""

APPLICATIONS = """
import functools
import numpy as np
import rosejit as rose
from rosejit import Vec

@rose.jit
def cost(p: Vec[2], x: Vec["n"], y: Vec["n"]) -> float:
    return ((p[0] * np.exp(-p[1] * x) - y) ** 2).sum()

X = np.linspace(0.0, 4.0, 1000)
Y = 2.5 * np.exp(-1.3 * X)

def main(spread):
    # a fit, spread over blocks of the data: a worker stages nothing
    from scipy.optimize import minimize
    program = rose.value_and_grad(cost).lower(rose.ShapeOf(2), rose.ShapeOf(250), rose.ShapeOf(250)).compile()
    blocks = np.split(X, 4), np.split(Y, 4)
    def both(p):
        found = spread(functools.partial(program, p), *blocks)
        return sum(v for v, _ in found), sum(g for _, g in found)
    assert np.allclose(minimize(both, [1.0, 1.0], jac=True).x, [2.5, 1.3], atol=1e-5)

    # a sweep of a parameter
    rates = np.linspace(1.0, 1.6, 7)
    found = spread(cost, [np.array([2.5, rate]) for rate in rates], [X] * 7, [Y] * 7)
    assert abs(rates[np.argmin(found)] - 1.3) < 1e-12

    # many starts of one search
    search = rose.optim.lbfgs(cost)
    starts = np.random.default_rng(0).uniform(0.5, 3.0, (4, 2))
    found = spread(search, list(starts), [X] * 4, [Y] * 4)
    assert np.allclose([one.x for one in found], [2.5, 1.3], atol=1e-5)

    # an ensemble: each member has its own data
    rng = np.random.default_rng(1)
    members = [Y + 0.01 * rng.normal(size=Y.shape) for _ in range(4)]
    found = spread(search, [np.ones(2)] * 4, [X] * 4, members)
    assert np.allclose(np.mean([one.x for one in found], axis=0), [2.5, 1.3], atol=5e-3)
    print("all right")
"""

BLOCKS = """
import dask
import dask.array
import numpy as np
import rosejit as rose
import zarr
from dask.distributed import Client, LocalCluster
from rosejit import Vec

@rose.jit
def cost(p: Vec[2], x: Vec["n"], y: Vec["n"]) -> float:
    return ((p[0] * np.exp(-p[1] * x) - y) ** 2).sum()

if __name__ == "__main__":
    x = np.linspace(0.0, 4.0, 100_000)
    for name, values in {"x": x, "y": 2.5 * np.exp(-1.3 * x)}.items():
        zarr.save(f"{name}.zarr", values)
    more = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(n_workers=2, **more) as cluster, Client(cluster) as client:
        columns = [dask.array.from_zarr(f"{name}.zarr", chunks=10_000).to_delayed() for name in "xy"]
        program = rose.value_and_grad(cost).lower(*map(rose.ShapeOf, (2, 10_000, 10_000))).compile()
        call = dask.delayed(program)
        def both(p):
            found = dask.compute(*[call(p, x, y) for x, y in zip(*columns)])
            return sum(v for v, _ in found), sum(g for _, g in found)
        from scipy.optimize import minimize
        assert np.allclose(minimize(both, [1.0, 1.0], jac=True).x, [2.5, 1.3], atol=1e-5)
    print("all right")
"""


def run(folder, engine, text):
    """What a program prints, started as users of the engine start it."""
    if engine in MODULES:
        pytest.importorskip(MODULES[engine])
    (folder / "program.py").write_text(text)
    command = [sys.executable, "program.py"]
    if engine == "mpi":
        command = [started_by(), "-n", "2", sys.executable, "-m", "mpi4py", "program.py"]
    done = subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=200)
    assert not done.returncode, done.stderr
    return done.stdout


def started_by():
    """`mpiexec`, beside this Python or on the path."""
    found = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
    return found or pytest.skip("no mpiexec")


@pytest.mark.parametrize("engine", [name for name in ENGINES if name in ("dask", "ray", "mpi")])
def test_all_kinds_reach_a_worker(tmp_path, engine):
    """The others of them are in tests/contract/test_workers.py."""
    assert "all the same" in run(tmp_path, engine, PROGRAM + EVERY_KIND + ENGINES[engine])


@pytest.mark.parametrize("engine", ENGINES)
def test_the_programs_of_the_page(tmp_path, engine):
    pytest.importorskip("scipy")
    assert "all right" in run(tmp_path, engine, APPLICATIONS + ENGINES[engine])


def test_blocks_that_are_on_a_disk(tmp_path):
    for module in ("scipy", "dask", "distributed", "zarr"):
        pytest.importorskip(module)
    assert "all right" in run(tmp_path, "dask", BLOCKS)
