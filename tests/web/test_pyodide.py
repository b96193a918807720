"""The laws of tests/test_laws.py in Pyodide, run by node: on the engine of the page, without NumPy.

`ROSE_PYODIDE` is the folder of the npm package, which `tox -e web` installs.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import gast

from rosejit import demo
from tests.export.machine import NODE
from tests.web import faults_in_page

PYODIDE = demo.find_pyodide()
if not (NODE and PYODIDE):
    print("no node with Pyodide: nothing runs in it", file=sys.__stderr__)
STEP = 1 if os.environ.get("ROSE_TEST_PROFILE") == "full" else 4
PARTS = 2
NUMPYS = {
    *("folds.compared", "folds.deviations", "folds.differences", "folds.interpolated_points", "folds.norms"),
    *("folds.ranked", "folds.sums_of_some", "folds.weighted", "hosts.network", "indexing.copied_here_and_there"),
    *("matrices.convolved", "matrices.cross_products", "matrices.higher_products", "matrices.stacks_of_systems"),
    *("matrices.subscripts", "named.of_arrays", "named.of_one", "windows.correlated"),
}
"""Programs that ask NumPy itself, of what plain arrays have not: `network` for random numbers, the others to be run by
CPython as a measure of the compiled code, of which all the other laws hold."""
ORACLES = ("test_the_answer_is_the_known_one", "test_the_interpreter_gives_the_bits_of_cpython")


def test_the_laws_in_pyodide():
    """One program in four, all of them with the profile `full`, in two processes."""
    if not (NODE and PYODIDE):
        return
    repository, packages = Path(__file__).parents[2], Path(gast.__file__).parents[1]
    script = str(Path(__file__).with_name("laws.mjs"))
    command = [NODE, script, str(PYODIDE.resolve()), str(repository), str(packages)]
    parts = [[*command, str(k * STEP), str(PARTS * STEP)] for k in range(PARTS)]
    running = [subprocess.Popen(part, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for part in parts]
    found = {}
    for process in running:
        out, err = process.communicate(timeout=3600)
        assert process.returncode == 0, err[-3000:]
        told = json.loads(out.splitlines()[-1])
        found |= told["laws"]
    broken = [(name, what) for name, each in found.items() for what in each["broken"]]
    assert not [(name, what) for name, what in broken if not (name in NUMPYS and is_numpys(what))]
    print(f"{len(found)} programs; seconds of CPU: {told['times']}")


def test_what_a_page_is_told_is_what_cpython_is_told():
    faults_in_page.check()


def is_numpys(what):
    """Whether a law is broken for want of NumPy."""
    return what.startswith(ORACLES) or "has no attribute 'random'" in what
