"""The same diagrams by others: npm `rose`, generated C, and TensorFlow.js."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import PEERS, ROOT, Row, has_rose, node

BENCH = Path(os.environ.get("ROSE_PENROSE_BENCH", ROOT.parent / "shared" / "bench"))
"""Where the programs for C and TensorFlow.js are: they do not come with the repository."""


def absent(without: list[str]) -> list[str]:
    """The peers that are not here, or not wanted."""
    here = {
        "rose": has_rose(),
        "gcc": shutil.which("gcc") is not None and (BENCH / "c_limit.py").exists(),
        "tensorflow.js": (PEERS / "node_modules" / "@tensorflow" / "tfjs").exists()
        and (BENCH / "tfjs_graph.mjs").exists(),
    }
    return [name for name, found in here.items() if not found or name in without]


def npm_rose(graph: Path, repeat: int, budget: float) -> Row:
    """Milliseconds of a warm build (`first`: in a fresh process) and of build and layout; microseconds of a call."""
    return node(PEERS / "penrose.mjs", str(graph), str(repeat + 1), str(1e3 * budget))


def generated_c(graph: Path, budget: float) -> Row:
    """Microseconds of a gradient in a loop of C, compiled by gcc -O1."""
    command = [sys.executable, str(BENCH / "c_limit.py"), "--opt", "O1", "--budget-ms", str(1e3 * budget)]
    done = subprocess.run([*command, "--files", str(graph)], capture_output=True, text=True, timeout=600, cwd=BENCH)
    found = json.loads(done.stdout.splitlines()[-1])
    return {"eval": found.get("eval_us"), "build": found.get("build_ms"), "ops": found.get("live_ops")}


def tensorflow(graph: Path, budget: float) -> Row:
    """Microseconds of a gradient, up to 5,000 operations."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("tfjs_graph.mjs", "graphio.mjs"):
            shutil.copy(BENCH / name, folder)
        (Path(folder) / "node_modules").symlink_to((PEERS / "node_modules").resolve())
        (Path(folder) / "package.json").write_text('{"type": "module"}')
        command = ["node", "--expose-gc", "tfjs_graph.mjs", "--budget-ms", str(1e3 * budget), "--files", str(graph)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=folder)
    return {"eval": json.loads(done.stdout.splitlines()[-1]).get("eval_us")}
