"""NumPy is imported when somebody needs it, and not before."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
import rosejit as rose

@rose.jit
def f(x: float, n: int) -> float:
    y = x
    for i in rose.range(n):
        y = y * x + 1.0
    return y

assert f(2.0, 3) == 23.0
assert rose.grad(f)(2.0, 1) == 4.0
assert "numpy" not in sys.modules, "numbers alone brought NumPy in"

import numpy as np
assert f(np.float64(2.0), np.int64(3)) == 23.0
assert f(np.array(2.0), 3) == 23.0
assert f(2.0, 3) == 23.0
"""


def test_numbers_do_without_numpy(tmp_path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), "ROSE_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert not done.returncode, done.stderr
