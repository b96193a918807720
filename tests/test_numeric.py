"""NumPy is imported when somebody needs it, and not before."""

import os
import subprocess
import sys
from pathlib import Path

from rosejit.numeric import is_at_hand

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


LONG = """
import math
import sys
import rosejit as rose

def made():
    @rose.jit(cache=False)
    def f(x: float, y: float) -> float:
        values = [x, y]
        for k in range(150):
            values.append(values[-1] * 0.5 - math.sin(values[k]))
        return values[-1]
    return rose.grad(f, argnums=(0, 1))(0.5, 0.25)

first = made()
assert "numpy" not in sys.modules, "long straight code brought NumPy in, which takes longer than to do without"
import numpy
assert made() == first
"""


def test_long_code_needs_no_numpy(tmp_path) -> None:
    (tmp_path / "program.py").write_text(LONG)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), "ROSE_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert not done.returncode, done.stderr


def test_numpy_is_loaded_where_it_is_worth_it(monkeypatch) -> None:
    assert is_at_hand(worth_loading=False) == ("numpy" in sys.modules)
    monkeypatch.delitem(sys.modules, "numpy", raising=False)
    monkeypatch.delitem(sys.modules, "rosejit.plain", raising=False)
    assert not is_at_hand(worth_loading=False)
    assert is_at_hand(worth_loading=True)
    monkeypatch.setitem(sys.modules, "rosejit.plain", sys)
    assert not is_at_hand(worth_loading=True)
