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

PYODIDE = demo.find_pyodide()
if not (NODE and PYODIDE):
    print("no node with Pyodide: nothing runs in it", file=sys.__stderr__)
STEP = 1 if os.environ.get("ROSE_TEST_PROFILE") == "full" else 4
PARTS = 2
NUMPYS = {"matrices.higher_products"}
"""Programs whose answer is what NumPy itself gives for `np.tensordot`, which plain arrays have not."""


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
    broken = {name: each["broken"] for name, each in found.items() if each["broken"] and name not in NUMPYS}
    assert not broken
    print(f"{len(found)} programs; seconds of CPU: {told['times']}")
