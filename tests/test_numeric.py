"""NumPy is imported when somebody needs it, and not before."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
assert "numpy" not in sys.modules, "long straight-line code brought NumPy in, which takes longer than to do without"
import numpy
assert made() == first
"""


def test_long_code_needs_no_numpy(tmp_path) -> None:
    (tmp_path / "program.py").write_text(LONG)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), "ROSE_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert not done.returncode, done.stderr


PLAIN = """
import sys
sys.modules["numpy"] = None
import rosejit as rose
from rosejit import plain

@rose.jit(cache=False)
def twice(x: rose.Vec["n"]) -> rose.Vec["n"]:
    return 2.0 * x

for n in (0, 1, 3, 64, 65, 5000, 9000):
    x = plain.arange(2.0 * n)
    for given in (x, x[1::2], x[::-1]):
        for _ in range(2):
            assert twice(given).tolist() == [2.0 * number for number in given.tolist()]
"""


@pytest.mark.parametrize("numpy", ["None", "plain"])
def test_arrays_of_every_size_do_without_numpy(tmp_path, numpy) -> None:
    """Also where programs that import NumPy get what stands for it."""
    text = PLAIN.replace("import plain\n", f'import plain\nsys.modules["numpy"] = {numpy}\n')
    (tmp_path / "program.py").write_text(text)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), "ROSE_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert not done.returncode, done.stderr


LISTS = """
import sys
import rosejit as rose

@rose.jit
def first(x: rose.Vec["n"]) -> float:
    return x[0]

assert first([1.0, 2.0]) == 1.0
import numpy as np
assert first(np.array([3.0, 4.0])) == 3.0
assert first.latest.__globals__["_rose_ndarray"] is np.ndarray, "arrays would be taken for something else at each call"
"""


def test_arrays_are_known_after_lists(tmp_path) -> None:
    (tmp_path / "program.py").write_text(LISTS)
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
