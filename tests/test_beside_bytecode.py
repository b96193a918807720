"""What is kept beside bytecode, and when it is not used."""

import os
import sys
from pathlib import Path

import pytest

from rosejit.beside_bytecode import Kept, _facts


@pytest.fixture
def module(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "solver.py"
    file.write_text("x = 1\n")
    return file


def again(file: Path, *makers: str) -> Kept:
    _facts.cache_clear()
    return Kept(str(file), makers)


def test_what_was_written_is_there_again(module: Path) -> None:
    first = again(module)
    assert first == {}
    first.add(("f", 1), (b"code", compile("x", "f", "eval")))
    first.write()
    assert Path(first.path()).parent == module.parent / "__pycache__"
    found = again(module)
    assert found == first
    assert eval(found["f", 1][1], {"x": 3}) == 3


@pytest.mark.parametrize("touched", ["solver.py", "maker.py"])
def test_it_is_gone_when_a_module_has_changed(module: Path, touched: str) -> None:
    maker = module.with_name("maker.py")
    maker.write_text("y = 1\n")
    first = again(module, str(maker))
    first.add("f", 1)
    first.write()
    assert again(module, str(maker)) == {"f": 1}
    os.utime(module.with_name(touched), (1, 1))
    assert again(module, str(maker)) == {}


def test_without_files_it_is_for_this_process_alone(module: Path, monkeypatch) -> None:
    first = again(module.with_name("absent.py"))
    first.add("f", 1)
    first.write()
    assert first["f"] == 1
    assert not (module.parent / "__pycache__").exists()
    monkeypatch.setattr(sys.implementation, "cache_tag", None)
    other = again(module)
    other.write()
    assert other == {}
    assert not (module.parent / "__pycache__").exists()
