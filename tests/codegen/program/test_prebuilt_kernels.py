"""Kernels that are written once: they say the same in every module."""

import pytest

from rosejit.codegen.core.function_facts import plan_function
from rosejit.codegen.core.module_builder import ModuleContext, area_of
from rosejit.codegen.program.functions import write_function
from rosejit.codegen.program.prebuilt_kernels import written_alone
from rosejit.ops.kernels import KERNELS
from rosejit.wasm.module import ModuleBuilder

ALONE = [name for name in KERNELS if written_alone(KERNELS[name]())]


@pytest.mark.parametrize("name", ALONE)
def test_a_kernel_is_written_as_in_any_other_module(name):
    kernel, builder = KERNELS[name](), ModuleBuilder()
    module = ModuleContext(builder, 4096)
    builder.declare_function(("f64", "i32"), ("i64",), "another")
    builder.define(0, (), [])
    plan = plan_function(kernel, area_of)
    plan.kernel = True
    index = module.callee(kernel).index
    write_function(module, kernel, plan, polls=False)
    made = builder.build().functions[index]
    assert (made.locals, made.body) == written_alone(kernel)


def test_those_that_call_others_or_read_tables_are_written_anew():
    assert {"pow", "log", "atan2"} <= {*ALONE}
    assert not {"exp", "sin", "gamma"} & {*ALONE}
