"""Kernels that are written once: they say the same in every module."""

import pytest

from rosejit.codegen.alone import written_alone
from rosejit.codegen.functions import write_function
from rosejit.codegen.module import Module, area_of
from rosejit.codegen.plan import plan_function
from rosejit.ops.kernels import KERNELS
from rosejit.wasm.module import ModuleBuilder

ALONE = [name for name in KERNELS if written_alone(KERNELS[name]())]


@pytest.mark.parametrize("name", ALONE)
def test_a_kernel_is_written_as_in_any_other_module(name):
    kernel, builder = KERNELS[name](), ModuleBuilder()
    module = Module(builder, 4096)
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
