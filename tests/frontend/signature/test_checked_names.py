"""Hints whose names a module imports for type checkers alone."""

import importlib.util
import sys

import numpy as np
import pytest

import rosejit as rose

MODULE = """
from __future__ import annotations

import typing
from typing import TYPE_CHECKING

import rosejit as rose

if {guard}:
    import collections.abc as abc
    from fractions import Fraction as Part
    from rosejit import Mat, Vec
    from numpy.typing import NDArray
    from a_module_that_is_not_there import Missing
    from .beside import Sibling


@rose.jit
def f(x: {hint}, y: float = 1.0) -> {result}:
    return x * y
"""


def made(tmp_path, guard, hint, result="typing.Any"):
    path = tmp_path / "typed_module.py"
    path.write_text(MODULE.format(guard=guard, hint=hint, result=result))
    spec = importlib.util.spec_from_file_location("typed_module", path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    sys.modules.pop("typed_module", None)
    return module.f


@pytest.mark.parametrize("guard", ["TYPE_CHECKING", "typing.TYPE_CHECKING"])
@pytest.mark.parametrize("hint", ["Missing", "Sibling", "Missing | float", "float | Missing"])
def test_what_is_not_there_is_as_the_argument(tmp_path, guard, hint):
    assert made(tmp_path, guard, hint, hint)(2.0, 3.0) == 6.0


@pytest.mark.parametrize("guard", ["TYPE_CHECKING", "typing.TYPE_CHECKING"])
def test_what_is_loaded_is_what_it_is(tmp_path, guard):
    f = made(tmp_path, guard, 'Vec["n"]', 'Vec["n"]')
    assert f([1.0, 2.0], 2.0).tolist() == [2.0, 4.0]
    with pytest.raises(rose.ShapeError):
        f(np.ones((2, 2)))


def test_names_that_nobody_imports(tmp_path):
    with pytest.raises(rose.StagingTypeError, match=r"the hint `Nobody` of `f` cannot be evaluated: name 'Nobody'"):
        made(tmp_path, "TYPE_CHECKING", "Nobody")(1.0)
