"""Checks what an error says of itself against section 6 of the contract."""

import contextlib
import inspect
import linecache
import re
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import rosejit as rose


@dataclass
class Fault:
    """An error that was caught."""

    error: Any = None

    @property
    def text(self) -> str:
        return str(self.error)


@contextlib.contextmanager
def fault(
    kind: type[rose.RoseError], *words: str, line: str = "", at: str = "", help: str = "", last: str | None = None
) -> Iterator[Fault]:
    """The block raises `kind`, a Python error too, with all `words` in its text.

    `line` is the only line of the calling file that begins so: it is named by file, number and column, and quoted, with
    carets under `at`. `help` is in the line that says what to do. `last` begins the line in which the traceback ends,
    `line` where it is not given.
    """
    caller = inspect.stack()[2].filename
    found = Fault()
    with pytest.raises(kind) as caught:
        yield found
    found.error = error = caught.value
    assert isinstance(error, rose.RoseError)
    text = str(error)
    for word in words:
        assert word in text, f"{word!r} is not in:\n{text}"
    first = text.splitlines()[0]
    assert first
    assert not first.startswith(" ")
    if help:
        assert re.search(rf"^  help: .*{re.escape(help)}", text, re.M), text
    if line:
        check_place(text, caller, line, at)
    check_no_internals(text)
    check_traceback(error, caller, line if last is None else last)


def number_of(file: str, line: str) -> int:
    """The number of the only line of `file` that begins with `line`, indentation apart."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    found = [number for number, text in enumerate(lines, 1) if text.strip().startswith(line)]
    assert len(found) == 1, f"{len(found)} lines begin with {line!r}"
    return found[0]


def check_place(text: str, file: str, line: str, at: str) -> None:
    number = number_of(file, line)
    whole = linecache.getline(file, number).rstrip("\n")
    place = re.search(rf"^  {re.escape(file)}:{number}:(\d+) in (\S+)$", text, re.M)
    assert place, f"no {file}:{number}:<column> in <function> in:\n{text}"
    quoted = f"    {whole.strip()}"
    assert quoted in text.splitlines(), f"the source line is not quoted:\n{text}"
    carets = text.splitlines()[text.splitlines().index(quoted) + 1]
    assert set(carets.strip()) == {"^"}, f"no carets under the source line:\n{text}"
    start = carets.index("^")
    marked = quoted[start : start + carets.count("^")]
    assert int(place[1]) - 1 == whole.index(whole.strip()) + start - 4, "the column is not where the carets are"
    exact = marked == at or (sys.version_info < (3, 11) and at in marked)  # 3.10 does not know the columns of what runs
    assert not at or exact, f"the carets mark {marked!r}, not {at!r}:\n{text}"


def check_no_internals(text: str) -> None:
    """Neither tracers, nor the IR, nor our files."""
    package = str(Path(rose.__file__).parent)
    assert package not in text, text
    assert not re.search(r"\b(tape|Tape|Lit|Atom|Var|atom|IR|wasm\[\d|offset 0x|frame \d)\b", text), text


def check_traceback(error: BaseException, file: str, line: str) -> None:
    """The last frame is the user's."""
    frames = traceback.extract_tb(error.__traceback__)
    package = str(Path(rose.__file__).parent)
    assert not [f for f in frames if f.filename.startswith(package)], "the traceback shows our files"
    assert frames[-1].filename == file, f"the traceback ends in {frames[-1].filename}:{frames[-1].lineno}"
    if line:
        assert frames[-1].lineno == number_of(file, line), f"the traceback ends in line {frames[-1].lineno}"
