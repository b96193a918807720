"""Kernels that are copied into a module are those that would be written there."""

import pytest

from rosejit.codegen.core.module_builder import ModuleContext
from rosejit.codegen.program.compile import add_memory
from rosejit.codegen.straightline import kernel_code
from rosejit.codegen.straightline.kernel_code import codes_of
from rosejit.codegen.straightline.schedule import BOTH, OTHER
from rosejit.ops import PRIMITIVES as P
from rosejit.transforms.straightline.op_rows import CODES
from rosejit.wasm.encode import encode
from rosejit.wasm.module import ModuleBuilder


def written(ops, start=4096):
    module = ModuleContext(ModuleBuilder(), start)
    codes = codes_of(module, ops)
    add_memory(module)
    return codes, encode(module.builder.build()), module.end


def ops(*names):
    return tuple(sorted(CODES[P[name]] for name in names))


@pytest.mark.parametrize(
    "given", [ops("add", "select"), ops("sin"), (*ops("mul", "pow", "exp"), BOTH, OTHER), ops("gamma", "atan2")]
)
def test_copies_are_as_what_is_written(given, monkeypatch):
    monkeypatch.setattr(kernel_code, "_written", {})
    first = written(given)
    assert len(kernel_code._written) == 1
    assert written(given) == first
    assert written(given, 8192) != first
    assert len(kernel_code._written) == 2
    kernel_code._written.clear()
    assert written(given) == first


def test_few_are_remembered(monkeypatch):
    monkeypatch.setattr(kernel_code, "_written", {})
    monkeypatch.setattr(kernel_code, "_MOST", 2)
    for name in ("add", "sub", "mul", "div", "neg"):
        written(ops(name))
        assert len(kernel_code._written) <= 2
