"""Kernels that are copied into a module are those that would be written there."""

import pytest

from rosejit.codegen import kernels
from rosejit.codegen.columns import BOTH, OTHER
from rosejit.codegen.kernels import codes_of
from rosejit.codegen.module import Module
from rosejit.codegen.program import add_memory
from rosejit.ops import PRIMITIVES as P
from rosejit.transforms.rows import CODES
from rosejit.wasm.encode import encode
from rosejit.wasm.module import ModuleBuilder


def written(ops, start=4096):
    module = Module(ModuleBuilder(), start)
    codes = codes_of(module, ops)
    add_memory(module)
    return codes, encode(module.builder.build()), module.end


def ops(*names):
    return tuple(sorted(CODES[P[name]] for name in names))


@pytest.mark.parametrize(
    "given", [ops("add", "select"), ops("sin"), (*ops("mul", "pow", "exp"), BOTH, OTHER), ops("gamma", "atan2")]
)
def test_copies_are_as_what_is_written(given, monkeypatch):
    monkeypatch.setattr(kernels, "_written", {})
    first = written(given)
    assert len(kernels._written) == 1
    assert written(given) == first
    assert written(given, 8192) != first
    assert len(kernels._written) == 2
    kernels._written.clear()
    assert written(given) == first


def test_few_are_remembered(monkeypatch):
    monkeypatch.setattr(kernels, "_written", {})
    monkeypatch.setattr(kernels, "_MOST", 2)
    for name in ("add", "sub", "mul", "div", "neg"):
        written(ops(name))
        assert len(kernels._written) <= 2
