"""What a program that was found by its content does in the process that found it; `test_keys.py` starts it."""

import threading
from pathlib import Path

import numpy as np
import pytest

import rosejit as rose


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
