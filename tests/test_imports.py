"""What `import rosejit` loads, and what a program loads after it: little, and only what it uses."""

import ast
import os
import pickle
import platform
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import rosejit as rose
from rosejit.api import scalar_functions
from rosejit.api.math_functions import FUNCTIONS
from rosejit.processor import PROCESSOR

ROOT = Path(__file__).parent.parent


def run(program: str, folder: Path) -> list[str]:
    """What a program prints in a new process."""
    (folder / "program.py").write_text(program)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "ROSE_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, "program.py"], cwd=folder, env=env, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout.split()


LOADED = "import sys; print(*[name for name in sys.modules if name.split('.')[0] in {names}])"
OTHERS = ["numpy", "beartype", "wasmtime", "inspect", "dataclasses"]


def test_the_package_alone(tmp_path):
    loaded = run(f"import rosejit\n{LOADED.format(names=['rosejit', *OTHERS])}", tmp_path)
    assert loaded == ["rosejit.api", "rosejit.api.scalar_functions", "rosejit.export", "rosejit"]


DECORATED = """
import rosejit as rose
from rosejit import Vec

@rose.jit
def f(x: Vec["n"], y: float) -> float:
    return x[0] * rose.sin(y)
"""
COMPILER = (
    "rosejit.codegen",
    "rosejit.transforms.pipeline",
    "rosejit.transforms.autodiff.derivative_programs",
    "rosejit.interp",
)


def test_before_the_first_call_there_is_no_compiler(tmp_path):
    loaded = run(DECORATED + LOADED.format(names=["rosejit", "wasmtime", "beartype"]), tmp_path)
    assert "rosejit.frontend.syntax.translate" in loaded
    assert [name for name in loaded if name.startswith((*COMPILER, "wasmtime", "beartype"))] == []


def test_what_is_on_disk_needs_no_compiler(tmp_path):
    program = DECORATED + "import numpy as np\nrose.grad(f)(np.ones(2), 3.0)\n" + LOADED.format(names=["rosejit"])
    first, second = run(program, tmp_path), run(program, tmp_path)
    assert set(COMPILER[:-1]) <= set(first)
    assert [name for name in second if name.startswith(COMPILER)] == []


def test_numbers_that_are_on_disk_need_little_of_python(tmp_path):
    """NumPy loads `platform`; each takes 3 ms or more."""
    program = "import rosejit as rose\nrose.grad(rose.jit(lambda x: x * x))(3.0)\n"
    program += LOADED.format(names=["numpy", "platform", "tempfile"])
    run(program, tmp_path)
    assert run(program, tmp_path) == []


def test_the_name_of_the_processor():
    assert platform.machine() == PROCESSOR


def test_checkers_see_what_python_finds():
    """The block for type checkers and the table for Python name the same objects of the same modules."""
    tree = ast.parse((ROOT / "rosejit" / "__init__.py").read_text())
    block = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    shown: dict[str, str] = {}
    for node in block.body:
        if isinstance(node, ast.ImportFrom) and node.module not in ("rosejit", None):
            shown |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    del shown["*"]  # the functions of numbers, which are in one table
    for name, where in shown.items():
        module, _, attribute = where.rpartition(".")
        assert getattr(rose, name) is getattr(import_module(module), attribute)
    numbers = {name: FUNCTIONS[name] for name in scalar_functions.__all__}
    assert {name: getattr(rose, name) for name in numbers} == numbers
    assert {*shown, *numbers, "export", "__version__"} == set(rose.__all__)


def test_no_module_has_a_public_name():
    """Importing it would put it in the place of the function; `rose.export` is put back at once."""
    modules = {path.stem for path in (ROOT / "rosejit").iterdir()}
    assert modules & set(rose.__all__) == {"export"}


STANDARD = {
    "rosejit/api/programs/lowered.py": "Cost",
    "rosejit/api/programs/shown.py": "Shown",
    "rosejit/frontend/hints/hints.py": "Dual",
    "rosejit/optim/box.py": "Bounds",
    "rosejit/optim/constrained.py": "OptimizeResult",
    "rosejit/solvers/fitting/fits.py": "LeastSquaresResult",
    "rosejit/solvers/odes/interpolants.py": "OdeSolution",
    "rosejit/solvers/odes/ivp.py": "OdeResult",
    "rosejit/solvers/roots.py": "RootResult",
}
"""Dataclasses that users make or read."""


def test_dataclasses_of_ours_are_lazy():
    found = {}
    for path in (ROOT / "rosejit").rglob("*.py"):
        text = path.read_text()
        standard = "dataclass" if "from dataclasses import dataclass" in text else r"dataclasses\.dataclass"
        for name in re.findall(rf"^@{standard}\b.*\nclass (\w+)", text, re.MULTILINE):
            found[str(path.relative_to(ROOT))] = name
    assert found == STANDARD


def test_names():
    assert set(rose.__all__) <= set(dir(rose))
    assert "optim" in dir(rose)
    scope: dict[str, object] = {}
    exec("from rosejit import *", scope)
    assert set(rose.__all__) <= scope.keys()
    with pytest.raises(AttributeError, match="module 'rosejit' has no attribute 'jits'"):
        _ = rose.jits
    with pytest.raises(ImportError, match="cannot import name 'jits' from 'rosejit'"):
        exec("from rosejit import jits")


@pytest.mark.parametrize("name", ["sin", "grad", "Vec", "Dual", "ShapeError", "Function"])
def test_pickles(name):
    assert pickle.loads(pickle.dumps(getattr(rose, name))) is getattr(rose, name)


def test_submodules_and_the_function_export(tmp_path):
    program = """
import rosejit.export.files, rosejit.optim, rosejit.api.derivation.gradients
import rosejit as rose
print(callable(rose.export), rose.optim.newton.__name__, rose.grad is rosejit.api.derivation.gradients.grad)
"""
    assert run(program, tmp_path) == ["True", "newton", "True"]


def test_threads_that_ask_first(tmp_path):
    program = """
import threading
import rosejit as rose
start, found = threading.Barrier(8), []
def work(k):
    start.wait()
    f = rose.jit(lambda x: x * rose.sin(x) + k)
    found.append(rose.grad(f)(0.0) == 0.0 and rose.vmap(f) is not None and f(0.0) == k)
threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*found)
"""
    assert run(program, tmp_path) == ["True"] * 8
