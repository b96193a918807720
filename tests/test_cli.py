"""`python -m rosejit export` and `demo`: what they write and what they say."""

import json
import subprocess
import sys

import pytest

import rosejit as rose
from rosejit import demo
from rosejit.cli import main

SOURCE = '''
import rosejit as rose

@rose.jit
def area(x: float, y: float) -> float:
    """The area of a rectangle."""
    return x * y

@rose.jit
def total(x: rose.Vec["n"]) -> float:
    return x.sum()

slope = rose.grad(area)
'''


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(SOURCE)
    return path


def test_export_of_one_function(model, tmp_path, capsys):
    assert main(["export", f"{model}:area", "-o", str(tmp_path / "web")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0].rpartition("/")[2] for line in lines] == ["area.wasm", "area.mjs", "area.d.mts"]
    assert all(line.endswith(" bytes") for line in lines)
    assert "The area of a rectangle." in (tmp_path / "web" / "area.d.mts").read_text()


def test_export_of_several_with_examples(model, tmp_path):
    assert main(["export", f"{model}:area,slope", "-o", str(tmp_path / "web")]) == 0
    assert (tmp_path / "web" / "web.wasm").is_file()
    assert "  slope(" in (tmp_path / "web" / "web.d.mts").read_text()  # as it is called there
    assert main(["export", f"{model}:slope", "-o", str(tmp_path / "one")]) == 0
    assert "  slope(" in (tmp_path / "one" / "one.d.mts").read_text()
    assert main(["export", f"{model}:total", "rose.ShapeOf(3)", "--math", "js", "-o", str(tmp_path / "web")]) == 0
    assert (tmp_path / "web" / "total.wasm").is_file()


def test_export_of_a_package(model, tmp_path, capsys):
    folder = tmp_path / "pack"
    assert main(["export", f"{model}:area", "--npm", "@me/shapes", "-o", str(folder)]) == 0
    assert json.loads((folder / "package.json").read_text())["name"] == "@me/shapes"
    assert (folder / "shapes.mjs").is_file()
    assert main(["export", f"{model}:area", "--npm", "Shapes", "-o", str(tmp_path / "other")]) == 1
    assert "'Shapes' is no name of an npm package" in capsys.readouterr().err


def test_watched_files_are_exported_again(model, tmp_path):
    (tmp_path / "helper.py").write_text("def scaled(x):\n    return 2.0 * x\n")
    model.write_text("from helper import scaled\n\ndef f(x: float) -> float:\n    return scaled(x)\n")
    out = tmp_path / "web"
    command = [sys.executable, "-m", "rosejit", "export", f"{model}:f", "--watch", "-o", str(out)]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert [running.stdout.readline().split()[0] for _ in range(3)] == [str(file) for file in files_of(out)]
        first = (out / "f.wasm").read_bytes()
        (tmp_path / "helper.py").write_text("def scaled(x):\n    return 3.0 * x\n")
        assert running.stdout.readline()
        assert (out / "f.wasm").read_bytes() == first.replace(b"\x00\x40", b"\x08\x40")  # 2.0 and 3.0
        (tmp_path / "helper.py").write_text("def scaled(x):\n    return 3.0 *\n")
        assert "cannot be run" in running.stderr.readline()
        running.terminate()


def files_of(folder):
    return [folder / f"f.{kind}" for kind in ("wasm", "mjs", "d.mts")]


@pytest.mark.parametrize(
    ("place", "message"),
    [("total", "an example of `x` is needed"), ("lost", "has no function `lost`"), ("area,lost", "no function `lost`")],
)
def test_what_is_wrong_is_said_in_a_line(model, tmp_path, capsys, place, message):
    assert main(["export", f"{model}:{place}", "-o", str(tmp_path / "web")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "web").exists()


def test_ir_takes_one_function(model, capsys):
    assert main(["ir", f"{model}:area", "1.0", "2.0"]) == 0
    assert capsys.readouterr().out.startswith("def area")
    assert main(["ir", f"{model}:area,slope", "1.0", "2.0"]) == 1
    assert "`ir` takes one function" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_to(model, capsys):
    assert main(["export", f"{model}:area", "-o", str(model)]) == 1
    assert capsys.readouterr().err == f"rosejit: nothing can be written to `{model}`: File exists\n"


@pytest.mark.parametrize("beyond", [False, True])
def test_a_port_that_cannot_be_had(monkeypatch, tmp_path, capsys, beyond):
    monkeypatch.setattr(demo, "build", lambda folder, pyodide: None)
    with demo.server(tmp_path) as running:
        port = 99_999 if beyond else running.server_port
        assert main(["demo", "--no-browser", "-o", str(tmp_path), "-p", str(port)]) == 1
    assert f"nothing can be served at port {port}" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["raise ValueError('not here')\n", "def f(:\n", "import nothing_of_that_name\n"])
def test_a_file_that_cannot_be_run_is_told_from_its_own_line_on(tmp_path, capsys, text):
    file = tmp_path / "wrong.py"
    file.write_text(text)
    assert main(["export", f"{file}:f"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"rosejit: `{file}` cannot be run\n")
    assert f'File "{file}", line 1' in said
    assert "cli.py" not in said


@pytest.mark.parametrize("name", ["ShapeError", "rosejit.errors.ShapeError", "shapeerror", "Shape"])
def test_a_class_of_errors_is_explained(name, capsys):
    assert main(["explain", name]) == (name == "Shape")
    told = capsys.readouterr()
    if name == "Shape":
        assert "`Shape` is no class of errors" in told.err
        return
    assert told.out.startswith(
        "ShapeError\n\n(Python's `ValueError`) Shapes, or the names of dimensions, disagree.\n\n    @rose"
    )
    assert "\n      demo.py:2:" in told.out
    assert "```" not in told.out


def test_every_class_of_errors_is_listed_and_named_by_its_tracebacks(capsys):
    assert main(["explain"]) == 0
    listed = {line.split()[0]: line[24:] for line in capsys.readouterr().out.splitlines()}
    for name in listed:
        error = getattr(rose, name)("wrong", help="right")
        assert str(error) == "wrong\n  help: right"
        assert error.__notes__ == [f"  more: python -m rosejit explain {name}"]
        assert main(["explain", name]) == 0
    assert listed["RoseOverflowError"].startswith("The result of arithmetic of integers does not fit 64 bits")
    ours = {name for name in rose.__all__ if isinstance(getattr(rose, name), type) and name != "RoseError"}
    assert listed.keys() - {"RoseError"} == {name for name in ours if issubclass(getattr(rose, name), rose.RoseError)}
    assert main(["explain", "OverflowError"]) == 0
    assert capsys.readouterr().out.splitlines()[-1]
