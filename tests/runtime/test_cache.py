"""The disk cache: what comes back, what is refused, and that nothing of it ever fails a call."""

import os
import stat
import subprocess
import sys
import warnings

import pytest

from rosejit.abi import Entry, Import, Node, Slot
from rosejit.errors import CacheError, RoseIndexError
from rosejit.ir.syntax import Failure
from rosejit.runtime import cache as cache_module
from rosejit.runtime.cache import Cache
from rosejit.runtime.loaded_program import load
from rosejit.span import Span
from tests.runtime.programs import ALONE, PRODUCT, REAL, ROOT, array, artifact, product, python, real, signature


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def files(cache):
    return sorted(cache.directory.iterdir())


def call(compiled, *arguments):
    return compiled.function("f", PRODUCT)(*arguments)


def test_a_program_comes_back(cache):
    assert cache.load("a") is None
    cache.store("a", load(product()))
    assert call(cache.load("a"), 2.0, 3.0) == 6.0
    assert cache.load("b") is None
    assert cache.info().entries == 1


def test_all_of_an_artifact_comes_back(cache):
    span = Span("file.py", 1, 2, 3, 4, "f")
    own = type("Own", (Exception,), {})
    failures = (
        Failure("index", "no", span, "help"),
        Failure("raise", "é", None, exception=ValueError),
        Failure("raise", "", span, exception=own),
    )
    entry = Entry("f", (real(64), array(72, 2, 3, element="int")), (Slot("dyn", 200, (4,), "bool", "release_0"),))
    imports = (Import("g", (Slot("real"),), (Slot("array", 0, (2,)),)),)
    more = {"failures": failures, "failure_values": (("int", "int"), (), ("real",)), "functions": {3: "f", 4: "λ"}}
    wat = '(func (export "f")) (func (export "release_0") (param i32))'
    program = artifact(wat, entry, imports=imports, lasting=False, recursive=False, **more)
    cache.store("a", load(program, [abs]), [own])
    found = cache.load("a", [abs], [own]).artifact
    assert (found.wasm, found.entries, found.imports) == (program.wasm, program.entries, program.imports)
    assert (found.functions, found.failure_values) == (program.functions, program.failure_values)
    assert (found.lasting, found.recursive) == (False, False)
    for one, other in zip(found.failures, failures, strict=True):
        assert [getattr(one, f) for f in Failure.__slots__] == [getattr(other, f) for f in Failure.__slots__]


def test_an_exception_that_cannot_be_named_is_not_stored(cache):
    for exception in (type("Own", (Exception,), {}), ValueError("made"), lambda: ValueError()):
        cache.store("a", load(artifact('(func (export "f"))', failures=(Failure("raise", "", exception=exception),))))
    assert cache.load("a") is None


def test_host_functions_are_given_again(cache):
    r = Slot("real")
    body = "(f64.store (i32.const 64) (call $g (f64.load (i32.const 64))))"
    entry = Entry("f", (real(64),), (real(64),))
    program = artifact(f'(func (export "f") {body})', entry, imports=(Import("g", (r,), (r,)),))
    cache.store("a", load(program, [lambda x: x + 1]))
    one = signature("x", [REAL], REAL)
    assert cache.load("a", [lambda x: x + 2]).function("f", one)(1.0) == 3.0
    assert cache.load("a", []) is None


def test_failures_keep_their_lines(cache):
    span = Span(__file__, 5, 0, 5, 3, "user")
    body = """
      (i64.store (i32.const 16) (i64.const 7))
      (i64.store (i32.const 24) (i64.const 5))
      (i32.store (i32.const 8) (i32.const 0))
      (unreachable)"""
    failures = (Failure("index", "{0} of {1}", span),)
    cache.store("a", load(artifact(f'(func (export "f") {body})', Entry("f", (), ()), failures=failures)))
    f = cache.load("a").function("f", signature("", [], Node("none")))
    with pytest.raises(RoseIndexError, match="7 of 5") as caught:
        f()
    assert caught.value.span == span


# ---- the directory


def test_the_directory_is_the_users_alone(cache):
    cache.store("a", load(product()))
    assert stat.S_IMODE(cache.directory.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in files(cache)] == [0o600]
    assert not [file for file in files(cache) if file.suffix != ".rose"]


def test_a_directory_others_can_write_to_is_not_used(cache):
    cache.store("a", load(product()))
    cache.directory.chmod(0o777)
    with pytest.warns(CacheError, match="others can write") as caught:
        assert cache.load("a") is None
    assert len(caught) == 1
    cache.store("b", load(product()))  # one warning is enough
    assert len(files(cache)) == 1
    cache.directory.chmod(0o755)
    assert cache.load("a") is not None


def test_a_directory_of_another_user_is_not_used(cache, monkeypatch):
    cache.store("a", load(product()))
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    with pytest.warns(CacheError, match="another user"):
        assert cache.load("a") is None
    cache.store("b", load(product()))
    assert len(files(cache)) == 1


def test_a_link_of_another_user_is_not_followed(cache, monkeypatch, tmp_path):
    cache.store("a", load(product()))
    link = tmp_path / "link"
    link.symlink_to(cache.directory)
    assert Cache(link).load("a") is not None
    real_lstat = os.lstat

    def lstat(path):
        found = list(real_lstat(path))
        found[4] = os.getuid() + 1
        return os.stat_result(found)

    monkeypatch.setattr(os, "lstat", lstat)
    with pytest.warns(CacheError, match="another user"):
        assert Cache(link).load("a") is None


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("not a directory")
    cache = Cache(tmp_path / "file" / "cache")
    compiled = load(product())
    with pytest.warns(CacheError, match="cannot write") as caught:
        cache.store("a", compiled)
    assert len(caught) == 1
    cache.store("b", compiled)  # nothing more is said
    assert call(compiled, 2.0, 3.0) == 6.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.load("a") is None
        assert cache.info().entries == cache.clear() == 0


def test_a_full_disk(cache, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    cache.store("a", load(product()))
    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(CacheError, match="No space left"):
        cache.store("b", load(product()))
    assert len(files(cache)) == 1


def test_a_file_that_cannot_be_read(cache):
    cache.store("a", load(product()))
    (file,) = files(cache)
    file.unlink()
    file.mkdir()
    with pytest.warns(CacheError, match="cannot read"):
        assert cache.load("a") is None


def test_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("ROSE_CACHE_DIR", str(tmp_path))
    assert cache_module.current().directory == tmp_path
    assert cache_module.current() is cache_module.current()
    monkeypatch.delenv("ROSE_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert str(cache_module.current().directory) == "/xdg/rosejit"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert str(cache_module.current().directory) == "/home/me/.cache/rosejit"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert str(cache_module.current().directory) == "/home/me/Library/Caches/rosejit"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert "local" in str(cache_module.current().directory)


# ---- damage


def damaged(data):
    """Every kind of damage, by name."""
    native = data.index(b'{"key"')
    yield "empty", b""
    yield "short", data[:10]
    yield "cut", data[:-1]
    yield "half", data[: len(data) // 2]
    yield "longer", data + b"\0"
    yield "zeros", bytes(len(data))
    yield "text", b"not a program at all\n" * 100
    for at in (0, 100, native // 2, native + 3, len(data) - 40, len(data) - 2):
        yield f"bit {at}", data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_damaged_files_are_discarded_and_rebuilt(cache):
    cache.store("a", load(product()))
    (file,) = files(cache)
    data = file.read_bytes()
    for name, bad in damaged(data):
        file.write_bytes(bad)
        assert cache.load("a") is None, name
        assert not file.exists(), name
        cache.store("a", load(product()))
        assert call(cache.load("a"), 2.0, 3.0) == 6.0


def test_the_file_of_another_program_is_discarded(cache):
    cache.store("a", load(product()))
    (first,) = files(cache)
    data = first.read_bytes()
    first.unlink()
    cache.store("b", load(product()))
    (second,) = files(cache)
    second.write_bytes(data)
    assert cache.load("b") is None
    assert not second.exists()


def test_native_code_that_the_engine_does_not_take_is_discarded(cache, monkeypatch):
    compiled = load(product())
    compiled.module.serialize = lambda: b"\x7fELF of another engine"
    cache.store("a", compiled)
    assert len(files(cache)) == 1
    assert cache.load("a") is None
    assert files(cache) == []


def test_another_version_or_engine_has_other_files(cache, monkeypatch):
    cache.store("a", load(product()))
    monkeypatch.setattr(cache_module, "_package", lambda: "another version")
    assert cache.load("a") is None
    cache.store("a", load(product()))
    assert len(files(cache)) == 2


def test_a_file_that_is_cut_while_its_program_is_loaded(cache):
    cache.store("a", load(product()))
    found = cache.load("a")
    (file,) = files(cache)
    file.write_bytes(b"")
    assert call(found, 2.0, 3.0) == 6.0
    assert cache.load("a") is None


# ---- size


def test_the_files_used_longest_ago_go_first(tmp_path):
    probe = Cache(tmp_path / "probe")
    probe.store("a", load(product()))
    size = probe.info().bytes
    cache = Cache(tmp_path / "cache", limit=3 * size + size // 2)
    for k, name in enumerate("abc"):
        cache.store(name, load(product()))
        os.utime(cache._place(name)[0], (1000 + k, 1000 + k))
    assert cache.load("a") is not None  # used now
    cache.store("d", load(product()))
    assert [name for name in "abcd" if cache.load(name)] == ["a", "c", "d"]
    assert cache.info().bytes <= cache.info().limit


def test_few_of_many_stores_look_at_all_files(tmp_path, monkeypatch):
    """Each looked, once the cache was full: 0.2 s of every first call."""
    looked: list[int] = []
    make_room = Cache._make_room
    monkeypatch.setattr(Cache, "_make_room", lambda self: looked.append(self.info().bytes) or make_room(self))
    probe = Cache(tmp_path / "probe")
    compiled = load(product())
    probe.store("a", compiled)
    size = probe.info().bytes
    looked.clear()
    for k in range(2000):
        Cache(tmp_path / "cache", limit=1000 * size).store(str(k), compiled)
    assert 20 < len(looked) < 150  # 64
    assert 1000 * size < max(looked) < 1250 * size
    assert Cache(tmp_path / "cache").info().entries > 800


def test_a_program_bigger_than_the_cache_is_not_stored(tmp_path):
    cache = Cache(tmp_path / "cache", limit=100)
    cache.store("a", load(product()))
    assert cache.info().entries == 0


def test_abandoned_files_go(cache):
    cache.store("a", load(product()))
    old, new = cache.directory / "x.tmp", cache.directory / "y.tmp"
    old.write_text("")
    new.write_text("")
    os.utime(old, (1000, 1000))
    Cache(cache.directory, limit=10 * cache.info().bytes).store("b", load(product()))
    assert not old.exists()
    assert new.exists()


def test_clear(cache):
    for name in "abc":
        cache.store(name, load(product()))
    (cache.directory / "other.txt").write_text("not ours")
    assert cache.clear() == 3
    assert [file.name for file in files(cache)] == ["other.txt"]
    assert cache.info().entries == 0
    assert cache.load("a") is None


# ---- processes


FILL = """
import sys
from pathlib import Path
from rosejit.runtime.cache import Cache
from rosejit.runtime.loaded_program import load
from tests.runtime.programs import PRODUCT, product
cache = Cache(Path(sys.argv[1]), limit=int(sys.argv[2]))
for turn in range(60):
    name = str(turn % 7)
    found = cache.load(name)
    if found is None:
        found = load(product())
        cache.store(name, found)
    assert found.function("f", PRODUCT)(2.0, float(turn)) == 2.0 * turn
print("ok")
"""


@pytest.mark.parametrize("entries", [100, 4])
def test_processes_fill_it_at_once(tmp_path, entries):
    probe = Cache(tmp_path / "probe")
    probe.store("a", load(product()))
    limit = str(entries * probe.info().bytes)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    command = [sys.executable, "-c", ALONE + FILL, str(tmp_path / "cache"), limit]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT) for _ in range(3)
    ]
    assert [process.communicate()[0].strip() for process in running] == ["ok"] * 3
    left = Cache(tmp_path / "cache", limit=int(limit))
    assert left.info().entries >= min(entries, 7) - 1
    assert all(file.suffix == ".rose" for file in files(left))


def test_a_later_process_finds_it(cache, monkeypatch):
    monkeypatch.setattr(cache_module, "_package", lambda: "of this test")  # files may change while it runs
    cache.store("a", load(product()))
    code = """
import sys
from pathlib import Path
from rosejit.runtime import cache
from tests.runtime.programs import PRODUCT
cache._package = lambda: "of this test"
found = cache.Cache(Path(sys.argv[1])).load("a")
names = sorted({name.split(".")[1] for name in sys.modules if name.startswith("rosejit.")})
print(found.function("f", PRODUCT)(6.0, 7.0), names)
"""
    done = python(code, str(cache.directory))
    expected = (
        "abi beside_bytecode container_kind containers errors ir lazy_dataclass list_room made_anew narrow_values "
    )
    expected += "numeric processor runtime span"
    assert done.stdout.strip() == f"42.0 {expected.split()}", done
