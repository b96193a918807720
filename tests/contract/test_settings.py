"""ROSE_LOG, the command line's looks inside, and what a bug report says."""

import inspect
import logging

import numpy as np
import pytest

import rosejit as rose
from rosejit.cli import main
from rosejit.runtime import cache
from tests.frontend.oracle import define

TEXT = "def f(x: float, n: int) -> float:\n    return x * k + n\n"


@pytest.fixture
def heard(caplog, monkeypatch, tmp_path):
    """The lines that are logged, with nothing in the disk cache before."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ROSE_CACHE_DIR", str(tmp_path))
    return lambda: [record.getMessage() for record in caplog.records if record.name == "rosejit"]


def made(k=2.0):
    return rose.jit(define(TEXT, k=k))


def test_nothing_is_logged_unasked(heard):
    made()(1.0, 2)
    assert heard() == []


def test_compile_says_what_it_cost_and_why_it_was_done_again(heard, monkeypatch):
    monkeypatch.setenv("ROSE_LOG", "compile")
    f = made()
    f(1.0, 2)
    f(2.0, 3)
    (line,) = heard()
    assert line.startswith("compiled f: 3 ops, ")
    assert " bytes, " in line
    assert line.endswith(" µs an op)")
    f.__wrapped__.__globals__["k"] = 3.0
    assert f(1.0, 2) == 5.0
    assert heard()[1] == "staging f again: `k` has changed"
    assert heard()[2].startswith("compiled f: ")
    rose.grad(f)(1.0, 2)
    assert heard()[-1].startswith("compiled grad_f: ")


def test_cache_says_what_is_stored_and_loaded(heard, monkeypatch):
    monkeypatch.setenv("ROSE_LOG", "cache")
    folder = cache.current().directory
    f = made()
    for _ in range(2):
        f(1.0, 2)
        f.cache_clear()
    assert heard() == [f"stored f in {folder}", f"loaded f from {folder}"]


def test_ir_shows_programs_also_those_that_are_loaded(heard, monkeypatch):
    for topics in ("ir", "compile|ir|cache", "cache,ir"):
        monkeypatch.setenv("ROSE_LOG", topics)
        made()(1.0, 2)
        assert any(line.startswith("def f(x: Real, n: Int): Real =") for line in heard())


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(
        "import rosejit as rose\nfrom rosejit import Vec\n\n"
        "@rose.jit\ndef f(x: Vec['n'], k: int):\n    return x[0] ** k\n"
    )
    return path


def test_ir_of_a_file(model, capsys):
    for form, words in (("ir", "def f(x: [3]Real"), ("bwd", "def bwd_f("), ("jvp", "def jvp_f("), ("wat", "(module")):
        assert main(["ir", f"{model}:f", "rose.ShapeOf(3)", "2", "--as", form]) == 0
        assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{}:f"], "missing 2 required positional arguments"),
        (["{}:f", "[1.0]", "nope"], "the argument `nope` cannot be evaluated"),
        (["{}:f", "[1.0]", ")("], "the argument `)(` cannot be evaluated"),
        (["{}:f", "'a'", "2"], "`f` needs a"),
        (["{}:g"], "has no function `g`"),
        (["{}"], "names no function"),
        (["nowhere.py:f"], "names no function"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_is_wrong_is_said_without_a_traceback(model, capsys, arguments, message):
    assert main(["ir", *(text.format(model) for text in arguments)]) == 1
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.startswith("rosejit: ")
    assert "Traceback" not in said.err


def test_cache_info_and_clear(heard, capsys):
    made()(1.0, 2)
    assert main(["cache", "info"]) == 0
    assert capsys.readouterr().out.startswith("1 programs, ")
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out.startswith("1 programs deleted from ")
    assert cache.current().info().entries == 0
    assert made()(1.0, 2) == 4.0


def test_versions(capsys, monkeypatch):
    monkeypatch.setenv("ROSE_LOG", "cache")
    assert main(["versions"]) == 0
    by_command = capsys.readouterr().out
    rose.show_versions()
    assert capsys.readouterr().out == by_command
    lines = dict(line.partition(" ")[::2] for line in by_command.splitlines())
    assert lines["numpy"] == np.__version__
    assert lines["rosejit"].startswith(rose.__version__)
    assert {"python", "wasmtime", "beartype", "machine", "cache", "ROSE_LOG=cache"} <= set(lines)


def test_compile_says_why_a_long_loop_was_unrolled(heard, monkeypatch):
    monkeypatch.setenv("ROSE_LOG", "compile")
    text = """
    log = []
    def f(x: float) -> float:
        for i in range(100):
            log.extend([i])
        for i in range(100):
            x += x ** i
        for i in range(100):
            x += i
        for i in range(10):
            log.append(i)
        return x
    """
    rose.jit(define(text))(1.0)
    unrolled, powers, _ = heard()
    said = "in f: a loop of 100 iterations is unrolled, not rolled: "
    assert f"{said}line 5 holds a call whose result is not used: `log.extend([i])`" in unrolled
    assert powers.endswith(f"{said}the index is an exponent (`x ** i`), in line 7: `x += x ** i`")


def test_warnings_of_the_disk_cache_point_at_the_line_that_calls(monkeypatch, tmp_path):
    """Not at ours, nor at the functions that are made for users to call."""
    (tmp_path / "file").write_text("no directory")
    for k, take in enumerate((lambda f: f, rose.grad, rose.vmap)):
        monkeypatch.setenv("ROSE_CACHE_DIR", str(tmp_path / "file" / str(k)))
        f = take(rose.jit(lambda x: x * x))
        at = np.ones(2) if take is rose.vmap else 1.5
        line = inspect.currentframe().f_lineno + 2
        with pytest.warns(rose.CacheError, match="cannot") as caught:
            f(at)
        assert [(each.filename, each.lineno) for each in caught] == [(__file__, line)]


def test_nothing_is_said_to_be_stored_that_is_not(heard, monkeypatch, tmp_path):
    monkeypatch.setenv("ROSE_LOG", "cache")
    rose.jit(lambda x: x * 3.5)(1.0)
    assert any("stored" in line for line in heard())
    before = len(heard())
    (tmp_path / "file").write_text("no directory")
    monkeypatch.setenv("ROSE_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(rose.CacheError):
        rose.jit(lambda x: x * 2.5)(1.0)
    assert len(heard()) == before
