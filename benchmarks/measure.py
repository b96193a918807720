"""Timings that hold on a shared machine, and tables of them: text for people, JSON for machines."""

import argparse
import ctypes
import gc
import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
OUT = ROOT / "build" / "benchmarks"

Clock = Callable[[], float]
Row = dict[str, Any]

# --- time


@contextmanager
def collector_off() -> Iterator[None]:
    """Collects now, and not inside."""
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def per_call(f: Callable[[], Any], *, batch: float = 0.02, batches: int = 9, clock: Clock = time.process_time) -> float:
    """Seconds of process CPU a call: the median of `batches`, each of about `batch` seconds. Of compiled code the one
    that calls end up with."""
    with collector_off():
        f()
        if "rosejit.runtime.residency.tiering" in sys.modules:
            sys.modules["rosejit.runtime.residency.tiering"].wait()
        number = 1
        while (spent := _spent(f, number, clock)) < batch and number < 1 << 24:
            number = max(2 * number, int(number * batch / spent)) if spent > batch / 100 else 10 * number
        return statistics.median(_spent(f, number, clock) / number for _ in range(batches))


def per_call_each(*fs: Callable[[], Any], batch: float = 0.05, batches: int = 7) -> list[float]:
    """As `per_call`, for functions that are compared: their batches take turns, so that all see the same machine."""
    numbers = [max(1, round(batch / max(per_call(f, batch=batch / 10, batches=1), 1e-9))) for f in fs]
    with collector_off():
        rounds = [
            [_spent(f, n, time.process_time) / n for f, n in zip(fs, numbers, strict=True)] for _ in range(batches)
        ]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def _spent(f: Callable[[], Any], number: int, clock: Clock) -> float:
    turns = [None] * number
    start = clock()
    for _ in turns:
        f()
    return clock() - start


def once(f: Callable[[], Any], clock: Clock = time.process_time) -> tuple[float, Any]:
    """Seconds of process CPU of one call, and its result."""
    with collector_off():
        start = clock()
        result = f()
        return clock() - start, result


def repeated(f: Callable[[int], Any], times: int) -> float:
    """The median of the seconds that `f(0)`, `f(1)`, ... take: each must be a new case, where results are kept."""
    return statistics.median(once(lambda k=k: f(k))[0] for k in range(times))


def pulse() -> float:
    """Nanoseconds of one iteration of a plain Python loop: tells how fast the machine is just now."""
    return 1e9 * min(_spent(_turns, 1, time.process_time) for _ in range(5)) / 100_000


def _turns() -> None:
    total = 0
    for k in range(100_000):
        total += k


# --- other processes


def alone(script: str, *args: str, env: dict[str, str] | None = None, timeout: float = 600) -> Row:
    """What `script`, Python source, prints as JSON when a new interpreter runs it; `wall` and `cpu` of the process."""
    return process([sys.executable, "-c", script, *args], env, timeout)


def node(script: Path, *args: str, timeout: float = 600) -> Row:
    """As `alone`, for a module that node runs."""
    return process(["node", "--expose-gc", str(script), *args], None, timeout)


PEER_PYTHON = os.environ.get("PEER_PYTHON") or sys.executable
"""The interpreter that has the peers of Python that this one may lack."""


def peer_has(module: str) -> bool:
    """Whether that interpreter has a module."""
    return subprocess.run([PEER_PYTHON, "-c", f"import {module}"], capture_output=True).returncode == 0


def process(command: list[str], env: dict[str, str] | None = None, timeout: float = 600) -> Row:
    """What a command prints as JSON on its last line; `wall` and `cpu` of the process."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    variables = {**os.environ, "PYTHONPATH": path, **(env or {})}
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=timeout, cwd=ROOT)
    after = os.times()
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{done.stderr[-2000:]}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {**json.loads(done.stdout.splitlines()[-1]), "wall": time.perf_counter() - start, "cpu": cpu}


# --- peers


def has(package: str) -> bool:
    """Whether a Python package can be imported."""
    return importlib.util.find_spec(package) is not None


PEERS = Path(__file__).parent / "peers"


def has_rose() -> bool:
    """Whether node and npm `rose` are here."""
    return (PEERS / "node_modules" / "rose").exists()


def has_compiler() -> bool:
    """Whether g++ is here."""
    return shutil.which("g++") is not None


def native(name: str, machine: str = "-march=native") -> ctypes.CDLL:
    """`peers/NAME.cpp`, compiled for this machine, or for what the flag `machine` says: `-msse2` has the 128 bits and
    the separate products and sums that WebAssembly has."""
    made = OUT / f"{name}{machine}.so"
    made.parent.mkdir(parents=True, exist_ok=True)
    flags = ["-O3", machine, "-std=c++17", "-shared", "-fPIC"]
    subprocess.run(["g++", *flags, "-o", str(made), str(PEERS / f"{name}.cpp")], check=True)
    return ctypes.CDLL(str(made))


HOW = {
    "g++": "apt-get install g++",
    "casadi": "pip install casadi",
    "gcc": "apt-get install gcc",
    "jax": "pip install -e '.[bench]'",
    "numba": "pip install numba",
    "rose": "npm install --prefix benchmarks/peers",
    "taichi": "pip install taichi",
}

# --- tables


@dataclass
class Table:
    """Rows under one title; printed when complete, and written as JSON with the facts of the machine."""

    name: str
    title: str
    columns: dict[str, str]
    """Keys of rows, and how a number under each is written."""
    rows: list[Row] = field(default_factory=list[Row])
    absent: list[str] = field(default_factory=list[str])

    def add(self, **row: Any) -> None:
        """One row; keys that are no columns are kept for the JSON."""
        self.rows.append(row)
        print(".", end="", file=sys.stderr, flush=True)

    def finish(self, path: Path | None = None) -> None:
        """Print the table, and write it."""
        print(file=sys.stderr)
        print(self.text())
        target = path or OUT / f"{self.name}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps({"table": self.name, "machine": machine(), "rows": self.rows}, indent=1) + "\n")

    def text(self) -> str:
        """The table for people."""
        keys = list(self.columns)
        cells = [keys, *[[_cell(row.get(key), self.columns[key]) for key in keys] for row in self.rows]]
        widths = [max(len(line[k]) for line in cells) for k in range(len(keys))]
        lines = [
            "  ".join(_aligned(c, w, k) for k, (c, w) in enumerate(zip(line, widths, strict=True))).rstrip()
            for line in cells
        ]
        missing = [f"absent: {peer} ({HOW[peer]})" for peer in self.absent]
        return "\n".join([f"{self.title}", *lines, *missing, ""])


def _cell(value: Any, form: str) -> str:
    return "-" if value is None else value if isinstance(value, str) else format(value, form)


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if column else cell.ljust(width)


def machine() -> Row:
    """Where and with what the figures were made."""
    packages = ("rosejit", "numpy", "wasmtime", "jax", "numba")
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "pulse_ns": round(pulse(), 2),
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: metadata.version(name) for name in packages if has(name) and _installed(name)},
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.split(":", 1)[1].strip() for line in _lines(info) if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def options(description: str, **numbers: list[int] | int | str) -> argparse.Namespace:
    """The command line of a table: `--json PATH`, `--without PEER ..`, and `--name` for each of `numbers`, which gives
    the default; a list is written with commas."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, metavar="PATH", help="where the figures go")
    parser.add_argument("--without", nargs="*", default=[], metavar="PEER", help="peers to leave out")
    for name, default in numbers.items():
        kind = _integers if isinstance(default, list) else type(default)
        parser.add_argument(f"--{name}", type=kind, default=default, help=f"default: {default!r}")
    return parser.parse_args()


def _integers(text: str) -> list[int]:
    return [int(float(number)) for number in text.split(",")]
