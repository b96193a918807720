"""Kernels that are written once: they say the same in every module."""

import pytest

from rosejit.codegen.core.function_facts import plan_function
from rosejit.codegen.core.module_builder import ModuleContext, area_of
from rosejit.codegen.program.functions import write_function
from rosejit.codegen.program.prebuilt_kernels import written_alone
from rosejit.ir.primitive import Primitive
from rosejit.ir.syntax import Function
from rosejit.ops.kernels import KERNELS
from rosejit.wasm.module import ModuleBuilder

ALONE = [name for name in KERNELS if written_alone(KERNELS[name]())]


def another_module() -> ModuleContext:
    """One that has a function and a constant of its own, so that nothing lies where it lay."""
    builder = ModuleBuilder()
    builder.declare_function(("f64", "i32"), ("i64",), "another")
    builder.define(0, (), [])
    module = ModuleContext(builder, 4096)
    module.constant(b"a constant of it")
    return module


@pytest.mark.parametrize("name", ALONE)
def test_a_kernel_is_written_as_in_any_other_module(name):
    kernel, module, copied = KERNELS[name](), another_module(), another_module()
    plan = plan_function(kernel, area_of)
    plan.kernel = True
    index = module.callee(kernel).index
    write_function(module, kernel, plan, polls=False)
    made = module.builder.defined[index]
    alone = written_alone(kernel)
    assert alone is not None
    assert copied.callee(kernel).index == index
    assert (alone.locals, alone.code(copied)) == (made.locals, made.body)
    assert [f.name for f in copied.pending] == [f.name for f in module.pending]
    assert copied.constants == module.constants


def test_those_with_loops_are_written_anew():
    assert {"pow", "log", "atan2", "exp", "sin", "gamma", "lgamma", "reduce_huge"} <= {*ALONE}
    assert not {"ipow", "fmod", "zeta_sum"} & {*ALONE}


def test_what_is_of_the_module_is_marked():
    """Sine calls the reduction of large arguments, which reads a table; the exponential function does both."""
    for name, calls, tables in (("sin", 1, 0), ("reduce_huge", 0, 1), ("exp", 1, 2), ("log", 0, 0)):
        alone = written_alone(KERNELS[name]())
        assert alone is not None
        assert len(alone.outside) <= len(alone.places)
        assert sum(isinstance(x, Function) for x in alone.outside) == calls, name
        assert sum(isinstance(x, Primitive) for x in alone.outside) == tables, name
