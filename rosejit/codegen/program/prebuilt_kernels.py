"""Kernels to code that is written once a process and copied into every module, but for the calls of other kernels and
the addresses of tables, which are of each module: relocations, in the words of linkers."""

import re
from functools import cache

from rosejit.abi import EXCHANGE
from rosejit.codegen.core.function_facts import plan_function
from rosejit.codegen.core.module_builder import Callee, ModuleContext, area_of
from rosejit.codegen.program.functions import write_function
from rosejit.ir.primitive import Emit, Instr, Primitive, Table
from rosejit.ir.syntax import Apply, Block, Call, Function, If
from rosejit.lazy_dataclass import dataclass
from rosejit.ops.kernels import small_kernel
from rosejit.wasm.instructions import call
from rosejit.wasm.module import Locals, ModuleBuilder

_FIRST = 1 << 27
"""Functions from here on are in no module: their calls mark what is to be put in place."""


@dataclass(slots=True, frozen=True)
class Prebuilt:
    """The locals of a kernel, and its code between what differs from module to module."""

    locals: Locals
    parts: tuple[bytes, ...]
    places: tuple[int, ...]
    """What stands between two parts, as a number in `outside`."""
    outside: tuple[Function | Primitive, ...]
    """Kernels that are called, and primitives that read a table, in the order in which a module gets to know them."""

    def code(self, module: ModuleContext) -> bytes:
        """The code in `module`."""
        found = [module.callee(x).code if isinstance(x, Function) else module.code(x) or b"" for x in self.outside]
        code = [self.parts[0]]
        for part, place in zip(self.parts[1:], self.places, strict=True):
            code += found[place], part
        return b"".join(code)


class _Alone(ModuleContext):
    """A module of one kernel, in which calls of others and primitives that read tables are marks."""

    def __init__(self, kernel: Function) -> None:
        super().__init__(ModuleBuilder(), EXCHANGE)
        self.outside: dict[Function | Primitive, int] = {}
        super().callee(kernel)

    def callee(self, f: Function) -> Callee:
        if f in self.callees:
            return self.callees[f]
        known = self.callees[f] = Callee.of(f, _FIRST + self.outside.setdefault(f, len(self.outside)))
        return known

    def code(self, op: Primitive) -> bytes | None:
        if isinstance(op.wasm, Table):
            return call[_FIRST + self.outside.setdefault(op, len(self.outside))]
        return super().code(op)


@cache
def written_alone(kernel: Function) -> Prebuilt | None:
    """The code of a kernel; None if it has loops, or needs types or functions of its module."""
    assert kernel.body is not None
    if not _is_simple(kernel.body):
        return None
    module = _Alone(kernel)
    plan = plan_function(kernel, area_of)
    plan.kernel = True
    write_function(module, kernel, plan, polls=False)
    made = module.builder.build()
    if len(made.functions) != 1 or len(made.types) != 1:
        return None
    (f,) = made.functions
    marks = {call[_FIRST + number]: number for number in module.outside.values()}
    if not marks:
        return Prebuilt(f.locals, (f.body,), (), ())
    pieces = re.split(b"(" + b"|".join(map(re.escape, marks)) + b")", f.body)
    return Prebuilt(f.locals, tuple(pieces[::2]), tuple(marks[mark] for mark in pieces[1::2]), tuple(module.outside))


def _is_simple(block: Block) -> bool:
    """Whether all is instructions, selections, branches, reads of tables, and calls that need no memory."""
    for let in block.lets:
        match let.expr:
            case Apply(op=op) if not op.failure:
                small = small_kernel(op)
                if small is not None:
                    assert small.body is not None
                    if not _is_simple(small.body):
                        return False
                elif not isinstance(op.wasm, Instr | Emit | Table):
                    return False
            case If(then=then, orelse=orelse):
                if not (_is_simple(then) and _is_simple(orelse)):
                    return False
            case Call(function=f) if f.host is None and not Callee.of(f).area:
                pass
            case _:
                return False
    return True
