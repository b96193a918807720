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
import threading
from pathlib import Path

import numpy as np
import pytest

import rosejit as rose
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


# --- in one process


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own."""
    monkeypatch.setenv("ROSE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("ROSE_KEYS", "1")
    return tmp_path / "cache"


def defined(folder: Path, text: str) -> dict[str, object]:
    """The names that a file defines."""
    path, names = folder / "main.py", {"__name__": "main"}
    path.write_text(text)
    exec(compile(text, str(path), "exec"), names)
    return names


TEXT = """
import rosejit as rose
k = [2.0]
@rose.jit
def f(x: float):
    return x * k[0]
"""


def test_what_was_found_is_guarded(empty):
    first = defined(empty.parent, TEXT)
    assert (first["f"](3.0), first["f"].cache_info().misses) == (6.0, 1)
    rose.clear_caches()
    assert (first["f"](3.0), first["f"].cache_info().misses) == (6.0, 0)
    first["k"][0] = 5.0
    assert (first["f"](3.0), first["f"].cache_info().misses) == (15.0, 1)
    first["k"] = [7.0]
    assert first["f"](3.0) == 21.0


def test_what_was_found_is_staged_when_it_is_opened(empty):
    names = defined(empty.parent, TEXT)
    f = names["f"]
    assert f(3.0) == 6.0
    text = str(f.lower(3.0).ir)
    rose.clear_caches()
    assert f(3.0) == 6.0
    assert f.cache_info() == (1, 0, 1)
    assert str(f.lower(3.0).ir) == text
    assert rose.grad(f)(3.0) == 2.0
    assert rose.vjp(f, 3.0)[0] == 6.0
    assert f.lower(3.0).cost().ops == 1


def test_notes_that_are_damaged_or_lost_do_no_harm(empty):
    f = defined(empty.parent, TEXT)["f"]
    assert f(3.0) == 6.0
    (note,) = empty.glob("*.note")
    data = note.read_bytes()
    for bad in (b"", data[:10], bytes(len(data)), data[:-1], data.replace(b"guards", b"guardz"), b"[]" + bytes(4)):
        note.write_bytes(bad)
        rose.clear_caches()
        assert (f(3.0), f.cache_info().misses) == (6.0, 1)
        assert note.read_bytes() == data
    (compiled,) = empty.glob("*.rose")
    compiled.unlink()
    rose.clear_caches()
    assert (f(3.0), f.cache_info().misses) == (6.0, 1)
    assert compiled.exists()


def test_two_threads_that_call_first(empty):
    f = defined(empty.parent, TEXT)["f"]
    for _ in range(2):
        rose.clear_caches()
        found: list[float] = []
        threads = [threading.Thread(target=lambda: found.append(f(3.0))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [6.0] * 4


def test_the_variables_that_staging_reads_are_in_the_key(empty, monkeypatch):
    f = defined(empty.parent, TEXT)["f"]
    assert f(3.0) == 6.0
    for name, value in {"ROSE_UNROLL_LIMIT": "1000", "ROSE_DEBUG_NANS": "1"}.items():
        monkeypatch.setenv(name, value)
        rose.clear_caches()
        assert (f(3.0), f.cache_info().misses) == (6.0, 1)
        monkeypatch.delenv(name)
    monkeypatch.setenv("ROSE_KEYS", "0")
    rose.clear_caches()
    assert (f(3.0), f.cache_info().misses) == (6.0, 1)


def test_a_function_that_was_staged_before_is_trusted_while_it_is_what_it_was(empty):
    names = defined(empty.parent, TEXT + "def b(x):\n    return f(x)\nh = rose.jit(b)\n")
    assert names["f"](3.0) == 6.0
    names["f"].__wrapped__.__defaults__ = (4.0,)
    assert names["h"](3.0) == 6.0


OUTSIDE = """
import dataclasses
import numpy as np
import rosejit as rose
k = 2.0
items = [1.0, 2.0]
table = {"a": 1.0}
a = np.array([1.0, 2.0])
b = a
class B:
    n = 1.0
class C(B):
    m = 1.0
    def __init__(self): self.o = 1.0
    def at(self, x): return x * self.m + self.n
    @property
    def p(self): return self.o
c = C()
def deep(x, d=3.0): return x * d
def make(n):
    def inner(x): return x * n
    def put(value):
        nonlocal n
        n = value
    return inner, put
inner, put = make(2.0)
@rose.jit
def h(x: float): return x * x
def ruled(x: rose.Dual) -> rose.Dual: return rose.Dual(h(x.re), x.du * 3.0)
def g(x):
    y = x * k + items[-1] + table["a"] + c.at(x) + c.o + c.p + deep(x) + inner(x) + h(x)
    return y + np.sum(a * b) + len(items)
f = rose.jit(g)
df = rose.grad(g)
"""
CHANGES = [
    "k = 3.0", "items.append(5.0)", "items[1] = 7.0", "items = (1.0, 4.0)", "table['a'] = 3.0", "a[0] = 5.0",
    "a = np.array([3.0, 4.0])", "b = np.array([3.0, 4.0])", "a = b = np.arange(3.0)", "B.n = 4.0", "C.m = 5.0",
    "c.o = 6.0", "c.at = lambda x: x", "C.at = lambda self, x: x * 7.0", "C.p = 3.0", "c = C(); c.o = 9.0",
    "deep.__defaults__ = (8.0,)", "deep = lambda x: x", "put(5.0)", "inner = make(4.0)[0]", "h = rose.jit(deep)",
    "h.jvp(ruled)", "abs", "np.sum = np.prod", "len = lambda items: 9.0",
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_after_a_program_was_found_shows_as_ever(empty, monkeypatch, change):
    found: list[list[float]] = []
    for keys in ("1", "1", "0"):
        monkeypatch.setenv("ROSE_KEYS", keys)
        monkeypatch.setattr(np, "sum", np.sum)
        names = defined(empty.parent, OUTSIDE)
        rose.clear_caches()
        given = [names["f"](1.5), names["df"](1.5)]
        hits = names["f"].cache_info().misses
        exec(change, names)
        given += [names["f"](1.5), names["df"](1.5), names["f"](2.5)]
        found.append(given)
        monkeypatch.undo()
        monkeypatch.setenv("ROSE_CACHE_DIR", str(empty))
        assert hits == (0 if len(found) == 2 else 1)
    assert found[0] == found[1] == found[2]
