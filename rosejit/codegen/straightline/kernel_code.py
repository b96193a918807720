"""Primitives to what stands for them in an empty module, with their kernels: written once a process, then copied."""

from rosejit.codegen.core.module_builder import Callee, ModuleContext
from rosejit.codegen.loops.simd_kernels import paired
from rosejit.codegen.program.compile import write_pending
from rosejit.codegen.straightline import schedule
from rosejit.codegen.straightline.schedule import BOTH
from rosejit.ir.primitive import Emit, Instr, Primitive
from rosejit.ir.syntax import Function
from rosejit.lazy_dataclass import dataclass
from rosejit.ops.kernels import KERNELS
from rosejit.transforms.straightline.op_rows import OPS
from rosejit.wasm.instructions import Immediate, call, i32_const, local_get, local_tee
from rosejit.wasm.module import Function as Code
from rosejit.wasm.module import FuncType
from rosejit.wasm.opcodes import OP

LANES = 0
"""The local for two sines or cosines, if there are such."""
_MOST = 64
"""Sets of primitives that are remembered."""


@dataclass(slots=True, frozen=True)
class _Written:
    """A module that has nothing but kernels, and what its primitives are."""

    codes: dict[int, bytes]
    types: dict[FuncType, int]
    declared: list[tuple[int, str]]
    defined: dict[int, Code]
    callees: dict[Function, Callee]
    heap: dict[str, int]
    constants: dict[bytes, int]
    end: int

    @staticmethod
    def of(module: ModuleContext, codes: dict[int, bytes]) -> "_Written":
        """A copy of what `module` has."""
        b = module.builder
        functions = b.types.copy(), b.declared.copy(), b.defined.copy()
        return _Written(
            codes, *functions, module.callees.copy(), module.heap.functions, module.constants.copy(), module.end
        )

    def put(self, module: ModuleContext) -> None:
        """Make `module`, which has no functions, as this one."""
        b = module.builder
        b.types, b.declared, b.defined = self.types.copy(), self.declared.copy(), self.defined.copy()
        module.callees, module.heap.functions = self.callees.copy(), self.heap
        module.constants, module.end = self.constants.copy(), self.end


_written: dict[tuple[tuple[int, ...], int], _Written] = {}


def codes_of(module: ModuleContext, ops: tuple[int, ...]) -> dict[int, bytes]:
    """What is written for each op, by code, behind its operands. All kernels that they call are in `module` then."""
    plain = [op for op in ops if op < BOTH and isinstance(OPS[op].wasm, Instr | Emit)]
    more = (schedule.LONE_SIN, schedule.LONE_COS) if BOTH in ops else ()  # they take no other kernel
    called = tuple(sorted({*ops, *more}.difference(plain)))
    return {**{op: _code(module, op) for op in plain}, **_of_called(module, called)}


def _of_called(module: ModuleContext, ops: tuple[int, ...]) -> dict[int, bytes]:
    """The same of ops that are more than an instruction. Few sets of them are met."""
    key = ops, module.end
    known = _written.get(key)
    if known is not None:
        known.put(module)
        return known.codes
    codes = {op: _code(module, op) for op in ops}
    write_pending(module, {}, set())
    assert not module.failures.all, "what can fail is no op of straight-line code"
    if len(_written) >= _MOST:
        _written.clear()
    _written[key] = _Written.of(module, codes)
    return codes


def _code(module: ModuleContext, code: int) -> bytes:
    if code >= BOTH:
        return _of_both(module, code)
    return code_of(module, OPS[code])


def code_of(module: ModuleContext, op: Primitive) -> bytes:
    """What is written for a primitive of straight-line code, which emits nothing but selections, behind its
    operands.
    """
    code = OP["select"] if isinstance(op.wasm, Emit) else module.code(op)
    assert code is not None
    return code


def _of_both(module: ModuleContext, code: int) -> bytes:
    """What stands for sines and cosines that are made by one call; see `schedule.py`."""
    lane = Immediate("f64x2.extract_lane")
    match code:
        case schedule.BOTH:
            return module.callee(KERNELS["sin_cos"]()).code
        case schedule.TWICE:
            both = Immediate("f64x2.replace_lane")[1] + call[paired(module, KERNELS["sin_cos"]())]
            return both + local_tee[LANES] + lane[0]
        case schedule.LONE_SIN:
            return module.callee(KERNELS["sin_cos"]()).code + OP["drop"]
        case schedule.LONE_COS:
            return module.callee(KERNELS["sin_cos"]()).code + i32_const[0] + OP["select"]
        case schedule.FIRST:
            return local_tee[LANES] + lane[0]
        case schedule.SECOND:
            return local_get[LANES] + lane[1]
        case _:
            return b""
