"""The laws of tests/test_laws.py in Pyodide, run by node: on the engine of the page, without NumPy.

`ROSE_PYODIDE` is the folder of the npm package, which `tox -e web` installs.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import beartype

from rosejit import demo
from tests.export.machine import NODE
from tests.web import faults_in_page
from tests.web.answers import answers

PYODIDE = demo.find_pyodide()
if not (NODE and PYODIDE):
    print("no node with Pyodide: nothing runs in it", file=sys.__stderr__)
STEP = 1 if os.environ.get("ROSE_TEST_PROFILE") == "full" else 4
PARTS = 2


def test_the_laws_in_pyodide(tmp_path):
    """One program in four, all of them with the profile `full`, in two processes."""
    if not (NODE and PYODIDE):
        return
    repository, packages = Path(__file__).parents[2], Path(beartype.__file__).parents[1]
    script = str(Path(__file__).with_name("laws.mjs"))
    command = [NODE, script, str(PYODIDE.resolve()), str(repository), str(packages)]
    (tmp_path / "answers.json").write_text(answers())
    parts = [[*command, str(k * STEP), str(PARTS * STEP), str(tmp_path / "answers.json")] for k in range(PARTS)]
    running = [subprocess.Popen(part, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for part in parts]
    found, times = {}, {}
    for process in running:
        out, err = process.communicate(timeout=3600)
        assert process.returncode == 0, err[-3000:]
        told = json.loads(out.splitlines()[-1])
        found |= told["laws"]
        times |= told["times"]
    assert not [(name, what) for name, each in found.items() for what in each["broken"]]
    print(f"{len(found)} programs obey the laws in Pyodide; seconds of CPU: {times}")


def test_what_a_page_is_told_is_what_cpython_is_told():
    faults_in_page.check()
