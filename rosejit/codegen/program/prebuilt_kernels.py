"""Kernels that need nothing of the module they are in, to code that is written once and copied into every module."""

from functools import cache

from rosejit.abi import EXCHANGE
from rosejit.codegen.core.function_facts import plan_function
from rosejit.codegen.core.module_builder import ModuleContext, area_of
from rosejit.codegen.program.functions import write_function
from rosejit.ir.primitive import Emit, Instr
from rosejit.ir.syntax import Apply, Block, Function, If
from rosejit.ops.kernels import small_kernel
from rosejit.wasm.module import Locals, ModuleBuilder


@cache
def written_alone(kernel: Function) -> tuple[Locals, bytes] | None:
    """The locals and the code of a kernel; None if it calls others, reads tables or needs types of its module."""
    assert kernel.body is not None
    if not _is_simple(kernel.body):
        return None
    builder = ModuleBuilder()
    module = ModuleContext(builder, EXCHANGE)
    module.callee(kernel)
    plan = plan_function(kernel, area_of)
    plan.kernel = True
    write_function(module, kernel, plan, polls=False)
    made = builder.build()
    if len(made.functions) != 1 or len(made.types) != 1:
        return None
    (f,) = made.functions
    return f.locals, f.body


def _is_simple(block: Block) -> bool:
    """Whether all is instructions, selections and branches."""
    for let in block.lets:
        match let.expr:
            case Apply(op=op) if not op.failure:
                small = small_kernel(op)
                if small is not None:
                    assert small.body is not None
                    if not _is_simple(small.body):
                        return False
                elif not isinstance(op.wasm, Instr | Emit):
                    return False
            case If(then=then, orelse=orelse):
                if not (_is_simple(then) and _is_simple(orelse)):
                    return False
            case _:
                return False
    return True
