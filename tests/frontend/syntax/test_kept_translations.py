"""Rewritten code of ours in later processes."""

import os
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

from rosejit.beside_bytecode import Kept
from rosejit.frontend.syntax import kept_translations, translate
from rosejit.solvers import brent

PROGRAM = """
import rosejit as rose
from rosejit.frontend.syntax import translate
made, whole = [], translate.translate
translate.translate = lambda function: made.append(function.__qualname__) or whole(function)
print(rose.grad(lambda a: rose.root(lambda x: x * x - a, bracket=(0.0, 2.0)).x)(2.0))
print(*made)
"""


@pytest.mark.parametrize("writes", [True, False])
def test_a_second_process_rewrites_only_the_users_functions(tmp_path: Path, writes: bool) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    given = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "kept"), "ROSE_CACHE_DIR": str(tmp_path / "programs")}
    given |= {"PYTHONDONTWRITEBYTECODE": "" if writes else "1"}
    run = [sys.executable, str(tmp_path / "program.py")]
    texts = [subprocess.run(run, env=given, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    (value, first), (same, second) = [text.splitlines() for text in texts]
    assert value == same
    assert "brent" in first.split()
    assert set(second.split()) == ({"<lambda>"} if writes else set(first.split()))
    assert bool(list((tmp_path).rglob("*-rosejit.pyc"))) is writes


def test_code_that_is_another_is_not_recalled(monkeypatch) -> None:
    kept = Kept(__file__, ())
    monkeypatch.setattr(kept, "_is_new", True)
    monkeypatch.setattr(kept_translations, "_of_file", lambda file: kept)
    assert kept_translations.recalled(brent.brent) is None
    made = translate.translate(brent.brent)
    kept_translations.keep(brent.brent, kept_translations.Made(made.code, made.chains, made.span))
    assert kept_translations.recalled(brent.brent) == (made.code, made.chains, made.span)
    for other in ({"co_code": brent.next_step.__code__.co_code}, {"co_filename": "elsewhere.py"}):
        edited = FunctionType(brent.brent.__code__.replace(**other), brent.brent.__globals__)
        assert kept_translations.recalled(edited) is None
