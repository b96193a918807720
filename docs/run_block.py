"""Runs a block of a page in the page, by Pyodide: what its statements print, their values, the error that ends it."""

import ast
import doctest
import json
import linecache
import sys
import traceback
import types
from pathlib import PurePosixPath

import check

from rosejit import plain
from rosejit.plain import typing

if sys.platform == "emscripten":  # there is no NumPy: plain arrays stand in its place
    sys.modules |= {"numpy": plain, "numpy.typing": typing}

PRELUDE = """
import math
from dataclasses import dataclass
import numpy as np
import rosejit as rose
from rosejit import Array, Mat, Vec
"""
"""What a block has that stands alone, as those of docs/errors.md do."""

_spaces: dict[str, types.ModuleType] = {}
_runs = 0


def space_of(name: str) -> types.ModuleType:
    """The module that the blocks called `name` share."""
    if name not in _spaces:
        module = types.ModuleType(f"page_{name}")
        exec(PRELUDE, module.__dict__)
        _spaces[name] = sys.modules[module.__name__] = module
    return _spaces[name]


def run(text: str, space: str) -> str:
    """The output of a program, or of the lines behind `>>>`, in a space by its name, as JSON: `text`, and `error`."""
    global _runs
    _runs += 1
    examples = doctest.DocTestParser().get_examples(text)
    text = "".join(example.source for example in examples) if examples else text.rstrip() + "\n"
    path, module = PurePosixPath(f"block {_runs}"), space_of(space)
    linecache.cache[str(path)] = (len(text), None, text.splitlines(keepends=True), str(path))
    try:
        body = ast.parse(text, str(path)).body
    except SyntaxError as wrong:
        return json.dumps({"text": "", "error": said(wrong)})
    found: list[str] = []
    lines = text.splitlines()
    for statement, following in zip(body, [*(s.lineno for s in body[1:]), len(lines) + 1], strict=True):
        printed, error = check.outcome(statement, path, module)
        found.append(printed)
        if error is None:
            continue
        if "# -> raises" not in "".join(lines[(statement.end_lineno or 1) - 1 : following - 1]):
            return json.dumps({"text": "".join(found), "error": said(error)})
        found.append(f"{said(error)}\n")
    return json.dumps({"text": "".join(found).rstrip("\n"), "error": ""})


def said(error: Exception) -> str:
    """An error as Python shows it, without the traceback."""
    if isinstance(error, SyntaxError) and type(error).__module__ == "builtins":
        return "".join(traceback.format_exception_only(error)).rstrip("\n")
    return f"{type(error).__name__}: {error}"
