"""What `rose.export` writes where, and what it refuses."""

from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec


@rose.jit
def area(x: float, y: float) -> float:
    return x * y


@rose.jit
def total(x: Vec["n"]) -> float:
    return x.sum()


class Pair(NamedTuple):
    a: Vec[2]
    b: tuple[int, bool]


@rose.jit
def described(p: Pair, m: Mat[2, 3], scale: float = 2.0) -> float:
    return scale * p.a.sum() + m.sum() + (p.b[0] if p.b[1] else 0)


def names(files):
    return [file.name for file in files]


def test_the_files_take_the_name_of_the_function_or_of_the_folder(tmp_path):
    assert names(rose.export(area, path=tmp_path)) == ["area.wasm", "area.mjs", "area.d.mts"]
    both = {"value": area, "slope": rose.grad(area)}
    files = rose.export(both, path=tmp_path / "deep" / "down")
    assert names(files) == ["down.wasm", "down.mjs", "down.d.mts"]
    assert all(file.parent == tmp_path / "deep" / "down" for file in files)
    assert names(rose.export(rose.grad(area), path=tmp_path)) == ["grad_area.wasm", "grad_area.mjs", "grad_area.d.mts"]
    assert names(rose.export(lambda x: x, 1.0, path=str(tmp_path))) == ["lambda.wasm", "lambda.mjs", "lambda.d.mts"]


def test_the_default_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rose.export(area)
    assert (tmp_path / "out" / "area.wasm").is_file()


def test_hints_and_shapes_stand_for_examples(tmp_path):
    assert rose.export(described, path=tmp_path)
    assert rose.export(total, rose.ShapeOf(3), path=tmp_path)
    assert rose.export({"a": (total, np.ones(2)), "b": (total, rose.ShapeOf(5))}, path=tmp_path)


def test_a_plain_function_is_compiled_too(tmp_path):
    def double(x: float) -> float:
        return 2 * x

    assert names(rose.export(double, path=tmp_path))[0] == "double.wasm"


def refused(kind, message, *args, **options):
    with pytest.raises(kind) as caught:
        rose.export(*args, **options)
    assert message in str(caught.value)


def test_what_is_refused(tmp_path):
    @rose.opaque
    def outside(x: float) -> float:
        return x

    where = tmp_path / "nothing"
    refused(rose.StagingTypeError, "an example of `x` is needed", total, path=where)
    refused(rose.StagingTypeError, "takes a function, given int", 3, path=where)
    refused(rose.StagingTypeError, "takes a function, given float", {"f": 1.0}, path=where)
    refused(rose.StagingTypeError, "is empty", {}, path=where)
    refused(rose.StagingTypeError, "3 is no name", {3: area}, path=where)
    refused(rose.StagingTypeError, "`outside` is opaque", outside, 1.0, path=where)
    refused(rose.StagingTypeError, '`math` is "kernels" or "js", not \'page\'', area, path=where, math="page")
    refused(rose.NotDifferentiable, "", rose.grad(lambda x: x), np.ones(3), path=where)
    refused(rose.StagingTypeError, "`y`", area, 1.0, "two", path=where)
    assert not where.exists()


def test_host_values_without_a_form_in_javascript(tmp_path):
    refused(rose.StagingTypeError, "a part of the result is a set", lambda x: (x, {1, 2}), 1.0, path=tmp_path)
