"""A program that is on disk is found without staging it, and never in the place of another.

`keys.txt` has programs: those that have keys (`found`), those that must have none (`refused`), pairs that differ in
one thing and so in their keys (`changed`), and programs of one text whose process differs in one thing, `STEP`
(`stepped`: no key or another). They run in processes of their own, which hash texts differently: one fills the cache,
one must find the program, one has what it is after the change, and one has no keys and knows what is right.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract import keyed

HEAD = """
import collections, dataclasses, enum, functools, math, operator, typing
import numpy as np
import rosejit as rose
STEP = int(__import__("os").environ["STEP"])
"""
Files = dict[str, str]


def files(text: str) -> Files:
    """A program: `main.py`, where `f(1.5)` is called unless `run` does something else, and `helpers.py`."""
    main, _, helpers = text.partition("--- helpers\n")
    run = "" if "def run" in main else "\ndef run(): return f(1.5)\n"
    return {"main.py": HEAD + ("import helpers\n" if helpers else "") + main + run, "helpers.py": helpers}


def read(kind: str) -> dict[str, tuple[Files, Files]]:
    """The programs of a kind by name, before the change and after it."""
    found: dict[str, tuple[Files, Files]] = {}
    for section in Path(__file__).with_name("keys.txt").read_text().split("=== ")[1:]:
        title, _, text = section.partition("\n")
        before, _, after = text.partition("--- to\n")
        if title.startswith(f"{kind}: "):
            found[title.removeprefix(f"{kind}: ")] = files(before), files(after or before)
    return found


CHANGED, REFUSED, FOUND, STEPPED = read("changed"), read("refused"), read("found"), read("stepped")
Results = dict[str, list[object]]


def run(folder: Path, cache: Path, seed: int, **environment: str) -> Results:
    """What the programs in `folder` give in a new process, and how often it has staged."""
    variables = {
        **os.environ,
        "ROSE_CACHE_DIR": str(cache),
        "PYTHONHASHSEED": str(seed),
        "ROSE_KEYS": "1",
        "STEP": "1",
        **environment,
    }
    command = [sys.executable, keyed.__file__, str(folder)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def write(folder: Path, programs: dict[str, Files]) -> None:
    """A folder for each of the programs."""
    for name, held in programs.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for file, text in held.items():
            (folder / name / file).write_text(text)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """By name: what all programs give in one process after the other."""
    folder, cache = tmp_path_factory.mktemp("programs"), tmp_path_factory.mktemp("cache")
    cases = {
        f"{k}{name}": pair for k, table in enumerate((CHANGED, REFUSED, FOUND, STEPPED)) for name, pair in table.items()
    }
    write(folder, {name: before for name, (before, _) in cases.items()})
    found = {"fill": run(folder, cache, 1), "again": run(folder, cache, 2)}
    found["checked"] = run(folder, cache, 3, ROSE_KEYS="verify")
    write(folder, {name: after for name, (_, after) in cases.items()})
    found["changed"] = run(folder, cache, 4, STEP="2")
    found["without"] = run(folder, cache, 5, STEP="2", ROSE_KEYS="0")
    return found


@pytest.mark.parametrize("name", CHANGED)
def test_what_differs_has_another_key(runs, name):
    name = f"0{name}"
    assert runs["fill"][name][1] != 0
    assert runs["again"][name] == [runs["fill"][name][0], 0]
    assert runs["checked"][name][0] == runs["fill"][name][0]
    assert runs["changed"][name] == runs["without"][name]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_to_be_the_same_has_none(runs, name):
    name = f"1{name}"
    assert runs["again"][name][1] != 0
    assert runs["again"][name][0] == runs["without"][name][0]


@pytest.mark.parametrize("name", FOUND)
def test_what_is_the_same_is_found(runs, name):
    name = f"2{name}"
    assert runs["fill"][name] == runs["without"][name]
    assert runs["again"][name] == [runs["fill"][name][0], 0]
    assert runs["checked"][name][0] == runs["fill"][name][0]


@pytest.mark.parametrize("name", STEPPED)
def test_what_the_process_decides_is_in_the_key_or_refused(runs, name):
    name = f"3{name}"
    assert runs["fill"][name][1] != 0
    again, changed = runs["again"][name], runs["changed"][name]
    if again[1] == 0:
        assert again[0] == runs["fill"][name][0]
        assert changed[0] == runs["without"][name][0]
    else:  # what it gives may be of the process
        assert changed[1] != 0


def test_what_differs_has_another_key_if_nobody_looks_at_texts(tmp_path, monkeypatch):
    """The text of a file alone tells most of the pairs apart: what else there is must do it too."""
    folder, cache = tmp_path / "programs", tmp_path / "cache"
    found: list[Results] = []
    for k, keys in ((0, "1"), (1, "1"), (1, "0")):
        write(folder, {name: pair[k] for name, pair in CHANGED.items()})
        found.append(run(folder, cache, k, ROSE_KEYS=keys, WITHOUT_TEXTS="1"))
    assert {name: given for name, (given, _) in found[1].items()} == {n: given for n, (given, _) in found[2].items()}


def test_in_one_process():
    """`keyed_here.py` in a process of its own: what other tests did to this one may rightly speak against keys."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run([*command, str(Path(__file__).with_name("keyed_here.py"))], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
