"""Compiled programs as things: bound, called, saved, loaded and pickled, in this process and in others."""

import multiprocessing
import os
import pickle
import random
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import rosejit as rose
from rosejit.api.programs import program_codec
from rosejit.runtime import cache_format
from tests.contract import compiled_cases
from tests.contract.compiled_cases import CASES, X, same

ROOT = Path(__file__).parent.parent.parent


@cache
def compiled(name):
    f, args, kwargs, _ = CASES[name]
    return f.lower(*args, **kwargs).compile()


def each_case(function):
    return pytest.mark.parametrize("name", CASES)(function)


def check(program, name):
    _, args, kwargs, expected = CASES[name]
    for _ in range(2):
        found = program(*args, **kwargs)
        assert same(found, expected), (name, found)


@each_case
def test_calls(name):
    check(compiled(name), name)
    assert repr(compiled(name)).startswith("<rose.Compiled ")


@each_case
@pytest.mark.parametrize("way", ["file", "pickle"])
def test_there_and_back(name, way, tmp_path):
    if way == "file":
        compiled(name).save(tmp_path / "program.rose")
        again = rose.load(tmp_path / "program.rose")
    else:
        again = pickle.loads(pickle.dumps(compiled(name)))
    check(again, name)
    one = compiled(name)
    assert (again.wasm, str(again.ir), str(again.signature)) == (one.wasm, str(one.ir), str(one.signature))


CHILD = """
import sys, pickle
from pathlib import Path
import rosejit as rose
programs = {path.stem: rose.load(path) for path in Path("files").iterdir()}
assert not [name for name in ("rosejit.codegen", "rosejit.transforms.pipeline") if name in sys.modules], "a compiler"
from tests.contract.compiled_cases import CASES, same
for k, (name, (_, args, kwargs, expected)) in enumerate(CASES.items()):
    for program in (programs[str(k)], pickle.loads(Path(f"pickles/{k}").read_bytes())):
        found = program(*args, **kwargs)
        assert same(found, expected), (name, found)
"""


def test_in_a_new_process(tmp_path):
    for folder in ("files", "pickles"):
        (tmp_path / folder).mkdir()
    for k, name in enumerate(CASES):
        compiled(name).save(tmp_path / "files" / f"{k}.rose")
        (tmp_path / "pickles" / str(k)).write_bytes(pickle.dumps(compiled(name)))
    env = {**os.environ, "PYTHONPATH": str(ROOT), "ROSE_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):  # with an empty disk cache, and with what the first one left
        done = subprocess.run([sys.executable, "-c", CHILD], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert not done.returncode, done.stderr
        assert done.stdout.count("x is|2.0|<2.00>") == 2


def test_in_a_pool_of_spawned_processes():
    gradient = rose.grad(compiled_cases.squares).lower(X).compile()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(gradient, [X, 2 * X])
    assert np.array_equal(found, [2 * X, 4 * X])


def test_numbers_alone_need_no_frontend(tmp_path):
    compiled("hvp").save(tmp_path / "p.rose")
    program = (
        "import sys, rosejit as rose; import numpy as np; f = rose.load('p.rose'); print(f(np.ones(3), np.ones(3)))"
    )
    seen = "print([m for m in sys.modules if m.startswith(('rosejit.frontend', 'rosejit.transforms'))])"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "ROSE_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; {seen}"], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.stdout == "[2. 2. 2.]\n[]\n", done.stderr


# --- what it is bound to


class Box:
    def __init__(self, k):
        self.k = k


BOX, TABLE, ARRAY = Box(2.0), [3.0], np.array([1.0, 2.0])
SCALE = 4.0


def reads(x):
    return x * BOX.k * TABLE[0] * SCALE * ARRAY[0] + ARRAY.sum()


@pytest.mark.parametrize("when", ["before compile", "after compile"])
def test_changes_outside_change_nothing(when, monkeypatch):
    monkeypatch.setitem(globals(), "ARRAY", ARRAY.copy())
    lowered = rose.jit(reads).lower(1.0)
    made = None if when == "before compile" else lowered.compile()
    monkeypatch.setattr(BOX, "k", 7.0)
    monkeypatch.setitem(globals(), "TABLE", [9.0])
    monkeypatch.setitem(globals(), "SCALE", 1.0)
    ARRAY[:] = 50.0
    assert (made or lowered.compile())(2.0) == 2.0 * 24.0 + 3.0
    monkeypatch.setitem(globals(), "ARRAY", None)
    assert (made or lowered.compile())(2.0) == 2.0 * 24.0 + 3.0


# --- arguments that do not fit


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("grad", (np.ones(4),), r"another `x`, given an array of shape \(4,\)[^`]*`x` is `Vec\[3\]`"),
        ("numbers", (1.0, 2.5, True), "another `n`, given float 2.5"),
        ("numbers", (1.0, 2, 1), "another `flag`"),
        ("dataclass", (3.0,), "another `b`"),
        ("nested", ({"a": 2.0, "c": X}, compiled_cases.BODIES), r"another `d`"),
        ("nested", ({"a": 2.0, "b": X}, compiled_cases.BODIES[:1]), "another `bodies`, given a list of 1"),
        ("static", (2.0, compiled_cases.Colour.BLUE, [3.0, "x"]), "another `colour`"),
        ("static", (2.0, compiled_cases.Colour.RED, [3.5, "x"]), "another `table`"),
        ("list", ([1.0, 2.0, 3.0, 4.0, "x"],), r"another `xs\[4\]`, given str 'x'"),
    ],
)
@pytest.mark.parametrize("loaded", [False, True])
def test_other_arguments_are_refused_in_words(name, args, words, loaded):
    program = pickle.loads(pickle.dumps(compiled(name))) if loaded else compiled(name)
    with pytest.raises((rose.StagingTypeError, rose.ShapeError), match=f"(?s){words}") as caught:
        program(*args)
    assert caught.traceback[-1].path == Path(__file__)
    assert "lower(...)" in str(caught.value)


def test_argument_counts_read_as_cpythons():
    with pytest.raises(TypeError, match=r"squares\(\) missing 1 required positional argument: 'x'"):
        compiled("grad")()


def test_out():
    out = np.zeros(3)
    assert compiled("grad")(X, out=out) is out
    assert np.array_equal(out, 2 * X)
    with pytest.raises(rose.ShapeError, match="`out`"):
        compiled("grad")(X, out=np.zeros(4))


@pytest.mark.parametrize("loaded", [False, True])
def test_errors_of_the_run(loaded):
    program = pickle.loads(pickle.dumps(compiled("raise"))) if loaded else compiled("raise")
    with pytest.raises(compiled_cases.TooFar, match=r"101\.0 is too far"):
        program(101.0)
    with pytest.raises(rose.RoseAssertionError, match=r"(-101\.0 ){5}is too small"):
        program(-101.0)
    assert program(2.0) == 2.0


def test_what_it_shows():
    program = compiled("arrays")
    assert str(program.signature) == "(x: Vec[3], w: Array[3, int]) -> tuple[Vec[3], float, Array[3, bool]]"
    assert compiled("numbers").signature.parameters["x"].annotation is float
    assert program.cost().module_bytes == len(program.wasm)
    assert "(module" in program.wat()


# --- files


@pytest.fixture(scope="module")
def file():
    return program_codec.dump(compiled("nested")._program)


def refused(path, words):
    with pytest.raises(rose.CacheError, match=words) as caught:
        rose.load(path)
    assert caught.value.help


def test_damaged_files(file, tmp_path):
    path, draw = tmp_path / "p.rose", random.Random(0)
    damaged = [file[: draw.randrange(len(file))] for _ in range(50)]
    damaged += [file[: draw.randrange(len(file))] + draw.randbytes(20) for _ in range(25)]
    for _ in range(130):
        at = draw.randrange(len(file))
        damaged.append(file[:at] + bytes([file[at] ^ 1 << draw.randrange(8)]) + file[at + 1 :])
    damaged += [b"", b"text", file + b"\0", file[1:], bytes(len(file))]
    for data in damaged:
        path.write_bytes(data)
        refused(path, "no saved program, or it is damaged")


CHANGES = [
    lambda d: d["entries"][0][1][0].__setitem__(1, -8),
    lambda d: d["entries"][0][1][0].__setitem__(1, 1 << 33),
    lambda d: d["entries"][0][1][0].__setitem__(0, "word"),
    lambda d: d["parameters"][0].__setitem__(0, "x=print('run')"),
    lambda d: d["parameters"][0].__setitem__(0, "lambda"),
    lambda d: d["trees"].pop(),
    lambda d: d["trees"].__setitem__(0, "r"),
    lambda d: d["entries"].clear(),
    lambda d: d["result"].__setitem__(0, "dataclass"),
    lambda d: d["hosts"].append({"opaque": ["os:system", {}]}),
    lambda d: d.__setitem__("captured", [["real", [5]]]),
    lambda d: d.__setitem__("tier", "none"),
    lambda d: d.clear(),
]


@pytest.mark.parametrize("change", CHANGES)
def test_descriptions_that_mean_nothing(change, file, tmp_path):
    found = cache_format.sections(file)
    change(found.description)
    (tmp_path / "p.rose").write_bytes(cache_format.packed(found.description, found.wasm, data=bytes(found.data)))
    refused(tmp_path / "p.rose", "no saved program")


def test_modules_are_validated(file, tmp_path):
    found = cache_format.sections(file)
    (tmp_path / "p.rose").write_bytes(cache_format.packed(found.description, found.wasm[:-9], data=bytes(found.data)))
    refused(tmp_path / "p.rose", "no saved program")


def test_native_code_is_never_in_a_file(file):
    assert cache_format.sections(file).native == 0


@pytest.mark.parametrize("other", ["rosejit 9.9.9 on linux x86_64", "rosejit 0.1.0 on darwin arm64"])
def test_another_version_or_machine(other, file, tmp_path):
    found = cache_format.sections(file)
    found.description["made_by"] = other
    (tmp_path / "p.rose").write_bytes(cache_format.packed(found.description, found.wasm, data=bytes(found.data)))
    refused(tmp_path / "p.rose", f"was made by {other}")


def test_a_file_of_another_user(tmp_path, monkeypatch):
    compiled("grad").save(tmp_path / "p.rose")
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    if user == 0:  # what root owns is trusted by all
        monkeypatch.undo()
        os.chown(tmp_path / "p.rose", 12345, 12345)
    refused(tmp_path / "p.rose", "belongs to another user")


def test_a_file_that_others_can_write(tmp_path):
    """Wasm is safe whoever wrote it; what is imported is run."""
    for name in ("grad", "dataclass", "opaque"):
        compiled(name).save(tmp_path / f"{name}.rose")
        assert (tmp_path / f"{name}.rose").stat().st_mode & 0o022 == 0
        (tmp_path / f"{name}.rose").chmod(0o666)
    check(rose.load(tmp_path / "grad.rose"), "grad")
    refused(tmp_path / "dataclass.rose", "others can write")
    refused(tmp_path / "opaque.rose", "others can write")


def test_a_class_that_is_not_there(tmp_path, monkeypatch):
    compiled("dataclass").save(tmp_path / "p.rose")
    data = pickle.dumps(compiled("dataclass"))
    monkeypatch.delattr(compiled_cases, "Body")
    refused(tmp_path / "p.rose", "needs `tests.contract.compiled_cases.Body`, which is not there")
    with pytest.raises(rose.CacheError, match="which is not there"):
        pickle.loads(data)


def test_what_has_no_name_is_refused_at_save(tmp_path):
    @rose.opaque
    def local(x: float) -> float:
        return x + 1.0

    program = rose.jit(lambda x: local(x)).lower(1.0).compile()
    assert program(1.0) == 2.0
    with pytest.raises(rose.StagingTypeError, match=r"cannot be saved: the opaque function .*local` has no name"):
        program.save(tmp_path / "p.rose")
    assert not [*tmp_path.iterdir()]


def test_cloudpickle_takes_what_has_no_name():
    cloudpickle = pytest.importorskip("cloudpickle")

    @rose.opaque
    def local(x: float) -> float:
        return x + 1.0

    program = rose.jit(lambda x: local(x)).lower(1.0).compile()
    assert pickle.loads(cloudpickle.dumps(program))(1.0) == 2.0


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        rose.load(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        compiled("grad").save(tmp_path / "none" / "p.rose")


def test_no_disk_cache_if_not_wanted(tmp_path, monkeypatch):
    monkeypatch.setenv("ROSE_CACHE_DIR", str(tmp_path / "cache"))
    f = rose.jit(cache=False)(lambda x: x * x)
    f.lower(2.0).compile().save(tmp_path / "p.rose")
    assert rose.load(tmp_path / "p.rose")(3.0) == 9.0
    assert not (tmp_path / "cache").exists()
